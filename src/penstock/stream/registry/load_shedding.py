"""Load shedding: a query registered so is evaluated at fewer instants while it falls behind its streams."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final, get_args

from penstock.algebra.ops import Query
from penstock.algebra.schedule import Schedule, is_periodic, schedule, stretched
from penstock.errors import OptionError, PenstockWarning, QueryError
from penstock.model.span import Span
from penstock.options import Overload
from penstock.stream.registry import due_instants
from penstock.stream.registry.busy_spans import BusySpan
from penstock.stream.registry.evaluation_group import EvaluationGroup
from penstock.tuning import DEFAULT, Tuning

__all__ = ["CATCH_UP", "OVERLOAD", "STRETCH", "check", "pace"]

CATCH_UP: Final = "catch-up"
STRETCH: Final = "stretch"
OVERLOAD: tuple[str, ...] = get_args(Overload)


def check(query: Query, overload: str) -> None:
    """Raise an error for an unknown value, or for a query without a fixed evaluation period that is to be stretched."""
    if overload not in OVERLOAD:
        raise OptionError(f"overload is {' or '.join(map(repr, OVERLOAD))}, not {overload!r}")
    if overload == STRETCH and not is_periodic(query):
        raise QueryError(
            'overload="stretch" needs a fixed evaluation period; this query is evaluated at every change of its window',
            hint='say COMPUTED EVERY, give its windows a STEP, or leave overload at "catch-up"',
        )


def pace(
    group: EvaluationGroup,
    span: Span,
    final: bool,
    busy: Callable[[Schedule], Sequence[BusySpan]],
    tuning: Tuning = DEFAULT,
) -> None:
    """Set the load shedding factor of a group by the number of due instants. A bounded run sheds nothing.

    `busy` returns the parts of the span that count: where no window holds an element, an instant is no work."""
    if group.first.entry.overload != STRETCH:
        return
    before = group.reached.stretched
    waiting = _waiting(schedule(stretched(group.query, before)), span, busy)
    factor = 1 if final else due_instants.coarsen(before, waiting, tuning)
    if factor != before:
        group.stretch(factor)
        warnings.warn(_message(group, span, waiting, factor > before), PenstockWarning, stacklevel=1)


def _waiting(times: Schedule, span: Span, busy: Callable[[Schedule], Sequence[BusySpan]]) -> int:
    """The number of instants that wait; one at least, if there is any at all."""
    due = times.count(span.after, span.through)
    return due if due <= 1 else max(1, sum(times.count(one.after, one.through) for one in busy(times)))


def _message(group: EvaluationGroup, span: Span, waiting: int, more: bool) -> str:
    others = f" and {len(group.tasks) - 1} like it" if len(group.tasks) > 1 else ""
    factor = group.reached.stretched
    often = "at every instant" if factor == 1 else f"at one of {factor} instants"
    if not more:
        return f"{group.name}{others}: evaluation keeps up; it is {often} from now on"
    behind = timedelta(microseconds=span.through - span.after)
    return f"{group.name}{others}: evaluation is {behind} behind, {waiting} instants wait; it is {often} from now on"

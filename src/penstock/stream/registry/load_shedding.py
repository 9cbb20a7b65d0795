"""Load shedding: a query registered so is evaluated at fewer instants while it falls behind its streams."""

from __future__ import annotations

import warnings
from datetime import timedelta
from typing import Final, get_args

from penstock.algebra.ops import Query
from penstock.algebra.schedule import is_periodic, schedule, stretched
from penstock.errors import PenstockWarning, QueryError
from penstock.model.span import Span
from penstock.options import Overload
from penstock.stream.registry import due_instants
from penstock.stream.registry.evaluation_group import EvaluationGroup
from penstock.tuning import DEFAULT, Tuning

__all__ = ["CATCH_UP", "OVERLOAD", "STRETCH", "check", "pace"]

CATCH_UP: Final = "catch-up"
STRETCH: Final = "stretch"
OVERLOAD: tuple[str, ...] = get_args(Overload)


def check(query: Query, overload: str) -> None:
    """Raise an error for an unknown value, or for a query without a fixed evaluation period that is to be stretched."""
    if overload not in OVERLOAD:
        raise ValueError(f"overload is {' or '.join(map(repr, OVERLOAD))}, not {overload!r}")
    if overload == STRETCH and not is_periodic(query):
        raise QueryError(
            'overload="stretch" needs a fixed evaluation period; this query is evaluated at every change of its window',
            hint='say COMPUTED EVERY, give its windows a STEP, or leave overload at "catch-up"',
        )


def pace(unit: EvaluationGroup, span: Span, final: bool, tuning: Tuning = DEFAULT) -> None:
    """How often it is to be evaluated, by what is due now. In a run that ends nothing is behind."""
    if unit.first.entry.overload != STRETCH:
        return
    before = unit.reached.stretched
    waiting = schedule(stretched(unit.query, before)).count(span.after, span.through)
    factor = 1 if final else due_instants.coarsen(before, waiting, tuning)
    if factor != before:
        unit.stretch(factor)
        warnings.warn(_said(unit, span, waiting, factor > before), PenstockWarning, stacklevel=1)


def _said(unit: EvaluationGroup, span: Span, waiting: int, more: bool) -> str:
    others = f" and {len(unit.tasks) - 1} like it" if len(unit.tasks) > 1 else ""
    factor = unit.reached.stretched
    often = "at every instant" if factor == 1 else f"at one of {factor} instants"
    if not more:
        return f"{unit.name}{others}: evaluation keeps up; it is {often} from now on"
    behind = timedelta(microseconds=span.through - span.after)
    return f"{unit.name}{others}: evaluation is {behind} behind, {waiting} instants wait; it is {often} from now on"

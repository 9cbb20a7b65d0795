"""What queries of events see at an instant, and what they say then if their answers are not events themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from penstock.algebra.ops import Distinct, Op, OrderBy, Project, Reduced, Slice
from tests.oracle import streams
from tests.oracle.events_cases import Case
from tests.oracle.events_runs import Bag
from tests.support import event_reference as events
from tests.support.event_reference import Element


def answers_in(case: Case) -> dict[int, Bag]:
    """The whole answer at each instant at which some window holds something."""
    seen = _streamed(case)
    return {instant: _solutions(case, _merged(_visible(seen, instant), case)) for instant in seen.instants()}


def what_comes(case: Case) -> dict[int, Bag]:
    """Without windows, what each instant adds to the answer; none where that is nothing."""
    held: Bag = Counter()
    found = {}
    for instant in sorted({element.end for element in case.world.elements}):
        before, held = held, _solutions(case, _merged(case.world.until(instant).elements, case))
        found[instant] = held - before
    return {instant: new for instant, new in found.items() if new}


def _solutions(case: Case, elements: Sequence[Element]) -> Bag:
    rows = events.rows(case.plan, replace(case.world, elements=tuple(elements)))
    found = Counter(frozenset(row.solution.items()) for row in rows)
    return Counter(dict.fromkeys(found, 1)) if _is_distinct(case.plan) else found


def _is_distinct(op: Op) -> bool:
    """Whether the answer, which does not tell intervals, has each solution once. Further down, rows with different
    intervals are different."""
    found = False
    while isinstance(op, Distinct | Reduced | Slice | OrderBy):
        found |= isinstance(op, Distinct)
        op = op.pattern
    return found and isinstance(op, Project)


def _streamed(case: Case) -> streams.Streamed:
    """Elements as those of windows elsewhere: an element is seen from its end on."""
    elements = {n: [streams.Element(e, e.end) for e in case.world.of(n)] for n in case.world.streams}  # type: ignore[arg-type]
    return streams.Streamed([], elements, case.windows, None, case.duplicates, 1, 1, True)


def _visible(seen: streams.Streamed, instant: int) -> Iterator[Element]:
    for window in seen.windows:
        yield from (e.triple for e in seen.visible(window, instant))  # type: ignore[misc]


def _merged(elements: Iterable[Element], case: Case) -> list[Element]:
    """Of equal triples the latest stands for all."""
    return list(elements) if case.duplicates == "keep" else events.latest(elements)

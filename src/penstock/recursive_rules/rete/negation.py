"""Nodes of negation (anti-joins and outer joins): OPTIONAL and its forms over time, MINUS and EXISTS.

Only rows that have ended when a row ends count for it, so its result never changes later. A row without an interval,
which comes from the background, is the exception: it has no end. If an event would change a result of such a row that
was read already, there is no right answer left, and the rule fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.algebra.expressions import Var
from penstock.errors import QueryError
from penstock.model.term_encoding import tail_of
from penstock.recursive_rules.rete.memory import Memory, Moment
from penstock.recursive_rules.rete.nodes import Node, Scheduled
from penstock.recursive_rules.solutions.expressions import Expression
from penstock.recursive_rules.solutions.rows import Meeting, Row

__all__ = ["Mark", "Minus", "Optional", "OptionalAtOnce", "OptionalBefore"]

_MARKS = {truth: f'"{str(truth).lower()}"{tail_of("boolean")}' for truth in (True, False)}


class Judging(Scheduled):
    """Base of nodes whose result for a row depends on the rows of the second input that have ended so far."""

    complete = frozenset((1,))

    def __init__(self, meeting: Meeting, layout: tuple[Var, ...]) -> None:
        super().__init__(layout, 2)
        self._meeting = meeting
        self._others = Memory(meeting.other_key)
        self.timeless = Timeless(meeting)

    def memories(self) -> dict[int, Memory]:
        return {1: self._others}


class Optional(Judging):
    """OPTIONAL: the partners that have ended so far, or the row alone."""

    def __init__(self, meeting: Meeting, condition: Expression | None) -> None:
        super().__init__(meeting, meeting.layout)
        self._condition = condition

    def work(self, *inbox: list[Row]) -> list[Row]:
        rows, partners = inbox
        made = self._with_timeless(partners)
        self._others.add(partners)
        for row in rows:
            found = self._fitting(self._meeting.together(row, self.candidates(row)))
            made += found or [self._meeting.alone(row)]
            if row[1] is None:
                self.timeless.add(row, changes=not found)
        return made

    def candidates(self, row: Row) -> Sequence[Row]:
        return self._others.find(self._meeting.key(row))

    def _fitting(self, rows: list[Row]) -> list[Row]:
        if self._condition is None or not rows:
            return rows
        return [row for row, holds in zip(rows, self._condition.holds(rows), strict=True) if holds]

    def _with_timeless(self, partners: list[Row]) -> list[Row]:
        made = []
        for row, partner in self.timeless.met_by(partners):
            found = self._fitting(self._meeting.together(row, (partner,)))
            if found:
                self.timeless.check(row, self)
            made += found
        return made


class OptionalBefore(Optional):
    """OPTIONALSEQ: rows of the second input may have ended before."""

    past = frozenset((1,))
    complete = frozenset()

    def work(self, *inbox: list[Row]) -> list[Row]:
        return super().work(inbox[0], [])

    def candidates(self, row: Row) -> Sequence[Row]:
        return () if row[0] is None else self._others.before(self._meeting.key(row), row[0])


class OptionalAtOnce(Optional):
    """EQUALSOPTIONAL: the second input may have the same interval."""

    def __init__(self, meeting: Meeting, condition: Expression | None) -> None:
        super().__init__(meeting, condition)
        self._now = Moment(meeting.other_key)

    def memories(self) -> dict[int, Memory]:
        return {}

    def work(self, *inbox: list[Row]) -> list[Row]:
        self.used.append(self)
        self._now.add(inbox[1])
        return super().work(inbox[0], [])

    def candidates(self, row: Row) -> Sequence[Row]:
        return self._now.find(self._meeting.key(row), row[0])

    def end(self) -> None:
        super().end()
        self._now.clear()


class Minus(Judging):
    repeats = False

    def work(self, *inbox: list[Row]) -> list[Row]:
        rows, others = inbox
        for row, other in self.timeless.met_by(others):
            if self._excludes(row, other):
                self.timeless.check(row, self)
        self._others.add(others)
        kept = [row for row in rows if not self._excluded(row)]
        for row in kept:
            if row[1] is None:
                self.timeless.add(row)
        return kept

    def _excluded(self, row: Row) -> bool:
        return any(self._excludes(row, other) for other in self._others.find(self._meeting.key(row)))

    def _excludes(self, row: Row, other: Row) -> bool:
        return self._meeting.fits(row, other) and self._meeting.share(row, other)


class Mark(Judging):
    """EXISTS: the row with a boolean column that says whether there is a matching solution. A condition on both is
    evaluated at the time of that solution."""

    repeats = False

    def __init__(self, meeting: Meeting, layout: tuple[Var, ...], condition: Expression | None) -> None:
        super().__init__(meeting, layout)
        self._condition = condition

    def work(self, *inbox: list[Row]) -> list[Row]:
        rows, others = inbox
        for row, other in self.timeless.met_by(others):
            if self._is_met(row, (other,)):
                self.timeless.check(row, self)
        self._others.add(others)
        made = []
        for row in rows:
            met = self._is_met(row, self._others.find(self._meeting.key(row)))
            made.append((*row, _MARKS[met]))
            if row[1] is None and not met:
                self.timeless.add(row)
        return made

    def _is_met(self, row: Row, others: Sequence[Row]) -> bool:
        fitting = [other for other in others if self._meeting.fits(row, other)]
        if self._condition is None or not fitting:
            return bool(fitting)
        both = [(*other[:2], *self._meeting.together(row, (other,))[0][2:]) for other in fitting]
        return any(self._condition.holds(both))


class Timeless:
    """The rows without an interval that a node has taken, and whether an event may still change their result."""

    def __init__(self, meeting: Meeting) -> None:
        self._meeting = meeting
        self._rows: dict[Any, list[Row]] = {}
        self._said: set[Row] = set()

    def add(self, row: Row, changes: bool = True) -> None:
        self._rows.setdefault(self._meeting.key(row), []).append(row)
        if changes:
            self._said.add(row)

    def met_by(self, others: list[Row]) -> list[tuple[Row, Row]]:
        """Pairs of these rows and the events that match them."""
        key = self._meeting.other_key
        return [(row, other) for other in others if other[1] is not None for row in self._rows.get(key(other), ())]

    def check(self, row: Row, node: Node) -> None:
        """Raise a QueryError if an event changes the result of a row without interval that was read already."""
        if node.read and row in self._said:
            raise QueryError(
                f"rule {node.rule}: an event changes a result of the background alone, which was read already",
                hint="put a pattern of the stream into the group that OPTIONAL, MINUS or FILTER (NOT) EXISTS stands in",
            )

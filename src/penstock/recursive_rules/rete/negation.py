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
from penstock.recursive_rules.solutions.rows import Row, RowJoin

__all__ = ["Mark", "Minus", "Optional", "OptionalAtOnce", "OptionalBefore"]

_MARKS = {truth: f'"{str(truth).lower()}"{tail_of("boolean")}' for truth in (True, False)}


class Judging(Scheduled):
    """Base of nodes whose result for a row depends on the rows of the second input that have ended so far."""

    complete = frozenset((1,))

    def __init__(self, row_join: RowJoin, layout: tuple[Var, ...]) -> None:
        super().__init__(layout, 2)
        self._row_join = row_join
        self._partners = Memory(row_join.other_key)
        self.timeless = Timeless(row_join)

    def memories(self) -> dict[int, Memory]:
        return {1: self._partners}


class Optional(Judging):
    """OPTIONAL: the partners that have ended so far, or the row alone."""

    def __init__(self, row_join: RowJoin, condition: Expression | None) -> None:
        super().__init__(row_join, row_join.layout)
        self._condition = condition

    def work(self, *inbox: list[Row]) -> list[Row]:
        rows, partners = inbox
        results = self._with_timeless(partners)
        self._partners.add(partners)
        for row in rows:
            matches = self._fitting(self._row_join.joined(row, self.candidates(row)))
            results += matches or [self._row_join.padded(row)]
            if row[1] is None:
                self.timeless.add(row, changes=not matches)
        return results

    def candidates(self, row: Row) -> Sequence[Row]:
        return self._partners.find(self._row_join.key(row))

    def _fitting(self, rows: list[Row]) -> list[Row]:
        if self._condition is None or not rows:
            return rows
        return [row for row, holds in zip(rows, self._condition.holds(rows), strict=True) if holds]

    def _with_timeless(self, partners: list[Row]) -> list[Row]:
        results = []
        for row, partner in self.timeless.met_by(partners):
            matches = self._fitting(self._row_join.joined(row, (partner,)))
            if matches:
                self.timeless.check(row, self)
            results += matches
        return results


class OptionalBefore(Optional):
    """OPTIONALSEQ: rows of the second input may have ended before."""

    past = frozenset((1,))
    complete = frozenset()

    def work(self, *inbox: list[Row]) -> list[Row]:
        return super().work(inbox[0], [])

    def candidates(self, row: Row) -> Sequence[Row]:
        return () if row[0] is None else self._partners.before(self._row_join.key(row), row[0])


class OptionalAtOnce(Optional):
    """EQUALSOPTIONAL: the second input may have the same interval."""

    def __init__(self, row_join: RowJoin, condition: Expression | None) -> None:
        super().__init__(row_join, condition)
        self._now = Moment(row_join.other_key)

    def memories(self) -> dict[int, Memory]:
        return {}

    def work(self, *inbox: list[Row]) -> list[Row]:
        self.used.append(self)
        self._now.add(inbox[1])
        return super().work(inbox[0], [])

    def candidates(self, row: Row) -> Sequence[Row]:
        return self._now.find(self._row_join.key(row), row[0])

    def end(self) -> None:
        super().end()
        self._now.clear()


class Minus(Judging):
    repeats = False

    def work(self, *inbox: list[Row]) -> list[Row]:
        rows, partners = inbox
        for row, partner in self.timeless.met_by(partners):
            if self._excludes(row, partner):
                self.timeless.check(row, self)
        self._partners.add(partners)
        remaining = [row for row in rows if not self._excluded(row)]
        for row in remaining:
            if row[1] is None:
                self.timeless.add(row)
        return remaining

    def _excluded(self, row: Row) -> bool:
        return any(self._excludes(row, other) for other in self._partners.find(self._row_join.key(row)))

    def _excludes(self, row: Row, other: Row) -> bool:
        return self._row_join.fits(row, other) and self._row_join.share(row, other)


class Mark(Judging):
    """EXISTS: the row with a boolean column that says whether there is a matching solution. A condition on both is
    evaluated at the time of that solution."""

    repeats = False

    def __init__(self, row_join: RowJoin, layout: tuple[Var, ...], condition: Expression | None) -> None:
        super().__init__(row_join, layout)
        self._condition = condition

    def work(self, *inbox: list[Row]) -> list[Row]:
        rows, partners = inbox
        for row, partner in self.timeless.met_by(partners):
            if self._is_met(row, (partner,)):
                self.timeless.check(row, self)
        self._partners.add(partners)
        marked = []
        for row in rows:
            met = self._is_met(row, self._partners.find(self._row_join.key(row)))
            marked.append((*row, _MARKS[met]))
            if row[1] is None and not met:
                self.timeless.add(row)
        return marked

    def _is_met(self, row: Row, others: Sequence[Row]) -> bool:
        fitting = [other for other in others if self._row_join.fits(row, other)]
        if self._condition is None or not fitting:
            return bool(fitting)
        both = [(*other[:2], *self._row_join.joined(row, (other,))[0][2:]) for other in fitting]
        return any(self._condition.holds(both))


class Timeless:
    """The rows without an interval that a node has taken, and whether an event may still change their result."""

    def __init__(self, row_join: RowJoin) -> None:
        self._row_join = row_join
        self._rows: dict[Any, list[Row]] = {}
        self._said: set[Row] = set()

    def add(self, row: Row, changes: bool = True) -> None:
        self._rows.setdefault(self._row_join.key(row), []).append(row)
        if changes:
            self._said.add(row)

    def met_by(self, partners: list[Row]) -> list[tuple[Row, Row]]:
        """Pairs of these rows and the events that match them."""
        key = self._row_join.other_key
        events = (partner for partner in partners if partner[1] is not None)
        return [(row, event) for event in events for row in self._rows.get(key(event), ())]

    def check(self, row: Row, node: Node) -> None:
        """Raise a QueryError if an event changes the result of a row without interval that was read already."""
        if node.read and row in self._said:
            raise QueryError(
                f"rule {node.rule}: an event changes a result of the background alone, which was read already",
                hint="put a pattern of the stream into the group that OPTIONAL, MINUS or FILTER (NOT) EXISTS stands in",
            )

"""NOT between two events: (A SEQ B) without any N that starts after A and ends before B.

The paper writes it, in its queries (5) and (6) too, as {A SEQ B} EQUALSOPTIONAL {A SEQ N SEQ B} FILTER (!BOUND(?n)).
Evaluated literally, that makes all pairs and all triples of events to keep a few. This node looks up the kept pairs
only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from penstock.algebra.expressions import Call, Expr, Var
from penstock.algebra.ops import EqualsOptional, Filter, Op, Seq
from penstock.algebra.scope import certain, conjuncts, visible
from penstock.algebra.smart_constructors import conjunction
from penstock.recursive_rules.rete.memory import Memory, State
from penstock.recursive_rules.rete.nodes import Scheduled
from penstock.recursive_rules.solutions.rows import Row, RowJoin, binds_all

__all__ = ["Gap", "NegatedSequence", "gap"]


@dataclass(frozen=True)
class Gap:
    """{before} SEQ NOT {absent} SEQ {after}, recognised in a filter, and the other conditions of that filter."""

    before: Op
    absent: Op
    after: Op
    condition: Expr


def gap(op: Filter) -> Gap | None:
    """The negated sequence that the filter writes; None if it is another filter. Operands may leave no variable
    unbound: then rows that match are equal in their shared variables."""
    match op:
        case Filter(condition, EqualsOptional(Seq(before, after), Seq(Seq(first, absent), last), None)):
            parts = conjuncts(condition)
            own = certain(absent) - visible(before) - visible(after)
            rest = [part for part in parts if not _asks_unbound(part, own)]
            all_bound = all(map(binds_all, (before, absent, after)))
            if (before, after) == (first, last) and len(rest) < len(parts) and all_bound:
                return Gap(before, absent, after, conjunction(rest))
    return None


def _asks_unbound(part: Expr, among: frozenset[Var]) -> bool:
    match part:
        case Call("!", (Call("BOUND", (Var() as var,)),)):
            return var in among
    return False


class NegatedSequence(Scheduled):
    """Rows (A SEQ B) without an N in between. Inputs: A, N, B.

    Of equal rows of A with one start the first to end says all: it is before B if another is, and an N after another is
    after it too. Likewise of equal rows of B the last to start.

    `row_join` joins B with A, `absent_join` both with N. `from_after` is the key to look N up by, where B alone tells
    it: then the latest start of an N before B tells at once how far back A may have ended.
    """

    past = frozenset((0, 1))
    complete = frozenset((2,))
    repeats = False

    def __init__(self, row_join: RowJoin, absent_join: RowJoin, from_after: Callable[[Row], Any] | None) -> None:
        super().__init__(absent_join.layout, 3)
        self._row_join = row_join
        self._absent_join = absent_join
        self._from_after = from_after
        self._before = First(row_join.other_key)
        self._absent = Latest(absent_join.other_key)

    def memories(self) -> dict[int, Memory]:
        return {0: self._before, 1: self._absent}

    def work(self, *inbox: list[Row]) -> list[Row]:
        last: dict[Row, Row] = {}
        for row in inbox[2]:
            if row[0] is not None and (row[2:] not in last or row[0] > last[row[2:]][0]):
                last[row[2:]] = row
        pairs = self._pairs_one_by_one if self._from_after is None else self._pairs_by_key
        return [self._absent_join.padded(row) for after in last.values() for row in pairs(after)]

    def _pairs_by_key(self, after: Row) -> list[Row]:
        assert self._from_after is not None
        start = self._absent.latest(self._from_after(after), after[0])
        return self._row_join.joined(after, self._before.between(self._row_join.key(after), start, after[0]))

    def _pairs_one_by_one(self, after: Row) -> Iterable[Row]:
        for before in self._before.before(self._row_join.key(after), after[0]):
            row = self._row_join.joined(after, (before,))[0]
            start = self._absent.latest(self._absent_join.key(row), after[0])
            if start is None or before[1] >= start:
                yield row


class First(Memory):
    """A memory that keeps, of equal rows with one start, the first to end."""

    def __init__(self, key: Callable[[Row], Any]) -> None:
        self._starts: set[Row] = set()
        super().__init__(key)

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            start = (row[0], *row[2:])
            if row[0] is not None and start not in self._starts:
                self._starts.add(start)
                super().add((row,))

    def _replace(self, rows: State) -> None:
        super()._replace(rows)
        self._starts = {(row[0], *row[2:]) for same_key in rows.values() for row in same_key}


class Latest(Memory):
    """A memory of the latest start of all rows that have ended by a time: rows (latest start, end), both ascending."""

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if row[0] is not None:
                same_key = self._rows.setdefault(self._key(row), [])
                if not same_key or same_key[-1][0] < row[0]:
                    same_key.append(row[:2])
                    self._count += 1

    def latest(self, key: Any, time: int) -> int | None:
        """The latest start of the rows that ended before this time."""
        latest = self.last_before(key, time)
        return None if latest is None else int(latest[0])

"""Evaluation instants of a span, and the rows of a relation at each instant of their validity interval.

    steps 10:   0         10        20        30        instants are multiples of the steps
                |---------|---------|---------|
    row             [from---------------to)             rows with an interval
                          *         *                   at_instants: one row per instant in it

Mostly the instants are periodic, and arithmetic finds those in a row's interval. Other windows change whenever an
element enters or leaves: then the instants are numbered in a view, and a row's bounds, which are instants themselves,
are looked up there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd

import numpy as np
import pyarrow as pa

from penstock.compile import sql
from penstock.compile.relation import FROM, INSTANT, TO, Relation
from penstock.compile.sql import Derived, Expr, Join, Query, Select, Table
from penstock.compile.windows.plan_span import (
    PlanSpan,
    Time,
    ceiling,
    down,
    earliest,
    floor,
    latest,
    moment,
    up,
    within,
)
from penstock.model.span import Span


@dataclass(frozen=True, slots=True)
class PeriodicInstants:
    """The instants of a span that are multiples of one of the steps."""

    steps: tuple[int, ...]
    span: PlanSpan

    @property
    def step(self) -> int:
        """The greatest common divisor of the steps."""
        return gcd(*self.steps)

    @property
    def first(self) -> Time:
        return earliest(ceiling(self.span.after + 1, step) for step in self.steps)

    @property
    def last(self) -> Time:
        return latest(floor(self.span.through, step) for step in self.steps)

    def __iter__(self) -> Iterator[int]:
        """The instants themselves, of a span that is known."""
        return filter(self._is_instant, self._lattice())

    def __reversed__(self) -> Iterator[int]:
        return filter(self._is_instant, reversed(self._lattice()))

    def _lattice(self) -> range:
        first, last = self.first, self.last
        assert isinstance(first, int)
        assert isinstance(last, int)
        return range(first, last + 1, self.step)

    def _is_instant(self, time: int) -> bool:
        return any(time % step == 0 for step in self.steps)

    def at_instants(self, relation: Relation) -> Relation:
        """Return a copy of each row for every instant of its validity interval."""
        others = [v for v in relation.vars if v not in (FROM, TO)]
        items = [*map(sql.name, [*others, *relation.hidden]), sql.alias(self._exploded(), INSTANT)]
        certain = relation.certain - {FROM, TO} | {INSTANT}
        text = Select(items, relation.sql)
        return replace(relation, sql=text, vars=(*others, INSTANT), certain=certain)

    def _exploded(self) -> Expr:
        return sql.call("explode", self.instants(FROM, TO))

    def instants(self, start: str, stop: str) -> Expr:
        """Return the array of instants in [start, stop), which are names of columns; NULL if there are none."""
        step = self.step
        low = sql.call("greatest", up(sql.name(start), step), moment(self.first))
        high = sql.call("least", down(sql.name(stop) - 1, step), moment(self.last))
        array = sql.call("sequence", low, high, sql.long(step))
        if step not in self.steps:
            t = sql.Parameter("t")
            due = sql.any_of(sql.call("pmod", t, sql.long(s)).eq(0) for s in self.steps)
            array = sql.call("filter", array, sql.Lambda(("t",), due))
        return sql.when(low <= high, array)

    def rounded(self, time: Expr) -> Expr:
        """Return the first instant that is not before a time."""
        instants = [up(time, step) for step in self.steps]
        return instants[0] if len(instants) == 1 else sql.call("least", *instants)

    def non_empty(self, contents: Iterable[Query], since: Iterable[Query]) -> Query:
        """Return the instants at which some window holds an element.

        `contents` select (from, to); of windows that elements never leave, `since`, only the first element matters.
        """
        parts: list[Query] = [Select([_FROM, _TO], content, distinct=True) for content in contents]
        begins = [sql.alias(sql.call("min", _FROM), FROM), sql.alias(moment(self.span.through + 1), TO)]
        has_rows = sql.call("count", 1) > 0
        parts += [Select(begins, content, having=has_rows) for content in since]
        return Select([sql.alias(self._exploded(), INSTANT)], sql.union_all(parts), distinct=True)


_FROM, _TO = sql.name(FROM), sql.name(TO)


@dataclass(frozen=True, slots=True)
class ChangeInstants:
    """Instants at which a window changes: a view of (k, t, due, held), in which the bounds of rows are looked up."""

    view: str
    span: PlanSpan

    def at_instants(self, relation: Relation) -> Relation:
        """Return a copy of each row for every instant of its validity interval."""
        others = [v for v in relation.vars if v not in (FROM, TO)]
        columns, column = [*others, *relation.hidden], sql.column
        bounds = [sql.alias(self._clamped(FROM), ".f"), sql.alias(self._clamped(TO), ".t")]
        joined: sql.From = Derived(Select([sql.STAR, *bounds], relation.sql), "r")
        for bound, at in ((".f", "a"), (".t", "b")):
            joined = Join(joined, Table(self.view, at), column("r", bound).eq(column(at, "t")))
        first, beyond = column("a", "k"), column("b", "k")
        number = sql.call("explode", sql.when(first < beyond, sql.call("sequence", first, beyond - 1)))
        numbered = Select([*(column("r", c) for c in columns), sql.alias(number, ".n")], joined)
        items = [*(column("n", c) for c in columns), sql.alias(column("i", "t"), INSTANT)]
        due = column("n", ".n").eq(column("i", "k")) & column("i", "due")
        text = Select(items, Join(Derived(numbered, "n"), Table(self.view, "i"), due))
        certain = relation.certain - {FROM, TO} | {INSTANT}
        return replace(relation, sql=text, vars=(*others, INSTANT), certain=certain)

    def rounded(self, time: Expr) -> Expr:
        """Return the time itself: with these windows the bounds of rows are instants."""
        return time

    def _clamped(self, bound: str) -> Expr:
        after = sql.call("greatest", sql.name(bound), moment(self.span.after))
        return sql.call("least", after, moment(self.span.through + 1))

    def non_empty(self, contents: Iterable[Query], since: Iterable[Query]) -> Query:
        """Return the instants at which some window holds an element."""
        is_instant = sql.name("due") & (sql.name("held") > 0)
        return Select([sql.alias(sql.name("t"), INSTANT)], Table(self.view), is_instant)

    @staticmethod
    def numbered(moving: Iterable[Query], still: Iterable[Query], instants: Iterable[Query], span: PlanSpan) -> Query:
        """Return the rows of the view, from SELECTs of (from, to).

        Every entry or exit of an element in `moving` is an instant, and so are the times that `instants` select; rows
        of `still` only begin and end to hold there. `held` is the number of visible elements. The bounds of the span
        are rows too, so that every bound that is clamped to the span is found.
        """
        low, high = moment(span.after), moment(span.through + 1)
        t, due, held = sql.name("t"), sql.name("due"), sql.name("held")
        begins = sql.struct(t=sql.call("greatest", _FROM, low), held=sql.lifted(1))
        ends = sql.struct(t=sql.call("least", _TO, high), held=sql.lifted(-1))
        bounds = sql.call("inline", sql.array(begins, ends))
        parts: list[Query] = [
            Select([bounds, sql.alias(is_due, "due")], query, (low <= _TO) & (high >= _FROM))
            for queries, is_due in ((moving, sql.TRUE), (still, sql.FALSE))
            for query in queries
        ]
        other = [sql.alias(0, "held"), sql.alias(sql.TRUE, "due")]
        parts += [Select([sql.alias(sql.name(INSTANT), "t"), *other], query) for query in instants]
        both = sql.call("explode", sql.array(low, high))
        parts.append(Select([sql.alias(both, "t"), sql.alias(0, "held"), sql.alias(sql.FALSE, "due")]))
        sums = [sql.alias(sql.call("max", due), "due"), sql.alias(sql.call("sum", held), "held")]
        summed = Select([t, *sums], sql.union_all(parts), group=[t])
        number, total = (sql.Over(call, (), [t]) for call in (sql.call("row_number"), sql.call("sum", held)))
        inside = due & within(t, span)
        return Select([sql.alias(number, "k"), t, sql.alias(inside, "due"), sql.alias(total, "held")], summed)

    @staticmethod
    def counted(bounds: Sequence[tuple[np.ndarray, np.ndarray]], span: Span) -> pa.Table:
        """Return the same rows as a table, from entry and exit times that are known in the driver."""
        low, high = span.after, span.through + 1
        near = [(start[is_near], end[is_near]) for start, end in bounds for is_near in [(end >= low) & (start <= high)]]
        ends = [np.array([low, high]), *(np.maximum(start, low) for start, _ in near)]
        times, places = np.unique(
            np.concatenate([*ends, *(np.minimum(end, high) for _, end in near)]), return_inverse=True
        )
        count = sum(len(start) for start, _ in near)
        changes = np.repeat([0, 1, -1], [2, count, count])
        held = np.cumsum(np.bincount(places, weights=changes)).astype(np.int64)
        due = np.isin(np.arange(len(times)), places[2:]) & (times > span.after) & (times <= span.through)
        numbered = np.arange(1, len(times) + 1, dtype=np.int32), times.astype(np.int64), due, held
        return pa.table([*map(pa.Array.from_pandas, numbered)], names=["k", "t", "due", "held"])


EvaluationInstants = PeriodicInstants | ChangeInstants

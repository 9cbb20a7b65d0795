"""Evaluation instants: which there are, and a copy of every row for each one at which it holds.

Mostly the instants are a lattice, the multiples of some steps, and arithmetic finds those in a row's interval. Other
windows change whenever elements come or leave: then the instants are numbered in a view, and a row's bounds, which are
instants themselves, are looked up there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd

import numpy as np
import pyarrow as pa

from penstock.algebra.windows import ceiling, floor
from penstock.compile import sql
from penstock.compile.relation import FROM, INSTANT, TO, Relation
from penstock.model.span import Span


def within(time: str, span: Span) -> str:
    """Whether a time lies in the span, as SQL."""
    return f"({time} > {span.after}L AND {time} <= {span.through}L)"


@dataclass(frozen=True, slots=True)
class PeriodicInstants:
    """The multiples of any of the steps, within a span."""

    steps: tuple[int, ...]
    span: Span

    @property
    def step(self) -> int:
        return gcd(*self.steps)

    @property
    def first(self) -> int:
        return min(ceiling(self.span.after + 1, step) for step in self.steps)

    @property
    def last(self) -> int:
        return max(floor(self.span.through, step) for step in self.steps)

    def __iter__(self) -> Iterator[int]:
        """The instants themselves."""
        lattice = range(self.first, self.last + 1, self.step)
        return (t for t in lattice if any(t % step == 0 for step in self.steps))

    def at_instants(self, relation: Relation) -> Relation:
        kept = [v for v in relation.vars if v not in (FROM, TO)]
        items = [*map(sql.name, [*kept, *relation.hidden]), sql.alias(self._exploded(), INSTANT)]
        text = f"SELECT {', '.join(items)} FROM ({relation.sql}) t"
        certain = relation.certain - {FROM, TO} | {INSTANT}
        return replace(relation, sql=text, vars=(*kept, INSTANT), certain=certain, most=None)

    def _exploded(self) -> str:
        return f"explode({self.instants(FROM, TO)})"

    def instants(self, start: str, stop: str) -> str:
        """An array of the instants from one column's value up to, but not including, another's; NULL for none."""
        step = self.step
        low = f"greatest({up(sql.name(start), step)}, {self.first}L)"
        high = f"least({down(f'{sql.name(stop)} - 1', step)}, {self.last}L)"
        array = f"sequence({low}, {high}, {step}L)"
        if step not in self.steps:
            array = f"filter({array}, t -> {sql.any_of(f'pmod(t, {s}L) = 0' for s in self.steps)})"
        return sql.when(f"{low} <= {high}", array)

    def rounded(self, time: str) -> str:
        """The first instant that is not before a time."""
        found = [up(time, step) for step in self.steps]
        return found[0] if len(found) == 1 else sql.call("least", *found)

    def non_empty(self, contents: Iterable[str], since: Iterable[str]) -> str:
        """The instants at which there is something: SELECTs of (from, to), and of the start of what never ends."""
        parts = [f"SELECT DISTINCT `{FROM}`, `{TO}` FROM ({content})" for content in contents]
        end = f"{self.span.through + 1}L"
        begins = f"SELECT min(`{FROM}`) AS `{FROM}`, {end} AS `{TO}`"
        parts += [f"{begins} FROM ({content}) HAVING count(1) > 0" for content in since]
        return f"SELECT DISTINCT {self._exploded()} AS `{INSTANT}` FROM ({' UNION ALL '.join(parts)})"


def up(value: str, step: int) -> str:
    """The SQL of `windows.ceiling`."""
    return f"({value} + pmod(-({value}), {step}L))"


def down(value: str, step: int) -> str:
    """The SQL of `windows.floor`."""
    return f"({value} - pmod({value}, {step}L))"


@dataclass(frozen=True, slots=True)
class ChangeInstants:
    """Numbered instants: a view of (k, t, due, held), where rows' bounds are looked up once they are in the span."""

    view: str
    span: Span

    def at_instants(self, relation: Relation) -> Relation:
        kept = [v for v in relation.vars if v not in (FROM, TO)]
        columns = [*map(sql.name, [*kept, *relation.hidden])]
        clamped = f"SELECT *, {self._clamped(FROM)} AS `.f`, {self._clamped(TO)} AS `.t` FROM ({relation.sql})"
        found = f"({clamped}) r JOIN {self.view} a ON r.`.f` = a.t JOIN {self.view} b ON r.`.t` = b.t"
        number = "explode(CASE WHEN a.k < b.k THEN sequence(a.k, b.k - 1) END) AS `.n`"
        numbered = f"SELECT {', '.join([*(f'r.{c}' for c in columns), number])} FROM {found}"
        items = [*(f"n.{c}" for c in columns), f"i.t AS `{INSTANT}`"]
        text = f"SELECT {', '.join(items)} FROM ({numbered}) n JOIN {self.view} i ON n.`.n` = i.k AND i.due"
        certain = relation.certain - {FROM, TO} | {INSTANT}
        return replace(relation, sql=text, vars=(*kept, INSTANT), certain=certain, most=None)

    def rounded(self, time: str) -> str:
        """The first instant that is not before a time: here a row's bounds are instants themselves."""
        return time

    def _clamped(self, bound: str) -> str:
        return f"least(greatest(`{bound}`, {self.span.after}L), {self.span.through + 1}L)"

    def non_empty(self, contents: Iterable[str], since: Iterable[str]) -> str:
        return f"SELECT t AS `{INSTANT}` FROM {self.view} WHERE due AND held > 0"

    @staticmethod
    def numbered(moving: Iterable[str], still: Iterable[str], instants: Iterable[str], span: Span) -> str:
        """The view, from SELECTs of (from, to). Where something of `moving` comes or leaves is an instant, as are those
        that `instants` select; rows of `still` only begin and cease to hold there. `held` says how much is visible.

        With the ends of the span every bound that is clamped to it can be found.
        """
        low, high = f"{span.after}L", f"{span.through + 1}L"
        bounds = f"struct(greatest(`{FROM}`, {low}) AS t, 1 AS held), struct(least(`{TO}`, {high}) AS t, -1 AS held)"
        parts = [
            f"SELECT inline(array({bounds})), {due} AS due FROM ({text}) WHERE `{TO}` >= {low} AND `{FROM}` <= {high}"
            for texts, due in ((moving, "true"), (still, "false"))
            for text in texts
        ]
        parts += [f"SELECT `{INSTANT}` AS t, 0 AS held, true AS due FROM ({text})" for text in instants]
        parts.append(f"SELECT explode(array({low}, {high})) AS t, 0 AS held, false AS due")
        summed = f"SELECT t, max(due) AS due, sum(held) AS held FROM ({' UNION ALL '.join(parts)}) GROUP BY t"
        within = f"due AND t > {span.after} AND t <= {span.through}"
        order = "OVER (ORDER BY t)"
        return f"SELECT row_number() {order} AS k, t, {within} AS due, sum(held) {order} AS held FROM ({summed})"

    @staticmethod
    def counted(bounds: Sequence[tuple[np.ndarray, np.ndarray]], span: Span) -> pa.Table:
        """The same rows, of what comes and leaves at these times, and is moving."""
        low, high = span.after, span.through + 1
        near = [(start[kept], end[kept]) for start, end in bounds for kept in [(end >= low) & (start <= high)]]
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

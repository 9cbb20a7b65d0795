"""Distributed aggregates, computed per part of the data, by stream or by branch (C-SPARQL, section 5.2).

| class | what it takes | how the results are put together |
| --- | --- | --- |
| totally | every group belongs to one part of the data | they are: the union of the groups |
| partially | groups cross the parts; the function has a partial form | counts and sums are added, extremes compared |
| not | neither | all rows have to come together |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Var
from penstock.algebra.occurrence import inner_plans
from penstock.algebra.ops import Annotate, Group, Op, StreamWindow
from penstock.algebra.pattern_scope import DEFAULT_SCOPE, PatternScope
from penstock.algebra.scope import NONE, Vars, references, union_of, visible
from penstock.optimise.branches import branches, reads_same, values
from penstock.optimise.statics import is_steady
from penstock.optimise.statistics import Uniform

__all__ = [
    "COMBINED", "Distributable", "Distribution", "classify", "has_partial_form", "is_movable", "named_by", "separating",
]  # fmt: skip


class Distributable(Enum):
    """The paper's classes of aggregates."""

    TOTALLY = "totally"
    PARTIALLY = "partially"
    NOT = "not"


@dataclass(frozen=True, slots=True)
class Distribution:
    """The class of one aggregate of a plan, and why it is in it."""

    var: Var
    aggregate: Aggregate
    kind: Distributable
    why: str


COMBINED = {"COUNT": "SUM", "SUM": "SUM", "MIN": "MIN", "MAX": "MAX", "SAMPLE": "SAMPLE"}
"""The aggregate that combines partial results, for each that has one. AVG has none: it takes sums and counts."""

_SAME_IF_DISTINCT = frozenset(("MIN", "MAX", "SAMPLE"))


def has_partial_form(aggregate: Aggregate) -> bool:
    """Whether results of parts of a group make the result of the whole. The order of a GROUP_CONCAT would change."""
    if aggregate.distinct:
        return aggregate.name in _SAME_IF_DISTINCT
    return aggregate.name == "AVG" or aggregate.name in COMBINED


def is_movable(aggregate: Aggregate, pattern: Op, parts: tuple[Op, ...]) -> bool:
    """Whether the argument of an aggregate over a pattern has the same value for a row in each part of it."""
    return is_steady(aggregate, Uniform()) and reads_same(aggregate, pattern, parts)


def separating(keys: Iterable[Var], parts: tuple[Op, ...]) -> Vars:
    """Keys by which no group has rows of two parts; none if there are not enough of them."""
    needed = [
        next((key for key in keys if values(one, key).differ(values(other, key))), None)
        for one, other in combinations(parts, 2)
    ]
    return NONE if None in needed else frozenset(key for key in needed if key is not None)


def classify(op: Op, streams: tuple[StreamWindow, ...] = ()) -> list[Distribution]:
    """The aggregates of a plan in their classes, from the root down; `streams` are the windows of the query."""
    return [pair for node, place in _placed(op, DEFAULT_SCOPE) for pair in _of_node(node, place, streams)]


def _placed(op: Op, place: PatternScope) -> Iterator[tuple[Op, PatternScope]]:
    yield op, place
    for inner in inner_plans(op):
        yield from _placed(inner, place.inside(op))


def _of_node(op: Op, place: PatternScope, streams: tuple[StreamWindow, ...]) -> Iterator[Distribution]:
    match op:
        case Group(keys, aggregates, pattern):
            of = _Grouped(keys, pattern, place, streams)
            yield from (Distribution(var, aggregate, *of.judged(aggregate)) for var, aggregate in aggregates)
        case Annotate(var, aggregate, keys, pattern):
            yield Distribution(var, aggregate, *_Grouped(keys, pattern, place, streams).judged(aggregate))


@dataclass(frozen=True, slots=True)
class _Grouped:
    """The rows that are grouped, and where they stand."""

    keys: tuple[Var, ...]
    pattern: Op
    place: PatternScope
    streams: tuple[StreamWindow, ...]

    def judged(self, aggregate: Aggregate) -> tuple[Distributable, str]:
        parts = branches(self.pattern)
        if not is_movable(aggregate, self.pattern, parts):
            return Distributable.NOT, "its argument depends on more than the rows of one part"
        if together := self._together(aggregate, parts):
            return Distributable.TOTALLY, together
        if has_partial_form(aggregate):
            return Distributable.PARTIALLY, f"{self._crossed(parts)}; {_COMBINING[aggregate.name]}"
        return Distributable.NOT, f"{self._crossed(parts)}, and {_HOLISTIC[aggregate.distinct]}"

    def _together(self, aggregate: Aggregate, parts: tuple[Op, ...]) -> str:
        """The reason why each group is in one part; empty if it is not."""
        if name := named_by(self.keys, self.pattern):
            return f"?{name.name} names the stream or graph, so that each group is in one of them"
        if len(parts) > 1:
            keys = separating(self.keys, parts)
            return f"{_listed(keys)} differ{'s' * (len(keys) == 1)} between the branches of UNION" if keys else ""
        windows = {window for _, read in self._reads() for window in read}
        from_streams = union_of(vars for vars, read in self._reads() if read)
        if len(windows) != 1 or not (frozenset(self.keys) | references(aggregate)) <= from_streams:
            return ""
        return f"all of it comes from the stream <{windows.pop().iri.value}>"

    def _crossed(self, parts: tuple[Op, ...]) -> str:
        if len(parts) > 1:
            return "a group may have rows of several branches of UNION"
        windows = {window for _, read in self._reads() for window in read}
        if len(windows) > 1:
            return "a group may have rows of several streams"
        return "a group has rows of several panes of its window" if windows else "it reads no stream"

    def _reads(self) -> Iterator[tuple[Vars, tuple[StreamWindow, ...]]]:
        """The variables of each triple pattern, and the windows in which it may match."""
        for node, place in _placed(self.pattern, self.place):
            match node:
                case ops.Bgp(patterns):
                    for pattern in patterns:
                        yield visible(ops.Bgp((pattern,))), place.windows(self.streams)
                case ops.Path():
                    yield visible(node), place.windows(self.streams)


_COMBINING = {
    "COUNT": "the counts are added up",
    "SUM": "the sums are added up",
    "AVG": "sums and counts are added up, and divided at the end",
    "MIN": "the least of the least is taken",
    "MAX": "the greatest of the greatest is taken",
    "SAMPLE": "one of the samples is taken",
}
_HOLISTIC = {True: "the same value in two parts counts once", False: "its order is that of all rows"}


def named_by(keys: tuple[Var, ...], pattern: Op) -> Var | None:
    """The key that names the graph or window which the whole pattern reads, if one does."""
    match pattern:
        case ops.Graph(Var() as name, _) | ops.InWindow(Var() as name, _) if name in keys:
            return name
        case ops.Filter(_, inner) | ops.Extend(_, _, inner):
            return named_by(keys, inner)
        case ops.Project(vars, inner):
            return named_by(tuple(key for key in keys if key in vars), inner)
    return None


def _listed(vars: Vars) -> str:
    return " and ".join(f"?{var.name}" for var in sorted(vars))

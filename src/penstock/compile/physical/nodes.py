"""Physical operators: each is the logical operator that it implements, with the parameters of its algorithm.

A logical operator that stays in a physical plan has the algorithm that always works: a join whose algorithm Spark
chooses, an OPTIONAL or MINUS instant by instant, a static view computed in place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.ops import Physical
from penstock.algebra.windows import UNITS
from penstock.compile.relation import Relation, Terms

__all__ = [
    "BroadcastJoin",
    "HashJoin",
    "IntervalDistinct",
    "IntervalEqualsOptional",
    "IntervalLeftJoin",
    "IntervalMinus",
    "IntervalOptionalSeq",
    "KeyedGraph",
    "ReducedScan",
    "RunningCounts",
    "SequenceBucketJoin",
    "SequenceTasks",
    "Side",
    "TermReduction",
    "TimeBucketJoin",
    "ViewLookup",
    "ViewScan",
    "duration",
]

Side = Literal["left", "right"]


def duration(microseconds: int) -> str:
    """Return a duration with one unit: 1.5s."""
    unit = max((unit for unit in UNITS if UNITS[unit] <= microseconds), key=lambda unit: UNITS[unit], default="us")
    return f"{microseconds / UNITS[unit]:.3g}{unit}"


def _variables(vars: Iterable[Var]) -> str:
    return " ".join(f"?{var.name}" for var in vars)


# Joins


@dataclass(frozen=True, slots=True)
class BroadcastJoin(ops.Join, Physical):
    """A hash join: one side is sent to every task, and the other is not shuffled."""

    side: Side

    @property
    def parameters(self) -> tuple[str, ...]:
        return (self.side,)

    @property
    def algorithm(self) -> str:
        return f"broadcast of the {self.side} side"


@dataclass(frozen=True, slots=True)
class HashJoin(ops.Join, Physical):
    """A hash join: both sides are shuffled by their shared variables, and one side is the hash table of each task."""

    build: Side

    @property
    def parameters(self) -> tuple[str, ...]:
        return (self.build,)

    @property
    def algorithm(self) -> str:
        return f"shuffled hash join, built from the {self.build} side"


@dataclass(frozen=True, slots=True)
class TimeBucketJoin(ops.Join, Physical):
    """A shuffled hash join of rows with validity intervals, by their shared variables and a bucket of time."""

    width: int  # microseconds

    @property
    def parameters(self) -> tuple[str, ...]:
        return (duration(self.width),)

    @property
    def algorithm(self) -> str:
        return f"in buckets of {duration(self.width)}"


# Sequences of events


@dataclass(frozen=True, slots=True)
class SequenceBucketJoin(ops.Seq, Physical):
    """A SEQ that lasts at most `within`, joined in buckets of time.

    `hashed` says that the sides are large, and are shuffled into a hash join.
    """

    within: int  # microseconds
    width: int
    hashed: bool

    @property
    def parameters(self) -> tuple[str, ...]:
        return duration(self.within), duration(self.width)

    @property
    def algorithm(self) -> str:
        return f"within {duration(self.within)}: in buckets of {duration(self.width)}"


@dataclass(frozen=True, slots=True)
class SequenceTasks(ops.Seq, Physical):
    """A SEQ of single events that lasts at most `within`: tasks that each evaluate one piece of time.

    A piece is the pair of its bounds (after, through); None as the first bound is the beginning of time.
    """

    within: int  # microseconds
    pieces: tuple[tuple[int | None, int], ...]

    @property
    def parameters(self) -> tuple[str, ...]:
        return duration(self.within), str(len(self.pieces))

    @property
    def algorithm(self) -> str:
        return f"within {duration(self.within)}: in {len(self.pieces)} tasks"


# Operators on validity intervals


class _OnIntervals(Physical):
    """Base of operators on validity intervals: no row is copied to each instant at which it holds."""

    __slots__ = ()

    @property
    def algorithm(self) -> str:
        return "on validity intervals"


@dataclass(frozen=True, slots=True)
class IntervalLeftJoin(ops.LeftJoin, _OnIntervals):
    """An OPTIONAL on validity intervals."""


@dataclass(frozen=True, slots=True)
class IntervalOptionalSeq(ops.OptionalSeq, _OnIntervals):
    """An OPTIONALSEQ on validity intervals."""


@dataclass(frozen=True, slots=True)
class IntervalEqualsOptional(ops.EqualsOptional, _OnIntervals):
    """An EQUALSOPTIONAL on validity intervals."""


@dataclass(frozen=True, slots=True)
class IntervalMinus(ops.Minus, _OnIntervals):
    """A MINUS on validity intervals."""


@dataclass(frozen=True, slots=True)
class IntervalDistinct(ops.Distinct, _OnIntervals):
    """A DISTINCT on validity intervals."""


@dataclass(frozen=True, slots=True)
class RunningCounts(ops.Group, Physical):
    """Counts of groups with validity intervals, by running sums in the order of time."""

    @property
    def algorithm(self) -> str:
        return "running sums over time"


# Scans


@dataclass(frozen=True, slots=True)
class TermReduction:
    """A semi-join reduction of a scan: in this column only these terms can have a join partner.

    `share` is their share of the distinct terms of the column.
    """

    column: str
    var: Var
    terms: Terms
    share: float


@dataclass(frozen=True, slots=True)
class ReducedScan(ops.Bgp, Physical):
    """A triple pattern whose elements are reduced to those that can have a join partner.

    The reductions of a window are found by its number among the windows that the pattern reads.
    """

    reductions: tuple[tuple[TermReduction, ...], ...]

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(f"{len(each.terms)}×?{each.var.name}" for window in self.reductions for each in window)

    @property
    def algorithm(self) -> str:
        parts = (
            f"only {len(each.terms):,} terms of ?{each.var.name}, {each.share:.1%} of the distinct terms"
            for window in self.reductions
            for each in window
        )
        return "; ".join(dict.fromkeys(parts))


@dataclass(frozen=True, slots=True)
class KeyedGraph(ops.Graph, Physical):
    """A pattern on all named graphs at once: `key` is the column with the name of the graph."""

    key: str

    @property
    def algorithm(self) -> str:
        return "all graphs at once"


@dataclass(frozen=True, slots=True)
class ViewScan(ops.StaticView, Physical):
    """A materialised view that is read whole. `vars` are the variables of the columns of `relation`, in its order."""

    vars: tuple[Var, ...]
    rows: int
    relation: Relation = field(compare=False, repr=False)

    @property
    def parameters(self) -> tuple[str, ...]:
        return (str(self.rows),)

    @property
    def algorithm(self) -> str:
        return f"{self.rows:,} rows read whole"


@dataclass(frozen=True, slots=True)
class ViewLookup(ViewScan):
    """The rows of a materialised view with the terms that the other side of the join has, looked up in the driver."""

    by: tuple[Var, ...]
    of: int  # rows of the whole view
    table: pa.Table = field(compare=False, repr=False)

    @property
    def parameters(self) -> tuple[str, ...]:
        return str(self.rows), str(self.of), *(f"?{var.name}" for var in self.by)

    @property
    def algorithm(self) -> str:
        return f"{self.rows:,} of {self.of:,} rows looked up by {_variables(self.by)}"

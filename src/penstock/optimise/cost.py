"""The cost model: cardinality and number of distinct terms of a plan, and the time that it may take.

The textbook estimate of rows: a join keeps of the product the share 1 / max(distinct left, distinct right) for each
shared variable.

The cost of a plan is in microseconds of the machine that measured it; only ratios matter. A join costs

    each + moved · (rows that come to it) + read · (rows that lie ready for it) + output · (rows that it makes)

A plan is made for all instants of a span at once, and a row of a join holds as long as all that it is made of. So the
rows of an instant count as often as they are others in the span: 1 + T · Σ 1/l times for windows whose elements are
visible for the times l, when T passes.

Rows of a materialised view (`StaticView`) lie ready for all evaluations, and others are hashed, and sent from core to
core, for this join. What a leaf reads it reads in any order, so that is left out; a view costs nothing to make.
The four constants are fields of `Tuning`, and measured: `python -m benchmarks.run cost` joins relations of many sizes,
finds by least squares the constants that tell those times best, and says how well they rank them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Expr, Var
from penstock.algebra.ops import Op, TriplePattern
from penstock.algebra.scope import certain, conjuncts, visible
from penstock.optimise.statistics import Position, Statistics
from penstock.tuning import DEFAULT, Tuning

__all__ = [
    "Estimate",
    "Model",
    "cost",
    "estimate",
    "joined",
    "of_pattern",
    "rows_joined",
    "rows_made",
    "weigh",
]

Shares: TypeAlias = Mapping[Op | TriplePattern, float]
NOTHING_LEFT_OUT: Shares = MappingProxyType({})

FEWEST = 1e-9  # below one row, so that what matches nothing comes first, and above zero, so that products still differ


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cardinality at an instant, and how often the rows change within one evaluation.

    `distinct` holds the variables that join by equality; one that may be unbound joins with everything.
    """

    rows: float
    distinct: Mapping[Var, float]
    changes: float = 0.0

    @property
    def in_all(self) -> float:
        """The rows of all instants."""
        return self.rows * (1.0 + self.changes)


@dataclass(frozen=True, slots=True)
class Model:
    """The constants of the cost model, in microseconds: per join, and per row of each kind."""

    each: float
    moved: float
    read: float
    output: float

    @classmethod
    def of(cls, tuning: Tuning) -> Model:
        """The model with the constants of a record."""
        return cls(tuning.join_us, tuning.moved_row_us, tuning.ready_row_us, tuning.made_row_us)

    def brought(self, rows: float, kept: bool) -> float:
        """The cost of bringing rows to one side of a join."""
        return (self.read if kept else self.moved) * rows

    def made(self, rows: float) -> float:
        """The cost of the output rows of a join."""
        return self.each + self.output * rows


_ROWS_MADE = Model(each=0.0, moved=0.0, read=0.0, output=1.0)  # not a time: how many rows all joins make


def joined(left: Estimate, right: Estimate) -> Estimate:
    """The estimate of the join on the variables that both sides certainly bind."""
    distinct = {**left.distinct, **right.distinct}
    for var in left.distinct.keys() & right.distinct.keys():
        distinct[var] = min(left.distinct[var], right.distinct[var])
    return Estimate(rows_joined(left, right), distinct, left.changes + right.changes)


def rows_joined(left: Estimate, right: Estimate) -> float:
    """The number of rows alone, for choosing among many candidates."""
    rows = left.rows * right.rows
    others = left.distinct
    for var, count in right.distinct.items():
        if var in others:
            rows /= max(others[var], count, 1.0)
    return max(rows, FEWEST)


def of_pattern(pattern: TriplePattern, statistics: Statistics) -> Estimate:
    rows = max(FEWEST, statistics.count(pattern))
    distinct: dict[Var, float] = {}
    for position, term in _positions(pattern):
        if isinstance(term, Var):
            known = min(rows, statistics.distinct(pattern.predicate, position))
            distinct[term] = min(known, distinct.get(term, known))
    return Estimate(rows, distinct, statistics.changes(pattern.predicate))


def _positions(pattern: TriplePattern) -> tuple[tuple[Position, object], ...]:
    return ("subject", pattern.subject), ("predicate", pattern.predicate), ("object", pattern.object)


def estimate(op: Op, statistics: Statistics, tuning: Tuning = DEFAULT) -> Estimate:
    """The estimate of a plan; only variables that are certainly bound count as join keys."""
    return weigh(op, statistics, tuning)[0]


def cost(op: Op, statistics: Statistics, tuning: Tuning = DEFAULT) -> float:
    """The cost of all joins of a plan."""
    return weigh(op, statistics, tuning)[1]


def rows_made(
    op: Op, statistics: Statistics, tuning: Tuning = DEFAULT, selectivity: Shares = NOTHING_LEFT_OUT
) -> float:
    """The rows that all joins of a plan make. `selectivity` is the share of rows of some parts that is asked for."""
    return _weigh(op, statistics, tuning, _ROWS_MADE, selectivity)[1]


def weigh(op: Op, statistics: Statistics, tuning: Tuning = DEFAULT) -> tuple[Estimate, float]:
    """The estimate of a plan, and its cost."""
    return _weigh(op, statistics, tuning, Model.of(tuning), NOTHING_LEFT_OUT)


def _weigh(op: Op, statistics: Statistics, tuning: Tuning, model: Model, selectivity: Shares) -> tuple[Estimate, float]:
    if isinstance(op, ops.Bgp):
        return _chained([_selected(of_pattern(p, statistics), selectivity.get(p)) for p in op.patterns], model)
    inside = statistics.inside(op)
    below = [_weigh(child, inside, tuning, model, selectivity) for child in op.children]
    rows = _estimated(op, [each for each, _ in below], statistics, tuning)
    if isinstance(op, ops.StaticView):
        return _selected(rows, selectivity.get(op)), 0.0
    return rows, sum(spent for _, spent in below) + _own(op, [each for each, _ in below], rows, model)


def _selected(whole: Estimate, share: float | None) -> Estimate:
    """The estimate of a share of the rows; None: of all."""
    if share is None:
        return whole
    rows = max(FEWEST, whole.rows * share)
    return replace(whole, rows=rows, distinct={var: min(count, rows) for var, count in whole.distinct.items()})


def _chained(patterns: list[Estimate], model: Model) -> tuple[Estimate, float]:
    """The estimate of triple patterns, joined from the left, and the cost of these joins."""
    chain, spent = (patterns[0] if patterns else Estimate(1.0, {})), 0.0
    for each in patterns[1:]:
        spent += model.brought(chain.in_all, kept=False) + model.brought(each.in_all, kept=False)
        chain = joined(chain, each)
        spent += model.made(chain.in_all)
    return chain, spent


def _own(op: Op, below: list[Estimate], output: Estimate, model: Model) -> float:
    """The cost of an operator itself, without those below."""
    if len(below) < 2 or isinstance(op, ops.Union):
        return 0.0
    brought = (
        model.brought(e.in_all, isinstance(side, ops.StaticView)) for side, e in zip(op.children, below, strict=True)
    )
    return model.made(output.in_all) + sum(brought)


def _estimated(op: Op, below: list[Estimate], statistics: Statistics, tuning: Tuning) -> Estimate:
    match op:
        case ops.Path():
            rows = statistics.triples() * tuning.path_growth / 10 ** (2 - len(visible(op)))
        case ops.Table(vars, table):
            return Estimate(max(FEWEST, len(table)), _columns(op, vars, table))
        case ops.Join() | ops.Seq() | ops.Equals():
            return _restricted(op, joined(*below))
        case ops.LeftJoin() | ops.EqualsOptional():
            rows = max(below[0].rows, joined(*below).rows)
        case ops.OptionalSeq():
            rows = max(below[1].rows, joined(*below).rows)
        case ops.Union():
            rows = below[0].rows + below[1].rows
        case ops.Filter(condition, _):
            rows = below[0].rows * _selectivity(condition, tuning)
        case ops.Group(keys, _, _):
            rows = _groups(keys, below[0])
        case ops.Slice(_, int() as limit, _):
            rows = min(below[0].rows, limit)
        case _:
            rows = below[0].rows if below else 1.0
    merged = {var: count for each in reversed(below) for var, count in each.distinct.items()}
    changes = max if isinstance(op, ops.Union) else sum
    return _restricted(op, Estimate(max(rows, FEWEST), merged, changes(each.changes for each in below)))


def _columns(op: Op, vars: tuple[Var, ...], rows: tuple[tuple[object, ...], ...]) -> dict[Var, float]:
    bound = certain(op)
    return {var: float(len({row[i] for row in rows})) for i, var in enumerate(vars) if var in bound}


def _restricted(op: Op, rough: Estimate) -> Estimate:
    """The estimate with at most as many distinct terms as rows, and only for variables that are certainly bound."""
    distinct = {v: min(rough.rows, rough.distinct.get(v, rough.rows)) for v in certain(op)}
    return Estimate(rough.rows, distinct, rough.changes)


def _selectivity(condition: Expr, tuning: Tuning) -> float:
    """The share of rows that a filter keeps."""
    share = 1.0
    for conjunct in conjuncts(condition):
        is_equation = isinstance(conjunct, Call) and conjunct.name in ("=", "SAMETERM", "IN")
        share *= tuning.equality_selectivity if is_equation else tuning.filter_selectivity
    return share


def _groups(keys: tuple[Var, ...], below: Estimate) -> float:
    groups = 1.0
    for key in keys:
        groups *= below.distinct.get(key, below.rows)
    return min(groups, below.rows) if keys else 1.0

"""How many solutions a plan may have, and in how many different terms of each variable.

The textbook estimate: a join keeps of the product the share 1 / max(distinct left, distinct right) for each shared
variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Expr, Var
from penstock.algebra.ops import Op, TriplePattern
from penstock.algebra.scope import certain, conjuncts, visible
from penstock.optimise.statistics import Position, Statistics

__all__ = ["Estimate", "estimate", "joined", "of_pattern", "rows_joined"]

FILTER_KEEPS = 0.3
EQUALITY_KEEPS = 0.05
PATH_GROWS = 5.0
FEWEST = 0.01  # below one row, so that what matches nothing comes first, and above zero, so that products still differ


@dataclass(frozen=True, slots=True)
class Estimate:
    """`distinct` holds the variables that join by equality; one that may be unbound joins with everything."""

    rows: float
    distinct: Mapping[Var, float]


def joined(left: Estimate, right: Estimate) -> Estimate:
    """Both, joined on the variables that both bind for certain."""
    distinct = {**left.distinct, **right.distinct}
    for var in left.distinct.keys() & right.distinct.keys():
        distinct[var] = min(left.distinct[var], right.distinct[var])
    return Estimate(rows_joined(left, right), distinct)


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
    return Estimate(rows, distinct)


def _positions(pattern: TriplePattern) -> tuple[tuple[Position, object], ...]:
    return ("subject", pattern.subject), ("predicate", pattern.predicate), ("object", pattern.object)


def estimate(op: Op, statistics: Statistics) -> Estimate:
    """Of any plan; only what binds its variables for certain counts as joining on them."""
    below = [estimate(child, statistics) for child in op.children]
    match op:
        case ops.Bgp(patterns):
            return _of_all([of_pattern(pattern, statistics) for pattern in patterns])
        case ops.Path():
            rows = statistics.triples() * PATH_GROWS / 10 ** (2 - len(visible(op)))
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
            rows = below[0].rows * _kept(condition)
        case ops.Group(keys, _, _):
            rows = _groups(keys, below[0])
        case ops.Slice(_, int() as limit, _):
            rows = min(below[0].rows, limit)
        case _:
            rows = below[0].rows if below else 1.0
    merged = {var: count for each in reversed(below) for var, count in each.distinct.items()}
    return _restricted(op, Estimate(max(rows, FEWEST), merged))


def _of_all(estimates: list[Estimate]) -> Estimate:
    result = Estimate(1.0, {})
    for each in estimates:
        result = joined(result, each)
    return result


def _columns(op: Op, vars: tuple[Var, ...], rows: tuple[tuple[object, ...], ...]) -> dict[Var, float]:
    bound = certain(op)
    return {var: float(len({row[i] for row in rows})) for i, var in enumerate(vars) if var in bound}


def _restricted(op: Op, found: Estimate) -> Estimate:
    """No more different terms than rows, and only of variables that are certain here."""
    return Estimate(found.rows, {v: min(found.rows, found.distinct.get(v, found.rows)) for v in certain(op)})


def _kept(condition: Expr) -> float:
    kept = 1.0
    for part in conjuncts(condition):
        equality = isinstance(part, Call) and part.name in ("=", "SAMETERM", "IN")
        kept *= EQUALITY_KEEPS if equality else FILTER_KEEPS
    return kept


def _groups(keys: tuple[Var, ...], below: Estimate) -> float:
    groups = 1.0
    for key in keys:
        groups *= below.distinct.get(key, below.rows)
    return min(groups, below.rows) if keys else 1.0

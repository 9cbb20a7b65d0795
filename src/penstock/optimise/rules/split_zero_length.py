"""A path that may have length zero, from a node that the stream binds, leads to that node or along the background."""

from __future__ import annotations

from functools import reduce

from penstock.algebra import ops
from penstock.algebra import smart_constructors as make
from penstock.algebra.expressions import Call, PatternTerm, Var
from penstock.algebra.ops import Bgp, Join, Op, Path
from penstock.algebra.scope import certain, visible
from penstock.optimise.statics import is_static, operands
from penstock.optimise.statistics import Statistics
from penstock.tuning import DEFAULT, Tuning

__all__ = ["split_zero_length"]


def split_zero_length(op: Op, statistics: Statistics, _: Tuning = DEFAULT) -> Op:
    """Join(P, Path(s, p*, o)) → Union(Extend(o, s, P), Join(P, Filter(s ≠ o, Path(s, p+, o)))) where P has triples
    with s; and likewise for o, and for p?.

    Every node of the graph is a path of length zero, so p* depends on the stream whatever p is, while p+ of predicates
    that the stream lacks does not: it becomes a view. A triple of P is in the graph, and so is its node s.
    """
    if not isinstance(op, Join):
        return op
    sides = operands(op)
    for path in sides:
        if isinstance(path, Path) and (longer := _without_zero(path, statistics)) is not None:
            others = [side for side in sides if side is not path]
            split = _split(path, longer, reduce(make.join, others), _nodes(others))
            if split is not None:
                return split
    return op


def _without_zero(path: Path, statistics: Statistics) -> Op | None:
    """The path with at least one edge, if it is static and the whole one is not."""
    if not isinstance(path.path, ops.ZeroOrMore | ops.ZeroOrOne) or is_static(path, statistics):
        return None
    inner = path.path.path
    if isinstance(path.path, ops.ZeroOrMore):
        longer = make.path(path.subject, ops.OneOrMore(inner), path.object)
    else:
        longer = make.distinct(make.path(path.subject, inner, path.object))
    return longer if is_static(longer, statistics) else None


def _nodes(sides: list[Op]) -> frozenset[PatternTerm]:
    """The variables that stand for subjects and objects of triples of the graph."""
    patterns = (pattern for side in sides if isinstance(side, Bgp) for pattern in side.patterns)
    return frozenset(term for pattern in patterns for term in (pattern.subject, pattern.object))


def _split(path: Path, longer: Op, pattern: Op, nodes: frozenset[PatternTerm]) -> Op | None:
    """The union of both lengths; None if `pattern` says nothing of the ends of the path."""
    start, end = (path.subject, path.object) if path.subject in nodes else (path.object, path.subject)
    if start not in nodes or end in visible(pattern) - certain(pattern):
        return None
    assert isinstance(start, Var)  # else the path would be static
    assert isinstance(end, Var)
    same = Call("SAMETERM", (start, end))
    here = make.filter(same, pattern) if end in visible(pattern) else make.extend(end, start, pattern)
    return make.union(here, make.join(pattern, make.filter(Call("!", (same,)), longer)))

"""Aggregates are computed per stream, and only once over rows of the background."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Var
from penstock.algebra.ops import Annotate, Group, Op
from penstock.algebra.scope import exists_in, references, visible
from penstock.optimise.branches import branches
from penstock.optimise.cost import estimate
from penstock.optimise.distribute import COMBINED, has_partial_form, is_movable, separating
from penstock.optimise.statics import is_static
from penstock.optimise.statistics import Statistics
from penstock.optimise.walk import map_children
from penstock.tuning import DEFAULT, Tuning

__all__ = ["push_aggregate"]

EXACT = frozenset(("COUNT", "MAX", "MIN", "SAMPLE"))  # whose shares as terms say all that is to be known


def push_aggregate(op: Op, statistics: Statistics, tuning: Tuning = DEFAULT) -> Op:
    """Group(K, A, Union(P, Q)) → Union(Group(K, A, P), Group(K, A, Q)) if no group has rows of both; if it may,
    → Group(K, A′, Union(Group(K, A, P), Group(K, A, Q))) with counts added up and extremes compared.
    Group(K, A, Graph(g, P)) → Graph(g, Group(K∖g, A, P)) for g among more keys.

    P are the branches that read the background alone, and Q those that do not: the groups of P are then computed once.
    Spark aggregates what it has of each branch before it sends anything, so that nothing else would be gained.

    All aggregates of a Group go down, or none. A group of nothing, which is there if there are no keys, would be there
    for each graph. A share of SUM or AVG would be a term, which is rounded (a float) or too large where the sum of both
    is not: only whole groups of them go down, and their parts stay with Spark, which adds them up as numbers.
    """
    made = _made(op, statistics, tuning)
    inside = statistics.inside(made)
    return map_children(made, lambda child: push_aggregate(child, inside, tuning))


def _made(op: Op, statistics: Statistics, tuning: Tuning) -> Op:
    match op:
        case Group(keys, aggregates, pattern):
            within = _into_graph(op, keys, [made for _, made in aggregates], least=1)
            return within or _into_union(op, _halves(pattern, statistics, tuning))
        case Annotate(_, aggregate, keys, pattern):
            return _into_graph(op, keys, [aggregate], least=0) or _beside(op, _halves(pattern, statistics, tuning))
    return op


def _into_graph(op: Group | Annotate, keys: tuple[Var, ...], aggregates: list[Aggregate], least: int) -> Op | None:
    """Push the group into GRAPH: each graph has its own groups, if its name is a key. Not with EXISTS, which would read
    another graph there."""
    match op.pattern:
        case ops.Graph(Var() as name, pattern) | ops.InWindow(Var() as name, pattern):
            others = tuple(key for key in keys if key != name)
            read = frozenset[Var]().union(*map(references, aggregates)) | visible(pattern)
            if least <= len(others) < len(keys) and name not in read and not any(map(exists_in, aggregates)):
                return op.pattern.with_children((replace(op, keys=others, pattern=pattern),))
    return None


def _halves(pattern: Op, statistics: Statistics, tuning: Tuning) -> tuple[Op, ...]:
    """The static branches of a UNION, and the others; nothing if that is not worth while."""
    parts = branches(pattern) if statistics.live else ()
    still = [part for part in parts if is_static(part, statistics)]
    moving = [part for part in parts if part not in still]
    if not still or not moving:
        return ()
    if sum(estimate(part, statistics, tuning).rows for part in still) < tuning.pushed_group_rows:
        return ()
    return _united(still), _united(moving)


def _into_union(op: Group, halves: tuple[Op, ...]) -> Op:
    aggregates = [made for _, made in op.aggregates]
    if not halves or not aggregates or not all(is_movable(made, op.pattern, halves) for made in aggregates):
        return op
    if separating(op.keys, halves):
        return _united(replace(op, pattern=half) for half in halves)
    exact = all(has_partial_form(made) and made.name in EXACT for made in aggregates)
    if exact and not all(_is_grouped(half, op.keys) for half in halves):
        return _partially(op, halves)
    return op


def _beside(op: Annotate, halves: tuple[Op, ...]) -> Op:
    if not halves or not is_movable(op.aggregate, op.pattern, halves) or not separating(op.keys, halves):
        return op
    return _united(replace(op, pattern=half) for half in halves)


def _united(parts: Iterable[Op]) -> Op:
    return reduce(ops.Union, parts)


def _is_grouped(half: Op, keys: tuple[Var, ...]) -> bool:
    """Whether it has a row a group already."""
    match half:
        case Group(own, _, _):
            return set(own) <= set(keys)
        case ops.Graph(name, pattern) | ops.InWindow(name, pattern):
            return (name in keys or not isinstance(name, Var)) and _is_grouped(pattern, keys)
        case ops.StaticView(_, pattern):
            return _is_grouped(pattern, keys)
    return False


def _partially(op: Group, halves: tuple[Op, ...]) -> Op:
    """The shares of both halves, put together."""
    shares = [Var(f".share{number}") for number, _ in enumerate(op.aggregates)]
    below = tuple(zip(shares, (made for _, made in op.aggregates), strict=True))
    united = _united(Group(op.keys, below, half) for half in halves)
    whole = ((var, made, share) for (var, made), share in zip(op.aggregates, shares, strict=True))
    return Group(op.keys, tuple((var, Aggregate(COMBINED[made.name], share)) for var, made, share in whole), united)

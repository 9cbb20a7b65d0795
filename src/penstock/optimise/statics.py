"""Static parts of a plan, which have the same solutions at every instant: those that read the background alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache, reduce
from typing import TypeVar

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Exists, Expr, Occurrence, PatternTerm, Var, walk
from penstock.algebra.occurrence import everywhere
from penstock.algebra.ops import Op
from penstock.algebra.scope import Vars, expressions_of, free, mentioned, visible
from penstock.optimise.statistics import Statistics
from penstock.optimise.walk import map_children

__all__ = [
    "VOLATILE", "chained", "connected", "is_join", "is_key", "is_static", "is_steady", "operands",
    "path_predicates", "predicates", "unordered",
]  # fmt: skip

VOLATILE = frozenset(("BNODE", "RAND", "STRUUID", "UUID"))  # each call has a value of its own
UNSTEADY = VOLATILE | {"NOW", "TIMESTAMP"}  # another value at another time; TIMESTAMP asks for triples of streams
# What has a choice (of which rows are the first ones), or an order that only what is above it can use.
CHOOSING = (ops.OrderBy, ops.Slice)
ANY = Var(".any")

Member = TypeVar("Member")


def is_static(op: Op, statistics: Statistics) -> bool:
    """Whether `op` has the same solutions whatever the instant, by the current content of the windows.

    Inside EXISTS, patterns into which an outer solution is substituted depend on that solution. Patterns with a key, of
    which only the compiler knows the values, are not static either, unless the key is used in joins only.
    """
    return not free(op) and _is_static(op, statistics) and (is_join(op) or not any(map(is_key, mentioned(op))))


def _is_static(op: Op, statistics: Statistics) -> bool:
    if isinstance(op, (*CHOOSING, ops.InWindow)) or not all(is_steady(e, statistics) for e in expressions_of(op)):
        return False
    match op:
        case ops.Bgp(patterns):
            return not any(statistics.streams(pattern.predicate) for pattern in patterns)
        case ops.Path():
            return not any(statistics.streams(predicate) for predicate in path_predicates(op))
    inside = statistics.inside(op)
    return all(_is_static(child, inside) for child in op.children)


def is_steady(expr: Expr, statistics: Statistics) -> bool:
    """Whether the expression has one value for a solution, wherever and whenever it is evaluated."""
    return all(_is_steady(part, statistics) for part in walk(expr))


def _is_steady(part: Expr, statistics: Statistics) -> bool:
    match part:
        case Call(name, _):
            return name not in UNSTEADY
        case Exists(pattern):
            return is_static(pattern, statistics)
    return not isinstance(part, Occurrence)


def is_join(op: Op) -> bool:
    """Whether the operator is a join of triple patterns only."""
    return isinstance(op, ops.Bgp) or (isinstance(op, ops.Join) and all(map(is_join, op.children)))


def is_key(var: Var) -> bool:
    """Whether the variable stands for a value of the compiler's own: see `spark.relation.KEY`."""
    return var.name.startswith(".k")


def predicates(op: Op) -> frozenset[str] | None:
    """The IRIs of all predicates that `op` reads; None: it may read any."""
    predicates: set[str] = set()
    for node in everywhere(op):
        if isinstance(node, ops.Path):
            return None
        for pattern in node.patterns if isinstance(node, ops.Bgp) else ():
            if isinstance(pattern.predicate, Var):
                return None
            predicates.add(pattern.predicate.value)
    return frozenset(predicates)


def path_predicates(path: ops.Path) -> frozenset[PatternTerm]:
    """The predicates of the triples that decide which pairs a path connects; `ANY` stands for all of them.

    A path of length zero leads from every node of the graph to itself, so every triple counts, unless an end is given:
    then there is that node alone.
    """
    has_end = not (isinstance(path.subject, Var) and isinstance(path.object, Var))
    match path.path:
        case ops.ZeroOrOne(inner) | ops.ZeroOrMore(inner) if has_end:
            return frozenset(_links(inner))
    return frozenset(_links(path.path))


def _links(path: ops.PathExpr) -> Iterator[PatternTerm]:
    match path:
        case ops.Link(iri):
            yield iri
        case ops.Inverse(inner) | ops.OneOrMore(inner):
            yield from _links(inner)
        case ops.Sequence(left, right) | ops.Alternative(left, right):
            yield from _links(left)
            yield from _links(right)
        case _:  # a path of length zero, or a negated set
            yield ANY


def chained(operands: Iterable[Op]) -> list[Op]:
    """The operands in an order in which each shares a variable with those before it, if possible: Cartesian products
    come last."""
    rest, chain, bound = list(operands), list[Op](), frozenset[Var]()
    while rest:
        following = next((op for op in rest if visible(op) & bound), rest[0])
        rest.remove(following)
        chain.append(following)
        bound |= visible(following)
    return chain


def operands(op: Op) -> list[Op]:
    """The operands of a tree of joins, triple patterns one by one."""
    if isinstance(op, ops.Join):
        return operands(op.left) + operands(op.right)
    return [ops.Bgp((pattern,)) for pattern in op.patterns] if isinstance(op, ops.Bgp) else [op]


@lru_cache(maxsize=8192)
def unordered(op: Op) -> Op:
    """A normal form that is the same for all orders of the joins."""
    op = map_children(op, unordered)
    joined = sorted(operands(op), key=str) if isinstance(op, ops.Join | ops.Bgp) else []
    return reduce(ops.Join, joined) if joined else op


def connected(given: Iterable[tuple[Vars, list[Member]]]) -> list[list[Member]]:
    """The members in connected components: those that share variables, directly or through others."""
    result: list[tuple[Vars, list[Member]]] = []
    for vars, members in given:
        near = [each for each in result if each[0] & vars]
        result = [each for each in result if not each[0] & vars]
        merged = [member for _, some in near for member in some] + members
        result.append((vars.union(*(known for known, _ in near)), merged))
    return [members for _, members in result]

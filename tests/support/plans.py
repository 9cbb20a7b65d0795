"""Generated plans and graphs: small, but with everything that makes rules wrong (unbound variables, errors, bags,
empty groups, correlated EXISTS)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Call, Const, Exists, Expr, PatternTerm, Term, Var
from penstock.algebra.ops import Op, OrderKey, TriplePattern
from penstock.algebra.scope import visible
from tests.support.tape import Tape

Made = TypeVar("Made")
VARS = tuple(map(Var, "xyz"))
IRIS = tuple(NamedNode(f"http://example.org/{name}") for name in "ab")
PREDICATES = tuple(NamedNode(f"http://example.org/{name}") for name in "pq")
GRAPHS = tuple(NamedNode(f"http://example.org/{name}") for name in "gh")
TERMS: tuple[Term, ...] = (*IRIS, Literal(1), Literal(2))
SUBJECTS: tuple[PatternTerm, ...] = (*VARS, *VARS, *IRIS)
PREDICATES_OR_VARS: tuple[PatternTerm, ...] = (*PREDICATES, *PREDICATES, *PREDICATES, VARS[2])
OBJECTS: tuple[PatternTerm, ...] = (*VARS, *VARS, *VARS, *TERMS)
GRAPH_NAMES: tuple[Var | NamedNode, ...] = (*GRAPHS, *VARS[:2])
CONSTANTS = (*map(Const, TERMS), Const(Literal(True)), Const(Literal(False)))

Triples = frozenset[tuple[Term, Term, Term]]


def from_tape(make: Callable[[Tape], Made], most: int = 160) -> st.SearchStrategy[Made]:
    return st.binary(min_size=most, max_size=most).map(Tape).map(make)


def triples(tape: Tape) -> Triples:
    return frozenset((tape.pick(IRIS), tape.pick(PREDICATES), tape.pick(TERMS)) for _ in range(tape.count(2, 12)))


def dataset(tape: Tape) -> tuple[Triples, dict[NamedNode, Triples]]:
    """The default graph and the named ones."""
    return triples(tape), {name: triples(tape) for name in GRAPHS}


def whole_plan(tape: Tape) -> Op:
    """A LIMIT that cuts somewhere stands only near the root, where it is known which columns its input has."""
    op = tape.pick((_anything, _filtered, _projected, _in_exists))(tape)
    if tape.chance(5):
        op = ops.Slice(tape.count(0, 2), tape.pick((None, 0, 1, 2)), op)
        op = ops.Filter(expression(tape, 2), op)
    return op


# Rules start at a filter or a projection, so most plans have one with every operator as likely right below it.


def _anything(tape: Tape) -> Op:
    return plan(tape, 3)


def _filtered(tape: Tape) -> Op:
    return ops.Filter(expression(tape, 2), tape.pick(_EACH)(tape, 1))


def _projected(tape: Tape) -> Op:
    return ops.Project(tuple(tape.some(VARS, 1, 2)), tape.pick(_EACH)(tape, 2))


def _in_exists(tape: Tape) -> Op:
    return ops.Filter(Exists(tape.pick((_filtered, _projected))(tape)), _bgp(tape, 0))


def plan(tape: Tape, depth: int) -> Op:
    return tape.pick(_MAKERS if depth else _LEAVES)(tape, max(0, depth - 1))


def expression(tape: Tape, depth: int) -> Expr:
    kind = tape.pick(("value", "BOUND", "BOUND", "=", "!=", "<", "+", "COALESCE", "&&", "&&", "||", "!", "!", "EXISTS"))
    if kind == "BOUND":
        return Call("BOUND", (tape.pick(VARS),))
    if kind == "value" or depth == 0:
        return tape.pick(CONSTANTS) if tape.chance(3) else tape.pick(VARS)
    if kind == "EXISTS":
        return Exists(plan(tape, depth - 1))
    return Call(kind, tuple(expression(tape, depth - 1) for _ in range(1 if kind == "!" else 2)))


def _bgp(tape: Tape, _: int) -> Op:
    return ops.Bgp(tuple(_triple(tape) for _ in range(tape.pick((1, 1, 1, 2, 2, 0)))))


def _triple(tape: Tape) -> TriplePattern:
    return TriplePattern(tape.pick(SUBJECTS), tape.pick(PREDICATES_OR_VARS), tape.pick(OBJECTS))


def _path(tape: Tape, _: int) -> Op:
    link = ops.Link(tape.pick(PREDICATES))
    paths: tuple[ops.PathExpr, ...] = (link, ops.Inverse(link), ops.OneOrMore(link))
    return ops.Path(tape.pick(VARS), tape.pick(paths), tape.pick(OBJECTS))


def _table(tape: Tape, _: int) -> Op:
    vars = tuple(tape.some(VARS, 0, 2))
    rows = tape.pick((2, 1, 2, 0))
    return ops.Table(vars, tuple(tuple(tape.pick((*TERMS, None, None)) for _ in vars) for _ in range(rows)))


def _binary(kind: Callable[[Op, Op], Op]) -> Callable[[Tape, int], Op]:
    return lambda tape, depth: kind(plan(tape, depth), plan(tape, depth))


def _unary(kind: Callable[[Op], Op]) -> Callable[[Tape, int], Op]:
    return lambda tape, depth: kind(plan(tape, depth))


def _left_join(tape: Tape, depth: int) -> Op:
    condition = expression(tape, 2) if tape.chance(2) else None
    return ops.LeftJoin(condition, plan(tape, depth), plan(tape, depth))


def _filter(tape: Tape, depth: int) -> Op:
    return ops.Filter(expression(tape, 2), plan(tape, depth))


def _extend(tape: Tape, depth: int) -> Op:
    pattern = plan(tape, depth)
    unused = [var for var in VARS if var not in visible(pattern)]
    return ops.Extend(tape.pick(unused), expression(tape, 1), pattern) if unused else pattern


def _graph(tape: Tape, depth: int) -> Op:
    return ops.Graph(tape.pick(GRAPH_NAMES), plan(tape, depth))


def _group(tape: Tape, depth: int) -> Op:
    keys = tuple(tape.some(VARS, 0, 2))
    unused = [var for var in VARS if var not in keys]
    aggregates = tuple((var, _aggregate(tape)) for var in unused[: tape.count(0, 2)])
    return ops.Group(keys, aggregates, plan(tape, depth))


def _annotate(tape: Tape, depth: int) -> Op:
    pattern = plan(tape, depth)
    unused = [var for var in VARS if var not in visible(pattern)]
    keys = tuple(tape.some(tuple(visible(pattern)), 0, 2)) if visible(pattern) else ()
    return ops.Annotate(tape.pick(unused), _aggregate(tape), keys, pattern) if unused else pattern


def _aggregate(tape: Tape) -> Aggregate:
    name, argument = tape.pick((("COUNT", False), ("COUNT", True), ("SUM", True)))
    return Aggregate(name, expression(tape, 1) if argument else None, tape.chance(2))


def _project(tape: Tape, depth: int) -> Op:
    return ops.Project(tuple(tape.some(VARS, 1, 3)), plan(tape, depth))


def _order(tape: Tape, depth: int) -> Op:
    return ops.OrderBy((OrderKey(expression(tape, 1), tape.chance(2)),), plan(tape, depth))


def _slice(tape: Tape, depth: int) -> Op:
    offset, limit = tape.pick(((0, None), (1, 0), (0, 10_000)))
    return ops.Slice(offset, limit, plan(tape, depth))


Maker = Callable[[Tape, int], Op]
_LEAVES: tuple[Maker, ...] = (_bgp, _bgp, _bgp, _path, _table)
_EACH: tuple[Maker, ...] = (
    _binary(ops.Join), _left_join, _binary(ops.Union), _binary(ops.Minus), _filter, _extend, _graph, _group, _annotate,
    _project,
    _order, _slice, _unary(ops.Distinct), _unary(ops.Reduced),
)  # fmt: skip
_MAKERS: tuple[Maker, ...] = (
    *_EACH, *[_bgp] * 4, _table, *[_binary(ops.Join)] * 3, *[_left_join] * 3, *[_filter] * 3,
)  # fmt: skip

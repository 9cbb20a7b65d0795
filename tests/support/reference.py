"""The algebra evaluated as its definitions read, slowly, over a few triples: what rules are checked against.

Inside EXISTS the outer solution goes along as `outer`: leaves keep what agrees with it and expressions see it, while
a projection or grouping lets only its own variables through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.durations import lengths
from penstock.algebra.expressions import Aggregate, Call, Const, Exists, Expr, PatternTerm, Term, Var
from penstock.algebra.ops import Op

Solution = dict[Var, Term]
Triple = tuple[Term, Term, Term]
Graph = frozenset[Triple]


XSD = "http://www.w3.org/2001/XMLSchema#"


class Error(Exception):
    """SPARQL's error, as a value of an expression."""


@dataclass(frozen=True)
class World:
    """A dataset, the graph of it that is active, the outer solution, and the tag of the windows that are read."""

    active: Graph
    named: dict[NamedNode, Graph]
    outer: Solution
    tag: int = 0

    def seen(self) -> list[Triple]:
        """The active graph; with another tag only a part of it, as another window may hold less."""
        triples = sorted(self.active, key=str)
        return triples[self.tag :: 2] if self.tag else triples

    def only(self, vars: Iterable[Var]) -> World:
        return replace(self, outer={var: self.outer[var] for var in vars if var in self.outer})


def answers(op: Op, default: Graph, named: dict[NamedNode, Graph]) -> Counter[frozenset[tuple[Var, Term]]]:
    """The solutions as a bag."""
    return Counter(frozenset(solution.items()) for solution in solve(op, World(default, named, {})))


def solve(op: Op, world: World) -> list[Solution]:
    return [found for found in _SOLVERS[type(op)](op, world) if agree(found, world.outer)]


def agree(left: Solution, right: Solution) -> bool:
    return all(right[var] == value for var, value in left.items() if var in right)


def _bgp(op: ops.Bgp, world: World) -> list[Solution]:
    found: list[Solution] = [{}]
    for pattern in op.patterns:
        wanted = (pattern.subject, pattern.predicate, pattern.object)
        matches = [match for triple in world.seen() if (match := _match(wanted, triple)) is not None]
        found = _joined(found, matches)
    return found


def _match(wanted: tuple[PatternTerm, ...], terms: tuple[Term, ...]) -> Solution | None:
    solution: Solution = {}
    for want, term in zip(wanted, terms, strict=True):
        if isinstance(want, Var):
            if solution.setdefault(want, term) != term:
                return None
        elif want != term:
            return None
    return solution


def _path(op: ops.Path, world: World) -> list[Solution]:
    graph = frozenset(world.seen())
    pairs = _pairs(op.path, graph)
    if isinstance(op.path, ops.ZeroOrOne | ops.ZeroOrMore):
        given = {term for term in (op.subject, op.object) if not isinstance(term, Var)}  # in the graph or not
        pairs = list({*pairs, *((node, node) for node in given)})
    return [match for pair in pairs if (match := _match((op.subject, op.object), pair)) is not None]


def _pairs(path: ops.PathExpr, graph: Graph) -> list[tuple[Term, Term]]:
    match path:
        case ops.Link(iri):
            return [(s, o) for s, p, o in graph if p == iri]
        case ops.Inverse(inner):
            return [(o, s) for s, o in _pairs(inner, graph)]
        case ops.OneOrMore(inner):
            step = set(_pairs(inner, graph))
            closed = step
            while longer := {(a, d) for a, b in closed for c, d in step if b == c} - closed:
                closed = closed | longer
            return list(closed)
        case ops.ZeroOrOne(inner) | ops.ZeroOrMore(inner):
            longer_path = ops.OneOrMore(inner) if isinstance(path, ops.ZeroOrMore) else inner
            nodes = {node for s, _, o in graph for node in (s, o)}
            return list({*_pairs(longer_path, graph), *((node, node) for node in nodes)})
        case ops.Alternative(left, right):
            return _pairs(left, graph) + _pairs(right, graph)
        case ops.NegatedSet(tuple() as forward, None):
            return [(s, o) for s, p, o in graph if p not in forward]
    raise NotImplementedError(path)


def _joined(left: list[Solution], right: list[Solution]) -> list[Solution]:
    return [{**one, **other} for one in left for other in right if agree(one, other)]


def _left_join(op: ops.LeftJoin, world: World) -> list[Solution]:
    right = solve(op.right, world)
    result: list[Solution] = []
    for one in solve(op.left, world):
        fitting = [both for both in _joined([one], right) if op.condition is None or holds(op.condition, both, world)]
        result += fitting or [one]
    return result


def _minus(op: ops.Minus, world: World) -> list[Solution]:
    right = solve(op.right, world)
    return [one for one in solve(op.left, world) if not any(one.keys() & o.keys() and agree(one, o) for o in right)]


def _extend(op: ops.Extend, world: World) -> list[Solution]:
    result = []
    for one in solve(op.pattern, world):
        try:
            result.append({**one, op.var: value(op.expression, one, world)})
        except Error:
            result.append(one)
    return result


def _table(op: ops.Table, world: World) -> list[Solution]:
    return [{var: t for var, t in zip(op.vars, row, strict=True) if t is not None} for row in op.rows]


def _graph(op: ops.Graph | ops.InWindow, world: World) -> list[Solution]:
    """The windows are the named graphs here; a tag means nothing to them."""
    tag = 0 if isinstance(op, ops.InWindow) else world.tag
    names = [op.name] if isinstance(op.name, NamedNode) else list(world.named)
    result: list[Solution] = []
    for name in names:
        if name in world.named:
            inside = solve(op.pattern, replace(world, active=world.named[name], tag=tag))
            result += _joined(inside, [{op.name: name}]) if isinstance(op.name, Var) else inside
    return result


def _group(op: ops.Group, world: World) -> list[Solution]:
    inside = world.only(op.keys)
    groups: dict[tuple[Term | None, ...], list[Solution]] = {} if op.keys else {(): []}
    for one in solve(op.pattern, inside):
        groups.setdefault(tuple(one.get(key) for key in op.keys), []).append(one)
    result = []
    for key, members in groups.items():
        row = {var: t for var, t in zip(op.keys, key, strict=True) if t is not None}
        for var, aggregate in op.aggregates:
            row |= _aggregated(var, aggregate, members, inside)
        result.append(row)
    return result


def _annotate(op: ops.Annotate, world: World) -> list[Solution]:
    inside = world.only(op.keys)
    rows = solve(op.pattern, inside)
    groups: dict[tuple[Term | None, ...], list[Solution]] = {}
    for one in rows:
        groups.setdefault(tuple(map(one.get, op.keys)), []).append(one)
    return [one | _aggregated(op.var, op.aggregate, groups[tuple(map(one.get, op.keys))], inside) for one in rows]


def _aggregated(var: Var, aggregate: Aggregate, members: list[Solution], world: World) -> Solution:
    if aggregate.argument is None:
        counted = {frozenset(m.items()) for m in members} if aggregate.distinct else members
        return {var: Literal(len(counted))}
    values = []
    for member in members:
        try:
            values.append(value(aggregate.argument, member, world))
        except Error:
            if aggregate.name in ("SUM", "AVG"):
                return {}
    chosen = list(dict.fromkeys(values)) if aggregate.distinct else values
    if aggregate.name == "COUNT":
        return {var: Literal(len(chosen))}
    try:
        return {var: _AGGREGATES[aggregate.name](chosen)}
    except Error:
        return {}


def _average(values: list[Term]) -> Term:
    return _divided(_sum(values), Literal(len(values))) if values else Literal(0)


def _sum(values: list[Term]) -> Term:
    total = sum(map(_number, values), Decimal(0))
    return _decimal(total) if any(_is_a(value, "decimal") for value in values) else Literal(int(total))


def _divided(left: Term, right: Term) -> Term:
    """Of integers too it is a decimal."""
    if not _number(right):
        raise Error
    return _decimal(_number(left) / _number(right))


def _least(values: list[Term], sign: int = 1) -> Term:
    """In the order of ORDER BY, which compares terms of any kind, down to the term itself."""
    if not values:
        raise Error
    return min(values, key=_rank) if sign > 0 else max(values, key=_rank)


def _rank(term: Term) -> tuple[bool, bool, Decimal, str]:
    try:
        return isinstance(term, Literal), False, _number(term), str(term)
    except Error:
        return isinstance(term, Literal), True, Decimal(0), str(term)


def _sampled(values: list[Term]) -> Term:
    """Any would do; the first as text is the same one whatever the order."""
    if not values:
        raise Error
    return min(values, key=str)


_AGGREGATES: dict[str, Callable[[list[Term]], Term]] = {
    "SUM": _sum,
    "AVG": _average,
    "MIN": _least,
    "MAX": lambda values: _least(values, -1),
    "SAMPLE": _sampled,
}


def _project(op: ops.Project, world: World) -> list[Solution]:
    return [{v: one[v] for v in op.vars if v in one} for one in solve(op.pattern, world.only(op.vars))]


def _once(op: ops.Distinct | ops.Reduced, world: World) -> list[Solution]:
    return [dict(items) for items in dict.fromkeys(frozenset(one.items()) for one in solve(op.pattern, world))]


def _slice(op: ops.Slice, world: World) -> list[Solution]:
    """In some order that depends on the solutions alone."""
    found = sorted(solve(op.pattern, world), key=lambda one: sorted((var.name, str(t)) for var, t in one.items()))
    return found[op.offset :][: op.limit]


_SOLVERS: dict[type[Op], Callable[..., list[Solution]]] = {
    ops.Bgp: _bgp,
    ops.Path: _path,
    ops.Join: lambda op, world: _joined(solve(op.left, world), solve(op.right, world)),
    ops.LeftJoin: _left_join,
    ops.Union: lambda op, world: solve(op.left, world) + solve(op.right, world),
    ops.Minus: _minus,
    ops.Filter: lambda op, world: [one for one in solve(op.pattern, world) if holds(op.condition, one, world)],
    ops.Extend: _extend,
    ops.Table: _table,
    ops.Graph: _graph,
    ops.InWindow: _graph,
    ops.WindowOverride: lambda op, world: solve(op.pattern, replace(world, tag=op.tag)),
    ops.Group: _group,
    ops.Annotate: _annotate,
    ops.Project: _project,
    ops.Distinct: _once,
    ops.Reduced: _once,
    ops.OrderBy: lambda op, world: solve(op.pattern, world),
    ops.StaticView: lambda op, world: solve(op.pattern, world),
    ops.Slice: _slice,
}


def holds(condition: Expr, solution: Solution, world: World) -> bool:
    """Whether a filter passes: an error is not true."""
    try:
        return test(condition, solution, world)
    except Error:
        return False


def test(expr: Expr, solution: Solution, world: World) -> bool:
    """The effective boolean value."""
    match value(expr, solution, world):
        case Literal(value=text, datatype=NamedNode(value=kind)) if kind.endswith("#boolean"):
            return text == "true"
        case found:
            return _integer(found) != 0


test.__test__ = False  # type: ignore[attr-defined]


def value(expr: Expr, solution: Solution, world: World) -> Term:
    match expr:
        case Var():
            seen = {**world.outer, **solution}
            if expr not in seen:
                raise Error
            return seen[expr]
        case Const(term):
            return term
        case Exists(pattern):
            return Literal(bool(solve(pattern, replace(world, outer={**world.outer, **solution}))))
        case Call("BOUND", (var,)):
            return Literal(var in world.outer or var in solution)
        case Call("&&" | "||" as name, args):
            return _logical(name == "||", args, solution, world)
        case Call("!", (arg,)):
            return Literal(not test(arg, solution, world))
        case Call("TIMESTAMP", _):
            raise Error  # these graphs are no streams
        case Call("IF", (condition, yes, no)):
            return value(yes if test(condition, solution, world) else no, solution, world)
        case Call("COALESCE", args):
            return _coalesce(args, solution, world)
        case Call(name, args):
            return _CALLS[name](*(value(arg, solution, world) for arg in args))
    raise NotImplementedError(expr)


def _logical(decisive: bool, args: tuple[Expr, ...], solution: Solution, world: World) -> Term:
    """One decisive operand decides, even beside an error."""
    failed = False
    for arg in args:
        try:
            if test(arg, solution, world) is decisive:
                return Literal(decisive)
        except Error:
            failed = True
    if failed:
        raise Error
    return Literal(not decisive)


def _coalesce(args: tuple[Expr, ...], solution: Solution, world: World) -> Term:
    for arg in args:
        try:
            return value(arg, solution, world)
        except Error:
            continue
    raise Error


def _integer(term: Term) -> int:
    if isinstance(term, Literal) and term.datatype.value.endswith("#integer"):
        return int(term.value)
    raise Error


def _number(term: Term) -> Decimal:
    if _is_a(term, "integer") or _is_a(term, "decimal"):
        return Decimal(term.value)
    raise Error


def _is_a(term: Term, kind: str) -> bool:
    return isinstance(term, Literal) and term.datatype.value == f"{XSD}{kind}"


def _decimal(value: Decimal) -> Literal:
    return Literal(f"{value.normalize():f}", datatype=NamedNode(f"{XSD}decimal"))


def _compared(left: Term, right: Term) -> int:
    """Less than, equal to or more than 0: of two integers, durations without months, or moments in one zone."""
    kinds: tuple[Callable[[Term], Any], ...] = (_integer, _length, _moment)  # values of one kind have an order
    for kind in kinds:
        try:
            return bool(kind(left) > kind(right)) - bool(kind(left) < kind(right))
        except Error:
            continue
    raise Error


def _length(term: Term) -> int:
    found = lengths(term) if isinstance(term, Literal) else None
    if found is None or found[0] != found[1]:
        raise Error
    return found[0]


def _moment(term: Term) -> datetime:
    if isinstance(term, Literal) and term.datatype.value.endswith("#dateTime"):
        return datetime.fromisoformat(term.value)
    raise Error


_CALLS: dict[str, Callable[..., Term]] = {
    "=": lambda a, b: Literal(a == b),
    "SAMETERM": lambda a, b: Literal(a == b),
    "!=": lambda a, b: Literal(a != b),
    "IN": lambda a, *others: Literal(a in others),
    "<": lambda a, b: Literal(_compared(a, b) < 0),
    ">": lambda a, b: Literal(_compared(a, b) > 0),
    "<=": lambda a, b: Literal(_compared(a, b) <= 0),
    ">=": lambda a, b: Literal(_compared(a, b) >= 0),
    "+": lambda a, b: Literal(_integer(a) + _integer(b)),
    "/": _divided,
}

"""EP-SPARQL's section 4.2 as its definitions read, slowly: every solution with its interval.

Two elements that are equal are two occurrences, so that solutions come as lists; as a set they are what the paper has.
Background triples have no interval. What a solution has no interval for is in no sequence, and OPTIONAL, MINUS and
EXISTS take it for something that was always there. Expressions are those of `reference.py`, after what asks for the
interval, and EXISTS, have been replaced by their values (the paper's σ).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.durations import written
from penstock.algebra.expressions import Aggregate, Call, Const, Exists, Expr, Occurrence, Term, Var
from penstock.algebra.occurrence import inner_plans
from penstock.algebra.ops import Op
from penstock.algebra.retention_bounds import Place
from penstock.algebra.scope import exists_in, expressions_of
from tests.support import reference
from tests.support.reference import XSD, Graph, Solution, Triple, agree

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NOTHING = Var(".nothing")  # never bound, so that reading it is an error
_ARGUMENT = Var(".argument")


@dataclass(frozen=True)
class Element:
    """A triple that occurred, with its interval in microseconds, and the stream that it came in."""

    triple: Triple
    start: int
    end: int
    stream: NamedNode | None = None


@dataclass(frozen=True)
class Row:
    """⟨μ, tα, tω⟩"""

    solution: Solution
    starts: int | None = None
    ends: int | None = None

    def joined(self, other: Row) -> Row:
        return Row({**self.solution, **other.solution}, _min(self.starts, other.starts), _max(self.ends, other.ends))

    def counted(self) -> tuple[frozenset[object], int | None, int | None]:
        return frozenset(self.solution.items()), self.starts, self.ends


@dataclass(frozen=True)
class World:
    """What there is, the outer solution inside EXISTS, and where in the plan we are: a pattern sees the elements that
    `keeps` says."""

    elements: tuple[Element, ...]
    background: Graph = frozenset()
    named: tuple[tuple[NamedNode, Graph], ...] = ()
    streams: tuple[NamedNode, ...] = ()
    keeps: Callable[[Place, Element], bool] = lambda place, element: True
    outer: tuple[tuple[Var, object], ...] = ()
    place: Place = ()
    merges: bool = False  # whether the latest of equal triples stands for all

    def seen(self) -> Iterator[tuple[Triple, int | None, int | None]]:
        yield from ((e.triple, e.start, e.end) for e in self.elements if self.keeps(self.place, e))
        yield from ((triple, None, None) for triple in sorted(self.background, key=str))

    def inside(self, number: int) -> World:
        return replace(self, place=(*self.place, number))

    def around(self) -> Solution:
        return dict(self.outer)  # type: ignore[arg-type]

    def within(self, solution: Solution) -> World:
        return replace(self, outer=tuple(solution.items()))

    def only(self, vars: Iterable[Var]) -> World:
        kept = set(vars)
        return replace(self, outer=tuple((var, term) for var, term in self.outer if var in kept))

    def until(self, instant: int) -> World:
        elements = [e for e in self.elements if e.end <= instant]
        return replace(self, elements=tuple(latest(elements) if self.merges else elements))

    def of(self, stream: NamedNode) -> tuple[Element, ...]:
        return tuple(e for e in self.elements if e.stream == stream)


def latest(elements: Iterable[Element]) -> list[Element]:
    """Of equal triples the one that ends last."""
    return list({e.triple: e for e in sorted(elements, key=lambda e: e.end)}.values())


def delivered(op: Op, world: World) -> Counter[object]:
    """The answers of a query of events: at each instant the solutions that end then, of what was visible then."""
    found: Counter[object] = Counter()
    for instant in sorted({element.end for element in world.elements}):
        found += Counter(row.counted() for row in rows(op, world.until(instant)) if row.ends == instant)
    return found


def bag(op: Op, world: World) -> Counter[object]:
    """The solutions, each as often as it is there."""
    return Counter(row.counted() for row in rows(op, world))


def rows(op: Op, world: World) -> list[Row]:
    """The solutions of an expression."""
    return [row for row in _SOLVERS[type(op)](op, world) if agree(row.solution, world.around())]


def _operand(op: Op, number: int, world: World) -> list[Row]:
    return rows(op.children[number], world.inside(number))


def _both(op: Op, world: World) -> tuple[list[Row], list[Row]]:
    return _operand(op, 0, world), _operand(op, 1, world)


def compatible(left: Row, right: Row) -> bool:
    return agree(left.solution, right.solution)


# When


def _min(first: int | None, second: int | None) -> int | None:
    return min((time for time in (first, second) if time is not None), default=None)


def _max(first: int | None, second: int | None) -> int | None:
    return max((time for time in (first, second) if time is not None), default=None)


def before(left: Row, right: Row) -> bool:
    return left.ends is not None and right.starts is not None and left.ends < right.starts


def at_once(left: Row, right: Row) -> bool:
    return left.ends is not None and (left.starts, left.ends) == (right.starts, right.ends)


def so_far(own: Row, other: Row) -> bool:
    """The paper has < here, with which plain SPARQL would be no special case, as it says it is."""
    return own.ends is None or other.ends is None or other.ends <= own.ends


# Operators


def _bgp(op: ops.Bgp, world: World) -> list[Row]:
    found = [Row({})]
    for pattern in op.patterns:
        wanted = (pattern.subject, pattern.predicate, pattern.object)
        matched = ((reference._match(wanted, triple), start, end) for triple, start, end in world.seen())
        matches = [Row(solution, start, end) for solution, start, end in matched if solution is not None]
        found = _joined(found, matches)
    return found


def _path(op: ops.Path, world: World) -> list[Row]:
    """One link, in either direction, is a triple pattern; longer paths lead through the background alone."""
    match op.path:
        case ops.Link(predicate):
            return _bgp(ops.Bgp((ops.TriplePattern(op.subject, predicate, op.object),)), world)
        case ops.Inverse(inner):
            return _path(ops.Path(op.object, inner, op.subject), world)
    plain = reference.World(world.background, dict(world.named), world.around())
    return [Row(solution) for solution in reference.solve(op, plain)]


def _joined(left: list[Row], right: list[Row], fits: Callable[[Row, Row], bool] = lambda one, other: True) -> list[Row]:
    return [one.joined(other) for one in left for other in right if compatible(one, other) and fits(one, other)]


def _optional(
    needed: list[Row], optional: list[Row], fits: Callable[[Row, Row], bool], op: Op, test: Expr | None, world: World
) -> list[Row]:
    """Each with its partners for which the condition holds, or alone if there are none."""
    found: list[Row] = []
    for one in needed:
        partners = [both for both in _joined([one], optional, fits) if test is None or holds(test, both, op, world)]
        found += partners or [one]
    return found


def _left_join(op: ops.LeftJoin, world: World) -> list[Row]:
    left, right = _both(op, world)
    return _optional(left, right, so_far, op, op.condition, world)


def _optional_seq(op: ops.OptionalSeq, world: World) -> list[Row]:
    left, right = _both(op, world)
    return _optional(right, left, lambda own, earlier: before(earlier, own), op, op.condition, world)


def _equals_optional(op: ops.EqualsOptional, world: World) -> list[Row]:
    left, right = _both(op, world)
    return _optional(left, right, at_once, op, op.condition, world)


def _minus(op: ops.Minus, world: World) -> list[Row]:
    left, right = _both(op, world)

    def excludes(one: Row, other: Row) -> bool:
        return bool(one.solution.keys() & other.solution.keys()) and compatible(one, other) and so_far(one, other)

    return [one for one in left if not any(excludes(one, other) for other in right)]


def _filter(op: ops.Filter, world: World) -> list[Row]:
    return [row for row in _operand(op, 0, world) if holds(op.condition, row, op, world)]


def _extend(op: ops.Extend, world: World) -> list[Row]:
    return [_bound(op.var, op.expression, row, op, world) for row in _operand(op, 0, world)]


def _bound(var: Var, expression: Expr, row: Row, op: Op, world: World) -> Row:
    try:
        return replace(row, solution={**row.solution, var: value(expression, row, op, world)})
    except reference.Error:
        return row


def _graph(op: ops.Graph, world: World) -> list[Row]:
    """A stream is a graph together with the background; the others are background alone."""
    graphs = [(name, replace(world, elements=(), background=graph)) for name, graph in world.named]
    graphs += [(name, replace(world, elements=world.of(name))) for name in world.streams]
    found: list[Row] = []
    for name, graph in graphs:
        if op.name in (name,) or isinstance(op.name, Var):
            inside = _operand(op, 0, graph)
            found += _joined(inside, [Row({op.name: name})]) if isinstance(op.name, Var) else inside
    return found


def _project(op: ops.Project, world: World) -> list[Row]:
    inside = _operand(op, 0, world.only(op.vars))
    return [replace(row, solution={v: row.solution[v] for v in op.vars if v in row.solution}) for row in inside]


def _distinct(op: ops.Distinct | ops.Reduced, world: World) -> list[Row]:
    return list({row.counted(): row for row in _operand(op, 0, world)}.values())


def _slice(op: ops.Slice, world: World) -> list[Row]:
    """In some order that depends on the solutions alone."""
    found = sorted(
        _operand(op, 0, world), key=lambda row: str(sorted((v.name, str(t)) for v, t in row.solution.items()))
    )
    return found[op.offset :][: op.limit]


def _group(op: ops.Group, world: World) -> list[Row]:
    """A group lasts from the first start to the last end of its members."""
    inside = world.only(op.keys)
    groups: dict[tuple[object, ...], list[Row]] = {} if op.keys else {(): []}
    for row in _operand(op, 0, inside):
        groups.setdefault(tuple(map(row.solution.get, op.keys)), []).append(row)
    return [_of_group(op, members, inside) for members in groups.values()]


def _of_group(op: ops.Group, members: list[Row], world: World) -> Row:
    made = Row({})
    for member in members:
        made = Row({}, _min(made.starts, member.starts), _max(made.ends, member.ends))
        made = replace(made, solution={key: member.solution[key] for key in op.keys if key in member.solution})
    solution = dict(made.solution)
    for var, aggregate in op.aggregates:
        solution |= _aggregated(var, aggregate, members, op, world)
    return replace(made, solution=solution)


def _annotate(op: ops.Annotate, world: World) -> list[Row]:
    inside = world.only(op.keys)
    found = _operand(op, 0, inside)

    def key(row: Row) -> tuple[object, ...]:
        return tuple(map(row.solution.get, op.keys))

    made = {key(row): [other for other in found if key(other) == key(row)] for row in found}
    return [
        replace(row, solution=row.solution | _aggregated(op.var, op.aggregate, made[key(row)], op, inside))
        for row in found
    ]


def _aggregated(var: Var, aggregate: Aggregate, members: list[Row], op: Op, world: World) -> Solution:
    if aggregate.argument is None:
        return reference._aggregated(var, aggregate, [row.solution for row in members], reference.World(_NO, {}, {}))
    with_argument = [_bound(_ARGUMENT, aggregate.argument, row, op, world).solution for row in members]
    return reference._aggregated(
        var, replace(aggregate, argument=_ARGUMENT), with_argument, reference.World(_NO, {}, {})
    )


_NO: Graph = frozenset()
_SOLVERS: dict[type[Op], Callable[..., list[Row]]] = {
    ops.Bgp: _bgp,
    ops.Path: _path,
    ops.Join: lambda op, world: _joined(*_both(op, world)),
    ops.Seq: lambda op, world: _joined(*_both(op, world), before),
    ops.Equals: lambda op, world: _joined(*_both(op, world), at_once),
    ops.LeftJoin: _left_join,
    ops.OptionalSeq: _optional_seq,
    ops.EqualsOptional: _equals_optional,
    ops.Union: lambda op, world: _operand(op, 0, world) + _operand(op, 1, world),
    ops.Minus: _minus,
    ops.Filter: _filter,
    ops.Extend: _extend,
    ops.Table: lambda op, world: [Row(solution) for solution in reference._table(op, reference.World(_NO, {}, {}))],
    ops.Graph: _graph,
    ops.Group: _group,
    ops.Annotate: _annotate,
    ops.Project: _project,
    ops.Distinct: _distinct,
    ops.Reduced: _distinct,
    ops.OrderBy: lambda op, world: _operand(op, 0, world),
    ops.StaticView: lambda op, world: _operand(op, 0, world),
    ops.Slice: _slice,
}


# Expressions


def holds(condition: Expr, row: Row, op: Op, world: World) -> bool:
    """Whether a filter of that operator passes: an error is not true."""
    return reference.holds(_sigma(condition, row, op, world), row.solution, _plain(world))


def value(expression: Expr, row: Row, op: Op, world: World) -> Term:
    return reference.value(_sigma(expression, row, op, world), row.solution, _plain(world))


def _plain(world: World) -> reference.World:
    return reference.World(_NO, {}, world.around())


def _sigma(expression: Expr, row: Row, op: Op, world: World) -> Expr:
    """The expression with what the row says about its interval, and with what its EXISTS find."""
    match expression:
        case Occurrence(kind):
            return _occurrence(kind, row)
        case Exists(pattern):
            inside = world.inside(_number(expression, op)).within({**world.around(), **row.solution})
            return Const(Literal(any(so_far(row, other) for other in rows(pattern, inside))))
        case Call(name, args):
            return Call(name, tuple(_sigma(arg, row, op, world) for arg in args))
    return expression


def _number(exists: Exists, op: Op) -> int:
    """The place of an EXISTS among the operator's plans."""
    found = [each for expression in expressions_of(op) for each in exists_in(expression)]
    number = len(op.children) + next(i for i, each in enumerate(found) if each is exists)
    assert list(inner_plans(op))[number] is exists.pattern
    return number


def _occurrence(kind: str, row: Row) -> Expr:
    if row.starts is None or row.ends is None:
        return _NOTHING
    if kind == "duration":
        return Const(Literal(written(row.ends - row.starts), datatype=NamedNode(f"{XSD}duration")))
    return Const(moment(row.starts if kind == "start" else row.ends))


def moment(microseconds: int) -> Literal:
    """The canonical xsd:dateTime."""
    when = _EPOCH + timedelta(microseconds=microseconds)
    text = when.strftime("%Y-%m-%dT%H:%M:%S") + (f".{when.microsecond:06}".rstrip("0") if when.microsecond else "")
    return Literal(f"{text}Z", datatype=NamedNode(f"{XSD}dateTime"))

"""Generated plans, streams and backgrounds for EP-SPARQL: small, and short enough in time that much happens at once."""

from __future__ import annotations

from collections.abc import Callable

from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.durations import written
from penstock.algebra.expressions import Call, Const, Exists, Expr, Occurrence, PatternTerm, Var
from penstock.algebra.ops import Op, TriplePattern
from penstock.algebra.scope import visible
from tests.support import plans
from tests.support.event_reference import Element, World
from tests.support.plans import IRIS, PREDICATES, TERMS, VARS
from tests.support.reference import XSD, Triple
from tests.support.tape import Tape

LONGEST = 3
ENDS = (*VARS[1:], Var("v"), Var("w"), *TERMS[1:2])


def stream(tape: Tape) -> tuple[Element, ...]:
    return tuple(_element(tape) for _ in range(tape.count(2, 7)))


def _element(tape: Tape) -> Element:
    start = tape.count(0, 7)
    return Element(_known(tape), start, start + tape.pick((0, 0, 0, 1, 2)))


def _known(tape: Tape) -> Triple:
    return tape.pick((IRIS[0], *IRIS)), tape.pick(PREDICATES), tape.pick(TERMS[1:])


def world(tape: Tape) -> World:
    """With a little background."""
    known = frozenset(_known(tape) for _ in range(tape.count(0, 2)))
    return World(stream(tape), known)


def events(tape: Tape) -> World:
    """Without background."""
    return World(stream(tape))


def plan(tape: Tape, depth: int = 4) -> Op:
    return _made(tape, depth, EVERYTHING)


def bounded_plan(tape: Tape) -> Op:
    """One that is not long at the root, or perhaps one level below it."""
    bounded = ops.Filter(short(tape), plan(tape, 3))
    return bounded if tape.chance(2) else tape.pick(EVERYTHING)(tape, lambda: ops.Filter(short(tape), plan(tape, 2)))


def decided_plan(tape: Tape, depth: int = 4) -> Op:
    """One whose solutions depend on nothing that comes later: without groups, and all of it occurs."""
    return _made(tape, depth, DECIDED)


def _made(tape: Tape, depth: int, makers: tuple[Maker, ...]) -> Op:
    if depth == 0 or tape.chance(6):
        return bgp(tape)
    return tape.pick(makers)(tape, lambda: _made(tape, depth - 1, makers))


def bgp(tape: Tape) -> Op:
    return ops.Bgp(tuple(_triple(tape) for _ in range(tape.pick((1, 1, 1, 2)))))


def _triple(tape: Tape) -> TriplePattern:
    """Much of what there is matches, and the variables at the end differ often enough for rows to be compatible."""
    subjects: tuple[PatternTerm, ...] = (VARS[0], VARS[0], IRIS[0])
    return TriplePattern(tape.pick(subjects), tape.pick(PREDICATES), tape.pick(ENDS))


# Conditions


def short(tape: Tape) -> Expr:
    """Asks for a row that is not long."""
    sign, limit = tape.pick(("<", "<=", "=")), duration(tape.count(0, LONGEST))
    mirrored = {"<": ">", "<=": ">=", "=": "="}[sign]
    asked = Occurrence("duration")
    return Call(sign, (asked, limit)) if tape.chance(2) else Call(mirrored, (limit, asked))


def duration(microseconds: int) -> Const:
    return Const(Literal(written(microseconds), datatype=NamedNode(f"{XSD}duration")))


def condition(tape: Tape, inner: Inner) -> Expr:
    kind = tape.pick(("short", "short", "short", "both", "either", "variables", "times", "not", "exists", "long"))
    match kind:
        case "both" | "either":
            return Call("&&" if kind == "both" else "||", (condition(tape, inner), condition(tape, inner)))
        case "variables":
            return plans.expression(tape, 1)
        case "times":
            return Call(tape.pick(("<", "=")), (Occurrence("start"), Occurrence("end")))
        case "not":
            return Call("!", (condition(tape, inner),))
        case "exists":
            return Exists(inner())
        case "long":
            return Call(">", (Occurrence("duration"), duration(tape.count(0, 1))))
    return short(tape)


# Operators

Inner = Callable[[], Op]
Maker = Callable[[Tape, Inner], Op]


def _binary(kind: Callable[[Op, Op], Op]) -> Maker:
    return lambda tape, inner: kind(inner(), inner())


def _optional(kind: Callable[[Op, Op, Expr | None], Op]) -> Maker:
    return lambda tape, inner: kind(inner(), inner(), condition(tape, inner) if tape.chance(2) else None)


def _filter(tape: Tape, inner: Inner) -> Op:
    return ops.Filter(condition(tape, inner), inner())


def _extend(tape: Tape, inner: Inner) -> Op:
    pattern = inner()
    unused = [var for var in VARS if var not in visible(pattern)]
    asked = Occurrence(tape.pick(("duration", "start", "end")))
    return ops.Extend(unused[0], asked, pattern) if unused else pattern


def _project(tape: Tape, inner: Inner) -> Op:
    pattern = inner()
    kept = ops.Project(tuple(tape.some(VARS, 1, 2)), pattern)
    return ops.Distinct(kept) if tape.chance(2) else kept


def _left_join(tape: Tape, inner: Inner) -> Op:
    test = condition(tape, inner) if tape.chance(2) else None
    return ops.LeftJoin(test, inner(), inner())


def _group(tape: Tape, inner: Inner) -> Op:
    return plans._group(tape, 1) if tape.chance(3) else ops.Group((VARS[0],), (), inner())


def _annotate(tape: Tape, inner: Inner) -> Op:
    pattern = inner()
    unused = [var for var in VARS if var not in visible(pattern)]
    keys = tuple(tape.some(tuple(sorted(visible(pattern))), 0, 2)) if visible(pattern) else ()
    return ops.Annotate(unused[0], plans._aggregate(tape), keys, pattern) if unused else pattern


DECIDED: tuple[Maker, ...] = (
    *[_binary(ops.Seq)] * 3, _binary(ops.Equals), _optional(ops.OptionalSeq), _optional(ops.EqualsOptional), _filter,
    _filter, _filter, _binary(ops.Join), _binary(ops.Union), _left_join, _binary(ops.Minus), _extend, _project,
)  # fmt: skip
EVERYTHING: tuple[Maker, ...] = (
    *DECIDED, *DECIDED, _group, _annotate,
    lambda tape, inner: ops.Slice(0, tape.count(1, 2), inner()),
    lambda tape, inner: ops.Join(ops.Table((VARS[0],), ((IRIS[0],), (None,))), inner()),
    lambda tape, inner: ops.LeftJoin(condition(tape, inner) if tape.chance(2) else None, ops.Bgp(()), inner()),
)  # fmt: skip

"""Generated queries of events, the streams that they read, and how these are cut and the queries evaluated.

The patterns are those of `tests/support/event_plans.py`, and GRAPH around some. Streams are short, and background data
shares triples with them. A case is the first one of its seed whose answer has something in it: trying some takes little
time beside a Spark job.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import reduce
from itertools import count
from typing import Any, TypeVar

from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Call, Const, Exists, Occurrence, Var
from penstock.algebra.occurrence import everywhere as parts
from penstock.algebra.ops import Op, StreamWindow
from penstock.algebra.scope import visible
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, Window
from penstock.optimise import enabled
from penstock.options import Duplicates
from tests.oracle.events_mistakes import AGAINST, shows
from tests.support import event_plans, plans
from tests.support.event_reference import World
from tests.support.tape import Tape

BYTES = 400
STREAMS = tuple(NamedNode(f"http://example.org/stream{i}") for i in (1, 2))
KNOWN = NamedNode("http://example.org/k")  # of the background alone
RULES = tuple(sorted(enabled(None)))  # with the physical choices
Made = TypeVar("Made")


@dataclass(frozen=True)
class Cut:
    """What must not matter."""

    files: int  # into how many a stream is cut
    spans: int  # into how many the time is cut
    rows: int  # how many elements Spark is told to expect, and makes partitions for
    rules: tuple[str, ...]  # none of the optimiser, or one that is left out
    known: bool  # whether the predicates of the streams are known
    said: bool  # whether the query is a text
    points: bool  # whether the start of a point is written down


@dataclass(frozen=True)
class Case:
    plan: Op
    world: World  # with all elements, also those that are merged
    windows: tuple[StreamWindow, ...]
    duplicates: Duplicates
    cut: Cut
    emit: str = "events"
    against: str = "nothing"  # a mistake that it shows

    @property
    def variables(self) -> tuple[Var, ...]:
        return tuple(sorted(visible(self.plan)))

    @property
    def seen(self) -> World:
        """The world in which equal triples are one where that is asked for."""
        return replace(self.world, merges=self.duplicates == "merge")

    @property
    def is_clear(self) -> bool:
        """Whether it is said which of equal triples is the latest, and in which graph it is."""
        if self.duplicates == "keep":
            return True
        elements = self.world.elements
        ends = Counter((triple, end) for triple, _, end in {(e.triple, e.start, e.end) for e in elements})
        known = {e.triple for e in elements} & self.world.background
        return max(ends.values()) == 1 and not known and (len(self.windows) == 1 or not uses(self.plan, ops.Graph))


def first(make: Callable[[Tape], Made], wanted: Callable[[Made], bool]) -> st.SearchStrategy[Made]:
    """Of each seed the first that is wanted."""

    def found(seed: int) -> Made:
        tapes = random.Random(seed)
        return next(filter(wanted, (make(Tape(tapes.randbytes(BYTES))) for _ in count())))

    return st.integers(0, 1 << 40).map(found)


def telling(make: Callable[[Tape], Case], against: Sequence[str] = AGAINST) -> st.SearchStrategy[Case]:
    """Cases with an answer, which would be another one with a mistake that the seed decides about."""

    def wanted(case: Case) -> bool:
        return case.is_clear and 2 <= leaves(case.plan) <= 4 and shows(case.against, case.plan, case.seen)

    return st.sampled_from(against).flatmap(
        lambda mistake: first(lambda tape: replace(make(tape), against=mistake), wanted)
    )


def leaves(op: Op) -> int:
    """How many triple patterns there are: that is what a job takes its time for."""
    return sum(len(part.patterns) for part in parts(op) if isinstance(part, ops.Bgp))


def uses(op: Op, *kinds: type[Op]) -> bool:
    return any(isinstance(part, kinds) for part in parts(op))


# Streams


def world(tape: Tape, streams: int) -> World:
    names = STREAMS[:streams]
    made = [replace(e, stream=name) for name in names for e in event_plans.stream(tape)]
    again = tape.some(made, 0, 2)
    known = frozenset(event_plans._known(tape) for _ in range(tape.pick((0, 0, 1, 2))))
    ordered = sorted((*made, *again), key=lambda e: e.end)
    return World(tuple(ordered), known | {(plans.IRIS[0], KNOWN, Literal(1))}, streams=names)


def apart(made: World, tape: Tape) -> World:
    """The same with long times between some elements: then sequences are short beside all the time there is."""
    places = [20 * tape.count(0, 4) for _ in made.elements]
    moved = [replace(e, start=e.start + at, end=e.end + at) for e, at in zip(made.elements, places, strict=True)]
    return replace(made, elements=tuple(sorted((*made.elements, *moved), key=lambda e: e.end)))


def cut(tape: Tape) -> Cut:
    off = tape.count(-len(RULES), len(RULES))
    rules = () if off == len(RULES) else (f"-{RULES[off]}",)
    files, spans = tape.count(1, 3), tape.pick((1, 1, 1, 1, 3))
    rows = tape.pick((0, 0, 0, 0, 60_000, 600_000))
    return Cut(files, spans, rows, rules, tape.chance(2), tape.chance(2), tape.chance(2))


def events_case(tape: Tape, makers: Sequence[event_plans.Maker] | None = None) -> Case:
    made = world(tape, tape.pick((1, 1, 2)))
    plan = prepared(_plan(tape, makers or DECIDED))
    windows = tuple(StreamWindow(name, SlideWindow(None)) for name in made.streams)
    return Case(plan, made, windows, tape.pick(("keep", "keep", "merge")), cut(tape))


def chain_case(tape: Tape) -> Case:
    """Single events in a row, not too long, and as if there were many: tasks of their own look for those."""
    made = events_case(tape)
    steps: list[Op] = [ops.Bgp((event_plans._triple(tape),)) for _ in range(tape.count(2, 3))]
    chain: Op = prepared(ops.Filter(event_plans.short(tape), reduce(ops.Seq, steps)))
    around = tape.pick((chain, chain, ops.Join(chain, steps[0]), ops.LeftJoin(None, steps[0], chain)))
    cut = replace(made.cut, rows=600_000, spans=1)
    return replace(made, plan=around, world=apart(made.world, tape), duplicates="keep", cut=cut)


def windowed_case(tape: Tape) -> Case:
    made = world(tape, tape.pick((1, 1, 1, 2)))
    plan = prepared(_plan(tape, EVERYTHING, 3))
    windows = tuple(StreamWindow(name, tape.pick(WINDOWS)(tape)) for name in made.streams)
    return Case(plan, made, windows, tape.pick(("keep", "keep", "merge")), replace(cut(tape), said=False), "rstream")


WINDOWS: tuple[Callable[[Tape], Window], ...] = (  # those that count are dear
    *[lambda tape: TimeWindow(tape.count(2, 8), tape.count(1, 3))] * 3,
    *[lambda tape: TimeWindow(step := tape.count(2, 6), step)] * 2,
    lambda tape: CountWindow(tape.count(2, 6), tape.count(1, 2)),
    lambda tape: SlideWindow(tape.count(2, 8)),
    lambda tape: SlideWindow(None),
)


# Plans


def _plan(tape: Tape, makers: Sequence[event_plans.Maker], depth: int = 4) -> Op:
    return event_plans._made(tape, depth, tuple(makers))


def _graph(tape: Tape, inner: event_plans.Inner) -> Op:
    """Around patterns, so that no GRAPH is inside another."""
    one, other = event_plans.bgp(tape), event_plans.bgp(tape)
    names: tuple[Var | NamedNode, ...] = (*STREAMS, Var("g"), plans.VARS[0])
    inside = tape.pick((one, ops.Seq(one, other), ops.OptionalSeq(one, other), ops.LeftJoin(None, one, other)))
    return ops.Graph(tape.pick(names), inside)


def _of_background(tape: Tape, inner: event_plans.Inner) -> Op:
    """What is said of a row that never ended, before an event makes an answer of it."""
    known, other = ops.Bgp((ops.TriplePattern(plans.VARS[0], KNOWN, Var("k")),)), inner()
    found = (ops.LeftJoin(None, known, other), ops.Minus(known, other), ops.Filter(Exists(other), known))
    return ops.Join(tape.pick(found), event_plans.bgp(tape))


def _asked(tape: Tape, inner: event_plans.Inner) -> Op:
    """What is optional inside of EXISTS, about variables of the row outside."""
    one, other = event_plans.bgp(tape), event_plans.bgp(tape)
    kind = tape.pick((ops.OptionalSeq, ops.EqualsOptional, ops.Seq))
    found = Exists(kind(one, other))
    return ops.Filter(Call("!", (found,)) if tape.chance(2) else found, inner())


def _group(tape: Tape, inner: event_plans.Inner) -> Op:
    keys = tuple(tape.some(plans.VARS, 0, 1))
    argument = Occurrence(tape.pick(("duration", "end"))) if tape.chance(3) else tape.pick(plans.VARS)
    aggregate = tape.pick((Aggregate("COUNT", None), Aggregate("COUNT", argument, tape.chance(2))))
    return ops.Group(keys, ((Var("n"), aggregate),), inner())


DECIDED = (*event_plans.DECIDED, *event_plans.DECIDED, _graph, _of_background, _asked)
"""Those whose answers are complete with their last element, so that events are delivered with their intervals."""
EVERYTHING = (*DECIDED, _group, _group, event_plans._annotate, *event_plans.EVERYTHING[-2:])


def prepared(node: Any) -> Any:
    """The plan with comparisons that the reference and SPARQL agree about: `<` on variables means numbers."""
    node = _mapped(node, prepared)
    match node:
        case Call("<", args) if not any(isinstance(arg, Occurrence) for arg in args):
            return Call("<", tuple(Call("+", (arg, _ZERO)) for arg in args))
    return node


def for_spark(node: Any) -> Any:
    """`=` in the reference compares terms. Of times too, but these have one form each."""
    node = _mapped(node, for_spark)
    match node:
        case Call("=" | "!=" as sign, args) if not any(isinstance(arg, Occurrence) for arg in args):
            same = Call("SAMETERM", args)
            return same if sign == "=" else Call("!", (same,))
    return node


def grouped(node: Any) -> Any:
    """Aggregates with names of their own first and then those of variables, as in the plan of every query."""
    node = _mapped(node, grouped)
    match node:
        case ops.Group(keys, ((var, aggregate),), pattern):
            own = Var(".a")
            return ops.Project((*keys, var), ops.Extend(var, own, ops.Group(keys, ((own, aggregate),), pattern)))
    return node


def _mapped(node: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(node, tuple):
        return tuple(map(change, node))
    if not is_dataclass(node) or isinstance(node, Var):
        return node
    return replace(node, **{f.name: change(getattr(node, f.name)) for f in fields(node)})  # type: ignore[type-var]


_ZERO = Const(Literal(0))

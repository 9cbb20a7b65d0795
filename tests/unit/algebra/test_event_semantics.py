"""EP-SPARQL's operators by their definitions: what the paper says about them holds, on generated plans and streams."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.ops import Op
from penstock.algebra.sse import read, write
from penstock.optimise.walk import map_children, map_exists
from tests.support import reference
from tests.support.event_plans import bgp, decided_plan, events, plan, world
from tests.support.event_reference import Element, World, bag, delivered, rows
from tests.support.plans import from_tape
from tests.support.plans import plan as plain_plan

NS = "http://example.org/"


def element(subject: str, predicate: str, value: object, start: int, end: int | None = None) -> Element:
    made = Literal(value) if isinstance(value, int) else NamedNode(f"{NS}{value}")
    return Element((NamedNode(f"{NS}{subject}"), NamedNode(f"{NS}{predicate}"), made), start, end or start)


@settings(max_examples=400, deadline=None)
@given(op=from_tape(decided_plan), given_=from_tape(events, 60))
def test_timewise_monotonicity(op: Op, given_: World) -> None:
    """No solution of what has ended by some time is lost when more comes."""
    found: Counter[object] = Counter()
    for instant in range(10):
        more = bag(op, given_.until(instant))
        assert found <= more, f"{write(op)} at {instant}"
        found = more


@settings(max_examples=200, deadline=None)
@given(op=from_tape(decided_plan), given_=from_tape(events, 60))
def test_deliveries_over_time_are_all_solutions(op: Op, given_: World) -> None:
    assert delivered(op, given_) == bag(op, given_)


@settings(max_examples=200, deadline=None)
@given(op=from_tape(lambda tape: plain_plan(tape, 3)), given_=from_tape(world, 60))
def test_at_one_time_it_is_plain_sparql(op: Op, given_: World) -> None:
    """Downward compatibility, also with a background."""
    op = plain(op)
    at_once = replace(given_, elements=tuple({e.triple: replace(e, start=5, end=5) for e in given_.elements}.values()))
    triples = frozenset(e.triple for e in at_once.elements)
    at_once = replace(at_once, background=at_once.background - triples)
    named = {NamedNode(f"{NS}g"): at_once.background, NamedNode(f"{NS}h"): frozenset()}
    found = Counter(frozenset(row.solution.items()) for row in rows(op, replace(at_once, named=tuple(named.items()))))
    assert found == reference.answers(op, triples | at_once.background, named)


def plain(op: Op) -> Op:
    """Without paths, which lead through no events, and without what tells apart what occurred and what did not."""
    inside = map_children(map_exists(op, plain), plain)
    match inside:
        case ops.Path(subject, _, object):
            return ops.Bgp((ops.TriplePattern(subject, NamedNode(f"{NS}p"), object),))
        case ops.Distinct(pattern) | ops.Reduced(pattern) | ops.Slice(_, _, pattern):
            return pattern
    return inside


@settings(max_examples=200, deadline=None)
@given(a=from_tape(bgp, 12), b=from_tape(bgp, 12), c=from_tape(bgp, 12), given_=from_tape(world, 60))
def test_seq_is_associative(a: Op, b: Op, c: Op, given_: World) -> None:
    assert bag(ops.Seq(ops.Seq(a, b), c), given_) == bag(ops.Seq(a, ops.Seq(b, c)), given_)


@settings(max_examples=200, deadline=None)
@given(a=from_tape(plan), b=from_tape(plan), given_=from_tape(world, 60))
def test_seq_and_equals_are_parts_of_join_and_exclude_each_other(a: Op, b: Op, given_: World) -> None:
    joined, equal = bag(ops.Join(a, b), given_), bag(ops.Equals(a, b), given_)
    sequences = bag(ops.Seq(a, b), given_) + bag(ops.Seq(b, a), given_)
    assert equal == bag(ops.Equals(b, a), given_)
    assert sequences + equal <= joined


@settings(max_examples=200, deadline=None)
@given(a=from_tape(plan), b=from_tape(plan), given_=from_tape(world, 60))
def test_the_optional_forms_keep_the_mandatory_side(a: Op, b: Op, given_: World) -> None:
    """Filter(F, SeqJoin) and the bare ones: together with those that have partners, all of the mandatory side."""
    for optional, inner, needed in (
        (ops.OptionalSeq(a, b), ops.Seq(a, b), b),
        (ops.EqualsOptional(a, b), ops.Equals(a, b), a),
    ):
        found, partnered = bag(optional, given_), bag(inner, given_)
        assert partnered <= found
        assert found - partnered <= bag(needed, given_)


def test_a_sequence_of_intervals() -> None:
    """
    a :p 1   |---|
    a :p 2         |---|
    a :p 3           |-----|
    time     1   3   5   7  9
    """
    given_ = World((element("a", "p", 1, 1, 3), element("a", "p", 2, 4, 6), element("a", "p", 3, 5, 8)))
    found = rows(read("(seq (bgp (?x :p ?y)) (bgp (?x :p ?z)))"), given_)
    assert [(row.solution[Var("z")], row.starts, row.ends) for row in found] == [(Literal(2), 1, 6), (Literal(3), 1, 8)]


def test_query_7_shows_why_there_is_no_seqoptional() -> None:
    """{?x} SEQOPTIONAL {?y} as OPTIONALSEQ backwards would take back what it said."""
    first, later = element("a", "a", "a", 0), element("b", "b", "b", 1)
    op = read("(optionalseq (bgp (?y ?y ?y)) (bgp (?x ?x ?x)))")
    once = bag(op, World((first,)))
    assert once <= bag(op, World((first, later)))
    backwards = World((replace(first, start=1, end=1), replace(later, start=0, end=0)))
    assert not bag(op, replace(backwards, elements=backwards.elements[:1])) <= bag(op, backwards)

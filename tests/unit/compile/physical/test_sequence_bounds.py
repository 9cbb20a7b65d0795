"""How long sequences may be: what filters say, and that leaving out longer ones changes no answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.expressions import Call, Occurrence
from penstock.algebra.ops import Op
from penstock.algebra.sse import write
from penstock.algebra.windows import UNITS
from penstock.compile.physical.sequence_bounds import longest_sequences
from penstock.optimise.walk import map_children, map_exists
from tests.support.event_plans import bgp, bounded_plan, duration, short, world
from tests.support.event_reference import World, bag
from tests.support.plans import from_tape
from tests.support.tape import Tape

PREFIXES = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
WITHIN = 'FILTER (getDURATION() < "%s"^^xsd:duration)'
A, B, C, D = (f"{{ ?x :{letter} ?{letter} }}" for letter in "abcd")


@pytest.mark.parametrize(
    ("pattern", "seconds"),
    [
        (f"{A} SEQ {B}", []),
        (f"{A} SEQ {B} {WITHIN % 'PT9S'}", [9]),
        (f"{A} SEQ {B} SEQ {C} {WITHIN % 'PT9S'}", [9, 9]),
        (f"{{ {A} SEQ {B} {WITHIN % 'PT3S'} }} SEQ {C} {WITHIN % 'PT9S'}", [3, 9]),
        (f"{{ {A} SEQ {B} }} EQUALSOPTIONAL {{ {C} SEQ {D} }} {WITHIN % 'PT9S'}", [9, 9]),
        (f"{A} OPTIONAL {{ {C} SEQ {D} }} {WITHIN % 'PT9S'}", []),
        (f"{A} OPTIONAL {{ {C} SEQ {D} {WITHIN % 'PT3S'} }}", [3]),
        (f"{A} MINUS {{ {C} SEQ {D} }} {WITHIN % 'PT9S'}", []),
        (f"{A} FILTER NOT EXISTS {{ {C} SEQ {D} }} {WITHIN % 'PT9S'}", []),
        (f"{{ SELECT (COUNT(*) AS ?n) {{ {A} SEQ {B} }} }} {WITHIN % 'PT9S'}", []),
        (f"{{ {A} SEQ {B} {WITHIN % 'PT3S'} }} UNION {{ {A} SEQ {B} }}", []),
        (f"{A} SEQ {B} {WITHIN % 'P9000Y'}", []),
    ],
)
def test_duration_filters_bound_sequences(pattern: str, seconds: list[int]) -> None:
    found = longest_sequences(translate(f"{PREFIXES} SELECT * {{ {pattern} }}").pattern)
    assert sorted(bound // UNITS["s"] for bound in found.values()) == seconds


def sequence(tape: Tape) -> Op:
    return ops.Seq(bgp(tape), bgp(tape))


def around(tape: Tape) -> Op:
    """A short row made of a sequence and something else, on either side of any operator with two sides."""
    sides = tape.some((sequence(tape), bgp(tape)), 2, 2)
    kind = tape.pick((ops.Join, ops.Minus, ops.Union, ops.Equals, *_OPTIONAL))
    made = _OPTIONAL[kind](short(tape) if tape.chance(2) else None, *sides) if kind in _OPTIONAL else kind(*sides)
    return ops.Filter(short(tape), ops.Distinct(made) if tape.chance(4) else made)


_OPTIONAL: dict[Any, Callable[..., Op]] = {
    ops.LeftJoin: ops.LeftJoin,
    ops.OptionalSeq: lambda condition, left, right: ops.OptionalSeq(left, right, condition),
    ops.EqualsOptional: lambda condition, left, right: ops.EqualsOptional(left, right, condition),
}


@settings(max_examples=400, deadline=None)
@given(op=from_tape(around), given_=from_tape(world, 60))
def test_longer_ones_change_nothing_around_them(op: Op, given_: World) -> None:
    check(op, given_)


@settings(max_examples=400, deadline=None)
@given(op=from_tape(bounded_plan), given_=from_tape(world, 60))
def test_longer_ones_change_nothing(op: Op, given_: World) -> None:
    check(op, given_)


def check(op: Op, given_: World) -> None:
    assert bag(op, given_) == bag(cut(op, longest_sequences(op)), given_), write(op)


def cut(op: Op, longest: dict[Op, int]) -> Op:
    """The same with a filter on each sequence that has a bound."""

    def inside(inner: Op) -> Op:
        return cut(inner, longest)

    made = map_children(map_exists(op, inside), inside)
    if op not in longest:
        return made
    return ops.Filter(Call("<=", (Occurrence("duration"), duration(longest[op]))), made)

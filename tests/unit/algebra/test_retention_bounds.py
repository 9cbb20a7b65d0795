"""How long elements matter: what filters say, and that leaving out what does not matter changes no answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.durations import lengths, written
from penstock.algebra.occurrence import inner_plans
from penstock.algebra.ops import Op, Query, Select
from penstock.algebra.retention_bounds import Place, duration_bounds, kept_for, unbounded
from penstock.algebra.sse import write
from penstock.algebra.windows import UNITS
from tests.support.event_plans import bounded_plan, world
from tests.support.event_reference import Element, World, rows
from tests.support.plans import from_tape

S, DAY = UNITS["s"], UNITS["d"]
PREFIXES = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
WITHIN = 'FILTER (getDURATION() < "PT%dS"^^xsd:duration)'
AROUND = 'FILTER (getDURATION() < "PT1H"^^xsd:duration) in the group around it would help, or another duration'
INSIDE = 'FILTER (getDURATION() < "PT1H"^^xsd:duration) inside its own group would help, or another duration'
NOTHING = "no filter helps here, but a window on the stream does"


def query(pattern: str) -> Query:
    return translate(f"{PREFIXES} SELECT * {pattern}")


def by_predicate(found: dict[Place, int | None], asked: Query) -> dict[str, int | None]:
    """Letters of predicates → bounds in seconds; a pattern that stands there twice has the larger bound."""
    bounds: dict[str, int | None] = {}
    for place, bound in found.items():
        op: Op = asked.pattern
        for number in place:
            op = list(inner_plans(op))[number]
        assert isinstance(op, ops.Bgp)
        letter = op.patterns[0].predicate.value[-1]  # type: ignore[union-attr]
        seconds = None if bound is None else bound // S
        known = bounds.get(letter, seconds)
        bounds[letter] = None if known is None or seconds is None else max(known, seconds)
    return bounds


A, B, C, D = (f"?x :{letter} ?{letter}" for letter in "abcd")


@pytest.mark.parametrize(
    ("pattern", "bounds"),
    [
        (f"{{ {{{A}}} SEQ {{{B}}} }}", {"a": None, "b": None}),
        (f"{{ {{{A}}} SEQ {{{B}}} {WITHIN % 9} }}", {"a": 9, "b": 9}),
        (f"{{ {{{A}}} SEQ {{{B}}} SEQ {{{C}}} {WITHIN % 9} }}", {"a": 9, "b": 9, "c": 9}),
        (f"{{ {{{A}}} SEQ {{{B} {WITHIN % 3} }} }}", {"a": None, "b": 3}),
        (f"{{ {{{A} {WITHIN % 3}}} SEQ {{{B}}} }}", {"a": None, "b": None}),
        (f"{{ {{{A} {WITHIN % 3}}} SEQ {{{B}}} {WITHIN % 9} }}", {"a": 9, "b": 9}),
        (f"{{ {{ {{{A}}} SEQ {{{B}}} {WITHIN % 3} }} EQUALS {{{C} }} }}", {"a": 3, "b": 3, "c": None}),
        (f"{{ {{ {{{A}}} SEQ {{{B}}} {WITHIN % 3} }} UNION {{{C}}} {WITHIN % 9} }}", {"a": 3, "b": 3, "c": 9}),
        (f"{{ {{{A}}} {{{B}}} {WITHIN % 9} }}", {"a": 9, "b": 9}),
        (f"{{ {{{A}}} {{{B} {WITHIN % 3}}} }}", {"a": None, "b": None}),
        (f"{{ {A} OPTIONAL {{{B}}} {WITHIN % 9} }}", {"a": 9, "b": None}),
        (f"{{ {A} OPTIONAL {{{B} {WITHIN % 3}}} {WITHIN % 9} }}", {"a": 9, "b": 3}),
        (f"{{ {{ {A} OPTIONAL {{{B} {WITHIN % 3}}} }} SEQ {{{C}}} {WITHIN % 9} }}", {"a": 9, "b": 12, "c": 9}),
        (f"{{ {{{C}}} {{ {A} OPTIONAL {{{B} {WITHIN % 3}}} }} {WITHIN % 9} }}", {"a": 9, "b": None, "c": 9}),
        (f"{{ {A} OPTIONAL {{{B} {WITHIN % 3}}} OPTIONAL {{{C}}} }}", {"a": None, "b": None, "c": None}),
        (f"{{ {A} MINUS {{{B} {WITHIN % 3}}} {WITHIN % 9} }}", {"a": 9, "b": None}),
        (f"{{ {A} FILTER NOT EXISTS {{{B} {WITHIN % 3}}} {WITHIN % 9} }}", {"a": 9, "b": None}),
        (f"{{ {{{A}}} OPTIONALSEQ {{{B}}} {WITHIN % 9} }}", {"a": None, "b": 9}),
        (f"{{ {{{A} {WITHIN % 3}}} OPTIONALSEQ {{{B}}} {WITHIN % 9} }}", {"a": 3, "b": 9}),
        (f"{{ {{{A} {WITHIN % 3}}} OPTIONALSEQ {{{B}}} }}", {"a": 3, "b": None}),
        (f"{{ {{{{{A} {WITHIN % 3}}}}} OPTIONALSEQ {{{B}}} {WITHIN % 9} }}", {"a": None, "b": 9}),
        (f"{{ {{{A}}} EQUALSOPTIONAL {{{B}}} {WITHIN % 9} }}", {"a": 9, "b": 9}),
        (f"{{ {{{A}}} EQUALSOPTIONAL {{{B} {WITHIN % 3}}} {WITHIN % 9} }}", {"a": 9, "b": 3}),
        (f"{{ {{{A}}} SEQ NOT {{{C}}} SEQ {{{B}}} {WITHIN % 9} }}", {"a": 9, "b": 9, "c": 9}),
        (f"{{ {{ SELECT ?x {{ {{{A}}} SEQ {{{B}}} }} }} {WITHIN % 9} }}", {"a": 9, "b": 9}),
        (f"{{ {{ SELECT ?x {{ {{{A}}} SEQ {{{B}}} }} GROUP BY ?x }} {WITHIN % 9} }}", {"a": None, "b": None}),
        (f"{{ {{ SELECT ?x {{ {{{A}}} SEQ {{{B}}} }} LIMIT 3 }} {WITHIN % 9} }}", {"a": None, "b": None}),
        (f"{{ {{{A}}} SEQ {{{B}}} BIND(getDURATION() AS ?n) {WITHIN % 9} }}", {"a": 9, "b": 9}),
        (f"FROM STREAM :s [NOW] {{ {{{A}}} SEQ {{{B}}} {WITHIN % 9} }}", {"a": None, "b": None}),
    ],
)  # fmt: skip
def test_bounds(pattern: str, bounds: dict[str, int | None]) -> None:
    asked = query(pattern)
    assert by_predicate(duration_bounds(asked), asked) == bounds


@pytest.mark.parametrize(
    ("condition", "bound"),
    [
        ('getDURATION() < "P1D"^^xsd:duration', DAY),
        ('getDURATION() <= "P1D"^^xsd:dayTimeDuration', DAY),
        ('getDURATION() = "P1D"^^xsd:duration', DAY),
        ('"P1D"^^xsd:duration > getDURATION()', DAY),
        ('"P1D"^^xsd:duration >= getDURATION() && ?a > 5', DAY),
        ('getDURATION() < "P2D"^^xsd:duration && (?a > 5 && getDURATION() < "P1D"^^xsd:duration)', DAY),
        ('getDURATION() < "P2D"^^xsd:duration || getDURATION() < "P1D"^^xsd:duration', 2 * DAY),
        ('getDURATION() < "P2D"^^xsd:duration || ?a > 5', None),
        ('getDURATION() < "P1M"^^xsd:yearMonthDuration', 28 * DAY),
        ('getDURATION() < "-P1D"^^xsd:duration', 0),
        ('getDURATION() > "P1D"^^xsd:duration', None),
        ('! (getDURATION() < "P1D"^^xsd:duration)', None),
        ('getDURATION() < "one day"^^xsd:duration', None),
        ('getDURATION() < "P1D"', None),
        ("getDURATION() < ?a", None),
        ('?a < "P1D"^^xsd:duration', None),
    ],
)
def test_conditions(condition: str, bound: int | None) -> None:
    asked = query(f"{{ {{{A}}} SEQ {{{B}}} FILTER ({condition}) }}")
    assert set(duration_bounds(asked).values()) == {bound}


def test_retention_counts_from_the_end_of_elements() -> None:
    """The last event of a sequence is needed no longer than it takes."""
    asked = query(f"{{ {{{A}}} SEQ {{{B} . {C}}} SEQ {{{D}}} {WITHIN % 9} }}")
    assert by_predicate(kept_for(asked), asked) == {"a": 9, "b": 9, "d": 0}


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (f"{{ {A} {WITHIN % 9} }}", []),
        (f"FROM STREAM :s {{ {A} }}", []),
        (f"FROM STREAM :s {{ {A} . {B} }}", [f"{{ ?x :a ?a . ?x :b ?b }} has no bound in time; {AROUND}"]),
        (f"{{ {{{A}}} SEQ {{{B}}} }}", [f"{{ ?x :a ?a }} has no bound in time; {AROUND}"]),
        (f"{{ {{{A}}} SEQ {{{B}}} {WITHIN % 9} }}", []),
        (f"{{ {{{A}}} OPTIONALSEQ {{{B}}} {WITHIN % 9} }}", [f"{{ ?x :a ?a }} has no bound in time; {INSIDE}"]),
        (f"FROM STREAM :s {{ {A} MINUS {{{B}}} }}", [f"{{ ?x :b ?b }} has no bound in time; {NOTHING}"]),
        (f"FROM STREAM :s [NOW] {{ {{{A}}} SEQ {{{B}}} }}", []),
    ],
)
def test_patterns_without_a_duration_bound_are_named(pattern: str, said: list[str]) -> None:
    assert list(unbounded(query(pattern))) == said


def test_describe_may_read_any_triple() -> None:
    asked = translate(f"{PREFIXES} DESCRIBE ?x {{ {{{A}}} SEQ {{{B}}} {WITHIN % 9} }}")
    assert set(duration_bounds(asked).values()) == {None}


def answers(op: Op, given_: World, keeps: Callable[[int, Place, Element], bool]) -> Counter[object]:
    found: Counter[object] = Counter()
    for instant in sorted({element.end for element in given_.elements}):
        seen = replace(given_.until(instant), keeps=partial(keeps, instant))
        found += Counter(row.counted() for row in rows(op, seen) if row.ends == instant)
    return found


@settings(max_examples=600, deadline=None)
@given(op=from_tape(bounded_plan), given_=from_tape(world, 60))
def test_elements_beyond_the_retention_bound_make_no_difference(op: Op, given_: World) -> None:
    asked = Query(Select(), op, emit="events")
    ages, keeping = duration_bounds(asked), kept_for(asked)
    everything = answers(op, given_, lambda now, place, element: True)

    def young(now: int, place: Place, element: Element) -> bool:
        bound = ages.get(place)
        return bound is None or now - element.start <= bound

    def kept(now: int, place: Place, element: Element) -> bool:
        bound = keeping.get(place)
        return bound is None or now - element.end <= bound

    assert answers(op, given_, young) == everything, write(op)
    assert answers(op, given_, kept) == everything, write(op)


@pytest.mark.parametrize(
    ("text", "shortest", "longest"),
    [
        ("P30D", 30 * DAY, 30 * DAY),
        ("PT1H1M1.5S", 3_661_500_000, 3_661_500_000),
        ("-PT0.25S", -250_000, -250_000),
        ("P1M", 28 * DAY, 31 * DAY),
        ("P1Y", 365 * DAY, 366 * DAY),
        ("-P1M", -31 * DAY, -28 * DAY),
    ],
)
def test_lengths(text: str, shortest: int, longest: int) -> None:
    literal = Literal(text, datatype=NamedNode("http://www.w3.org/2001/XMLSchema#duration"))
    assert lengths(literal) == (shortest, longest)


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "30D", "P1S", "P1.5D", "P999999Y", "p1d"])
def test_no_durations(text: str) -> None:
    assert lengths(Literal(text, datatype=NamedNode("http://www.w3.org/2001/XMLSchema#duration"))) is None
    assert lengths(Literal("P1D")) is None


@pytest.mark.parametrize("micros", [0, 1, 10 * S, 61 * S, DAY, DAY + 1, 36 * 3600 * S, 59_999_999])
def test_written(micros: int) -> None:
    literal = Literal(written(micros), datatype=NamedNode("http://www.w3.org/2001/XMLSchema#duration"))
    assert lengths(literal) == (micros, micros)

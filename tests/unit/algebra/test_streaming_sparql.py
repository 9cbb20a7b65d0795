"""Streaming SPARQL to algebra: windows after streams, and at the end of groups."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.sse import read, write
from penstock.algebra.windows import UNITS, CountWindow, SlideWindow, Window

PREFIX = "PREFIX : <http://example.org/> "
S, T = NamedNode("http://example.org/s"), NamedNode("http://example.org/t")
MS, SECOND, MINUTE, HOUR, DAY, WEEK = (UNITS[unit] for unit in ("ms", "s", "m", "h", "d", "w"))


def query(text: str) -> ops.Query:
    return translate(PREFIX + text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("RANGE 30 MINUTE SLIDE", SlideWindow(30 * MINUTE, MINUTE)),
        ("RANGE 30 MINUTE SLIDE 5 MINUTE", SlideWindow(30 * MINUTE, 5 * MINUTE)),
        ("range 30 minutes slide 10 s", SlideWindow(30 * MINUTE, 10 * SECOND)),
        ("RANGE 1000 SLIDE", SlideWindow(1000 * MS, MS)),
        ("RANGE 1000 SLIDE 10", SlideWindow(1000 * MS, 10 * MS)),
        ("RANGE 1 MINUTE SLIDE 500", SlideWindow(MINUTE, 500 * MS)),
        ("RANGE 5 SLIDE 1 MS", SlideWindow(5 * MS, MS)),
        ("RANGE 20 S SLIDE", SlideWindow(20 * SECOND, SECOND)),
        ("RANGE 3 HOUR SLIDE", SlideWindow(3 * HOUR, HOUR)),
        ("RANGE 3 DAY SLIDE", SlideWindow(3 * DAY, DAY)),
        ("RANGE 2 WEEK SLIDE", SlideWindow(2 * WEEK, WEEK)),
        ("RANGE 2 weeks SLIDE 1 d", SlideWindow(2 * WEEK, DAY)),
        ("RANGE 1h SLIDE", SlideWindow(HOUR, HOUR)),
        ("RANGE PT1H30M SLIDE", SlideWindow(90 * MINUTE, MINUTE)),
        ("RANGE PT1H SLIDE PT0.5S", SlideWindow(HOUR, 500 * MS)),
        ("RANGE 15 MINUTE FIXED", SlideWindow(15 * MINUTE, 15 * MINUTE)),
        ("RANGE 1000 fixed", SlideWindow(SECOND, SECOND)),
        ("ELEMS 1500", CountWindow(1500)),
    ],
)
def test_windows(text: str, meant: Window) -> None:
    made = query(f"ASK FROM STREAM :s WINDOW {text} FROM NAMED STREAM :t WINDOW {text} {{}}")
    assert made.streams == (ops.StreamWindow(S, meant), ops.StreamWindow(T, meant, named=True))
    assert made.emit == "intervals"


# Windows of groups. The stream's own window is ELEMS 9, and each of the others its own.

FIRST, SECOND_, THIRD = CountWindow(1), CountWindow(2), SlideWindow(MINUTE, MINUTE)


@pytest.mark.parametrize(
    ("where", "plan", "windows"),
    [
        ("{ ?x :p ?y WINDOW ELEMS 1 }", "(windowoverride 1 (bgp (?x :p ?y)))", [FIRST]),
        ("{ ?x :p ?y . WINDOW ELEMS 1 }", "(windowoverride 1 (bgp (?x :p ?y)))", [FIRST]),
        (
            "{ ?x :p ?y OPTIONAL { ?x :q ?z . WINDOW ELEMS 1 } }",
            "(leftjoin (bgp (?x :p ?y)) (windowoverride 1 (bgp (?x :q ?z))))",
            [FIRST],
        ),
        (
            "{ { ?x :p ?y WINDOW ELEMS 1 } UNION { ?x :q ?y WINDOW RANGE 1 MINUTE FIXED } }",
            "(union (windowoverride 1 (bgp (?x :p ?y))) (windowoverride 2 (bgp (?x :q ?y))))",
            [FIRST, THIRD],
        ),
        (
            "{ { ?x :p ?y WINDOW ELEMS 2 } { ?x :q ?y WINDOW ELEMS 2 } }",
            "(join (windowoverride 1 (bgp (?x :p ?y))) (windowoverride 1 (bgp (?x :q ?y))))",
            [SECOND_],
        ),
        (
            "{ ?x :p ?y { ?x :q ?z } { ?x :r ?z WINDOW ELEMS 1 } WINDOW ELEMS 2 }",
            "(windowoverride 2 (join (join (bgp (?x :p ?y)) (bgp (?x :q ?z))) (windowoverride 1 (bgp (?x :r ?z)))))",
            [FIRST, SECOND_],
        ),
        (
            "{ GRAPH :s { ?x :p ?y WINDOW ELEMS 1 } GRAPH ?g { ?x :q ?y } WINDOW ELEMS 2 }",
            "(windowoverride 2 (join (graph :s (windowoverride 1 (bgp (?x :p ?y)))) (graph ?g (bgp (?x :q ?y)))))",
            [FIRST, SECOND_],
        ),
        (
            "{ ?x :p ?y { SELECT ?x { ?x :q ?z WINDOW ELEMS 1 } LIMIT 3 } }",
            "(join (bgp (?x :p ?y)) (slice 0 3 (project (?x) (windowoverride 1 (bgp (?x :q ?z))))))",
            [FIRST],
        ),
        (
            "{ ?x :p ?y { SELECT ?x { ?x :q ?z } WINDOW ELEMS 1 } }",
            "(join (bgp (?x :p ?y)) (windowoverride 1 (project (?x) (bgp (?x :q ?z)))))",
            [FIRST],
        ),
        (
            "{ ?x :p ?y MINUS { ?x :q ?y FILTER(?y > 1) WINDOW ELEMS 1 } }",
            "(minus (bgp (?x :p ?y)) (windowoverride 1 (filter (> ?y 1) (bgp (?x :q ?y)))))",
            [FIRST],
        ),
        (
            "{ ?x :p ?y FILTER EXISTS { ?x :q ?y WINDOW ELEMS 1 } }",
            "(filter (exists (windowoverride 1 (bgp (?x :q ?y)))) (bgp (?x :p ?y)))",
            [FIRST],
        ),
        (
            "{ ?x :p ?y FILTER EXISTS { ?x :q ?y } WINDOW ELEMS 1 }",
            "(windowoverride 1 (filter (exists (bgp (?x :q ?y))) (bgp (?x :p ?y))))",
            [FIRST],
        ),
    ],
)
def test_a_window_at_the_end_of_a_group_overrides_the_streams(where: str, plan: str, windows: list[Window]) -> None:
    made = query(f"ASK FROM STREAM :s WINDOW ELEMS 9 FROM NAMED STREAM :t [RANGE 1m STEP 1s] WHERE {where}")
    assert write(made.pattern) == write(read(plan))
    own = made.streams[:2]
    assert [(each.iri, each.named, each.tag) for each in own] == [(S, False, 0), (T, True, 0)]
    assert made.streams[2:] == tuple(
        ops.StreamWindow(each.iri, window, each.named, tag=tag) for tag, window in enumerate(windows, 1) for each in own
    )


@pytest.mark.parametrize(
    ("filters", "condition"),
    [
        ("FILTER(?z > ?y)", "(> ?z ?y)"),
        ("FILTER EXISTS { ?z :r ?y }", "(exists (windowoverride 1 (bgp (?z :r ?y))))"),
        ("FILTER EXISTS { ?z :r ?y WINDOW ELEMS 2 }", "(exists (windowoverride 1 (bgp (?z :r ?y))))"),
        (
            "FILTER NOT EXISTS { ?z :r ?y FILTER EXISTS { ?z :s ?y } }",
            "(! (exists (windowoverride 1 (filter (exists (bgp (?z :s ?y))) (bgp (?z :r ?y))))))",
        ),
    ],
)
def test_the_filters_of_an_optional_stand_outside_of_its_window_but_read_it(filters: str, condition: str) -> None:
    made = query(f"ASK FROM STREAM :s [NOW] {{ ?x :p ?y OPTIONAL {{ ?x :q ?z {filters} WINDOW ELEMS 2 }} }}")
    assert write(made.pattern) == write(
        read(f"(leftjoin (bgp (?x :p ?y)) (windowoverride 1 (bgp (?x :q ?z))) {condition})")
    )


def test_outside_of_the_optional_its_window_is_not_read() -> None:
    made = query(
        "ASK FROM STREAM :s [NOW] { ?x :p ?y OPTIONAL { ?x :q ?z WINDOW ELEMS 2 } FILTER EXISTS { ?x :r ?y } }"
    )
    plan = "(filter (exists (bgp (?x :r ?y))) (leftjoin (bgp (?x :p ?y)) (windowoverride 1 (bgp (?x :q ?z)))))"
    assert write(made.pattern) == write(read(plan))


# A stream without a window


@pytest.mark.parametrize(
    "where",
    [
        "{ ?x :p ?y WINDOW ELEMS 1 }",
        "{ { ?x :p ?y WINDOW ELEMS 1 } UNION { ?x :q ?y WINDOW ELEMS 2 } }",
        "{ { ?x :p ?y { ?x :q ?z } WINDOW ELEMS 1 } }",
        "{ { ?x :p ?y WINDOW ELEMS 1 } GRAPH :background { ?x :q ?z } }",
        "{ { ?x :p ?y WINDOW ELEMS 1 } STREAM :t [NOW] { ?x :q ?z } }",
        "{ { ?x :p ?y WINDOW ELEMS 1 } BIND(1 AS ?z) VALUES ?v { 1 } }",
    ],
)
def test_a_stream_may_have_its_window_in_every_group(where: str) -> None:
    made = query(f"ASK FROM STREAM :s {where}")
    own, first = made.streams[:2]
    assert own == ops.StreamWindow(S, FIRST)
    assert first == ops.StreamWindow(S, FIRST, tag=1)
    assert made.emit == "intervals"

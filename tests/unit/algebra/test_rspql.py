"""RSP-QL to algebra: windows with names, durations, registration."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.sse import read, write
from penstock.algebra.windows import UNITS, CountWindow, SlideWindow, TimeWindow, Window
from penstock.errors import PenstockWarning

PREFIX = "PREFIX : <http://example.org/> "
S, T, V, W, OUT = (NamedNode(f"http://example.org/{name}") for name in ("s", "t", "v", "w", "out"))
MS, SECOND, MINUTE, HOUR, DAY = (UNITS[unit] for unit in ("ms", "s", "m", "h", "d"))


def query(text: str) -> ops.Query:
    return translate(PREFIX + text)


def window(text: str) -> Window:
    made = query(f"ASK FROM NAMED WINDOW :w ON :s [{text}] {{ WINDOW :w {{ ?x :p ?y }} }}")
    (stream,) = made.streams
    assert stream == ops.StreamWindow(S, stream.window, name=W, merge=True)
    assert made.emit is None
    assert write(made.pattern) == "(inwindow :w (bgp (?x :p ?y)))"
    return stream.window


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("RANGE PT10S STEP PT2S", TimeWindow(10 * SECOND, 2 * SECOND)),
        ("range pt10s step pt2s", TimeWindow(10 * SECOND, 2 * SECOND)),
        ("RANGE PT1M30S STEP PT0.25S", TimeWindow(90 * SECOND, 250 * MS)),
        ("RANGE P1DT12H STEP PT1H", TimeWindow(36 * HOUR, HOUR)),
        ("RANGE P2W STEP P1D", TimeWindow(14 * DAY, DAY)),
        ("RANGE 10000 STEP 2000", TimeWindow(10 * SECOND, 2 * SECOND)),
        ("RANGE 10s STEP 2 s", TimeWindow(10 * SECOND, 2 * SECOND)),
        ("RANGE 10s SLIDE 2s", TimeWindow(10 * SECOND, 2 * SECOND)),
        ("RANGE PT10S TUMBLING", TimeWindow(10 * SECOND, 10 * SECOND)),
        ("RANGE PT10S", SlideWindow(10 * SECOND)),
        ("ELEMENTS 5 STEP 2", CountWindow(5, 2)),
        ("ELEMENTS 5 SLIDE 2", CountWindow(5, 2)),
        ("ELEMENTS 5 TUMBLING", CountWindow(5, 5)),
        ("ELEMENTS 5", CountWindow(5)),
        ("TRIPLES 5", CountWindow(5)),
        ("NOW", SlideWindow(1)),
        ("ALL", SlideWindow(None)),
        ("FROM NOW-2h TO NOW-1h STEP 10m", TimeWindow(HOUR, 10 * MINUTE, HOUR)),
        ("FROM NOW - 2 h TO NOW - 1 h STEP 10 m", TimeWindow(HOUR, 10 * MINUTE, HOUR)),
        ("FROM NOW-PT2H TO NOW-PT30M STEP PT10M", TimeWindow(90 * MINUTE, 10 * MINUTE, 30 * MINUTE)),
        ("from now-2000 to now step 500", TimeWindow(2 * SECOND, 500 * MS)),
        ("FROM NOW-10s TO NOW SLIDE 5s", TimeWindow(10 * SECOND, 5 * SECOND)),
    ],
)
def test_windows(text: str, meant: Window) -> None:
    assert window(text) == meant


@given(*(st.integers(0, 99) for _ in range(4)), st.integers(1, 999_999))
def test_durations(days: int, hours: int, minutes: int, seconds: int, fraction: int) -> None:
    written = f"P{days}DT{hours}H{minutes}M{seconds}.{fraction:06}S"
    length = days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND + fraction
    assert window(f"RANGE {written} TUMBLING") == TimeWindow(length, length)


@pytest.mark.parametrize("on", ["ON :s", "ON STREAM :s", "on <http://example.org/s>"])
def test_the_word_stream_may_be_left_out(on: str) -> None:
    made = query(f"ASK FROM NAMED WINDOW :w {on} [NOW] {{}}")
    assert made.streams == (ops.StreamWindow(S, SlideWindow(1), name=W, merge=True),)


def test_a_variable_is_each_window() -> None:
    made = query(
        "SELECT * FROM NAMED WINDOW :w ON :s [NOW] FROM NAMED WINDOW :v ON :t [ALL] "
        "{ WINDOW ?any { ?x :p ?y } WINDOW :v { ?x :q ?y } ?x :r ?z }"
    )
    assert [stream.name for stream in made.streams] == [W, V]
    plan = "(join (join (inwindow ?any (bgp (?x :p ?y))) (inwindow :v (bgp (?x :q ?y)))) (bgp (?x :r ?z)))"
    assert write(made.pattern) == write(read(f"(project (?any ?x ?y ?z) {plan})"))


def test_a_variable_is_no_window_that_has_no_name() -> None:
    made = query(
        "ASK FROM NAMED WINDOW :w ON :s [NOW] FROM NAMED WINDOW :v ON :t [ALL] FROM NAMED :s [ALL] AS ?c "
        "{ WINDOW ?any { ?x :p ?y } GRAPH ?c { ?x :q ?y } }"
    )
    choices = [f"(join (table (vars ?any) (row (?any :{n}))) (inwindow :{n} (bgp (?x :p ?y))))" for n in "wv"]
    plan = f"(join (union {' '.join(choices)}) (inwindow <urn:penstock:window:c> (bgp (?x :q ?y))))"
    assert write(made.pattern) == write(read(plan))


@pytest.mark.parametrize("emit", ["rstream", "istream", "dstream"])
def test_registration(emit: str) -> None:
    windows = "FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT2S] WHERE { WINDOW :w { ?x :p ?y } }"
    with warnings.catch_warnings():
        warnings.simplefilter("error", PenstockWarning)
        solutions = translate(f"REGISTER {emit.upper()} <{OUT.value}> AS {PREFIX} SELECT * {windows}")
    assert (solutions.registration, solutions.emit) == (ops.Registration(OUT.value), emit)
    triples = query(f"REGISTER {emit} :out COMPUTED EVERY PT5S AS CONSTRUCT {{ ?x :q ?y }} {windows}")
    assert (triples.registration, triples.emit) == (ops.Registration(OUT.value, 5 * SECOND, OUT), emit)


def test_any_language_may_say_which_stream_it_makes() -> None:
    made = query("REGISTER ISTREAM cars AS SELECT * FROM STREAM :s [RANGE 10m STEP 1m] { ?x :p ?y }")
    assert (made.emit, made.registration) == ("istream", ops.Registration("cars"))
    plain = query("REGISTER STREAM :out AS CONSTRUCT WHERE { ?x :p ?y }")
    assert (plain.emit, plain.registration) == (None, ops.Registration(OUT.value, None, OUT))


def test_all_windows_in_one_query() -> None:
    made = query("""REGISTER ISTREAM :out AS SELECT *
        FROM STREAM :s [RANGE 10s STEP 5s] FROM STREAM :t WINDOW RANGE 10 S SLIDE
        FROM NAMED WINDOW :w ON :s [RANGE PT5S STEP PT5S] FROM NAMED :s [NOW] AS ?n
        WHERE { ?a :p ?b OPTIONAL { ?a :q ?c WINDOW ELEMS 2 } GRAPH ?n { ?a :r ?d } WINDOW :w { ?a :s ?e }
                STREAM :t [ALL] { ?a :t ?f } }""")
    ten, five = 10 * SECOND, 5 * SECOND
    assert made.streams == (
        ops.StreamWindow(S, TimeWindow(ten, five)),
        ops.StreamWindow(T, SlideWindow(ten, SECOND)),
        ops.StreamWindow(S, CountWindow(2), tag=1),
        ops.StreamWindow(T, CountWindow(2), tag=1),
        ops.StreamWindow(S, TimeWindow(five, five), name=W, merge=True),
        ops.StreamWindow(S, SlideWindow(1), name=NamedNode("urn:penstock:window:n")),
        ops.StreamWindow(T, SlideWindow(None), name=NamedNode("urn:penstock:window:.1")),
    )
    plan = """(project (?a ?b ?c ?d ?e ?f) (join (join (join
        (leftjoin (bgp (?a :p ?b)) (windowoverride 1 (bgp (?a :q ?c))))
        (inwindow <urn:penstock:window:n> (bgp (?a :r ?d))))
        (inwindow :w (bgp (?a :s ?e))))
        (inwindow <urn:penstock:window:.1> (bgp (?a :t ?f)))))"""
    assert write(made.pattern) == write(read(plan))


@pytest.mark.parametrize(
    ("where", "doubt"),
    [
        ("{ WINDOW :v { ?x :p ?y } }", (
            "line 1: the window <http://example.org/w> is never read; WINDOW <http://example.org/w> { … } reads it\n"
            f"  {PREFIX}ASK FROM NAMED WINDOW :w ON :s [NOW] FROM NAMED WINDOW :v ON :s [ALL] "
            "{ WINDOW :v { ?x :p ?y } }\n"
            f"  {' ' * len(PREFIX)}                      ^^"
        )),
        ("{ WINDOW ?any { ?x :p ?y } }", None),
        ("{ WINDOW :v {} FILTER EXISTS { WINDOW :w { ?x :p ?y } } }", None),
        ("{ WINDOW :v {} { SELECT (1 AS ?one) { WINDOW :w { ?x :p ?y } } } }", None),
    ],
)  # fmt: skip
def test_a_window_that_nothing_reads_is_doubted(where: str, doubt: str | None) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PenstockWarning)
        query(f"ASK FROM NAMED WINDOW :w ON :s [NOW] FROM NAMED WINDOW :v ON :s [ALL] {where}")
    assert [str(each.message) for each in caught] == ([] if doubt is None else [doubt])


def test_so_is_a_window_that_only_a_variable_names() -> None:
    with pytest.warns(PenstockWarning, match=r"the window \?c is never read; GRAPH \?c \{ … \} reads it"):
        query("ASK FROM NAMED WINDOW :w ON :s [NOW] FROM NAMED :s [ALL] AS ?c { WINDOW ?any { ?x :p ?y } }")

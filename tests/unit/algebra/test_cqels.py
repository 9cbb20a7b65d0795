"""CQELS and CQELS-QL to algebra: windows that a variable names, STREAM blocks, aggregates without a name."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.sse import read, write
from penstock.algebra.windows import UNITS, CountWindow, SlideWindow, TimeWindow, Window

PREFIX = "PREFIX : <http://example.org/> "
S, T = NamedNode("http://example.org/s"), NamedNode("http://example.org/t")
W, N = NamedNode("urn:penstock:window:w"), NamedNode("urn:penstock:window:n")
BLOCKS = [NamedNode(f"urn:penstock:window:.{number}") for number in (1, 2, 3)]
MS, SECOND = UNITS["ms"], UNITS["s"]


def query(text: str) -> ops.Query:
    return translate(PREFIX + text)


WINDOWS: list[tuple[str, Window]] = [
    ("RANGE 30 seconds", SlideWindow(30 * SECOND)),
    ("RANGE 3s", SlideWindow(3 * SECOND)),
    ("range 500ms", SlideWindow(500 * MS)),
    ("RANGE PT3S", SlideWindow(3 * SECOND)),
    ("NOW", SlideWindow(1)),
    ("now", SlideWindow(1)),
    ("ALL", SlideWindow(None)),
    ("TRIPLES 10", CountWindow(10)),
    ("RANGE TRIPLES 10", CountWindow(10)),
    ("TRIPLES 10 STEP 5", CountWindow(10, 5)),
    ("RANGE 3s SLIDE 1s", SlideWindow(3 * SECOND, SECOND)),
    ("RANGE 3s STEP 1s", TimeWindow(3 * SECOND, SECOND)),
    ("RANGE 3s TUMBLING", TimeWindow(3 * SECOND, 3 * SECOND)),
    ("FROM NOW-3s TO NOW-1s STEP 1s", TimeWindow(2 * SECOND, SECOND, SECOND)),
    ("ELEMENTS 10", CountWindow(10)),
]


@pytest.mark.parametrize(("text", "meant"), WINDOWS)
def test_windows(text: str, meant: Window) -> None:
    named = query(f"ASK FROM NAMED :s [{text}] AS ?w {{ GRAPH ?w {{ ?x :p ?y }} }}")
    assert (named.streams, named.emit) == ((ops.StreamWindow(S, meant, name=W),), "istream")
    block = query(f"ASK {{ STREAM :s [{text}] {{ ?x :p ?y }} }}")
    assert (block.streams, block.emit) == ((ops.StreamWindow(S, meant, name=BLOCKS[0]),), "istream")


def test_several_windows_on_one_stream() -> None:
    made = query(
        "SELECT * FROM NAMED :s [RANGE 3s] AS ?w FROM NAMED :s [NOW] as ?n FROM NAMED :graph "
        "{ GRAPH ?w { ?x :p ?y } GRAPH ?n { ?y :p ?z } GRAPH ?g { ?z :p ?x } }"
    )
    assert made.streams == (
        ops.StreamWindow(S, SlideWindow(3 * SECOND), name=W), ops.StreamWindow(S, SlideWindow(1), name=N),
    )  # fmt: skip
    assert made.dataset == ops.Dataset((), (NamedNode("http://example.org/graph"),), adds=True)
    plan = f"""(project (?x ?y ?z ?g)
        (join (join (inwindow {W} (bgp (?x :p ?y))) (inwindow {N} (bgp (?y :p ?z)))) (graph ?g (bgp (?z :p ?x)))))"""
    assert write(made.pattern) == write(read(plan))


def test_a_window_may_be_read_anywhere() -> None:
    made = query(
        "ASK FROM NAMED :s [RANGE 3s] AS ?w { ?x :p ?y FILTER NOT EXISTS { GRAPH ?w { ?x :q ?y } } "
        "OPTIONAL { GRAPH ?w { ?x :r ?z } } { SELECT ?x { WINDOW ?w { ?x :s ?v } } } }"
    )
    plan = f"""(filter (! (exists (inwindow {W} (bgp (?x :q ?y)))))
        (join (leftjoin (bgp (?x :p ?y)) (inwindow {W} (bgp (?x :r ?z))))
              (project (?x) (inwindow {W} (bgp (?x :s ?v))))))"""
    assert write(made.pattern) == write(read(plan))


def test_blocks_have_windows_in_order_and_share_equal_ones() -> None:
    made = query(
        "SELECT * { STREAM :s [RANGE 3s] { ?x :p ?y } STREAM :t [RANGE 3s] { ?x :p ?z } ?z :q ?v "
        "STREAM :s [RANGE 3000ms] { ?x :q ?y } STREAM gates [RANGE 3s] { ?x :r ?y } }"
    )
    three = SlideWindow(3 * SECOND)
    streams = (S, T, NamedNode("urn:penstock:stream:gates"))
    assert made.streams == tuple(ops.StreamWindow(s, three, name=n) for s, n in zip(streams, BLOCKS, strict=True))
    plan = f"""(project (?x ?y ?z ?v) (join (join (join (join
        (inwindow {BLOCKS[0]} (bgp (?x :p ?y))) (inwindow {BLOCKS[1]} (bgp (?x :p ?z)))) (bgp (?z :q ?v)))
        (inwindow {BLOCKS[0]} (bgp (?x :q ?y)))) (inwindow {BLOCKS[2]} (bgp (?x :r ?y)))))"""
    assert write(made.pattern) == write(read(plan))


def test_an_explicit_report_overrides_the_default_of_the_language() -> None:
    block = "ASK { STREAM :s [NOW] { ?x :p ?y } }"
    assert query(f"REGISTER RSTREAM :o AS {block}").emit == "rstream"
    assert query(f"REGISTER DSTREAM :o AS {block}").emit == "dstream"
    assert query(f"REGISTER QUERY o AS {block}").emit == "istream"
    both = "ASK FROM STREAM :s WINDOW ELEMS 3 { STREAM :s [NOW] { ?x :p ?y } }"
    assert query(both).emit == "intervals"
    assert query(f"REGISTER ISTREAM :o AS {both}").emit == "istream"
    assert query("ASK FROM STREAM :s [NOW] { ?x :p ?y }").emit is None


# Aggregates without a name


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        (
            "SELECT ?l count(?x) { ?x :at ?l } GROUP BY ?l",
            "(project (?l ?count_x) (extend ((?count_x ?.a0)) (group (?l) ((?.a0 (count ?x))) (bgp (?x :at ?l)))))",
        ),
        (
            "SELECT ?n count(?x) { ?x :at ?l . ?l :name ?n } GROUP BY ?l",
            """(project (?n ?count_x) (extend ((?count_x ?.a0))
                (group (?l ?n) ((?.a0 (count ?x))) (bgp (?x :at ?l) (?l :name ?n)))))""",
        ),
        (
            "SELECT ?x ?l max(?t) { ?x :at ?l ; :temp ?t } GROUP BY ?l",
            """(project (?x ?l ?max_t) (extend ((?max_t ?.a1)) (group (?l ?x) ((?.a1 (max ?t)))
                (filter (= ?t ?.m0) (annotate (?.m0 (max ?t)) (?l) (bgp (?x :at ?l) (?x :temp ?t)))))))""",
        ),
        (
            "SELECT ?l max(?t) { ?x :at ?l ; :temp ?t } GROUP BY ?l",
            """(project (?l ?max_t) (extend ((?max_t ?.a0))
                (group (?l) ((?.a0 (max ?t))) (bgp (?x :at ?l) (?x :temp ?t)))))""",
        ),
        (
            "SELECT ?x max(?t) min(?t) { ?x :at ?l ; :temp ?t } GROUP BY ?l",
            """(project (?x ?max_t ?min_t) (extend ((?max_t ?.a0) (?min_t ?.a1))
                (group (?l ?x) ((?.a0 (max ?t)) (?.a1 (min ?t))) (bgp (?x :at ?l) (?x :temp ?t)))))""",
        ),
        (
            "SELECT ?x max(?t) (COUNT(?t) AS ?n) { ?x :at ?l ; :temp ?t } GROUP BY ?l",
            """(project (?x ?max_t ?n) (extend ((?max_t ?.a0) (?n ?.a1))
                (group (?l ?x) ((?.a0 (max ?t)) (?.a1 (count ?t))) (bgp (?x :at ?l) (?x :temp ?t)))))""",
        ),
        (
            "SELECT ?l max(count(?x)) { ?x :at ?l } GROUP BY ?l",
            """(project (?l ?max_count_x) (filter (= ?.a0 ?max_count_x) (annotate (?max_count_x (max ?.a0)) ()
                (group (?l) ((?.a0 (count ?x))) (bgp (?x :at ?l))))))""",
        ),
        (
            "SELECT ?l min(avg(?t)) { ?x :at ?l ; :temp ?t } GROUP BY ?l HAVING (count(?x) > 3)",
            """(project (?l ?min_avg_t) (filter (= ?.a1 ?min_avg_t) (annotate (?min_avg_t (min ?.a1)) ()
                (filter (> ?.a0 3)
                  (group (?l) ((?.a0 (count ?x)) (?.a1 (avg ?t))) (bgp (?x :at ?l) (?x :temp ?t)))))))""",
        ),
    ],
)
def test_aggregates_without_a_name(text: str, plan: str) -> None:
    assert write(query(text).pattern) == write(read(plan))


def test_group_by_after_the_braces_of_a_sub_select_is_its_own() -> None:
    late = query("SELECT * { ?x :p ?y { SELECT ?x (COUNT(?z) AS ?n) { ?x :q ?z } } GROUP BY ?x }")
    usual = query("SELECT * { ?x :p ?y { SELECT ?x (COUNT(?z) AS ?n) { ?x :q ?z } GROUP BY ?x } }")
    assert late == usual


def test_an_iri_that_starts_with_a_colon_is_a_name_with_the_empty_prefix() -> None:
    assert query("ASK { <:a> :p <:b/c> }") == query("ASK { :a :p <http://example.org/b/c> }")
    assert translate("BASE <http://e/x/> ASK { <:a> <p> 1 }") == translate("BASE <http://e/x/> ASK { <./:a> <p> 1 }")

"""Property paths, with few edges (closed here) and as if there were many (closed by Spark jobs)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import penstock
from penstock.compile.operators.paths import closed
from tests.support.asking import NS, ask

DATA = f"""
@prefix : <{NS}> .
:a :p :b . :b :p :c . :c :p :a . :s :p :s .
:c :q :d . :d :q "end" .
:g1 {{ :a :p :b . :b :p :z }}
:g2 {{ :z :p :a }}
"""
CHAIN = 200


BY_JOBS = penstock.Tuning(path_edges=0)


@pytest.fixture(scope="module")
def engine(spark: Any) -> Iterator[Any]:
    with penstock.Engine(background="spark", spark=spark) as engine:
        engine.load(DATA.encode(), format="trig")
        yield engine


@pytest.fixture(scope="module")
def engine_with_jobs(spark: Any) -> Iterator[Any]:
    with penstock.Engine(background="spark", spark=spark, tuning=BY_JOBS) as engine:
        engine.load(DATA.encode(), format="trig")
        yield engine


CLOSURES = {
    "a cycle from a node": ("{ :a :p+ ?y }", ["y=:a", "y=:b", "y=:c"]),
    "a cycle to a node": ("{ ?x :p+ :a }", ["x=:a", "x=:b", "x=:c"]),
    "a cycle from a node, or nothing": ("{ :a :p* ?y }", ["y=:a", "y=:b", "y=:c"]),
    "back to itself": ("{ ?x :p+ ?x }", ["x=:a", "x=:b", "x=:c", "x=:s"]),
    "between variables": ("{ ?x :q+ ?y }", ['x=:c y="end"', "x=:c y=:d", 'x=:d y="end"']),
    "of a choice": ("{ :c (:p|:q)+ ?y }", ['y="end"', "y=:a", "y=:b", "y=:c", "y=:d"]),
    "turned round": ("{ :c ^:p+ ?y }", ["y=:a", "y=:b", "y=:c"]),
    "of anything but": ("{ :d !:p* ?y }", ['y="end"', "y=:d"]),
    "of a closure": ("{ :a (:p*)* ?y }", ["y=:a", "y=:b", "y=:c"]),
    "of a sequence": ("{ :a (:p/:p)+ ?y }", ["y=:a", "y=:b", "y=:c"]),
    "between two nodes": ("{ :a :p+ :c }", [""]),
    "between two nodes that it does not connect": ("{ :a :p+ :d }", []),
    "in each graph": ("SELECT ?g ?y { GRAPH ?g { :a :p+ ?y } }", ["g=:g1 y=:b", "g=:g1 y=:z"]),
    "in each graph, between variables": (
        "SELECT ?g ?x ?y { GRAPH ?g { ?x :p+ ?y } }",
        ["g=:g1 x=:a y=:b", "g=:g1 x=:a y=:z", "g=:g1 x=:b y=:z", "g=:g2 x=:z y=:a"],
    ),
}

OTHERS = {
    "nothing from a node that is not there": ("{ :nowhere :p* ?y }", ["y=:nowhere"]),
    "nothing to a node that is not there": ("{ ?x :p? :nowhere }", ["x=:nowhere"]),
    "nothing between nodes that are not there": ("{ :nowhere :p* :nowhere }", [""]),
    "nothing between different nodes": ("{ :nowhere :p* :a }", []),
    "nothing at every node": ("{ ?x :none* ?x }", ['x="end"', "x=:a", "x=:b", "x=:c", "x=:d", "x=:s"]),
    "nothing at every node of each graph": (
        "SELECT ?g ?x { GRAPH ?g { ?x :none? ?y } }",
        ["g=:g1 x=:a", "g=:g1 x=:b", "g=:g1 x=:z", "g=:g2 x=:a", "g=:g2 x=:z"],
    ),
    "one step or none": ("{ :c :p? ?y }", ["y=:a", "y=:c"]),
    "one step that is a loop": ("{ :s :p? ?y }", ["y=:s"]),
    "two ways to the same node": ("{ :a (:p|:p) ?y }", ["y=:b", "y=:b"]),
    "two ways to the same node, negated": ("{ :a (:p|!:q) ?y }", ["y=:b", "y=:b"]),
    "neither this nor back that": ("{ :c !(:p|^:q) ?y }", ["y=:b", "y=:d"]),
    "only back": ("{ :c !^:q ?y }", ["y=:b"]),
    "a sequence": ("{ :a :p/:p/:q ?y }", ["y=:d"]),
    "a sequence that comes back": ("{ ?x :p/:p/:p ?x }", ["x=:a", "x=:b", "x=:c", "x=:s"]),
    "from a literal": ('{ "end" ^:q+ ?y }', ["y=:c", "y=:d"]),
    "a sequence of closures": ("{ :a :p*/:q+ ?y }", ['y="end"', "y=:d"]),
}


@pytest.mark.parametrize("where", ["engine", "engine_with_jobs"], ids=["here", "by jobs"])
@pytest.mark.parametrize(("query", "expected"), CLOSURES.values(), ids=CLOSURES.keys())
def test_closures(query: str, expected: list[str], where: str, request: pytest.FixtureRequest) -> None:
    assert ask(request.getfixturevalue(where), query) == sorted(expected)


@pytest.mark.parametrize(("query", "expected"), OTHERS.values(), ids=OTHERS.keys())
def test_other_paths(engine: Any, query: str, expected: list[str]) -> None:
    assert ask(engine, query) == sorted(expected)


LENGTHS = {
    "from its start": ("SELECT (COUNT(*) AS ?n) { :n0 :next+ ?y }", CHAIN),
    "to its end": (f"SELECT (COUNT(*) AS ?n) {{ ?x :next+ :n{CHAIN} }}", CHAIN),
    "between all": ("SELECT (COUNT(*) AS ?n) { ?x :next* ?y }", (CHAIN + 1) * (CHAIN + 2) // 2),
}


@pytest.fixture(scope="module")
def chain(spark: Any) -> Iterator[Any]:
    with penstock.Engine(background="spark", spark=spark) as engine:
        yield chained(engine)


def chained(engine: penstock.Engine) -> penstock.Engine:
    lines = (f"<{NS}n{i}> <{NS}next> <{NS}n{i + 1}> ." for i in range(CHAIN))
    engine.load("\n".join(lines).encode(), format="nt")
    return engine


@pytest.mark.parametrize(("query", "count"), LENGTHS.values(), ids=LENGTHS.keys())
def test_a_long_chain(chain: Any, query: str, count: int) -> None:
    assert ask(chain, query) == [f"n={count}"]


def test_a_long_chain_by_jobs(spark: Any) -> None:
    """Doubling finds all lengths in a few jobs; breadth first takes one for each, so that only a part is walked."""
    with penstock.Engine(background="spark", spark=spark, tuning=replace(BY_JOBS, path_views=2)) as engine:
        chain = chained(engine)
        assert ask(chain, LENGTHS["between all"][0]) == [f"n={LENGTHS['between all'][1]}"]
        assert ask(chain, f"SELECT (COUNT(*) AS ?n) {{ :n{CHAIN - 5} :next+ ?y }}") == ["n=5"]


def test_too_many_pairs_are_left_to_spark() -> None:
    edges: list[tuple[str, ...]] = [("a", "b"), ("b", "c"), ("c", "a")]
    assert sorted(closed(edges, "a", 3) or ()) == [("a", "a"), ("a", "b"), ("a", "c")]
    assert closed(edges, None, 8) is None
    assert len(closed(edges, None, 9) or ()) == 9


def test_edges_of_different_graphs_are_no_path() -> None:
    assert closed([("a", "b", "g"), ("b", "c", "h")], None, 9) == [("a", "b", "g"), ("b", "c", "h")]


def test_a_closure_that_is_left_to_spark_is_logged(engine_with_jobs: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "penstock.optimiser")
    engine_with_jobs.query(f"PREFIX : <{NS}> ASK {{ :a :p+ ?y }}")
    assert caplog.messages == [
        "a query: the closure of a path in this process is not used: it has more than 0 edges or 200,000 pairs"
    ]

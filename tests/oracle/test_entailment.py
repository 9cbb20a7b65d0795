"""Reasoning: at every instant the answer is what plain SPARQL gives on the closure of the snapshot.

The closure is worked out by the rules themselves (`unit/rdfs.py`). Where equal triples are one, and where it does not
matter how often something is there, pyoxigraph answers on it; how often, where elements count, is worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Quad, Triple

from penstock.algebra.build import translate
from penstock.algebra.expressions import Var
from penstock.algebra.ops import Bgp, TriplePattern
from penstock.knowledge.entailment import EntailedStore
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.optimise.walk import nodes
from penstock.options import Duplicates
from penstock.spark.session.session import private
from penstock.spark.store.store import SparkStore
from penstock.spark.views.background_tables import BackgroundTables
from tests.oracle.compare import bag_difference, difference
from tests.oracle.ontologies import (
    ONTOLOGY_BYTES,
    asked,
    asked_block,
    asked_distinct,
    axioms_of,
    closed,
    knowing,
    occurrences,
)
from tests.oracle.strategies import Generated
from tests.oracle.streams import Streamed
from tests.oracle.test_snapshots import evaluated_on, explained, snapshot
from tests.support.compare import solutions
from tests.support.sampling import sampled
from tests.support.tape import Tape

pytestmark = pytest.mark.usefixtures("plan")

Known = Callable[[list[Quad]], BackgroundTables]
Case = tuple[Streamed, Generated]
Row = dict[str, Any]


def cases(query: Callable[[Tape], Generated], duplicates: Duplicates) -> st.SearchStrategy[Case]:
    def case(tape: bytes) -> Case:
        draw = Tape(tape)
        asked = query(draw)
        return knowing(draw, duplicates), asked

    return st.binary(min_size=ONTOLOGY_BYTES, max_size=ONTOLOGY_BYTES).map(case)


@pytest.fixture(scope="module")
def copied(spark: Any) -> Known:
    """The closed background, copied from a store of its own."""
    session = private(spark)

    def known(quads: list[Quad]) -> BackgroundTables:
        store = EntailedStore(OxigraphStore())
        store.load(quads)
        return BackgroundTables(session, store)

    return known


@pytest.fixture(scope="module")
def in_spark(spark: Any) -> Known:
    """The background in Spark, and never copied."""

    def known(quads: list[Quad]) -> BackgroundTables:
        store = SparkStore(spark=spark)
        store.entail("rdfs")
        store.load(quads)
        return BackgroundTables(store.private_session, store)

    return known


@given(case=cases(asked, "merge"))
@sampled(10)
def test_closed_snapshots(case: Case, copied: Known, tmp_path_factory: Any) -> None:
    check(*case, copied, tmp_path_factory.mktemp("stream"))


@given(case=cases(asked, "merge"))
@sampled(5)
def test_closed_snapshots_with_a_background_in_spark(case: Case, in_spark: Known, tmp_path_factory: Any) -> None:
    check(*case, in_spark, tmp_path_factory.mktemp("stream"))


@given(case=cases(asked_distinct, "keep"))
@sampled(8)
def test_triples_that_elements_entail(case: Case, copied: Known, tmp_path_factory: Any) -> None:
    check(*case, copied, tmp_path_factory.mktemp("stream"))


@given(case=cases(asked_block, "keep"))
@sampled(8)
def test_how_often_elements_entail_it(case: Case, copied: Known, tmp_path_factory: Any) -> None:
    (streamed, query), folder = case, tmp_path_factory.mktemp("stream")
    axioms = axioms_of(streamed)
    for instant, answer in evaluated_on(copied(streamed.background), streamed, query, folder).items():
        names = tuple(answer.variables)
        expected = solutions(names, matches(patterns_of(query), list(occurrences(streamed, instant, axioms))))
        found = bag_difference(solutions(names, answer.rows), expected)
        assert found is None, f"at {instant}:\n{found}\n\n{explained(streamed, query)}"


def check(streamed: Streamed, query: Generated, known: Known, folder: Path) -> None:
    answers = evaluated_on(known(streamed.background), streamed, query, folder)
    assert sorted(answers) == streamed.instants(), explained(streamed, query)
    for instant, answer in answers.items():
        found = difference(answer, query, closed(streamed, snapshot(streamed, query, instant)))
        assert found is None, f"at {instant}:\n{found}\n\n{explained(streamed, query)}"


# Patterns on a bag of triples


def patterns_of(query: Generated) -> list[TriplePattern]:
    found = [op for op in nodes(translate(query.text).pattern) if isinstance(op, Bgp)]
    return [pattern for op in found for pattern in op.patterns]


def matches(patterns: list[TriplePattern], bag: list[Triple]) -> list[Row]:
    rows: Iterable[Row] = [{}]
    for pattern in patterns:
        rows = [{**row, **more} for row in rows for triple in bag if (more := match(pattern, triple, row)) is not None]
    return list(rows)


def match(pattern: TriplePattern, triple: Triple, row: Row) -> Row | None:
    bound: Row = {}
    for wanted, term in zip((pattern.subject, pattern.predicate, pattern.object), triple, strict=True):
        if not isinstance(wanted, Var):
            if wanted != term:
                return None
        elif {**row, **bound}.get(wanted.name, term) != term:
            return None
        else:
            bound[wanted.name] = term
    return bound

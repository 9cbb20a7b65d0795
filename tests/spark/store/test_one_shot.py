"""The Spark jobs of one-shot queries: few triples are a small job, which Spark neither compiles nor adapts."""

from __future__ import annotations

from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from penstock.algebra.build import translate
from penstock.spark.store.store import SparkStore
from penstock.tuning import DEFAULT, Tuning

P = NamedNode("http://e/p")
PAIRS = "ASK { ?a <http://e/p> ?x . ?b <http://e/p> ?y }"


def is_compiled(spark: Any, triples: int, text: str, tuning: Tuning = DEFAULT) -> bool:
    """Answer a query on so many triples; return whether Spark compiles its plan."""
    store = SparkStore(spark=spark, tuning=tuning)
    store.load([Quad(NamedNode(f"http://e/{number}"), P, Literal(number)) for number in range(triples)])
    assert store.answer(translate(text), text).boolean
    found = store.private_session.conf.get("spark.sql.codegen.wholeStage")
    store.close()
    return found == "true"


def test_a_query_on_a_few_triples_is_a_small_job(spark: Any) -> None:
    assert not is_compiled(spark, 3, "ASK { ?a <http://e/p> 1 }")
    assert is_compiled(spark, 3, "ASK { ?a <http://e/p> 1 }", Tuning(small_job_rows=0))


def test_a_few_triples_that_a_join_makes_many_are_no_small_job(spark: Any) -> None:
    assert not is_compiled(spark, 10, PAIRS)
    assert is_compiled(spark, 1_000, PAIRS)

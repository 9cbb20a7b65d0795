"""Reasoning in an engine: an ontology that changes, one that is large, and windows that are read alone."""

from __future__ import annotations

from pyoxigraph import NamedNode, Triple
from pyspark.sql import SparkSession

from penstock import Answer, Engine
from penstock.algebra.expressions import Term
from penstock.compile import sql
from penstock.compile.entailment import EntailmentRewriter
from penstock.reasoning import Ontology
from penstock.reasoning.vocabulary import SUB_CLASS, TYPE
from penstock.spark.session.catalog import catalog

NS = "http://e/"
STREAM = f"{NS}seen"
ANIMAL, WOLF = NamedNode(f"{NS}Animal"), NamedNode(f"{NS}Wolf")
ANIMALS = f"SELECT ?x FROM STREAM <{STREAM}> [RANGE 1m STEP 1m] WHERE {{ ?x a <{NS}Animal> }}"
MINUTE = 60_000_000


def node(number: int) -> NamedNode:
    return NamedNode(f"{NS}{number}")


def names(answer: Answer) -> list[str]:
    return sorted(row["x"].value.removeprefix(NS) for row in answer.rows)


def test_a_changed_ontology_counts_from_the_next_round_on(spark: SparkSession) -> None:
    with Engine(spark=spark, entailment="rdfs") as engine:
        engine.stream(STREAM)
        query = engine.register(ANIMALS)
        engine.start()
        engine.push(STREAM, [(Triple(node(1), TYPE, WOLF), MINUTE - 1), (Triple(node(0), TYPE, WOLF), MINUTE + 1)])
        engine.flush()
        engine.load([Triple(WOLF, SUB_CLASS, ANIMAL)])
        engine.push(STREAM, [(Triple(node(2), TYPE, WOLF), 2 * MINUTE - 1), (Triple(node(0), TYPE, WOLF), 3 * MINUTE)])
        engine.flush()
        engine.stop()
        assert [names(answer) for answer in query.answers()] == [[], ["0", "2"]]


def test_a_window_of_rsp_ql(spark: SparkSession) -> None:
    """It is a graph, so what follows twice is there once; and the background is not in it."""
    text = f"""REGISTER RSTREAM <{NS}out> AS SELECT ?x
    FROM NAMED WINDOW <{NS}w> ON STREAM <{STREAM}> [RANGE PT1M STEP PT1M]
    WHERE {{ WINDOW <{NS}w> {{ ?x a <{NS}Animal> }} }}"""
    axioms = [
        Triple(node(9), NamedNode(f"{NS}p"), ANIMAL),
        Triple(WOLF, SUB_CLASS, ANIMAL),
        Triple(node(8), TYPE, WOLF),
    ]
    with Engine(spark=spark, entailment="rdfs") as engine:
        engine.load(axioms)
        engine.stream(STREAM, [(Triple(node(1), TYPE, WOLF), 1), (Triple(node(1), TYPE, ANIMAL), 2)])
        query = engine.register(text)
        engine.run()
        assert [names(answer) for answer in query.answers()] == [["1"]]


def test_a_large_ontology_is_broadcast(spark: SparkSession) -> None:
    """Forty thousand classes, eight levels: one join with a table of them, and nothing of that size in the text."""
    classes = [NamedNode(f"{NS}c{i}") for i in range(40_081)]
    above: dict[NamedNode, set[tuple[Term, Term]]] = {
        SUB_CLASS: {(classes[i], classes[(i - 1) // 4]) for i in range(1, len(classes))}
    }
    entailed = EntailmentRewriter(Ontology(above), catalog(spark))
    spark.range(40_078, 40_084).createOrReplaceTempView("numbers")
    name = sql.call("concat", sql.text(f"<{NS}c"), sql.name("id"), sql.text(">"))
    columns = {"s": sql.text(f"<{NS}x>"), "p": sql.text(str(TYPE)), "o": name, "n": sql.name("id")}
    source = sql.Select([sql.alias(value, column) for column, value in columns.items()], sql.Table("numbers"))
    found = entailed.triples(source, (TYPE, classes[0]))
    text = sql.write(found)
    frame = catalog(spark).rows(sql.Select([sql.STAR], found, sql.name("o").eq(sql.text(str(classes[0])))))
    assert len(text) < 1_000
    assert "BroadcastHashJoin" in frame._jdf.queryExecution().executedPlan().toString()
    assert [row.n for row in frame.orderBy("n").collect()] == [40_078, 40_079, 40_080]
    spark.catalog.dropTempView("numbers")
    entailed.close()
    assert not [t for t in spark.catalog.listTables() if "entailed" in t.name]


def test_few_classes_are_constants(spark: SparkSession) -> None:
    entailed = EntailmentRewriter(Ontology({SUB_CLASS: {(WOLF, ANIMAL)}}), catalog(spark))
    source = sql.Select(map(sql.name, "spo"), sql.Table("t"))
    text = sql.write(entailed.triples(source, (TYPE, ANIMAL), frozenset((f"{TYPE}",))))
    assert "JOIN" not in text
    assert text.count("FROM t") == 1

"""The SQL of what follows, triple by triple, beside the rules."""

from __future__ import annotations

from collections import Counter

import pytest
from pyoxigraph import NamedNode, Triple
from pyspark.sql import SparkSession

from penstock.algebra.expressions import Term
from penstock.compile import sql
from penstock.compile.entailment import EntailmentRewriter
from penstock.model.term_encoding import encode
from penstock.reasoning.vocabulary import TYPE
from penstock.spark.session.catalog import catalog
from penstock.spark.session.session import private
from penstock.tuning import Tuning
from tests.unit.reasoning.test_reasoning import CLASSES, NODES, PLAIN, PROPERTIES, STRANGE, TEXTS, ontology_of, read

SUBJECTS, PREDICATES = (*NODES, *CLASSES[:3]), (*PROPERTIES[:3], TYPE)
OBJECTS: tuple[Term, ...] = (*SUBJECTS, TEXTS[0])
TRIPLES = [Triple(s, p, o) for s in SUBJECTS for p in PREDICATES for o in OBJECTS]
WANTED: list[tuple[NamedNode | None, Term | None]] = [
    (None, None), (TYPE, None), (TYPE, CLASSES[1]), (None, CLASSES[2]), (PROPERTIES[1], None),
]  # fmt: skip


def texts(triple: Triple) -> tuple[str, str, str]:
    return encode(triple.subject), encode(triple.predicate), encode(triple.object)  # type: ignore[arg-type]


@pytest.mark.parametrize("few", [0, 40], ids=["tables", "constants"])
@pytest.mark.parametrize("axioms", [*PLAIN, *STRANGE])
def test_every_entailed_triple_is_produced_once(axioms: str, few: int, spark: SparkSession) -> None:
    session = private(spark)
    session.createDataFrame(
        [(i, *texts(t)) for i, t in enumerate(TRIPLES)], "n INT, s STRING, p STRING, o STRING"
    ).createOrReplaceTempView("given")
    ontology = ontology_of(read(axioms))
    entailed = EntailmentRewriter(ontology, catalog(session), Tuning(entailment_pairs=few))
    for w, (predicate, object) in enumerate(WANTED):
        known = frozenset(map(encode, PREDICATES)) if w % 2 else None
        rows = catalog(session).rows(entailed.triples(sql.view("given"), (predicate, object), known)).collect()
        made = Counter((r.n, r.s, r.p, r.o) for r in rows if _fits((r.p, r.o), predicate, object))
        follows = ((i, *texts(t)) for i, given in enumerate(TRIPLES) for t in ontology.entailed(given))
        assert made == Counter(row for row in follows if _fits(row[2:], predicate, object))
    entailed.close()


def _fits(row: tuple[str, ...], predicate: NamedNode | None, object: Term | None) -> bool:
    return predicate in (None, NamedNode(row[0][1:-1])) and (object is None or encode(object) == row[1])

"""Sequences by tasks that read pieces of time have the rows that Spark's joins find, each as often."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.algebra.build import translate
from penstock.compile.physical.nodes import SequenceBucketJoin, SequenceTasks
from penstock.compile.probe import probing
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.session import private
from penstock.spark.views.background_tables import BackgroundTables
from penstock.tuning import Tuning
from tests.support.plan_probe import PlanProbe

PREFIXES = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
WITHIN = 'FILTER (getDURATION() <= "PT0.00002S"^^xsd:duration)'
QUERIES = (
    f"SELECT ?x ?a ?b {{ {{ ?x :a ?a }} SEQ {{ ?x :b ?b }} {WITHIN} }}",
    f"SELECT ?x ?y ?a {{ {{ ?x :a ?a }} SEQ {{ ?y :b ?a }} SEQ {{ ?x :c ?y }} {WITHIN} }}",
    f"SELECT ?x {{ {{ ?x :a ?a }} SEQ {{ ?x :b ?b }} SEQ {{ ?x ?p ?c }} {WITHIN} }}",
    f"SELECT ?a ?b {{ {{ :k1 :a ?a }} SEQ {{ :k2 ?p ?b }} {WITHIN} FILTER (?a != ?b) }}",
    f"SELECT ?x ?a ?b {{ {{ ?x :a ?a }} OPTIONAL {{ {{ ?x :b ?b }} SEQ {{ ?x :c ?b }} {WITHIN} }} }}",
)
LAST = 600


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> StreamFiles:
    """Points and intervals of some microseconds, in two files; some elements come twice."""
    chance, folder = random.Random(7), tmp_path_factory.mktemp("chains")
    rows = [_row(chance) for _ in range(300)]
    for number, part in enumerate((rows[:180], [*rows[180:], *rows[:30]])):
        columns = dict(zip(("s", "p", "o", "ts", "start"), map(list, zip(*part, strict=True)), strict=True))
        pq.write_table(pa.table(columns), folder / f"{number}.parquet", row_group_size=40)
    return StreamFiles(tuple(sorted(str(path) for path in Path(folder).iterdir())), rows=len(rows))


def _row(chance: random.Random) -> tuple[str, str, str, int, int | None]:
    key, predicate, value = (f"<http://example.org/{name}>" for name in (
        f"k{chance.randrange(3)}", chance.choice("abc"), f"k{chance.randrange(4)}"))  # fmt: skip
    end = chance.randrange(1, LAST)
    return key, predicate, value, end, chance.choice([None, None, end - chance.randrange(9)])


@pytest.mark.parametrize("text", QUERIES)
def test_the_same_rows(spark: Any, stream: StreamFiles, text: str) -> None:
    eager = Tuning(hinted_elements=0, sequence_margin=1)
    joined, by_tasks = PlanProbe(), PlanProbe()
    with probing(joined):
        plain = answers(spark, stream, text, eager, ["-sequence_tasks"])
    with probing(by_tasks):
        assert answers(spark, stream, text, eager) == plain
    assert SequenceBucketJoin in joined.kinds
    assert SequenceTasks not in joined.kinds
    assert SequenceTasks in by_tasks.kinds
    assert SequenceBucketJoin not in by_tasks.kinds
    assert answers(spark, stream, text, eager, ["-sequence_tasks", "-sequence_buckets"]) == plain
    assert plain.total() > 10


def answers(
    spark: Any, stream: StreamFiles, text: str, tuning: Tuning, rules: Sequence[str] | None = None
) -> Counter[Any]:
    """In two spans, so that what lies before the second matters."""
    query = translate(PREFIXES + text.replace(" {", " FROM STREAM :s {", 1))
    background = BackgroundTables(private(spark), OxigraphStore(), tuning)
    continuous = ContinuousQuery(query, background, rules=[*(rules or ()), "-sliced_plan"])
    found: Counter[Any] = Counter()
    for span in (Span(0, LAST // 2), Span(LAST // 2, LAST)):
        rows = continuous.evaluate(Evaluation({"http://example.org/s": stream}, span)).collect().to_pylist()
        found.update(tuple(row.values()) for row in rows)
    continuous.close()
    return found

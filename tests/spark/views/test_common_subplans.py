"""Queries that have sub-plans in common answer as each does alone, and what they share is computed once a round."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.algebra.build import translate
from penstock.io.formats import read
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.jobs import Jobs
from penstock.spark.session.session import private
from penstock.spark.views.background_tables import BackgroundTables

S, SECOND = "http://e/s", 1_000_000
WINDOW = f"PREFIX : <http://e/> SELECT %s FROM STREAM <{S}> [RANGE 6s STEP 2s]"
MEET = "{ ?x :at ?r . ?y :sees ?r . ?r :floor ?f }"
ALIKE = [
    f"{WINDOW % '?x ?y'} {MEET}",
    f"{WINDOW % '?f (COUNT(*) AS ?n)'} {MEET} GROUP BY ?f",
    f"{WINDOW % 'DISTINCT ?r'} {MEET}",
    f"{WINDOW % '?x'} {MEET} ORDER BY ?x LIMIT 3",
    f"{WINDOW % '?x ?y ?f'} {MEET}",
]
MOVING = [text.replace("[RANGE 6s STEP 2s]", "[RANGE TRIPLES 12]") for text in ALIKE]
SPANS = [Span(0, 5 * SECOND), Span(5 * SECOND, 11 * SECOND)]
FLOORS = "@prefix : <http://e/> . :r0 :floor 0 . :r1 :floor 1 . :r2 :floor 1 ."


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StreamFiles]:
    chance, path = random.Random(6), tmp_path_factory.mktemp("seen") / "0.parquet"
    rows = [_row(chance) for _ in range(40)]
    pq.write_table(pa.table([list(c) for c in zip(*rows, strict=True)], names=["s", "p", "o", "ts"]), path)
    return {S: StreamFiles((str(path),), frozenset(("<http://e/at>", "<http://e/sees>")), rows=len(rows))}


def _row(chance: random.Random) -> tuple[str, str, str, int]:
    who, where = f"<http://e/x{chance.randrange(4)}>", f"<http://e/r{chance.randrange(4)}>"
    return who, f"<http://e/{chance.choice(['at', 'sees'])}>", where, chance.randrange(10 * SECOND)


def background(spark: Any) -> BackgroundTables:
    store = OxigraphStore()
    store.load(read(FLOORS.encode(), None, None, "turtle"))
    return BackgroundTables(private(spark), store)


def answers(queries: Sequence[ContinuousQuery], streams: dict[str, StreamFiles]) -> list[Counter[tuple[Any, ...]]]:
    """By round, all queries of it one after the other; where a place is told it says nothing to others."""
    found: list[Counter[tuple[Any, ...]]] = [Counter() for _ in queries]
    for span in SPANS:
        for number, query in enumerate(queries):
            table = query.evaluate(Evaluation(streams, span)).collect()
            columns = [table.column(i).to_pylist() for i, name in enumerate(table.column_names) if name != ".order"]
            found[number].update(zip(*columns, strict=True))
    return found


@pytest.mark.parametrize("texts", [ALIKE, MOVING], ids=["steps", "moving"])
def test_as_each_alone(
    spark: Any, streams: dict[str, StreamFiles], texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = [answers([ContinuousQuery(translate(text), background(spark))], streams)[0] for text in texts]
    jobs: list[str] = []
    compute = Jobs.materialise
    monkeypatch.setattr(Jobs, "materialise", lambda self, text, name: (jobs.append(name), compute(self, text, name))[1])
    one = background(spark)
    queries = [ContinuousQuery(translate(text), one) for text in texts]
    assert answers(queries, streams) == alone
    # In the first round a query knows of those before it: the fourth is the first that there are enough of.
    shared = [name for name in jobs if name.startswith("penstock_shared_")]
    instants = len(SPANS) if texts is MOVING else 0  # which are computed for all as well
    assert len(shared) == len(SPANS) + instants
    for query in queries:
        query.close()
    assert not one.subplans._made


def test_few_do_not_pay(spark: Any, streams: dict[str, StreamFiles], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Jobs, "materialise", lambda *_: pytest.fail("a job for what two queries share"))
    one = background(spark)
    assert all(answers([ContinuousQuery(translate(text), one) for text in ALIKE[:2]], streams))

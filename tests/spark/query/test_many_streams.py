"""A query over many streams with the same predicates reads their windows as one relation, and answers the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from penstock.algebra.build import translate
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.session import private
from penstock.spark.views.background_tables import BackgroundTables
from penstock.tuning import DEFAULT, Tuning
from tests.support.tables import table_of

NS, SECOND = "http://e/", 1_000_000
EIGHT, THREE = 8, 3
PREDICATES = frozenset((f"<{NS}in>", f"<{NS}value>"))


def query(streams: int) -> str:
    """Sensors of two rooms with their values, in windows of different lengths."""
    windows = " ".join(f"FROM STREAM :s{i} [RANGE {4 + i}s STEP 2s]" for i in range(streams))
    pattern = "?x :in ?room . ?x :value ?v . ?y :in ?room . ?y :value ?w"
    return f"PREFIX : <{NS}> SELECT ?room ?x ?y ?v ?w {windows} WHERE {{ {pattern} FILTER (?v < ?w) }}"


def streams(count: int, folder: Path) -> dict[str, StreamFiles]:
    """One sensor in each stream, which says where it is, and then a value."""
    found = {}
    for i in range(count):
        sensor, path = f"<{NS}x{i}>", folder / f"{i}.parquet"
        rows = [
            (sensor, f"<{NS}in>", f"<{NS}room{i % 2}>", (i + 1) * SECOND),
            (sensor, f"<{NS}value>", f'"{i}"^^<http://www.w3.org/2001/XMLSchema#integer>', (i + 2) * SECOND),
        ]
        pq.write_table(table_of(rows, "s", "p", "o", "ts"), path)
        found[f"{NS}s{i}"] = StreamFiles((str(path),), PREDICATES, rows=len(rows))
    return found


def answers(spark: Any, count: int, folder: Path, tuning: Tuning) -> tuple[Counter[Any], int]:
    """The rows of all answers of two spans, and how many windows were united in all."""
    background, inputs = BackgroundTables(private(spark), OxigraphStore(), tuning), streams(count, folder)
    continuous, rows, united = (
        ContinuousQuery(translate(query(count)), background, rules=["-sliced_plan"]),
        Counter[Any](),
        0,
    )
    for span in (Span(0, 6 * SECOND), Span(6 * SECOND, 20 * SECOND)):
        rows.update(tuple(row.values()) for row in continuous.evaluate(Evaluation(inputs, span)).collect().to_pylist())
        united += len(background.window_unions)
    continuous.close()
    assert len(background.window_unions) == 0
    return rows, united


def test_united_windows_have_the_same_answers(spark: Any, tmp_path: Path) -> None:
    apart, none = answers(spark, THREE, tmp_path, Tuning(window_scans=1_000))
    united, views = answers(spark, THREE, tmp_path, Tuning(window_scans=1))
    assert united == apart
    assert united.total() > THREE
    assert (none, views) == (0, 2)  # one a span


def test_eight_streams_are_ordinary(spark: Any, tmp_path: Path) -> None:
    rows, views = answers(spark, EIGHT, tmp_path, DEFAULT)
    pairs = {(row[2][-2], row[3][-2]) for row in rows if isinstance(row[2], str)}
    assert views == 2
    assert ("0", "2") in pairs  # sensors of one room, the smaller value first
    assert ("0", "1") not in pairs

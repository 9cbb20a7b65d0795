"""Elements that last, on their way into the log: pushed, from Parquet, derived; late ones, merged ones, wrong ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyoxigraph import Dataset, NamedNode, Quad, RdfFormat, Triple
from pyoxigraph import parse as parse_rdf

from penstock.errors import LoadError
from penstock.io.columns import ELEMENTS, LOGGED, ddl, logged
from penstock.io.nquads import parse
from penstock.io.splits import Split
from penstock.stream.base.watermark import Watermarks
from penstock.stream.ingest.bounded_sources import BoundedSources
from penstock.stream.ingest.dead_letters import DeadLetters, line_of
from penstock.stream.ingest.element_reader import of_blocks, of_file
from penstock.stream.ingest.elements import Block, Elements, When, lines, pushed
from penstock.stream.ingest.late_filter import Reading
from penstock.stream.ingest.load_task import write_part
from penstock.stream.ingest.log_writer import ArrivedBatch, LogWriter
from penstock.stream.ingest.sources.folder import Dropped
from penstock.stream.ingest.stream_declaration import Declared, declare
from penstock.stream.ingest.stream_view import derived_elements as derived
from penstock.stream.log.stream_log import Counts, StreamLog
from penstock.testing import ManualClock
from tests.support.arrivals import STREAM, elements, text

A, P, G = (NamedNode(f"http://e/{name}") for name in "apg")
ONE = Triple(A, P, A)
Span = tuple[int | None, int]


def spans(tables: Iterable[pa.Table]) -> list[Span]:
    """From when (None: a point) to when."""
    return [(row["start"], row["ts"]) for table in tables for row in logged(table).to_pylist()]


def in_log(root: Path) -> list[Span]:
    paths = [path for segment in StreamLog(root / "log").segments(STREAM) for path in segment.paths]
    tables = [pq.read_table(path, partitioning=None) for path in paths]
    assert all(table.schema.equals(LOGGED) for table in tables)
    return spans(tables)


# The columns.


def test_spark_knows_the_same_columns() -> None:
    assert ddl(LOGGED) == "s STRING, p STRING, o STRING, ts BIGINT, g STRING, start BIGINT"


def test_columns_that_are_missing_are_null_and_stand_in_their_order() -> None:
    table = logged(elements([1]).append_column("start", pa.array([0], pa.int64())))
    assert table.schema.equals(LOGGED)
    assert table.select(["ts", "g", "start"]).to_pylist() == [{"ts": 1, "g": None, "start": 0}]
    assert logged(table).equals(table)


# Lines.


@pytest.mark.parametrize(
    ("given", "time", "expected"),
    [
        ([(ONE, 3, 7)], None, [(3, 7)]),
        ([(ONE, 3, 7), (ONE, 5), ONE], None, [(3, 7), (None, 5), (None, 99)]),
        ([(ONE, 7, 7)], None, [(None, 7)]),
        ([ONE, (ONE, 5)], (3, 7), [(3, 7), (None, 5)]),
        (ONE, (3, 7), [(3, 7)]),
        (Dataset([Quad(A, P, A, G)]), (3, 7), [(3, 7)]),
        ([(ONE, datetime(1969, 12, 31, 23, 59, 59, 5, UTC), datetime(1970, 1, 1, 0, 0, 1))], 9, [(-999_995, 10**6)]),
        ([(ONE, 0, 1)] * 100, None, [(0, 1)] * 100),
    ],
)
def test_pushed(given: Elements, time: When | None, expected: list[Span]) -> None:
    data, kind = pushed(given, time, 99, None)
    parsed = parse(data, STREAM)
    assert (kind, parsed.bad) == ("nquads", [])
    assert spans([parsed.elements]) == expected


def test_graphs_keep_their_names() -> None:
    parsed = parse(lines([(Quad(A, P, A, G), 3, 7), (ONE, 1, 2)], None, 0), STREAM)
    assert parsed.elements["g"].to_pylist() == ["<http://e/g>", None]
    assert spans([parsed.elements]) == [(3, 7), (1, 2)]


def test_points_and_intervals_stay_in_order() -> None:
    """More than a few, so that the kernels read the points."""
    parsed = parse((text([1, 2]) + lines([(ONE, 3, 7)], None, 0)) * 100, STREAM)
    assert spans([parsed.elements]) == [(None, 1), (None, 2), (3, 7)] * 100


def test_points_alone_have_no_start_column() -> None:
    some = text(range(10)) + lines([(ONE, 7, 7)], None, 0)
    assert parse(some, STREAM).elements.schema.equals(ELEMENTS)


@pytest.mark.parametrize(
    ("stamp", "reason"),
    [
        ("1970-01-01T00:00:02Z/1970-01-01T00:00:01Z", "it ends before it starts"),
        ("1970-01-01T00:00:02Z", "a timestamp must be an xsd:dateTime"),
        ("1970-01-01T00:00:02Z/soon", 'the timestamp "soon" is not written like'),
        ("1970-01-01T00:00:01Z/1970-01-01T00:00:02Z/1970-01-01T00:00:03Z", "a timestamp must be an xsd:dateTime"),
    ],
)
def test_lines_that_are_no_interval(stamp: str, reason: str) -> None:
    line = f'<http://e/a> <http://e/p> <http://e/a> "{stamp}"^^<urn:penstock:interval> .'
    parsed = parse(f"{line}\n".encode() + text([1]), STREAM)
    assert spans([parsed.elements]) == [(None, 1)]
    assert [(bad.line, bad.text) for bad in parsed.bad] == [(1, line)]
    assert parsed.bad[0].reason.startswith(reason)


@pytest.mark.parametrize("times", [(), (1, 2, 3)])
def test_too_few_times_and_too_many(times: tuple[int, ...]) -> None:
    with pytest.raises(LoadError, match=f"has one time, or a start and an end, not {len(times)} times"):
        lines([(ONE, *times)], None, 0)  # type: ignore[list-item]


def test_a_stored_line_is_an_n_quads_line_with_an_interval_term() -> None:
    """No kind of text of its own, so any tool can still look at it."""
    line = line_of("_:a", "<http://e/p>", '"\n"', 7, "<http://e/g>", 3)
    stamp = '"1970-01-01T00:00:00.000003Z/1970-01-01T00:00:00.000007Z"^^<urn:penstock:interval>'
    assert line == f'_:a <http://e/p> "\\n" <http://e/g> {stamp} .\n'
    (quad,) = parse_rdf(line.replace(f" {stamp}", "").encode(), RdfFormat.N_QUADS)
    assert quad.graph_name == G


# Sources and the log.


def no_session() -> Any:
    raise AssertionError("small files need no Spark")


def bounded(root: Path, source: object, **options: Any) -> BoundedSources:
    declared = declare(cast(Any, source), None, None, False, options.pop("format", None), **options)
    return BoundedSources(StreamLog(root / "log"), DeadLetters(root / "dead"), ManualClock(), {STREAM: declared})


def malformed(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in root.rglob("*.malformed.ndjson") for line in path.read_text().splitlines()]


def test_an_iterable(tmp_path: Path) -> None:
    given = [(ONE, 3, 7), text([5]), (ONE, 6), (ONE, 9, 8)]
    bounded(tmp_path, given).read(STREAM, no_session, in_place=True)
    assert in_log(tmp_path) == [(3, 7), (None, 5), (None, 6)]
    (bad,) = malformed(tmp_path)
    assert bad["reason"] == "it ends before it starts"


def test_documents_by_the_properties_of_their_stream(tmp_path: Path) -> None:
    document = (
        '<http://e/g> { <http://e/a> <http://e/p> 5 } <http://e/g> <http://e/from> "1970-01-01T00:00:01Z" ;'
        ' <http://e/to> "1970-01-01T00:00:02Z" .'
    )
    (tmp_path / "a.trig").write_text(document)
    options = {"start_property": "http://e/from", "end_property": "http://e/to"}
    bounded(tmp_path, tmp_path / "a.trig", **options).read(STREAM, no_session, in_place=True)
    bounded(tmp_path, None, **options).push(STREAM, document.encode(), "trig")
    bounded(tmp_path, [document], format="trig", **options).read(STREAM, no_session, in_place=True)
    assert in_log(tmp_path) == [(10**6, 2 * 10**6)] * 3


def test_a_load_task_writes_intervals(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_bytes(text([1]) + lines([(ONE, 3, 7), (ONE, 9, 5)], None, 0) + text([2]))
    part = write_part(Split(str(tmp_path / "a.nq")), STREAM, f"{tmp_path}/0.parquet")
    assert spans([pq.read_table(part.path)]) == [(None, 1), (3, 7), (None, 2)]
    assert (part.first, part.last, part.disorder) == (1, 7, 5)
    assert [(bad.line, bad.reason) for bad in part.bad] == [(3, "it ends before it starts")]


def test_lateness_is_by_end_time_and_late_elements_can_be_parsed_again(tmp_path: Path) -> None:
    streams = {STREAM: Declared(lateness=5)}
    log = StreamLog(tmp_path / "log")
    log_writer = LogWriter(log, DeadLetters(tmp_path / "dead"), Watermarks(log, ManualClock(), streams))
    data = lines([(ONE, 0, 20), (ONE, 1, 15), (ONE, 2, 14), (ONE, 13)], None, 0)
    log_writer.write(ArrivedBatch(STREAM, "folder", 0), of_blocks(STREAM, [Block(STREAM, data)]))
    assert in_log(tmp_path) == [(0, 20), (1, 15)]
    (late,) = (tmp_path / "dead").rglob("*.late.nq")
    again = parse(late.read_bytes(), STREAM)
    assert (again.bad, spans([again.elements])) == ([], [(2, 14), (None, 13)])


def test_log_segments_are_ordered_by_end_time(tmp_path: Path) -> None:
    log = StreamLog(tmp_path / "log")
    log.append(STREAM, "folder", 0, parse(lines([(ONE, 0, 20), (ONE, 1, 15)], None, 0), STREAM).elements)
    (segment,) = log.segments(STREAM)
    assert (segment.first, segment.last, log.newest(STREAM)) == (15, 20, 20)
    assert log.discard(STREAM, 19) == 0
    assert log.discard(STREAM, 20) == 2


def test_segments_with_and_without_intervals_are_merged(tmp_path: Path) -> None:
    log = StreamLog(tmp_path / "log")
    for number in range(16):
        table = elements([number])
        table = table.append_column("start", pa.array([number - 1], pa.int64())) if number % 3 else table
        log.append(STREAM, "folder", number, table)
    assert log.compact(STREAM) == 16
    assert in_log(tmp_path) == [(number - 1 if number % 3 else None, number) for number in range(16)]


# Parquet: there ts is the start, and te the end.


def table_of(columns: dict[str, Sequence[object]], type: pa.DataType) -> pa.Table:
    table = elements([0] * len(columns["ts"])).drop_columns(["ts"])
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values, pa.int64()).cast(type))
    return table


def dropped(path: Path) -> list[Reading]:
    return list(of_file(Dropped(str(path), 0, 0), STREAM, Declared()))


@pytest.mark.parametrize("type", [pa.int64(), pa.timestamp("us"), pa.timestamp("us", "Europe/Paris")])
def test_parquet_with_ends(tmp_path: Path, type: pa.DataType) -> None:
    pq.write_table(table_of({"te": [7, None, 5, 9], "ts": [3, 4, 5, 8]}, type), tmp_path / "a.parquet")
    (reading,) = dropped(tmp_path / "a.parquet")
    assert reading.malformed == []
    assert spans([reading.elements]) == [(3, 7), (None, 4), (None, 5), (8, 9)]


def test_rows_that_end_before_they_start(tmp_path: Path) -> None:
    many = 100_000  # so that they are not read at once
    table = table_of({"ts": [3, 9, *[4] * many, 8], "te": [7, 8, *[None] * many, 2]}, pa.int64())
    table = table.append_column("g", pa.array([None, "<http://e/g>", *[None] * (many + 1)]))
    pq.write_table(table, tmp_path / "a.parquet")
    readings = dropped(tmp_path / "a.parquet")
    assert len(readings) == 2
    assert spans([reading.elements for reading in readings]) == [(3, 7), *[(None, 4)] * many]
    bad = [one for reading in readings for one in reading.malformed]
    assert [(one.source, one.line, one.reason) for one in bad] == [
        (str(tmp_path / "a.parquet"), row, "it ends before it starts") for row in (2, many + 3)
    ]
    assert bad[0].text == (
        '<http://example.org/s> <http://example.org/p> "0" <http://e/g>'
        ' "1970-01-01T00:00:00.000009Z/1970-01-01T00:00:00.000008Z"^^<urn:penstock:interval> .'
    )


def test_parquet_with_ends_is_brought_into_the_log(tmp_path: Path) -> None:
    pq.write_table(table_of({"ts": [3, 9, 4], "te": [7, 8, None]}, pa.int64()), tmp_path / "a.parquet")
    assert bounded(tmp_path, tmp_path / "a.parquet").read(STREAM, no_session, in_place=True) == []
    assert in_log(tmp_path) == [(3, 7), (None, 4)]
    assert StreamLog(tmp_path / "log").counts(STREAM) == Counts(2, late=0, malformed=1)
    assert len(malformed(tmp_path)) == 1


@pytest.mark.parametrize(("column", "read"), [("other", 1), ("start", 0)])
def test_a_parquet_file_with_a_column_name_of_the_log_is_copied(tmp_path: Path, column: str, read: int) -> None:
    pq.write_table(table_of({"ts": [3], column: [2]}, pa.int64()), tmp_path / "a.parquet")
    assert len(bounded(tmp_path, tmp_path / "a.parquet").read(STREAM, no_session, in_place=True)) == read
    assert in_log(tmp_path) == [(None, 3)] * (1 - read)


# What queries derive.


def answers(times: dict[str, Sequence[int]], objects: Sequence[str]) -> pa.Table:
    """As `Batch.rows` has them."""
    when = [pa.array(values, pa.int64()).cast(pa.timestamp("us", "UTC")) for values in times.values()]
    terms = [["<a:s>"] * len(objects), ["<a:p>"] * len(objects), objects]
    return pa.table([*when, *(pa.array(term, pa.string()) for term in terms)], names=[*times, "s", "p", "o"])


def test_triples_at_instants_are_points() -> None:
    table = derived(answers({"time": [2, 1, 2, 2]}, ["<a:x>", "<a:x>", "<a:w>", "<a:x>"]))
    assert "start" not in table.column_names
    assert table.select(["o", "ts"]).to_pylist() == [
        {"o": "<a:x>", "ts": 1},
        {"o": "<a:w>", "ts": 2},
        {"o": "<a:x>", "ts": 2},
    ]


def test_triples_with_intervals_keep_them() -> None:
    rows = answers({"starts": [3, 2, 1, 3, 0], "ends": [3, 5, 4, 3, 5]}, ["<a:x>"] * 5)
    table = derived(rows)
    assert spans([table]) == [(None, 3), (1, 4), (0, 5), (2, 5)]
    assert table.column("s").to_pylist() == ["<a:s>"] * 4


def test_a_derived_stream_is_in_the_log_like_any_other(tmp_path: Path) -> None:
    log = StreamLog(tmp_path / "log")
    log.append(STREAM, "derived", 0, derived(answers({"starts": [1], "ends": [4]}, ["<a:x>"])))
    assert in_log(tmp_path) == [(1, 4)]

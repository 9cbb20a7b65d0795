"""Bounded runs: from files, Parquet, pushes and iterables to answers and sinks."""

from __future__ import annotations

import gzip
import json
import os
import signal
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyoxigraph import Literal, NamedNode, Triple
from pyspark.sql import SparkSession

from penstock import Answer, Engine, LoadError, PenstockError, QueryError
from penstock.io.nquads import parse
from tests.support.feeding import (
    BUSIEST,
    BUSY,
    COUNT,
    OTHER,
    STREAM,
    counted,
    expected,
    from_ndjson,
    line,
    lines,
    most_of,
)

WHOLE = expected(0, 600, 0, 600)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same stream in every form that a source can have."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "gates.nq").write_text(lines(0, 600))
    (folder / "gates.nq.gz").write_bytes(gzip.compress(lines(0, 600).encode()))
    (folder / "many").mkdir()
    for start in range(0, 600, 200):
        (folder / "many" / f"{start}.nq").write_text(lines(start, start + 200))
    table = parse(lines(0, 600).encode(), STREAM).elements
    parquet.write_table(table, folder / "gates.parquet")
    stamps = table.column("ts").cast(pa.timestamp("us", "UTC"))
    parquet.write_table(table.set_column(3, "ts", stamps), folder / "stamps.parquet")
    return folder


@pytest.mark.parametrize("name", ["gates.nq", "gates.nq.gz", "many", "gates.parquet", "stamps.parquet"])
def test_every_form_of_a_source_gives_the_same_answers(spark: SparkSession, sources: Path, name: str) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, sources / name)
        query = engine.register(COUNT)
        engine.run()
        assert counted(query.answers()) == WHOLE
        assert engine.status.streams[STREAM].elements == len(lines(0, 600).splitlines())
        assert query.status.state == "running"


def test_pushes_and_iterables_count_too_and_a_second_run_continues(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        engine.stream(OTHER, [lines(0, 300), lines(300, 600).encode()])
        pushed, other = engine.register(COUNT), engine.register(COUNT.replace(STREAM, OTHER))
        assert engine.push(STREAM, lines(0, 301)) == len(lines(0, 301).splitlines())
        engine.run()
        assert counted(pushed.answers()) == expected(0, 301, 0, 300)
        assert counted(other.answers()) == WHOLE
        engine.push(STREAM, lines(301, 600))
        engine.run()
        assert counted(pushed.answers()) == WHOLE
        assert len(list(other.answers())) == len(WHOLE)


def test_triples_are_pushed_with_their_times(spark: SparkSession) -> None:
    gate, registers = NamedNode("http://e/gate0"), NamedNode("http://e/registers")
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        query = engine.register(COUNT)
        engine.push(STREAM, [Triple(gate, registers, Literal(n)) for n in range(3)], time=30_000_000)
        engine.push(STREAM, [(Triple(gate, registers, Literal(3)), 70_000_000)])
        engine.run()
        assert counted(query.answers()) == {60: {gate.value: 3}, 120: {gate.value: 4}}


def test_derived_streams_and_sinks(spark: SparkSession, sources: Path, tmp_path: Path) -> None:
    seen: list[Answer] = []
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, sources / "gates.parquet")
        engine.register(BUSIEST, name="busiest", sink=seen.append)
        busy = engine.register(BUSY, sink=tmp_path / "busy.nq")
        engine.register(COUNT, name="table", sink=f"{tmp_path}/table/")
        engine.register(COUNT, name="lines", sink=tmp_path / "lines.ndjson")
        engine.run()
        assert busy.output == "http://e/busy"
    assert counted(seen, "most") == most_of(WHOLE)
    table = parquet.read_table(tmp_path / "table")
    assert table.column_names == ["time", "gate", "n"]
    assert table.num_rows == sum(map(len, WHOLE.values()))
    written = from_ndjson(map(json.loads, (tmp_path / "lines.ndjson").read_text().splitlines()))
    assert [counts for _, counts in written] == list(WHOLE.values())
    again = parse((tmp_path / "busy.nq").read_bytes(), "http://e/busy")
    assert again.elements.num_rows == table.num_rows


def test_a_query_without_a_stream_is_answered_once(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.load(b"<http://e/a> <http://e/p> 1 .", format="ttl")
        query = engine.register("SELECT ?s { ?s ?p ?o }", name="static")
        engine.run()
        engine.run()
        (answer,) = query.answers()
        assert (answer.time, answer.query, len(answer)) == (None, "static", 1)


def test_background_changes_between_runs_are_seen(spark: SparkSession) -> None:
    text = COUNT.replace("WHERE {", "WHERE { ?gate <http://e/open> true .")
    with Engine(spark=spark) as engine:
        engine.load(b"<http://e/gate0> <http://e/open> true .", format="ttl")
        engine.stream(STREAM)
        query = engine.register(text)
        engine.push(STREAM, lines(0, 60))
        engine.run()
        engine.load(b"<http://e/gate1> <http://e/open> true .", format="ttl")
        engine.push(STREAM, lines(60, 120))
        engine.run()
        assert [set(counts) for counts in counted(query.answers()).values()] == [
            {"http://e/gate0"}, {"http://e/gate0"}, {"http://e/gate0", "http://e/gate1"},
        ]  # fmt: skip


def test_late_elements_and_bad_lines_are_counted_and_kept(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "s.nq").write_text(lines(0, 120) + "what is this\n" + line(5, 0) + line(110, 0) + lines(120, 180))
    with Engine(spark=spark, checkpoint=tmp_path / "state") as engine:
        engine.stream(STREAM, tmp_path / "s.nq", lateness="30s")
        engine.register(COUNT)
        engine.run()
        status = engine.status.streams[STREAM]
        assert (status.late, status.malformed) == (1, 1)
    assert len(list((tmp_path / "state" / "dead").rglob("*.late.nq"))) == 1
    assert len(list((tmp_path / "state" / "dead").rglob("*.malformed.ndjson"))) == 1


def test_bounded_run_has_late_elements_only_with_a_lateness(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        query = engine.register(COUNT)
        engine.push(STREAM, lines(300, 600))
        engine.push(STREAM, lines(0, 300))
        engine.run()
        assert counted(query.answers()) == WHOLE


def test_a_checkpoint_of_a_run_continues_and_repeats_nothing(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out.ndjson"
    for _ in range(2):
        with Engine(spark=spark, checkpoint=tmp_path / "state") as engine:
            engine.stream(STREAM, tmp_path / "s.nq")
            (tmp_path / "s.nq").write_text(lines(0, 600))
            engine.register(COUNT, name="count", sink=out)
            engine.run()
    assert len(out.read_text().splitlines()) == len(WHOLE)
    with Engine(spark=spark, checkpoint=tmp_path / "state") as engine:
        assert [query.name for query in engine.queries] == ["count"]
        assert engine["count"].text == COUNT
        assert engine["count"].status.answered is not None


# What goes wrong


def test_unknown_stream_is_an_error_before_the_run(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, "/no/such/file.nq")
        engine.register(COUNT.replace("gates", "gatse"), name="typo")
        with pytest.raises(QueryError, match=f"query typo: there is no stream .*gatse>\nhint: did you mean <{STREAM}>"):
            engine.run()
        with pytest.raises(QueryError, match="there is no stream <http://e/nowhere>"):
            engine.push("http://e/nowhere", "")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.nq", None, r"absent\.nq: there is no such file or folder"),
        ("absent.parquet", None, r"absent\.parquet: there is no such file or folder"),
        ("wrong.nq", b"a,b\n1,2\n", r"wrong\.nq: none of its 2 lines is timestamped N-Quads"),
        ("wrong.parquet", b"PAR", r"wrong\.parquet: [^\n]+"),
    ],
)
def test_a_source_that_cannot_be_read_is_one_sentence(
    spark: SparkSession, tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, tmp_path / name)
        engine.register(COUNT)
        with pytest.raises(LoadError, match=message) as caught:
            engine.run()
        assert "\n" not in str(caught.value)


def test_a_parquet_source_needs_its_columns(spark: SparkSession, tmp_path: Path) -> None:
    parquet.write_table(pa.table({"s": ["<http://e/a>"], "ts": [1]}), tmp_path / "s.parquet")
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, tmp_path / "s.parquet")
        engine.register(COUNT)
        with pytest.raises(LoadError, match=r"s\.parquet: a stream has the columns s, p, o, ts; p, o missing"):
            engine.run()


def test_a_source_without_an_end_needs_start(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, "tcp://127.0.0.1:1")
        engine.register(COUNT)
        with pytest.raises(
            PenstockError, match=r"is unbounded \(tcp://127\.0\.0\.1:1\): use start\(\) instead of run\(\)"
        ):
            engine.run()


def test_a_query_that_fails_does_not_stop_the_others(spark: SparkSession) -> None:
    def refuse(_answer: Answer) -> None:
        raise OSError("no room")

    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        bad, good = engine.register(COUNT, name="bad", sink=refuse), engine.register(COUNT, name="good")
        engine.push(STREAM, lines(0, 120))
        with pytest.raises(PenstockError, match=r"^bad: OSError: no room$"):
            engine.run()
        assert (bad.status.state, bad.status.error) == ("failed", "OSError: no room")
        assert counted(good.answers()) == expected(0, 120, 0, 120)


def test_answers_of_a_query_with_a_sink_are_an_error(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        with pytest.raises(PenstockError, match="The answers of mine go to its sink"):
            engine.register(COUNT, name="mine", sink=print).answers()


def test_one_shot_query_over_streams_is_an_error(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine, pytest.raises(QueryError, match="register it"):
        engine.query(COUNT)


def test_an_interrupt_ends_a_run_and_the_next_one_finishes_it(spark: SparkSession, tmp_path: Path) -> None:
    tracker = spark.sparkContext.statusTracker()
    path = tmp_path / "s.parquet"
    parquet.write_table(parse(lines(0, 6000).encode(), STREAM).elements, path)
    slow = COUNT.replace("WHERE {", "WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i .").replace("GROUP BY", "GROUP BY")

    def interrupt() -> None:
        while not tracker.getActiveJobsIds():
            pass
        os.kill(os.getpid(), signal.SIGINT)

    with Engine(spark=spark) as engine:
        engine.stream(STREAM, path)
        heavy = engine.register(slow, name="slow")
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            engine.run()
        heavy.drop()
        quick = engine.register(COUNT, name="quick")
        engine.run()
        assert len(list(quick.answers())) == 101

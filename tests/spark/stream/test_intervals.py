"""Elements that last through Spark: from everywhere the same log, and a window sees them by their end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyoxigraph import Literal, NamedNode, Quad
from pyspark.sql import SparkSession

from penstock import Engine
from penstock.stream.ingest.elements import Element, lines
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.stream_log import Counts, StreamLog
from penstock.testing import ManualClock, snapshots
from penstock.tuning import Tuning

STREAM = "http://e/rooms"
FROM, TO = "http://e/from", "http://e/to"
SECOND = 1_000_000
SPANS = [(None, 1), (0, 3), (2, 4), (None, 5)]  # seconds
S, P = NamedNode("http://e/s"), NamedNode("http://e/p")
ELEMENTS = [(Quad(S, P, Literal(str(n)), NamedNode(f"http://e/g{n}")), *span) for n, span in enumerate(SPANS)]
LOGGED = [(f"<http://e/g{n}>", *span) for n, span in enumerate(SPANS)]
QUERY = f"SELECT ?o FROM STREAM <{STREAM}> [RANGE 2s STEP 1s] WHERE {{ ?s <http://e/p> ?o }}"
EXPECTED = {
    "0:01": ['"0"'],
    "0:02": ['"0"'],
    "0:03": ['"1"'],  # though it began at 0:00
    "0:04": ['"1"', '"2"'],
    "0:05": ['"2"', '"3"'],
}


def tuples() -> list[Element]:
    points = [(quad, end * SECOND) for quad, start, end in ELEMENTS if start is None]
    spans = [(quad, start * SECOND, end * SECOND) for quad, start, end in ELEMENTS if start is not None]
    return [points[0], *spans, *points[1:]]


def pushes(engine: Engine, _: Path) -> None:
    engine.stream(STREAM)
    for element in tuples():
        assert engine.push(STREAM, [element]) == 1


def trig(engine: Engine, folder: Path) -> None:
    with (folder / "a.trig").open("w") as file:
        for quad, start, end in ELEMENTS:
            begin = "" if start is None else f'<{FROM}> "1970-01-01T00:00:0{start}Z" ; '
            name = quad.graph_name
            file.write(f'{name} {{ {quad.triple} }}\n{name} {begin}<{TO}> "1970-01-01T00:00:0{end}Z" .\n')
    engine.stream(STREAM, folder / "a.trig", start_property=FROM, end_property=TO)


def parquet(engine: Engine, folder: Path) -> None:
    rows = [
        {
            "s": str(quad.subject),
            "p": str(quad.predicate),
            "o": str(quad.object),
            "g": str(quad.graph_name),
            "ts": (end if start is None else start) * SECOND,
            "te": None if start is None else end * SECOND,
        }
        for quad, start, end in ELEMENTS
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "a.parquet")
    engine.stream(STREAM, folder / "a.parquet")


def text(engine: Engine, folder: Path) -> None:
    (folder / "a.nq").write_bytes(lines(tuples(), None, 0))
    engine.stream(STREAM, folder / "a.nq")


def in_log(log: StreamLog) -> list[tuple[str, int | None, int]]:
    paths = [path for segment in log.segments(STREAM) for path in segment.paths]
    rows = [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]
    return [(row["g"], row["start"] and row["start"] // SECOND, row["ts"] // SECOND) for row in rows]


@pytest.mark.parametrize("declare", [pushes, trig, parquet, text])
def test_run(spark: SparkSession, tmp_path: Path, declare: Callable[[Engine, Path], None]) -> None:
    by_tasks = Tuning(small_files_bytes=0)
    with Engine(spark=spark, checkpoint=tmp_path / "state", tuning=by_tasks) as engine:
        declare(engine, tmp_path)
        query = engine.register(QUERY)
        engine.run()
        assert snapshots(query.answers()) == EXPECTED
    assert sorted(in_log(StreamLog(tmp_path / "state" / "log"))) == LOGGED  # graphs that have an end alone come last


def test_complex_events_keep_their_start_in_every_sink(
    spark: SparkSession, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """From :0 that lasts from 0:00 to 0:03 and a point at 0:05: a derived stream, a rule, and their readers."""
    prefix = "PREFIX : <http://e/> "
    pairs = "{ ?s :p ?o FILTER (?o = '1') } SEQ { ?s :p ?u }"
    with Engine(spark=spark) as engine:
        pushes(engine, tmp_path)
        made = f"CONSTRUCT {{ ?s :pair ?u }} FROM STREAM <{STREAM}> {{ {pairs} }}"
        engine.register(f"{prefix} REGISTER STREAM pairs AS {made}", sink=f"{tmp_path}/pairs/")
        engine.register(f"{prefix} REGISTER RULE told AS {made.replace(':pair', ':told')}", sink=f"{tmp_path}/told.nq")
        since = "SELECT ?u (STR(getSTARTTIME()) AS ?from)"
        engine.register(f"{prefix} {since} FROM STREAM pairs {{ ?s :pair ?u }}", sink=f"{tmp_path}/read.csv")
        engine.register(f"{prefix} {since} {{ ?s :told ?u }}", sink=f"{tmp_path}/rule.csv")
        engine.run()
        engine.stream("http://e/again", tmp_path / "told.nq")
        engine.register(f"{prefix} {since} FROM STREAM :again {{ ?s :told ?u }}", sink=f"{tmp_path}/again.csv")
        engine.run()
    (row,) = pq.read_table(tmp_path / "pairs").select(["starts", "ends", "s", "p", "o"]).to_pylist()
    assert [row["starts"].timestamp(), row["ends"].timestamp(), row["o"]] == [0, 5, '"3"']
    stamp = '"1970-01-01T00:00:00Z/1970-01-01T00:00:05Z"^^<urn:penstock:interval>'
    assert (tmp_path / "told.nq").read_text() == f'<http://e/s> <http://e/told> "3" {stamp} .\n'
    for name in ("read", "rule", "again"):
        heading, line, *others = (tmp_path / f"{name}.csv").read_text().splitlines()
        assert (heading, others) == ("starts,ends,u,from", [])
        assert line == "1970-01-01T00:00:00Z,1970-01-01T00:00:05Z,3,1970-01-01T00:00:00Z"


def test_live_through_the_journal(spark: SparkSession, tmp_path: Path) -> None:
    ingest = Ingest(spark, tmp_path, ManualClock(), {STREAM: Declared(lateness=0)})
    ingest.start()
    late = [(ELEMENTS[0][0], 2 * SECOND, 3 * SECOND), (ELEMENTS[0][0], 6 * SECOND, 5 * SECOND)]
    for some in (tuples(), late):
        ingest.push(STREAM, lines(some, None, 0))
    ingest.drain()
    ingest.close()
    assert in_log(ingest.log) == LOGGED
    assert ingest.log.counts(STREAM) == Counts(len(SPANS), late=1, malformed=1)

"""Streams of graphs through Spark: from files, folders, pushes and sockets, live and replayed, always the same log."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from penstock import Answer, Engine
from penstock.stream.base import failpoints
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.stream_log import StreamLog
from penstock.testing import ManualClock
from penstock.tuning import DEFAULT, Tuning

STREAM = "http://e/rooms"
AT = "http://e/at"
COUNT = f"SELECT (COUNT(*) AS ?n) FROM STREAM <{STREAM}> [RANGE 2s STEP 1s] WHERE {{ ?room <http://e/is> ?t }}"
SECONDS = range(1, 6)
EXPECTED = [(second, f"<http://e/g{second}>") for second in SECONDS for _ in range(2)]
Elements = list[tuple[int, str | None]]


def stamp(second: int) -> str:
    return f"1970-01-01T00:00:{second:02}Z"


def trig(second: int) -> str:
    graph = f"<http://e/g{second}>"
    return f'{graph} {{ _:a <http://e/is> 1 , 2 }}\n{graph} <{AT}> "{stamp(second)}" .\n'


def jsonld(second: int) -> str:
    inside = {"@id": "_:a", "http://e/is": [1, 2]}
    return json.dumps({"@id": f"http://e/g{second}", AT: stamp(second), "@graph": inside}) + "\n"


def elements(log: StreamLog) -> Elements:
    paths = [path for segment in log.segments(STREAM) for path in segment.paths]
    found = [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]
    assert len({row["s"] for row in found}) == len({row["g"] for row in found}), "blank nodes belong to their document"
    return [(row["ts"] // 1_000_000, row["g"]) for row in found]


def counts(answers: list[Answer]) -> list[int]:
    return [int(answer.rows[0]["n"].value) for answer in answers]


# As a whole.


def as_trig(folder: Path) -> dict[str, object]:
    (folder / "in").mkdir()
    for second in SECONDS:
        (folder / "in" / f"{second}.trig").write_text(trig(second))
    return {"source": folder / "in"}


def as_gzip(folder: Path) -> dict[str, object]:
    (folder / "a.ndjsonld.gz").write_bytes(gzip.compress("".join(map(jsonld, SECONDS)).encode()))
    return {"source": folder / "a.ndjsonld.gz"}


def as_items(folder: Path) -> dict[str, object]:
    return {"source": [jsonld(second) for second in SECONDS], "format": "jsonld"}


@pytest.mark.parametrize("make", [as_trig, as_gzip, as_items])
@pytest.mark.parametrize("by_job", [False, True])
def test_run(
    spark: SparkSession,
    tmp_path: Path,
    make: Callable[[Path], dict[str, object]],
    by_job: bool,
) -> None:
    tuning = Tuning(small_files_bytes=0) if by_job else DEFAULT
    with Engine(spark=spark, checkpoint=tmp_path / "state", tuning=tuning) as engine:
        engine.stream(STREAM, time_property=AT, **make(tmp_path))  # type: ignore[arg-type]
        query = engine.register(COUNT)
        engine.run()
        assert counts(list(query.answers())) == [2, 4, 4, 4, 4]
    assert elements(StreamLog(tmp_path / "state" / "log")) == EXPECTED


def test_parquet_with_and_without_graphs_is_read_where_it_lies(spark: SparkSession, tmp_path: Path) -> None:
    with Engine(spark=spark, checkpoint=tmp_path / "state") as engine:
        engine.stream(STREAM, time_property=AT, format="trig")
        for second in SECONDS:
            engine.push(STREAM, trig(second))
    (tmp_path / "in").mkdir()
    paths = [Path(path) for one in StreamLog(tmp_path / "state" / "log").segments(STREAM) for path in one.paths]
    for number, path in enumerate(paths):
        table = pq.read_table(path, partitioning=None).drop_columns(["start"])  # which means nothing outside the log
        pq.write_table(table if number % 2 else table.drop_columns(["g"]), tmp_path / "in" / f"{number}.parquet")
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, tmp_path / "in", format="parquet")
        query = engine.register(COUNT)
        engine.run()
        assert counts(list(query.answers())) == [2, 4, 4, 4, 4]


# Live.

Opener = Callable[..., Ingest]


@pytest.fixture
def open_ingest(spark: SparkSession, tmp_path: Path) -> Iterator[Opener]:
    opened: list[Ingest] = []

    def opener(source: object = None, tuning: Tuning = DEFAULT, **options: object) -> Ingest:
        streams = {STREAM: Declared(source, time_property=(AT,), **options)}  # type: ignore[arg-type]
        opened.append(Ingest(spark, tmp_path / "checkpoint", ManualClock(), streams, tuning=tuning))
        return opened[-1]

    yield opener
    failpoints.handler = None
    for ingest in opened:
        ingest.close()


def test_pushes_before_and_after_a_restart(open_ingest: Opener) -> None:
    first = open_ingest(format="trig")
    assert first.push(STREAM, trig(1).encode(), "trig") == 1
    assert first.push(STREAM, (jsonld(2) + "\n" + jsonld(3)).encode(), "ndjsonld") == 2
    first.close()
    again = open_ingest(format="trig")
    again.start()
    again.push(STREAM, (trig(4) + trig(5).replace("_:a", "_:b") + "oops\n" + trig(6)).encode(), "trig")
    again.drain()
    assert elements(again.log) == EXPECTED
    assert again.log.counts(STREAM).malformed == 1


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_dropped_files(open_ingest: Opener, tmp_path: Path, small: int) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    ingest = open_ingest(str(folder), tuning=Tuning(small_files_bytes=small))
    ingest.start()
    for second in SECONDS:
        name = f"{second}.trig" if second % 2 else f"{second}.jsonld"
        (tmp_path / name).write_text(trig(second) if second % 2 else jsonld(second))
        (tmp_path / name).rename(folder / name)
        ingest.drain()
    (folder / "bad.trig").write_text("oops")
    ingest.drain()
    assert elements(ingest.log) == EXPECTED
    assert ingest.log.counts(STREAM).malformed == 1


def test_json_ld_by_the_line_from_a_socket(spark: SparkSession) -> None:
    complete, answers = Event(), list[Answer]()

    def take(answer: Answer) -> None:
        answers.append(answer)
        if len(answers) == len(SECONDS):
            complete.set()

    with socket.create_server(("127.0.0.1", 0)) as server, Engine(spark=spark) as engine:
        held: list[socket.socket] = []

        def serve() -> None:
            held.append(server.accept()[0])
            held[0].sendall("".join(map(jsonld, [*SECONDS, 9])).encode())

        Thread(target=serve, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        engine.stream(STREAM, address, format="jsonld", time_property=AT)
        engine.register(COUNT, sink=take)
        engine.start()
        assert complete.wait(120)
        engine.stop()
        held[0].close()
    assert counts(answers)[: len(SECONDS)] == [2, 4, 4, 4, 4]


def test_a_live_push_and_a_restart_that_remembers_the_property(spark: SparkSession, tmp_path: Path) -> None:
    for declare in (True, False):
        with Engine(spark=spark, checkpoint=tmp_path) as engine:
            if declare:
                engine.stream(STREAM, format="trig", time_property=AT)
                engine.register(COUNT, name="count", sink=str(tmp_path / "n.csv"))
            engine.start()
            for second in SECONDS if declare else [6, 7]:
                assert engine.push(STREAM, trig(second)) == 1
            engine.flush()
            engine.stop()
    lines = (tmp_path / "n.csv").read_text().split()[1:]
    assert [line.rpartition(",")[2] for line in lines] == ["2", "4", "4", "4", "4", "4"]

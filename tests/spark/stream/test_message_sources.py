"""Sources with partitions and positions on a live engine: right answers, a silent partition that is named, restarts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from penstock import Engine
from penstock.testing import ManualClock, snapshots
from tests.support.positioned_source import PositionedSource

STREAM = "http://e/readings"
QUERY = f"SELECT ?s ?v FROM STREAM <{STREAM}> [RANGE 1m STEP 1m] WHERE {{ ?s <http://e/v> ?v }}"
MAPPING = {"@context": {"@vocab": "http://e/", "id": None, "t": None}, "@id": "http://e/sensor/{id}"}


def reading(sensor: int, seconds: int, value: str) -> bytes:
    return json.dumps({"id": sensor, "t": seconds, "v": value}).encode()


PARTITIONS: dict[str, Sequence[bytes]] = {
    "t/0": [reading(1, 10, "a"), reading(1, 70, "b"), reading(1, 130, "c")],
    "t/1": [reading(2, 20, "d"), b"no JSON", reading(2, 125, "e")],
}
EXPECTED = {
    "1:00": ['<http://e/sensor/1> "a"', '<http://e/sensor/2> "d"'],
    "2:00": ['<http://e/sensor/1> "b"'],
}


def declared(engine: Engine, mapping: Path, source: PositionedSource) -> None:
    mapping.write_text(json.dumps(MAPPING))
    engine.stream(STREAM, source, mapping=mapping, time_path="$.t", time_unit="s")


def test_partitions_out_of_step(spark: SparkSession, tmp_path: Path) -> None:
    source = PositionedSource(PARTITIONS)
    with Engine(spark=spark, clock=ManualClock(1_000_000_000)) as engine:
        declared(engine, tmp_path / "m.jsonld", source)
        query = engine.register(QUERY)
        engine.start()
        source.read(["t/0"], most=3)
        engine.flush()
        status = engine.status.streams[STREAM]
        assert (status.held_back_by, status.watermark) == ("t/1", None)
        assert "t/1" in str(engine.status)
        assert any("the partition t/1 of <http://e/readings> has had no element" in str(one) for one in query.why())
        assert query.latest() is None
        source.read(["t/1"], most=3)
        engine.flush()
        (letter,) = engine.dead_letters(STREAM)
        assert (letter.source, letter.text) == ("t/1@1", "no JSON")
        engine.stop()
        assert snapshots(query.answers()) == EXPECTED


def test_an_engine_continues_where_the_last_one_was(spark: SparkSession, tmp_path: Path) -> None:
    for part in range(3):
        source = PositionedSource(PARTITIONS)
        with Engine(spark=spark, checkpoint=tmp_path / "state", clock=ManualClock(1_000_000_000)) as engine:
            declared(engine, tmp_path / "m.jsonld", source)
            engine.register(QUERY, name="all", sink=tmp_path / "answers.ndjson")
            engine.start()
            assert source.started_at == ({"t/0": part, "t/1": part} if part else {})
            source.read(["t/1", "t/0"])
            engine.stop()
    times = [json.loads(line)["time"] for line in (tmp_path / "answers.ndjson").read_text().splitlines()]
    assert times == ["1970-01-01T00:01:00Z", "1970-01-01T00:02:00Z"]


def test_files_and_iterables_are_lifted_too(spark: SparkSession, tmp_path: Path) -> None:
    lines = [line for partition in PARTITIONS.values() for line in partition]
    (tmp_path / "m.jsonld").write_text(json.dumps(MAPPING))
    (tmp_path / "all.ndjson").write_bytes(b"\n".join(lines))
    for source in (str(tmp_path / "all.ndjson"), lines):
        with Engine(spark=spark) as engine:
            engine.stream(STREAM, source, mapping=tmp_path / "m.jsonld", time_path="$.t", time_unit="s")
            query = engine.register(QUERY)
            engine.run()
            found = snapshots(query.answers())
            assert {time: rows for time, rows in found.items() if time in EXPECTED} == EXPECTED
            assert engine.status.streams[STREAM].malformed == 1

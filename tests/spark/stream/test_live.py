"""Live engines: the same answers as a replay, queries that come and go, time that moves, and restarts."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread

import pytest
from pyspark.sql import SparkSession

from penstock import Answer, Engine, PenstockError, QueryError
from penstock.stream.ingest.spool import Spool
from penstock.testing import ManualClock, TestSource
from tests.support.feeding import (
    BUSIEST,
    BUSY,
    COUNT,
    OTHER,
    STREAM,
    Counts,
    counted,
    expected,
    from_ndjson,
    line,
    lines,
    most_of,
)

BOTH = f"""SELECT ?gate (COUNT(?car) AS ?n) FROM STREAM <{STREAM}> [RANGE 2m STEP 1m]
FROM STREAM <{OTHER}> [RANGE 2m STEP 1m] WHERE {{ ?gate <http://e/registers> ?car }} GROUP BY ?gate"""


def live(counts: Counts, last: int) -> Counts:
    """The instants that are due when all elements before `last` have arrived: each waits for an element after it."""
    return {now: gates for now, gates in counts.items() if now < last}


def test_pushed_elements_are_answered_as_in_a_replay(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        busiest, busy = engine.register(BUSIEST, name="busiest"), engine.register(BUSY)
        count = engine.register(COUNT, name="count")
        assert engine.push(STREAM, lines(0, 100)) > 0
        engine.start()
        for start, end in [(100, 101), (101, 250), (250, 251), (251, 480), (480, 600)]:
            engine.push(STREAM, lines(start, end))
            engine.flush()
        whole = live(expected(0, 600, 0, 600), 596)
        assert engine.status.live
        assert engine.status.lag is not None
        log = [segment.first for segment in engine._runtime._log.segments(STREAM)]
        engine.stop()
        assert counted(count.answers()) == whole
        assert counted(busiest.answers(), "most") == most_of(whole)
        assert [answer.time for answer in busy.answers()] == [answer.time for answer in count.answers()]
        assert min(log) > 0, "the log should have let go of what no window can see"


def test_queries_are_added_dropped_and_paused_live(spark: SparkSession) -> None:
    seen: list[Answer] = []
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        first = engine.register(COUNT, name="first")
        engine.start()
        engine.push(STREAM, lines(0, 200))
        engine.flush()
        with pytest.raises(QueryError, match="query typo: there is no stream <http://e/gatez>"):
            engine.register(COUNT.replace("gates", "gatez"), name="typo")
        later = engine.register(COUNT, name="later", sink=seen.append)
        assert [query.name for query in engine.queries] == ["first", "later"]
        first.pause()
        assert engine["first"].status.state == "paused"
        engine.push(STREAM, lines(200, 400))
        engine.flush()
        assert first.status.answers == 4
        assert counted(seen) == live(expected(0, 400, 240, 399), 399)
        later.drop()
        first.resume()
        engine.push(STREAM, lines(400, 600))
        engine.flush()
        assert [query.name for query in engine.queries] == ["first"]
        engine.stop()
        assert counted(first.answers()) == live(expected(0, 600, 0, 600), 595)
        assert max(counted(seen)) == 360


def test_reader_gets_answers_until_the_engine_stops(spark: SparkSession) -> None:
    seen: list[Answer] = []
    source = TestSource([lines(0, 200), lines(200, 400)])
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, source)
        query = engine.register(COUNT)
        engine.start()
        reader = Thread(target=lambda: seen.extend(query.answers()))
        reader.start()
        while not source.done:
            engine.flush()
        engine.stop()
        reader.join(timeout=60)
        assert not reader.is_alive()
        assert counted(seen) == live(expected(0, 400, 0, 400), 399)


def test_silence_and_the_clock_move_time(spark: SparkSession) -> None:
    clock = ManualClock(0)
    with Engine(spark=spark, clock=clock) as engine:
        engine.stream(STREAM)
        engine.stream(OTHER, idle="10s")
        both = engine.register(BOTH, name="both")
        alone = engine.register(COUNT.replace(STREAM, "http://e/clock"), name="alone")
        engine.stream("http://e/clock", advance=True)
        engine.start()
        engine.push("http://e/clock", line(30, 0))
        engine.push(STREAM, lines(0, 200))
        engine.flush()
        assert (both.status.answers, alone.status.answers) == (0, 0), "the other stream may still say something"
        clock.advance(10_000_000)
        engine.flush()
        assert both.status.answers == 4
        clock.advance(120_000_000)
        engine.flush()
        assert alone.status.answers == 2
        engine.push(OTHER, line(100, 0))
        engine.flush()
        assert engine.status.streams[OTHER].late == 1
        engine.stop()
        assert counted(both.answers()) == live(expected(0, 200, 0, 200), 196)
        assert counted(alone.answers()) == {60: {"http://e/gate0": 1}, 120: {"http://e/gate0": 1}}


def test_advance_completes_a_stream(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, lateness="1h")
        query = engine.register(COUNT)
        engine.start()
        engine.push(STREAM, lines(100, 200) + lines(0, 100))
        engine.flush()
        assert query.status.answers == 0
        engine.advance(STREAM, 181_000_000)
        engine.flush()
        engine.stop()
        assert counted(query.answers()) == expected(0, 200, 0, 180)


def test_an_engine_on_the_same_folder_continues(spark: SparkSession, tmp_path: Path) -> None:
    out, drop = tmp_path / "out.ndjson", tmp_path / "drop"
    drop.mkdir()
    seen: list[Answer] = []
    with Engine(spark=spark, checkpoint=tmp_path / "state") as engine:
        engine.stream(STREAM, drop)
        engine.register(COUNT, name="file", sink=out)
        engine.register(COUNT, name="function", sink=seen.append)
        engine.register(COUNT, name="paused").pause()
        (drop / "0.nq").write_text(lines(0, 300))
        engine.start()
        engine.flush()
        engine.stop()
    for end in (500, 600):
        (drop / f"{end}.nq").write_text(lines(300 if end == 500 else 500, end))
        with Engine(spark=spark, checkpoint=tmp_path / "state") as engine:
            states = {query.name: query.status.state for query in engine.queries}
            assert states == {"file": "running", "function": "waiting for its sink", "paused": "paused"}
            if end == 600:
                engine.register(COUNT, name="function", sink=seen.append)
                engine["paused"].resume()
            engine.start()
            engine.flush()
            engine.stop()
            resumed = counted(engine["paused"].answers())
    whole = live(expected(0, 600, 0, 600), 595)
    written = from_ndjson(map(json.loads, out.read_text().splitlines()))
    assert [counts for _, counts in written] == list(whole.values())
    assert counted(seen) == whole
    assert len(seen) == len(whole)
    assert resumed == whole


def test_a_failure_is_one_querys_own_and_can_be_tried_again(spark: SparkSession) -> None:
    room: list[Answer] = []
    full = [True]

    def deliver(answer: Answer) -> None:
        if full[0]:
            raise OSError("no room")
        room.append(answer)

    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        bad, good = engine.register(COUNT, name="bad", sink=deliver), engine.register(COUNT, name="good")
        engine.start()
        engine.push(STREAM, lines(0, 200))
        engine.flush()
        assert (bad.status.state, bad.status.error) == ("failed", "OSError: no room")
        assert good.status.answers == 4
        full[0] = False
        bad.resume()
        engine.flush()
        assert counted(room) == live(expected(0, 200, 0, 200), 196)
        with pytest.raises(PenstockError, match="The engine is live already"):
            engine.run()
    assert bad.status.state == "running"


def test_spooled_pushes_are_part_of_the_next_run(spark: SparkSession, tmp_path: Path) -> None:
    """The engine is gone, as after a crash, when its last push has become durable."""
    with Engine(spark=spark, checkpoint=tmp_path / "state") as engine:
        engine.stream(STREAM)
        engine.register(COUNT, name="count")
    Spool(tmp_path / "state" / "spool").append(STREAM, lines(0, 120).encode())
    with Engine(spark=spark, checkpoint=tmp_path / "state") as engine:
        engine.run()
        assert counted(engine["count"].answers()) == expected(0, 120, 0, 120)


def test_a_folder_is_read_or_watched_but_not_both(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "0.nq").write_text(lines(0, 120))
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, tmp_path)
        engine.register(COUNT)
        engine.run()
        with pytest.raises(PenstockError, match=r"run\(\) has read .* as a whole: it cannot be watched as well"):
            engine.start()
        assert not engine.status.live


def test_streams_may_be_added_while_the_engine_runs(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "old.nq").write_text(lines(0, 200))
    with Engine(spark=spark) as engine:
        engine.start()
        engine.stream(STREAM, tmp_path / "old.nq")
        engine.stream(OTHER)
        with pytest.raises(PenstockError, match="is declared already: stop"):
            engine.stream(OTHER)
        query = engine.register(COUNT.replace(STREAM, OTHER))
        engine.push(OTHER, lines(0, 200))
        engine.flush()
        assert engine.status.streams[STREAM].elements == len(lines(0, 200).splitlines())
        engine.stop()
        assert counted(query.answers()) == live(expected(0, 200, 0, 200), 196)

"""Live engines: the same answers as a replay, queries that come and go, time that moves, and restarts."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock import Answer, Engine, OptionError, PenstockError, Progress, QueryError, SetupError, Tuning, log
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
    with Engine(spark=spark, tuning=Tuning(staged_segments=1)) as engine:
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


def test_a_failed_query_does_not_stop_others_and_can_be_resumed(spark: SparkSession) -> None:
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


def test_pushes_of_an_interrupted_engine_are_part_of_the_next_run(spark: SparkSession, tmp_path: Path) -> None:
    with Engine(spark=spark, checkpoint=tmp_path / "state") as engine:
        engine.stream(STREAM)
        query = engine.register(COUNT, name="count")
        engine.start()
        query.pause()
        engine.push(STREAM, lines(0, 120))
    with Engine(spark=spark, checkpoint=tmp_path / "state") as engine:
        engine["count"].resume()
        engine.run()
        assert counted(engine["count"].answers()) == expected(0, 120, 0, 120)


def test_pushes_start_no_streaming_query(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(DataStreamWriter, "start", lambda *_: started.append(_))
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, "listen://127.0.0.1:0")
        query = engine.register(COUNT)
        engine.start()
        engine.push(STREAM, lines(0, 200))
        engine.stop()
        assert counted(query.answers()) == live(expected(0, 200, 0, 200), 196)
    assert started == []


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


# Answers as they come


def test_answers_with_a_timeout_end_and_the_latest_is_there(spark: SparkSession) -> None:
    whole = live(expected(0, 200, 0, 200), 196)
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        query = engine.register(COUNT, name="count")
        assert query.latest() is None
        engine.start()
        assert list(query.answers(timeout=0)) == []
        engine.push(STREAM, lines(0, 200))
        engine.flush()
        assert counted(query.answers(timeout=0.01)) == whole
        newest = query.latest()
        assert newest is not None
        assert counted([newest]) == {180: whole[180]}
        for timeout in (-1, "1s", float("nan")):
            with pytest.raises(OptionError, match=f"^timeout is a number of seconds, 0 or more, not {timeout!r}$"):
                query.answers(timeout=timeout)  # type: ignore[arg-type]
        seen: list[Answer] = []
        printed = engine.register(COUNT, name="printed", sink=seen.append)
        message = "The answers of printed go to its sink: register it without a sink to keep them in memory."
        for read in (printed.answers, printed.latest):
            with pytest.raises(PenstockError, match=f"^{re.escape(message)}$"):
                read()


def test_a_reader_is_told_that_the_query_has_failed(spark: SparkSession) -> None:
    """It would wait for ever: the engine runs, and no answer will come."""
    told: list[PenstockError] = []
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        query = engine.register(COUNT, name="count")
        engine.start()

        def read() -> None:
            try:
                list(query.answers())
            except PenstockError as error:
                told.append(error)

        reader = Thread(target=read)
        reader.start()
        engine._runtime.catalogue["count"].fail(KeyError("gate"))
        reader.join(timeout=60)
        assert [str(error) for error in told] == ["The query count has failed: KeyError: 'gate'"]
        assert isinstance(told[0].__cause__, KeyError)
        query.resume()
        engine.push(STREAM, lines(0, 200))
        engine.flush()
        assert counted(query.answers(timeout=0)) == live(expected(0, 200, 0, 200), 196)


# Functions that fail


class Flaky:
    """A function that fails so many times."""

    def __init__(self, failures: int) -> None:
        self.left = failures
        self.seen: list[Answer] = []

    def __call__(self, answer: Answer) -> None:
        if self.left:
            self.left -= 1
            raise ConnectionError("the queue is away")
        self.seen.append(answer)


def test_a_live_sink_is_tried_again_and_gets_every_answer(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    clock, flaky = ManualClock(0), Flaky(2)
    with Engine(spark=spark, clock=clock) as engine:
        engine.stream(STREAM)
        query = engine.register(COUNT, name="count", sink=flaky, retry=2)
        good = engine.register(COUNT, name="good")
        engine.start()
        engine.push(STREAM, lines(0, 200))
        waiting = Thread(target=engine.flush)  # which returns when all is answered
        waiting.start()
        while waiting.is_alive():
            clock.await_waiter()
            clock.advance(100_000)
        assert (query.status.state, query.status.error) == ("running", None)
        assert good.status.answers == 4
        engine.stop()
    assert counted(flaky.seen) == live(expected(0, 200, 0, 200), 196)
    retries = [record.getMessage() for record in caplog.records if record.name == "penstock.sinks"]
    assert retries == [
        "count: the sink failed, retry 1 of 2 in 0.1 s: ConnectionError: the queue is away",
        "count: the sink failed, retry 2 of 2 in 0.2 s: ConnectionError: the queue is away",
    ]


@pytest.mark.parametrize(("retry", "seen"), [(1, []), (2, [60, 120, 180, 240])])
def test_a_bounded_run_tries_sinks_again(spark: SparkSession, retry: int, seen: list[int]) -> None:
    flaky = Flaky(2)
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, [lines(0, 200)])
        query = engine.register(COUNT, name="count", sink=flaky, retry=retry)
        good = engine.register(COUNT, name="good")
        if seen:
            engine.run()
        else:
            with pytest.raises(PenstockError, match=r"^count: ConnectionError: the queue is away$"):
                engine.run()
            assert query.status.state == "failed"
            assert "count  failed" in str(engine.status)
        assert list(counted(flaky.seen)) == [0, *seen] if seen else not flaky.seen
        assert len(list(good.answers())) == 5


def test_a_query_without_streams_tries_its_sink_again(spark: SparkSession) -> None:
    flaky = Flaky(2)
    with Engine(spark=spark) as engine:
        engine.register("ASK {}", name="once", sink=flaky, retry=2)
        engine.run()
    assert [answer.boolean for answer in flaky.seen] == [True]


def test_retry_is_kept_in_the_checkpoint_and_may_change(spark: SparkSession, tmp_path: Path) -> None:
    for retry in (3, 0, 5):
        with Engine(spark=spark, checkpoint=tmp_path) as engine:
            engine.stream(STREAM)
            engine.register(COUNT, name="count", sink=tmp_path / "count.csv", retry=retry)
        with Engine(spark=spark, checkpoint=tmp_path) as engine:
            assert engine._runtime.catalogue["count"].entry.retry == retry


def test_on_progress_that_raises_stops_nothing(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    calls: list[Progress] = []

    def show(progress: Progress) -> None:
        calls.append(progress)
        raise ZeroDivisionError("no rate")

    with Engine(spark=spark, on_progress=show) as engine:
        engine.stream(STREAM, [lines(0, 200)])
        query = engine.register(COUNT, name="count")
        engine.run()
        assert len(list(query.answers())) == 5
    assert len(calls) == 1
    (record,) = [each for each in caplog.records if each.name == "penstock.sinks"]
    assert record.getMessage() == "on_progress failed, and is not called again: ZeroDivisionError: no rate"
    assert record.exc_info is not None


# Ports and folders


@contextmanager
def taken_port() -> Iterator[tuple[str, str]]:
    """The address of a port that is in use, and what is said of it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        text = f"Port {port} of 127.0.0.1 is in use: end the program that listens there, or give another port."
        yield f"listen://127.0.0.1:{port}", f"^{re.escape(text)}$"


def test_a_port_in_use_is_an_error_of_start_and_start_may_follow(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        with taken_port() as (address, message):
            engine.stream(STREAM, address)
            query = engine.register(COUNT)
            with pytest.raises(SetupError, match=message):
                engine.start()
            assert not engine.status.live
        engine.start()
        engine.push(STREAM, lines(0, 200))
        engine.flush()
        assert query.status.answers == 4


def test_a_stream_whose_port_is_in_use_is_not_declared(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        engine.start()
        with taken_port() as (address, message):
            for _ in range(2):
                with pytest.raises(SetupError, match=message):
                    engine.stream(OTHER, address)
            assert list(engine.status.streams) == [STREAM]
        engine.stream(OTHER)


def test_a_missing_folder_is_an_error_of_start(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "drop").mkdir()
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, tmp_path / "drop")
        engine.register(COUNT)
        (tmp_path / "drop").rmdir()
        with pytest.raises(PenstockError) as caught:
            engine.start()
        assert str(caught.value) == f"{tmp_path}/drop: there is no such file or folder"
        with pytest.raises(PenstockError) as caught:
            engine.run()
        assert str(caught.value) == f"{tmp_path}/drop: there is no such file or folder"


# Log records


def test_a_live_engine_logs_its_start_its_rounds_and_its_end(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "penstock")
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        engine.register(COUNT, name="count")
        engine.start()
        engine.push(STREAM, lines(0, 200))
        engine.flush()
        engine.stop()
        engine.run()
    said = [(record.name, record.getMessage()) for record in caplog.records]
    assert [message for name, message in said if name == "penstock.session"] == [
        "the engine is live: streams 1, queries 1",
        "the engine has stopped",
        "a run has started: streams 1, queries 1",
        "the run has ended",
    ]
    rounds = [message for name, message in said if name == "penstock.rounds"]
    assert [re.sub(r"[\d.e-]+ s", "… s", message) for message in rounds] == ["a round took … s: count"] * 2
    start = next(record for record in caplog.records if record.getMessage().startswith("the engine is live"))
    assert (log.fields(start)["streams"], log.fields(start)["queries"]) == ([STREAM], ["count"])

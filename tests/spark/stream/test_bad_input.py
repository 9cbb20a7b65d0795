"""Mistakes of users: one clear sentence each, and nothing is lost."""

from __future__ import annotations

import json
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from pyspark.sql import SparkSession

from penstock import Answer, Engine, LoadError, QueryError
from penstock.errors import PenstockWarning
from tests.support.feeding import COUNT, OTHER, STREAM, counted, expected, line, lines

WHOLE = expected(0, 600, 0, 600)


@pytest.mark.parametrize(
    ("window", "sentence"),
    [
        ("[RANGE 2m STEP 0s]", "a window with step 0 never moves"),
        ("[RANGE 0s STEP 0s]", "a window of length 0 holds nothing"),
        ("[TRIPLES 5 STEP 0]", "a window with step 0 never moves"),
    ],
)
def test_windows_that_cannot_be(spark: SparkSession, window: str, sentence: str) -> None:
    with Engine(spark=spark) as engine:
        with pytest.raises(QueryError) as caught:
            engine.register(COUNT.replace("[RANGE 2m STEP 1m]", window))
        assert caught.value.reason == sentence
        assert (caught.value.line, engine.queries) == (1, [])


def test_unknown_stream_is_an_error_and_changes_nothing(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, [lines(0, 600)])
        known, unknown = engine.register(COUNT), engine.register(COUNT.replace(STREAM, f"{STREAM}s"), name="unknown")
        with pytest.raises(QueryError) as caught:
            engine.run()
        assert str(caught.value) == f"query unknown: there is no stream <{STREAM}s>\nhint: did you mean <{STREAM}>?"
        unknown.drop()
        engine.run()
        assert counted(known.answers()) == WHOLE


def test_file_without_nquads_can_be_replaced_and_read(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "gates.nq"
    file.write_text("@prefix : <http://e/> .\n:a :b :c .\n")
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, file)
        query = engine.register(COUNT)
        for _ in range(2):
            with pytest.raises(
                LoadError, match=r"^\S+gates\.nq: none of its 2 lines is timestamped N-Quads; line 1: this"
            ):
                engine.run()
        file.write_text(lines(0, 600))
        engine.run()
        assert counted(query.answers()) == WHOLE
        assert engine.status.streams[STREAM].malformed == 0


def test_malformed_lines_are_dead_letters_with_the_reason(spark: SparkSession, tmp_path: Path) -> None:
    bad = ["what is this", "<http://e/a> <http://e/b> <http://e/c> .", '<http://e/a> "b" <http://e/c> "2009" .']
    (tmp_path / "gates.nq").write_text(lines(0, 300) + "".join(f"{one}\n" for one in bad) + lines(300, 600))
    with Engine(spark=spark, checkpoint=tmp_path / "state") as engine:
        engine.stream(STREAM, tmp_path / "gates.nq")
        query = engine.register(COUNT)
        engine.run()
        assert counted(query.answers()) == WHOLE
        assert engine.status.streams[STREAM].malformed == 3
    (kept,) = tmp_path.glob("state/dead/*/*.malformed.ndjson")
    letters = [json.loads(one) for one in kept.read_text().splitlines()]
    before = len(lines(0, 300).splitlines())
    assert [(one["line"], one["text"]) for one in letters] == [(before + i, text) for i, text in enumerate(bad, 1)]
    assert all(one["reason"] for one in letters)


class Server:
    """Sends each text to one client, then closes."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._server.getsockname()[1]}"
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with self._server:
            for text in self._texts:
                with self._server.accept()[0] as connection:
                    connection.sendall(text.encode())


@contextmanager
def recorded_warnings() -> Iterator[list[str]]:
    """The messages of PenstockWarning, from any thread."""
    sentences: list[str] = []
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("always", PenstockWarning)
        patch.setattr(warnings, "showwarning", lambda message, *_, **__: sentences.append(str(message)))
        yield sentences


def test_a_socket_that_closes_in_the_middle_of_a_line(spark: SparkSession) -> None:
    half = line(70, 1)[:20]
    server = Server(lines(0, 300) + half, lines(300, 600) + line(700, 0))
    answers: list[Answer] = []
    complete = Event()

    def take(answer: Answer) -> None:
        answers.append(answer)
        if answer.time is not None and answer.time.timestamp() == 600:
            complete.set()

    with recorded_warnings() as sentences, Engine(spark=spark) as engine:
        engine.stream(STREAM, server.address)
        engine.register(COUNT, sink=take)
        engine.start()
        assert complete.wait(120)
        seen = engine.status.streams[STREAM]
        assert (seen.elements, seen.malformed, seen.late) == (len(lines(0, 600).splitlines()) + 1, 1, 0)
        engine.stop()
    assert f"{server.address} closed the connection; connecting again. All lines that had come are kept." in sentences
    assert counted(one for one in answers if one.time and one.time.timestamp() <= 600) == WHOLE


def test_unreachable_source_does_not_hold_up_another(spark: SparkSession) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with recorded_warnings() as sentences, Engine(spark=spark) as engine:
        engine.stream(OTHER, f"tcp://127.0.0.1:{port}")
        engine.stream(STREAM)
        query = engine.register(COUNT)
        engine.start()
        engine.push(STREAM, lines(0, 600) + line(700, 0))
        engine.flush()
        problem = engine.status.streams[OTHER].problem
        assert problem == f"tcp://127.0.0.1:{port} cannot be reached (Connection refused); trying again."
        assert sentences == [problem]
        engine.stop()
        found = counted(query.answers())
        assert {time: found[time] for time in WHOLE} == WHOLE

"""Dead letters are read back as records, whose text can be pushed again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import penstock
from penstock import log
from penstock.errors import QueryError, StoreError
from penstock.stream.base import durable_files
from penstock.stream.base.time_values import to_datetime
from penstock.stream.base.watermark import Position
from penstock.stream.ingest.dead_letters import Ahead, DeadLetters, Malformed
from tests.support.arrivals import SECOND, STREAM, elements, text

TIME = '"1970-01-01T00:00:{:02}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'


def element(second: int, subject: str = "<http://e/s>", graph: str = "") -> str:
    return f'{subject} <http://e/p> "a . # b" {graph}{TIME.format(second)} .'


@pytest.fixture
def engine() -> Iterator[penstock.Engine]:
    """An engine with a stream that takes elements of the last ten seconds. It is not started, so it needs no Spark."""
    with penstock.Engine() as made:
        made.stream(STREAM, lateness="10s")
        yield made


def test_late_elements_are_read_back_with_their_time_and_the_reason(engine: penstock.Engine) -> None:
    engine.push(STREAM, "\n".join([element(30), element(25), element(5)]))
    (letter,) = engine.dead_letters(STREAM)
    assert (letter.stream, letter.kind, letter.text) == (STREAM, "late", element(5))
    assert letter.reason == "the stream was complete before 1970-01-01T00:00:20Z when it came"
    assert letter.time == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)
    assert (letter.source, letter.line) == (None, None)
    assert abs(datetime.now(UTC) - letter.set_aside) < timedelta(minutes=5)


def test_an_advance_is_the_reason_too(engine: penstock.Engine) -> None:
    engine.advance(STREAM, 40 * SECOND)
    engine.push(STREAM, element(39))
    (letter,) = engine.dead_letters(STREAM)
    assert letter.reason == "the stream was complete before 1970-01-01T00:00:40Z when it came"


def test_malformed_lines_are_read_back_with_their_place_and_the_reason(engine: penstock.Engine) -> None:
    engine.push(STREAM, f"{element(1)}\nno <N-Quads>\n")
    (letter,) = engine.dead_letters(STREAM)
    assert (letter.kind, letter.text, letter.source, letter.line) == ("malformed", "no <N-Quads>", STREAM, 2)
    assert letter.reason
    assert letter.time is None


def test_letters_come_in_the_order_in_which_they_were_set_aside(engine: penstock.Engine) -> None:
    for number in range(12):
        engine.push(STREAM, f"bad {number}")
    assert [letter.text for letter in engine.dead_letters(STREAM)] == [f"bad {number}" for number in range(12)]


@pytest.mark.parametrize("subject", ["_:b", "<http://e/s>"])
@pytest.mark.parametrize("graph", ["", "_:g ", "<http://e/g> "])
def test_a_late_element_pushed_again_is_the_same_element(
    engine: penstock.Engine, subject: str, graph: str, tmp_path: Path
) -> None:
    late = element(5, subject, graph)
    engine.push(STREAM, f"{element(30)}\n{late}")
    (letter,) = engine.dead_letters(STREAM)
    assert letter.text == late  # a blank node has the label that it came with, so it is the same node again
    assert engine.push(STREAM, letter.text, format="nquads") == 0  # late still: to a stream that allows it
    with penstock.Engine() as other:
        other.stream(STREAM)
        other.push(STREAM, element(30))
        assert other.push(STREAM, letter.text, format="nquads") == 1


def test_a_late_element_with_a_duration_is_read_back(engine: penstock.Engine) -> None:
    interval = '"1970-01-01T00:00:02Z/1970-01-01T00:00:04Z"^^<urn:penstock:interval>'
    lasting = f'<http://e/s> <http://e/p> "x" {interval} .'
    engine.push(STREAM, f"{element(30)}\n{lasting}")
    (letter,) = engine.dead_letters(STREAM)
    assert (letter.text, letter.time) == (lasting, to_datetime(4 * SECOND))


def test_letters_of_earlier_versions_are_read(tmp_path: Path) -> None:
    """These have no reason in the file of late elements."""
    folder = tmp_path / durable_files.folder_name(STREAM)
    folder.mkdir()
    (folder / "folder-0.late.nq").write_bytes(text([5 * SECOND, 6 * SECOND]))
    letters = list(DeadLetters(tmp_path).read(STREAM))
    assert [letter.time for letter in letters] == [to_datetime(5 * SECOND), to_datetime(6 * SECOND)]
    assert {letter.reason for letter in letters} == {"it came when the stream was complete up to a later time"}


def test_letters_written_by_hand_are_read_alike(tmp_path: Path) -> None:
    dead = DeadLetters(tmp_path)
    dead.write(STREAM, "folder-0", elements([SECOND]), [Malformed("a.nq", 3, 'x "\u2028', "no triple")])
    late, malformed = sorted(dead.read(STREAM), key=lambda letter: letter.kind)
    assert (late.kind, late.time) == ("late", to_datetime(SECOND))
    assert (malformed.source, malformed.line, malformed.text) == ("a.nq", 3, 'x "\u2028')
    assert list(dead.read("http://example.org/other")) == []


def test_a_letter_that_is_cut_off_is_a_letter_still(tmp_path: Path) -> None:
    """A file that someone has edited: what cannot be parsed is handed out as it is."""
    folder = tmp_path / durable_files.folder_name(STREAM)
    folder.mkdir()
    (folder / "folder-0.late.nq").write_bytes(b"# note\n\n" + text([SECOND]) + b"<http://e/s> <http://e")
    (folder / "folder-0.malformed.ndjson").write_bytes(b'{"source": "a.nq", "li')
    found = [(letter.kind, letter.text, letter.time) for letter in DeadLetters(tmp_path).read(STREAM)]
    assert ("late", "<http://e/s> <http://e", None) in found
    assert ("malformed", '{"source": "a.nq", "li', None) in found
    assert len(found) == 3


def test_a_stream_that_does_not_exist_has_no_dead_letters(engine: penstock.Engine) -> None:
    with pytest.raises(QueryError, match=r"there is no stream <http://example.org/strem>"):
        engine.dead_letters("http://example.org/strem")


def test_a_closed_engine_has_no_dead_letters() -> None:
    engine = penstock.Engine()
    engine.close()
    with pytest.raises(StoreError, match="This engine has been closed"):
        engine.dead_letters(STREAM)


def test_letters_stay_in_a_checkpoint(tmp_path: Path) -> None:
    with penstock.Engine(checkpoint=tmp_path) as engine:
        engine.stream(STREAM, lateness="10s")
        engine.push(STREAM, "bad")
    with penstock.Engine(checkpoint=tmp_path) as engine:
        assert [letter.text for letter in engine.dead_letters(STREAM)] == ["bad"]


def test_a_letter_is_a_small_frozen_record(engine: penstock.Engine) -> None:
    engine.push(STREAM, "bad")
    (letter,) = engine.dead_letters(STREAM)
    assert isinstance(letter, penstock.DeadLetter)
    with pytest.raises(AttributeError):
        letter.text = "x"  # type: ignore[misc]
    record = json.loads(letter.to_json())
    assert (record["stream"], record["kind"], record["text"], record["time"]) == (STREAM, "malformed", "bad", None)


def test_elements_that_are_too_far_ahead_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ahead = Ahead(elements([9 * SECOND]), Position(max_ahead=3 * SECOND, now=5 * SECOND))
    DeadLetters(tmp_path).write(STREAM, "push-0", elements([]), [], ahead)
    assert caplog.messages == [f"{STREAM}: dead letters, 0 late, 1 too far ahead of the clock and 0 malformed"]
    (letter,) = DeadLetters(tmp_path).read(STREAM)
    assert letter.reason == "it was 0:00:04 ahead of the clock, which was at 1970-01-01T00:00:05Z: max_ahead is 0:00:03"


def test_dead_letters_are_logged(engine: penstock.Engine, caplog: pytest.LogCaptureFixture) -> None:
    engine.push(STREAM, element(30))
    assert caplog.messages == []
    engine.push(STREAM, f"{element(5)}\n{element(6)}\nno N-Quads\n")
    engine.push(STREAM, element(7))
    (first, second) = caplog.records
    (reason,) = [letter.reason for letter in engine.dead_letters(STREAM) if letter.kind == "malformed"]
    assert first.getMessage() == f"{STREAM}: dead letters, 2 late and 1 malformed, the first because {reason}"
    assert second.getMessage() == f"{STREAM}: dead letters, 1 late and 0 malformed"
    assert (first.name, first.levelname) == ("penstock.ingest", "WARNING")
    found = log.fields(first)
    assert (found["stream"], found["late"], found["malformed"]) == (STREAM, 2, 1)

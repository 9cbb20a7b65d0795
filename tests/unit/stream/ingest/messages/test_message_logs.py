"""Logs of RDF Messages as messages and as files of a stream: each message has its time, and its blank nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.errors import LoadError, PenstockError
from penstock.stream.ingest.bounded_sources import BoundedSources
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.messages.cloud_events import format_of
from penstock.stream.ingest.messages.message import Message
from penstock.stream.ingest.stream_declaration import declare
from penstock.stream.log.stream_log import StreamLog
from penstock.testing import ManualClock
from tests.connect.received import rows as logged
from tests.support.arrivals import SECOND, STREAM
from tests.unit.stream.ingest.messages.test_reader import PHENOMENON, RESULT, TIME, declared, message, read

VERSION = 'VERSION "1.1-messages"\n'
LATER = TIME.replace("05Z", "09Z")


def log(format: str) -> str:
    """Two messages, between which an empty one is."""
    first, second = (f"_:b <{RESULT}> {time} .\n_:b <x:p> <x:o> .\n" for time in (TIME, LATER))
    return f"{VERSION}{first}MESSAGE\nMESSAGE\n{second}"


@pytest.mark.parametrize("format", ["ntriples-messages", "nquads-messages", "turtle-messages", "trig-messages"])
def test_each_message_has_its_time_and_its_blank_nodes(format: str) -> None:
    rows, reasons = read([message(log(format)), message(log(format))], declared(format=format, time_property=RESULT))
    assert reasons == []
    assert [when for _, _, when, _ in rows] == [5, 5, 9, 9, 5, 5, 9, 9]
    assert len({s for s, *_ in rows}) == 4


def test_times_may_come_from_the_broker_or_the_arrival() -> None:
    body = f"{VERSION}<x:a> <x:p> <x:o> .\nMESSAGE\n<x:b> <x:p> <x:o> <x:g> .\n"
    rows, _ = read([message(body, time=3 * SECOND)], declared(format="nquads-messages", time="broker"))
    assert [(s, when, g) for s, _, when, g in rows] == [("<x:a>", 3, None), ("<x:b>", 3, "<x:g>")]
    rows, _ = read([message(body)], declared(format="nquads-messages", time="arrival"))
    assert [when for _, _, when, _ in rows] == [77, 77]


def test_a_message_without_a_time_is_a_dead_letter_and_the_others_count() -> None:
    body = f"{VERSION}<x:a> <{RESULT}> {TIME} .\nMESSAGE\n<x:b> <x:p> <x:o> .\nMESSAGE\n<x:c> <{RESULT}> {LATER} ."
    rows, reasons = read([message(body)], declared(format="turtle-messages", time_property=[RESULT, PHENOMENON]))
    assert [s for s, *_ in rows] == ["<x:a>", "<x:c>"]
    assert reasons == [f"t/0@7: the message has no time: no triple has <{RESULT}> or <{PHENOMENON}>"]


@pytest.mark.parametrize("wrong", ["MESSAGE\nnonsense .", "MESSAGE\n<x:g> {\nMESSAGE\n}", "MESSAGE\n\udcff"])
def test_what_is_before_a_mistake_counts(wrong: str) -> None:
    payload = f"<x:a> <{RESULT}> {TIME} .\n{wrong}".encode(errors="surrogateescape")
    broken = Message(payload, place="t/0@7")
    rows, reasons = read(
        [broken, message(log("trig-messages"))], declared(format="trig-messages", time_property=RESULT)
    )
    assert len(reasons) == 1
    assert len(rows) in (4, 5)


@pytest.mark.parametrize("name", ["a.messages.nt", "a.messages.nq", "a.messages.ttl", "a.messages.trig", "a.txt"])
def test_a_file_is_read_as_a_log(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(log(name))
    format = "trig-messages" if name == "a.txt" else None
    found = _read_file(tmp_path / name, tmp_path, format=format, time_property=RESULT)
    assert [row[3] for row in found] == [5 * SECOND] * 2 + [9 * SECOND] * 2


def test_a_folder_may_hold_logs_beside_lines(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.messages.nq").write_text(log("nquads-messages"))
    (folder / "2.nq").write_text(f"<x:a> <x:p> <x:o> {TIME} .\n")
    assert len(_read_file(folder, tmp_path, time_property=RESULT)) == 5


def test_a_file_without_any_element_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.messages.nq"
    path.write_text("<x:a> <x:p> <x:o> .\n")
    with pytest.raises(LoadError, match="nothing in it is an element; line 1: the message has no time"):
        _read_file(path, tmp_path)


def _read_file(path: Path, root: Path, **options: Any) -> list[Any]:
    given = declare(str(path), None, None, False, options.pop("format", None), **options)
    stored = StreamLog(root / "log")
    sources = BoundedSources(stored, DeadLetters(root / "dead"), ManualClock(), {STREAM: given})
    sources.read(STREAM, _no_session, in_place=False)
    return sorted(logged(stored), key=lambda row: row[3])


def _no_session() -> Any:
    raise AssertionError("small files need no Spark")


def test_a_socket_has_lines_and_a_log_has_none() -> None:
    with pytest.raises(PenstockError, match="trig-messages has no lines to tell documents apart"):
        declare("listen://127.0.0.1:9", None, None, False, "trig-messages")


def test_the_version_of_a_media_type_says_that_it_is_a_log() -> None:
    assert format_of("application/n-quads; version=1.2-messages", lifted=False) == "nquads-messages"
    assert format_of('text/turtle; charset=utf-8; version="1.1-messages"', lifted=False) == "turtle-messages"
    assert format_of("application/trig; version=1.2", lifted=False) == "trig"

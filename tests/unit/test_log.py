"""Log records: silence unless someone listens, text and JSON, and the fields beside the message."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from datetime import UTC, datetime

import pytest

import penstock
from penstock import log

CREATED = datetime(2026, 1, 1, 8, 0, 0, 250_000, UTC).timestamp()


def record(**fields: object) -> logging.LogRecord:
    said = "penstock.rounds", logging.WARNING, "f.py", 1, "%s took %d s", ("cars", 12)
    made = log.rounds.makeRecord(*said, None, extra=fields)
    made.created = CREATED
    return made


def test_text_is_a_line_with_the_time_in_utc() -> None:
    line = "2026-01-01T08:00:00.250Z warning penstock.rounds: cars took 12 s"
    assert log.TextFormatter().format(record(query="cars")) == line


def test_json_has_the_fields_of_the_record() -> None:
    when = datetime(2026, 1, 1, tzinfo=UTC)
    assert json.loads(penstock.JsonFormatter().format(record(query="cars", took_s=12.5, answered=when))) == {
        "time": "2026-01-01T08:00:00.250Z",
        "level": "warning",
        "logger": "penstock.rounds",
        "message": "cars took 12 s",
        "query": "cars",
        "took_s": 12.5,
        "answered": "2026-01-01 00:00:00+00:00",
    }


def test_a_field_does_not_replace_the_level_or_the_time() -> None:
    text = log.JsonFormatter().format(record(level="mine", time=0))
    assert list(json.loads(text).items())[:2] == [("time", "2026-01-01T08:00:00.250Z"), ("level", "warning")]


def test_json_has_the_traceback_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise KeyError("ü")
    except KeyError:
        log.sinks.exception("failed")
    text = log.JsonFormatter().format(caplog.records[0])
    assert "\n" not in text
    found = json.loads(text)["traceback"].splitlines()
    assert (found[0], found[-1]) == ("Traceback (most recent call last):", "KeyError: 'ü'")


def test_a_fallback_names_the_query_the_choice_and_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "penstock")
    log.fallback("cars", "sliced_plan", "the window counts elements")
    with log.about("trucks"):
        log.fallback(None, "push_filter", "it still changes the plan after 10 passes")
    log.fallback(None, "push_filter", "it is late")
    assert caplog.messages == [
        "cars: sliced_plan is not used: the window counts elements",
        "trucks: push_filter is not used: it still changes the plan after 10 passes",
        "a query: push_filter is not used: it is late",
    ]
    assert log.fields(caplog.records[1]) == {
        "query": "trucks",
        "choice": "push_filter",
        "reason": "it still changes the plan after 10 passes",
    }
    assert {(each.name, each.levelname) for each in caplog.records} == {("penstock.optimiser", "INFO")}


def test_nothing_is_printed_unless_someone_listens() -> None:
    code = f"import sys; sys.path[:] = {sys.path!r}\nimport penstock.log\npenstock.log.rounds.error('failed')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")

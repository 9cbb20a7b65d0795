"""The status of an engine as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from penstock import Engine, EngineStatus, QueryStatus
from penstock.stream.runtime.progress import StreamStatus
from penstock.stream.runtime.status_table import duration

AT = datetime(2009, 7, 20, 8, 2, tzinfo=UTC)
GATES = StreamStatus(1_234, 2, 0, AT, AT - timedelta(milliseconds=500))
CARS = QueryStatus("cars", "running", None, AT, 12_000)


def test_a_table_of_streams_and_one_of_queries() -> None:
    status = EngineStatus(
        live=True,
        streams={"http://e/gates": GATES, "http://e/silent": StreamStatus(problem="tcp://h:7 cannot be reached")},
        queries={
            "cars": CARS,
            "busy gates": QueryStatus("busy gates", "failed", "KeyError: 'gate'", None, 0, timedelta(hours=3), None),
        },
        lag=timedelta(seconds=4),
    )
    assert str(status).splitlines() == [
        "live: 2 streams, 2 queries; the slowest query is 4.0 s behind the newest element",
        "",
        "stream           elements  late  malformed  newest                watermark               problem",
        "http://e/gates      1,234     2          0  2009-07-20T08:02:00Z  2009-07-20T08:01:59.5Z",
        "http://e/silent         0     0          0  -                     -                       "
        "tcp://h:7 cannot be reached",
        "",
        "query       state    answers  answered              behind  due  error",
        "cars        running   12,000  2009-07-20T08:02:00Z    0 ms    0",
        "busy gates  failed         0  -                        3 h    -  KeyError: 'gate'",
    ]


def test_columns_without_values_are_left_out() -> None:
    shed = QueryStatus("cars", "running", None, AT, 1, stretched=4, skipped=1_003)
    lines = str(EngineStatus(queries={"cars": shed})).splitlines()
    assert lines == [
        "not live: 0 streams, 1 query",
        "",
        "query  state    answers  answered              behind  due  instants",
        "cars   running        1  2009-07-20T08:02:00Z    0 ms    0  1 of 4, 1,003 skipped",
    ]


def test_a_problem_comes_first() -> None:
    status = EngineStatus(live=True, problem="The evaluation has stopped: OSError: disk full")
    assert str(status) == "The evaluation has stopped: OSError: disk full"


def test_notebooks_show_the_same_text() -> None:
    status = EngineStatus(streams={"http://e/s?a&b": StreamStatus()})
    assert status._repr_html_().startswith("<pre>not live: 1 stream, 0 queries\n\nstream          elements")
    assert "http://e/s?a&amp;b" in status._repr_html_()


def test_the_representation_still_has_the_values() -> None:
    assert repr(EngineStatus(queries={"cars": CARS})).startswith("EngineStatus(live=False, streams={}, queries={'cars'")


def test_an_engine_prints_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    with Engine() as engine:
        engine.stream("http://e/s")
        print(engine.status)
    assert capsys.readouterr().out.splitlines() == [
        "not live: 1 stream, 0 queries",
        "",
        "stream      elements  late  malformed  newest  watermark",
        "http://e/s         0     0          0  -       -",
    ]


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (timedelta(milliseconds=250), "250 ms"),
        (timedelta(seconds=3.21), "3.2 s"),
        (timedelta(seconds=90), "90.0 s"),
        (timedelta(minutes=5), "5 min"),
        (timedelta(hours=2), "2 h"),
    ],
)
def test_durations(time: timedelta, text: str) -> None:
    assert duration(time) == text

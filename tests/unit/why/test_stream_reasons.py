"""Reasons that lie in a stream, by their full text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from penstock.stream.base.dead_letter import DeadLetter
from penstock.stream.base.watermark import Position
from penstock.stream.runtime.query_facts import StreamFacts
from penstock.why.stream_reasons import stream_reasons
from tests.support.why import EIGHT, GATES, facts, said, stream

SILENT = Position(last_arrival=EIGHT)


@pytest.mark.parametrize(
    ("silent", "sentence"),
    [
        (
            stream(position=SILENT),
            f"Nothing has come to <{GATES}> since 2009-07-20T08:00:00Z (5m): it has no source but pushes. "
            f'Push elements with engine.push("{GATES}", …), or declare a source for it.',
        ),
        (
            stream(position=SILENT, source="tcp://localhost:7007"),
            f"Nothing has come from tcp://localhost:7007 to <{GATES}> since 2009-07-20T08:00:00Z (5m). "
            "Look whether the server at localhost:7007 sends whole lines.",
        ),
        (
            stream(position=SILENT, source="listen://localhost:7007"),
            f"Nothing has come from listen://localhost:7007 to <{GATES}> since 2009-07-20T08:00:00Z (5m). "
            "Let a producer connect to localhost:7007 and send lines.",
        ),
        (
            stream(position=SILENT, source="/data/drop"),
            f"Nothing has come from /data/drop to <{GATES}> since 2009-07-20T08:00:00Z (5m). "
            "Look whether it holds elements, and whether another process has yet to write them.",
        ),
        (
            stream(position=SILENT, source="tcp://localhost:7007", problem="The connection was refused."),
            f"Nothing has come from tcp://localhost:7007 to <{GATES}> since 2009-07-20T08:00:00Z (5m): "
            "The connection was refused. Mend the source, or declare another one.",
        ),
        (
            stream(position=SILENT, derived_by="jams"),
            f"Nothing has come to <{GATES}>, which the query jams derives. "
            'Ask that query: engine["jams"].why().',
        ),
    ],
)  # fmt: skip
def test_nothing_has_come(silent: StreamFacts, sentence: str) -> None:
    assert list(map(said, stream_reasons(facts(silent, live=True)))) == [("nothing", sentence)]


def test_a_file_that_was_not_read_yet() -> None:
    [reason] = stream_reasons(facts(stream(source="/data/gates.nq")))
    assert str(reason) == (
        f"Nothing has come from /data/gates.nq to <{GATES}>. engine.run() reads it; look whether it holds elements."
    )


def letter(line: int) -> DeadLetter:
    now = datetime(2009, 7, 20, tzinfo=UTC)
    return DeadLetter(GATES, "malformed", "x", "a line looks otherwise", now, source="/data/gates.nq", line=line)


def test_all_lines_are_malformed() -> None:
    [reason] = stream_reasons(facts(stream(malformed=40, malformed_examples=(letter(1), letter(2), letter(7)))))
    assert said(reason) == (
        "malformed",
        f"All 40 lines of <{GATES}> were kept aside as malformed, such as "
        "line 1 of /data/gates.nq (a line looks otherwise); line 2 of /data/gates.nq (a line looks otherwise); "
        "line 7 of /data/gates.nq (a line looks otherwise). "
        f'Read them with engine.dead_letters("{GATES}") or `penstock dead`, correct them and push them again.',
    )


def test_a_few_malformed_lines_are_less_likely() -> None:
    [reason] = stream_reasons(facts(stream(elements=99, malformed=1)))
    assert said(reason) == (
        "some malformed",
        f"1 of 100 lines of <{GATES}> was kept aside as malformed. "
        f'Read them with engine.dead_letters("{GATES}") or `penstock dead`, correct them and push them again.',
    )


def test_most_elements_are_late() -> None:
    late = stream(elements=3, late=97, position=Position(lateness=10_000_000), advised_lateness=89_400_000)
    [reason] = stream_reasons(facts(late))
    assert said(reason) == (
        "late",
        f"97 of 100 elements of <{GATES}> came too late, beyond the allowed lateness of 10s. "
        f'A lateness of 90s would have kept 95 % of them: engine.stream("{GATES}", …, lateness="90s").',
    )


def test_all_elements_are_late_and_no_lateness_is_known() -> None:
    [reason] = stream_reasons(facts(stream(late=1)))
    assert said(reason) == (
        "late",
        f"The only element of <{GATES}> came too late, beyond the allowed lateness of 0s. "
        f'Push them again once the stream is declared with more: engine.dead_letters("{GATES}").',
    )


def test_a_few_late_elements_are_less_likely() -> None:
    [reason] = stream_reasons(facts(stream(elements=99, late=1)))
    assert reason.kind == "some late"


def test_a_query_without_a_stream() -> None:
    [reason] = stream_reasons(facts(text="SELECT * { ?s ?p ?o }"))
    assert said(reason) == ("unknown", "The query reads no stream: it is answered once.")

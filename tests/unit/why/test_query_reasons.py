"""Reasons that lie in the query's state and in time, by their full text."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from penstock.stream.base.watermark import Position
from penstock.why.query_reasons import query_reasons
from tests.support.why import EIGHT, GATES, MINUTE, ROOMS, TWO_STREAMS, facts, reached, said, stream


@pytest.mark.parametrize(
    ("state", "error", "kind", "sentence"),
    [
        (
            "failed", "The disk is full.", "failed",
            "The query cars or its sink has failed: The disk is full. "
            'Mend the cause, then engine["cars"].resume() continues without a gap.',
        ),
        (
            "retrying", "no route to host", "failed",
            "The sink of cars has failed and is tried again: no route to host. Mend the sink.",
        ),
        ("paused", None, "paused", 'The query cars is paused. engine["cars"].resume() continues it.'),
        (
            "delivering", None, "waiting",
            "The sink of cars is slow: it is still at work on a batch, and the query waits for it. "
            "Look what the sink does; the query catches up when it returns.",
        ),
        (
            "waiting for its sink", None, "waiting",
            "The query cars waits for its sink, which was an object of an earlier process. "
            "Register the query again, with its text and its sink.",
        ),
    ],
)  # fmt: skip
def test_a_query_that_is_not_evaluated(state: str, error: str | None, kind: str, sentence: str) -> None:
    [reason] = query_reasons(facts(stream(), state=state, status={"error": error}))
    assert said(reason) == (kind, sentence)


def test_the_watermark_stands_still() -> None:
    gates, rooms = reached(0, 30), reached(0, 3, ROOMS)
    found = facts(gates, rooms, text=TWO_STREAMS, live=True, through=rooms.watermark, next_instant=EIGHT + 4 * MINUTE)
    assert said(next(iter(query_reasons(found)))) == (
        "watermark",
        f"The watermark stands still at 2009-07-20T08:02:59.999999Z: <{ROOMS}> has had no element for 5m, "
        f"and <{GATES}> is 27m further. "
        'If it may be silent, declare it with idle="10s" or advance=True, or call '
        f'engine.advance("{ROOMS}", time).',
    )


def test_a_partition_is_silent() -> None:
    partitions = {
        "t/0": Position(EIGHT + 30 * MINUTE, last_arrival=EIGHT),
        "t/1": Position(EIGHT + 3 * MINUTE, last_arrival=EIGHT),
    }
    gates = reached(0, 30, partitions=partitions, slowest="t/1")
    found = facts(gates, live=True, through=EIGHT + 3 * MINUTE - 1, next_instant=EIGHT + 4 * MINUTE)
    remedy = 'If a partition may be silent, declare the stream with idle="10s"; else look who writes to it.'
    assert said(next(iter(query_reasons(found)))) == (
        "watermark",
        f"The watermark stands still: the partition t/1 of <{GATES}> has had no element for 5m, its newest is of "
        f"2009-07-20T08:03:00Z, and that of others is 27m further. {remedy}",
    )
    partitions["t/1"] = Position(last_arrival=EIGHT)
    assert said(next(iter(query_reasons(replace(found, through=None))))) == (
        "watermark",
        f"There is no watermark yet: the partition t/1 of <{GATES}> has had no element for 5m, and the newest of "
        f"others is of 2009-07-20T08:30:00Z. {remedy}",
    )


def test_there_is_no_watermark() -> None:
    found = facts(reached(0, 30), stream(ROOMS), text=TWO_STREAMS)
    assert said(next(iter(query_reasons(found)))) == (
        "watermark",
        f"There is no watermark yet: <{ROOMS}> has had no later element, and 10 elements of others wait. "
        'If it may be silent, declare it with idle="10s" or advance=True, or call '
        f'engine.advance("{ROOMS}", time).',
    )


def test_an_idle_stream_does_not_hold_back_the_watermark() -> None:
    gates, rooms = reached(0, 30), reached(0, 3, ROOMS)
    idle = replace(rooms, position=replace(rooms.position, idle=MINUTE))
    found = facts(gates, idle, text=TWO_STREAMS, live=True, through=gates.watermark, next_instant=EIGHT + 31 * MINUTE)
    assert "watermark" not in {reason.kind for reason in query_reasons(found)}


@pytest.mark.parametrize(("answers", "kind", "which"), [(0, "first instant", "first"), (3, "next instant", "next")])
def test_the_next_instant(answers: int, kind: str, which: str) -> None:
    gates = reached(0, 0, position=Position(EIGHT, lateness=10_000_000))
    through, following = EIGHT - 10_000_001, EIGHT + MINUTE
    found = facts(gates, live=True, through=through, next_instant=following, status={"answers": answers})
    assert list(map(said, query_reasons(found))) == [
        (
            kind,
            f"The {which} instant is at 2009-07-20T08:01:00Z, and the watermark is at 2009-07-20T07:59:49.999999Z. "
            "It is answered when an element later than 2009-07-20T08:01:10Z comes; if none will, call "
            f'engine.advance("{GATES}", time), or declare the stream with advance=True.',
        )
    ]


def test_a_bounded_run_waits_for_no_instant() -> None:
    after = EIGHT + MINUTE
    assert list(query_reasons(facts(reached(0, 1), progress=after, through=after - 1, next_instant=2 * after))) == []


def test_all_elements_are_dropped() -> None:
    gates = reached(0, 1, first=None, dropped=10)
    assert list(map(said, query_reasons(facts(gates, progress=EIGHT + 60 * MINUTE)))) == [
        (
            "dropped",
            f"All 10 elements of <{GATES}> have been dropped from the log, since no instant to come can see them: "
            "why cannot look at them any more. "
            "Ask while they are in a window, or run over the stream's file again.",
        )
    ]


def test_windows_that_never_hold_elements_at_once() -> None:
    found = facts(reached(0, 5), reached(20, 30, ROOMS), text=TWO_STREAMS, progress=EIGHT + 14 * MINUTE)
    assert ("windows",
        f"The windows on <{GATES}> and <{ROOMS}> never hold elements at the same instant: the elements of the first "
        "are from 2009-07-20T08:00:00Z to 2009-07-20T08:05:00Z, those of the second from 2009-07-20T08:20:00Z to "
        "2009-07-20T08:30:00Z. Compare the clocks of the sources, or widen RANGE.",
    ) in map(said, query_reasons(found))  # fmt: skip


def test_windows_that_hold_elements_at_once() -> None:
    found = facts(reached(0, 5), reached(14, 30, ROOMS), text=TWO_STREAMS, progress=EIGHT + 14 * MINUTE)
    assert "windows" not in {reason.kind for reason in query_reasons(found)}


def test_a_window_that_has_become_empty() -> None:
    [reason] = query_reasons(facts(reached(0, 5), progress=EIGHT + 60 * MINUTE))
    assert said(reason) == (
        "empty now",
        f"The window [RANGE 10m STEP 1m] on <{GATES}> is empty since 2009-07-20T08:15:00Z: its newest element is of "
        "2009-07-20T08:05:00Z, and the answers have come to 2009-07-20T09:00:00Z. "
        "Wait for newer elements, or widen RANGE.",
    )


def test_a_query_that_is_behind() -> None:
    gates, done = reached(0, 30), EIGHT + 10 * MINUTE
    status = {"behind": timedelta(minutes=19), "due": 19, "answers": 10}
    found = facts(gates, live=True, status=status, progress=done, through=gates.watermark, next_instant=done + MINUTE)
    [reason] = query_reasons(found)
    assert said(reason) == (
        "behind",
        "The query is 19m behind the watermark of its streams, 19 instants. "
        'Wait, or register it with a longer STEP, or with overload="stretch", which skips instants.',
    )

"""The machine's clock jumps back or forward: watermarks never go back, nothing is lost, no stream is idle for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.stream.base.clock import ForwardClock
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.stream_declaration import DAY, Declared
from penstock.testing import ManualClock
from tests.support.arrivals import SECOND, STREAM, text

OTHER = "http://example.org/other"
HOUR = 3_600 * SECOND
START = 10 * 365 * DAY
JUMPS = pytest.mark.parametrize("jump", [-400 * DAY, -2 * DAY, -HOUR, HOUR, 2 * DAY, 400 * DAY])
TRIPLE = b"<http://e/s> <http://e/p> <http://e/o> .\n"


class Jumping:
    """Ingest by a clock that jumps."""

    def __init__(self, folder: Path) -> None:
        self.machine = ManualClock(START)
        self.clock = ForwardClock(self.machine)
        streams = {
            STREAM: Declared(idle=10 * SECOND, lateness=SECOND),
            OTHER: Declared(format="nt", advance=True, idle=10 * SECOND),
        }
        self.ingest = Ingest(None, folder, self.clock, streams)  # type: ignore[arg-type]

    def watermark(self, *streams: str) -> int | None:
        return self.ingest.watermarks.combined(streams)


@pytest.fixture
def jumping(tmp_path: Path) -> Iterator[Jumping]:
    made = Jumping(tmp_path)
    yield made
    made.ingest.close()


@JUMPS
def test_elements_that_are_stamped_on_arrival_are_never_late(jumping: Jumping, jump: int) -> None:
    ingest, found = jumping.ingest, list[int | None]()
    for moved in (0, jump, -jump, jump):
        jumping.machine.jump(moved)
        jumping.machine.advance(SECOND)
        ingest.push(OTHER, TRIPLE)
        found.append(jumping.watermark(OTHER))
    assert ingest.log.counts(OTHER).elements == 4
    assert (ingest.log.counts(OTHER).late, ingest.log.counts(OTHER).ahead) == (0, 0)
    known = [time for time in found if time is not None]
    assert known == sorted(known)
    assert len(set(known)) == 4, "time goes on by at least the second that has passed"


@JUMPS
def test_the_watermark_of_a_stream_that_follows_the_clock_never_goes_back(jumping: Jumping, jump: int) -> None:
    jumping.ingest.push(OTHER, TRIPLE)
    before = jumping.watermark(OTHER)
    jumping.machine.jump(jump)
    after = jumping.watermark(OTHER)
    assert before is not None
    assert after is not None
    assert after >= before
    jumping.machine.advance(SECOND)
    assert (jumping.watermark(OTHER) or 0) >= after + SECOND


@JUMPS
def test_a_jump_makes_no_stream_idle_and_keeps_none_awake(jumping: Jumping, jump: int) -> None:
    ingest = jumping.ingest
    ingest.push(STREAM, text([START + 5 * SECOND]))
    jumping.machine.jump(jump)
    assert not ingest.watermarks.position(STREAM).is_idle(jumping.clock.now())
    change = ingest.watermarks.next_change()
    assert change is not None
    assert change - jumping.clock.now() == 10 * SECOND
    jumping.machine.advance(10 * SECOND)
    assert ingest.watermarks.position(STREAM).is_idle(jumping.clock.now())


def test_elements_with_times_of_their_own_are_judged_by_the_later_clock(jumping: Jumping) -> None:
    """A clock that was wrong, in 1980, and is set: elements of today are let in from then on."""
    ingest, today = jumping.ingest, START + 400 * DAY
    ingest.push(STREAM, text([today]))
    assert ingest.log.counts(STREAM).ahead == 1
    jumping.machine.jump(400 * DAY)
    ingest.push(STREAM, text([today]))
    jumping.machine.jump(-400 * DAY)
    ingest.push(STREAM, text([today + SECOND]))
    assert (ingest.log.counts(STREAM).elements, ingest.log.counts(STREAM).ahead) == (2, 1)

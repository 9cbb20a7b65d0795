"""Sources with positions and partitions: one append for both, a start where the last process stopped, watermarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from penstock.errors import PenstockError
from penstock.stream.base import failpoints
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.sources.source import Source
from penstock.stream.ingest.stream_declaration import Declared, declare
from penstock.stream.log.stream_log import Counts
from penstock.testing import ManualClock
from penstock.tuning import DEFAULT, Tuning
from tests.support.arrivals import SECOND, STREAM, text
from tests.support.failing_disk import failing_disk
from tests.support.positioned_source import PositionedSource
from tests.unit.stream.log.test_stream_log import times

Opener = Callable[..., Ingest]


@pytest.fixture
def open_ingest(tmp_path: Path) -> Iterator[Opener]:
    """Ingest on one checkpoint, without a Spark session, closed when the test is over."""
    opened: list[Ingest] = []

    def opener(source: object, clock: ManualClock | None = None, tuning: Tuning = DEFAULT, **options: object) -> Ingest:
        streams = {STREAM: Declared(source, **options)}  # type: ignore[arg-type]
        opened.append(Ingest(None, tmp_path, clock or ManualClock(), streams, tuning=tuning))  # type: ignore[arg-type]
        opened[-1].start()
        return opened[-1]

    yield opener
    for ingest in opened:
        ingest.close()


def payloads(*stamps: int) -> list[bytes]:
    return [text([stamp]) for stamp in stamps]


def test_a_source_continues_behind_what_is_in_the_log(open_ingest: Opener) -> None:
    first = PositionedSource({"a": payloads(1, 2, 3), "b": payloads(10, 20)})
    ingest = open_ingest(first)
    assert first.started_at == {}
    assert first.read(["a", "b"]) == 2
    assert first.read(["a"]) == 1
    second = PositionedSource(first.partitions)
    again = open_ingest(second)  # without closing the first: as after a kill
    assert second.started_at == {"a": 2, "b": 1}
    second.read(["a", "b"], most=5)
    assert sorted(times(again.log)) == [1, 2, 3, 10, 20]
    assert sorted(times(ingest.log)) == [1, 2, 10]


def test_another_source_has_positions_of_its_own(open_ingest: Opener) -> None:
    first, other = PositionedSource({"a": payloads(1)}), PositionedSource({"a": payloads(5)}, "fake:other")
    open_ingest(first)
    first.read(["a"])
    open_ingest(other)
    assert other.started_at == {}
    open_ingest(again := PositionedSource(first.partitions))
    assert again.started_at == {"a": 1}


def test_a_failing_disk_keeps_neither_the_elements_nor_the_position(open_ingest: Opener) -> None:
    source = PositionedSource({"a": payloads(1, 2)})
    ingest = open_ingest(source)
    with failing_disk("failed fsync"), pytest.raises(PenstockError):
        source.read(["a"])
    assert times(ingest.log) == []
    after = PositionedSource(source.partitions)
    again = open_ingest(after)
    assert after.started_at == {"a": 0}
    after.read(["a"], most=2)
    assert times(again.log) == [1, 2]


def test_a_crash_after_the_append_repeats_nothing(open_ingest: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    class Crash(BaseException):
        pass

    def crash(place: str) -> None:
        if place == "appended":
            raise Crash

    source = PositionedSource({"a": payloads(1, 2)})
    open_ingest(source)
    monkeypatch.setattr(failpoints, "handler", crash)
    with pytest.raises(Crash):
        source.read(["a"])
    monkeypatch.setattr(failpoints, "handler", None)
    after = PositionedSource(source.partitions)
    again = open_ingest(after)
    after.read(["a"], most=2)
    assert times(again.log) == [1, 2]


def test_malformed_messages_move_the_position_too(open_ingest: Opener) -> None:
    source = PositionedSource({"a": [b"no element"]})
    ingest = open_ingest(source)
    source.read(["a"])
    assert ingest.log.counts(STREAM) == Counts(0, 0, 1)
    open_ingest(after := PositionedSource(source.partitions))
    assert after.started_at == {"a": 1}


def test_the_watermark_is_the_minimum_of_the_partitions(open_ingest: Opener) -> None:
    source = PositionedSource({"a": payloads(100, 200), "b": payloads(10, 50), "c": payloads(70)})
    ingest = open_ingest(source)
    source.read(["a", "b"])
    assert ingest.watermarks.combined([STREAM]) is None, "c exists, and has brought nothing"
    assert ingest.watermarks.slowest(STREAM) == "c"
    source.read(["c"])
    assert (ingest.watermarks.of(STREAM), ingest.watermarks.combined([STREAM])) == (9, 9)
    assert ingest.watermarks.slowest(STREAM) == "b"
    source.read(["a", "b"])
    assert ingest.watermarks.combined([STREAM]) == 49
    assert ingest.log.counts(STREAM) == Counts(5, 0, 0), "50 is behind 200, of another partition: it is not late"


@pytest.mark.parametrize("turns", [["a", "b", "a", "b"], ["a", "a", "b", "b"], ["b", "b", "a", "a"]])
def test_it_does_not_matter_how_partitions_take_turns(open_ingest: Opener, turns: list[str]) -> None:
    source = PositionedSource({"a": payloads(100, 40), "b": payloads(10, 50)})
    ingest = open_ingest(source, lateness=20)
    for turn in turns:
        source.read([turn])
    assert sorted(times(ingest.log)) == [10, 50, 100]
    assert ingest.log.counts(STREAM) == Counts(3, late=1, malformed=0)


def test_a_silent_partition_becomes_idle(open_ingest: Opener) -> None:
    clock = ManualClock(1_000 * SECOND)
    source = PositionedSource({"a": payloads(100, 200), "b": payloads(10, 20), "c": []})
    ingest = open_ingest(source, clock, idle=10 * SECOND)
    source.read(["a", "b"])
    clock.advance(9 * SECOND)
    source.read(["a"])
    assert ingest.watermarks.combined([STREAM]) is None
    assert ingest.watermarks.next_change() == 1_010 * SECOND
    clock.advance(1 * SECOND)
    assert ingest.watermarks.combined([STREAM]) == 199, "b and c are idle"
    assert ingest.watermarks.slowest(STREAM) is None
    source.read(["b"])
    assert ingest.log.counts(STREAM).late == 1, "it is too late: the stream was complete"


def test_event_times_of_partitions_survive_a_restart(open_ingest: Opener) -> None:
    source = PositionedSource({"a": payloads(100), "b": payloads(10)})
    open_ingest(source, lateness=5)
    source.read(["a", "b"])
    open_ingest(after := PositionedSource({"a": payloads(100, 90), "b": payloads(10, 20)}), lateness=5).log.fold(STREAM)
    again = open_ingest(after, lateness=5)
    assert again.watermarks.of(STREAM) == 4
    after.read(["a", "b"])
    assert again.log.counts(STREAM) == Counts(3, late=1, malformed=0)


def test_pushes_beside_a_source_do_not_move_its_watermark(open_ingest: Opener) -> None:
    source = PositionedSource({"a": payloads(100)})
    ingest = open_ingest(source)
    source.read(["a"])
    ingest.push(STREAM, text([500, 150, 50]))
    assert ingest.watermarks.combined([STREAM]) == 99
    assert sorted(times(ingest.log)) == [100, 150, 500]
    assert ingest.log.counts(STREAM).late == 1, "an instant that is answered stays as it is"


def test_a_full_stream_is_told_and_waited_for(open_ingest: Opener) -> None:
    source = PositionedSource({"a": payloads(1, 2, 3)})
    ingest = open_ingest(source, tuning=Tuning(backlog_bytes=1))
    assert source.accept is not None
    assert not source.accept.is_full
    source.read(["a"])
    assert source.accept.is_full
    waiting = Thread(target=source.read, args=(["a"],))
    waiting.start()
    with ingest.backlog.round():
        pass
    waiting.join(20)
    assert times(ingest.log) == [1, 2]


def test_a_source_of_ones_own_can_be_declared() -> None:
    source = PositionedSource({"a": []}, "mine:1")
    assert isinstance(source, Source)
    declared = declare(source, None, None, False, None)
    assert (declared.source, declared.origin) == (source, "mine:1")
    kept = declared.remembered()
    assert (kept["source"], Declared.from_json(kept).origin) == (None, "mine:1")

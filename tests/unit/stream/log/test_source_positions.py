"""The positions of sources in the log: durable with their elements, through folds, merges, retention and crashes."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

from penstock.stream.log.journal import Journal, Record
from penstock.stream.log.source_positions import Reached, merged, sources_from_json, sources_to_json
from penstock.stream.log.stream_log import StreamLog
from penstock.tuning import Tuning
from tests.support.arrivals import STREAM, elements

FEW = Tuning(compaction_fanout=2)


def read(batch: int, *stamps: int, partition: str = "t/0", source: str = "kafka:t") -> Record:
    reached = Reached(batch * 10, max(stamps, default=None), batch)
    return Record(batch, elements(stamps), sources={source: {partition: reached}})


def positions(log: StreamLog, source: str = "kafka:t") -> dict[str, object]:
    return {name: (one.position, one.newest) for name, one in log.reached(STREAM, source).items()}


def test_the_order_of_merging_says_nothing() -> None:
    parts = [read(0, 5).sources, read(2, 3).sources, read(1, 9, partition="t/1").sources, read(3, 1).sources]
    for order in permutations(parts):
        assert merged(order) == {"kafka:t": {"t/0": Reached(30, 5, 3), "t/1": Reached(10, 9, 1)}}
    assert sources_from_json(sources_to_json(merged(parts))) == merged(parts)


def test_a_record_has_its_position(tmp_path: Path) -> None:
    record = read(0, 1, 2)
    Journal(tmp_path / "journal").append(record)
    (found,) = Journal(tmp_path / "journal").read()
    assert found.sources == record.sources
    assert not Record(0, elements([]), sources=record.sources).is_empty, "a position alone is worth remembering"


def test_positions_survive_a_restart_before_and_after_a_fold(tmp_path: Path) -> None:
    log = StreamLog(tmp_path)
    log.push(STREAM, read(0, 5))
    log.push(STREAM, read(1, 2, partition="t/1"))
    expected = {"t/0": (0, 5), "t/1": (10, 2)}
    assert positions(log) == positions(StreamLog(tmp_path)) == expected
    log.fold(STREAM)
    assert positions(StreamLog(tmp_path)) == expected
    log.push(STREAM, read(2, 3))
    assert positions(log) == positions(StreamLog(tmp_path)) == {"t/0": (20, 5), "t/1": (10, 2)}
    assert positions(log, "another") == {}


def test_positions_survive_merges_and_retention(tmp_path: Path) -> None:
    """The second segment is older than the first in event time, and so dropped before it."""
    log = StreamLog(tmp_path, FEW)
    log.push(STREAM, read(0, 500))
    log.fold(STREAM)
    log.push(STREAM, read(1, 5))
    log.fold(STREAM)
    assert log.discard(STREAM, 100) == 1
    assert positions(log) == positions(StreamLog(tmp_path)) == {"t/0": (10, 500)}
    for batch in (2, 3):
        log.push(STREAM, read(batch, 500 + batch))
        log.fold(STREAM)
    assert log.compact(STREAM) > 1
    assert positions(StreamLog(tmp_path)) == {"t/0": (30, 503)}
    log.discard(STREAM, 1_000)
    assert log.segments(STREAM) == ()
    assert positions(StreamLog(tmp_path)) == {"t/0": (30, 503)}


def test_a_position_without_elements_is_folded_too(tmp_path: Path) -> None:
    log = StreamLog(tmp_path)
    log.push(STREAM, read(0))
    log.fold(STREAM)
    assert positions(StreamLog(tmp_path)) == {"t/0": (0, None)}

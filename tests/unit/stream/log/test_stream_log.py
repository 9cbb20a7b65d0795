"""The stream log: segments in order, once each, through crashes, retention and merging."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import StoreError
from penstock.model.stretches import Stretch
from penstock.stream.base import durable_files
from penstock.stream.log.maintenance import droppable, worth_merging
from penstock.stream.log.segment import Segment
from penstock.stream.log.stream_log import Counts, StreamLog
from tests.support.arrivals import STREAM, elements


def times(log: StreamLog, stream: str = STREAM) -> list[int]:
    """All times in the log, in the order of arrival, from the files themselves."""
    paths = [path for segment in log.segments(stream) for path in segment.paths]
    return [int(ts) for path in paths for ts in pq.read_table(path, partitioning=None).column("ts").to_numpy()]


def filled(root: Path, batches: Iterable[Iterable[int]]) -> StreamLog:
    log = StreamLog(root)
    for number, batch in enumerate(batches):
        log.append(STREAM, "folder", number, elements(batch))
    return log


def test_segment_has_statistics_of_its_elements(tmp_path: Path) -> None:
    log = StreamLog(tmp_path)
    log.append(STREAM, "folder", 0, elements([30, 10, 20]))
    (segment,) = log.segments(STREAM)
    assert (segment.rows, segment.first, segment.last) == (3, 10, 30)
    assert segment.predicates == {"<http://example.org/p>": 3}
    assert times(log) == [30, 10, 20]


def test_segment_knows_where_its_elements_are(tmp_path: Path) -> None:
    log, far = StreamLog(tmp_path), 10**15
    log.append(STREAM, "folder", 0, elements([far, 10, far + 5]))
    expected = (Stretch(10, 10, 1), Stretch(far, far + 5, 2))
    assert log.segments(STREAM)[0].stretches == expected
    assert StreamLog(tmp_path).segments(STREAM)[0].stretches == expected


def test_streams_are_apart(tmp_path: Path) -> None:
    log = StreamLog(tmp_path)
    log.append("http://example.org/a", "folder", 0, elements([1]))
    log.append("http://example.org/A", "folder", 0, elements([2]))
    assert times(log, "http://example.org/a") == [1]
    assert times(log, "http://example.org/A") == [2]
    assert log.segments("http://example.org/none") == ()


def test_everything_survives_reopening(tmp_path: Path) -> None:
    log = filled(tmp_path, [[10], [30, 5], [20]])
    log.commit(STREAM, "folder", 3, [], late=2, malformed=1)
    log.advance(STREAM, 17)
    again = StreamLog(tmp_path)
    assert again.segments(STREAM) == log.segments(STREAM)
    assert times(again) == [10, 30, 5, 20]
    assert again.newest(STREAM) == 30
    assert again.counts(STREAM) == Counts(4, 2, 1)
    assert again.advanced_to(STREAM) == 17
    assert again.holds(STREAM, "folder", 3)
    assert not again.holds(STREAM, "folder", 4)
    assert not again.holds(STREAM, "other", 0)


def test_a_checkpoint_can_be_moved(tmp_path: Path) -> None:
    filled(tmp_path / "before", [[1], [2]])
    shutil.move(tmp_path / "before", tmp_path / "after")
    assert times(StreamLog(tmp_path / "after")) == [1, 2]


def test_a_batch_that_runs_again_replaces_itself(tmp_path: Path) -> None:
    log = filled(tmp_path, [[1], [2]])
    log.append(STREAM, "folder", 1, elements([2]))
    assert times(log) == [1, 2]
    assert times(StreamLog(tmp_path)) == [1, 2]


def test_a_segment_without_manifest_does_not_exist(tmp_path: Path) -> None:
    log = filled(tmp_path, [[1]])
    folder = log.begin(STREAM, "folder", 1)
    pq.write_table(elements([2]), folder / "part-00000.parquet")
    again = StreamLog(tmp_path)  # the process that wrote it has crashed
    assert times(again) == [1]
    assert not folder.exists()
    assert not again.holds(STREAM, "folder", 1)


def test_listeners_hear_of_commits_and_of_time(tmp_path: Path) -> None:
    log, heard = StreamLog(tmp_path), list[str]()
    log.listen(heard.append)
    log.append(STREAM, "folder", 0, elements([1]))
    log.advance(STREAM, 5)
    log.advance(STREAM, 4)
    assert heard == [STREAM, STREAM]
    assert log.advanced_to(STREAM) == 5


# Retention.


def test_discard_drops_old_segments_and_adds_them_to_the_totals(tmp_path: Path) -> None:
    log = filled(tmp_path, [[1, 2], [3, 4], [5, 6]])
    assert log.discard(STREAM, horizon=4) == 4
    for each in (log, StreamLog(tmp_path)):
        assert times(each) == [5, 6]
        assert each.dropped(STREAM) == 4
        assert each.counts(STREAM).elements == 6
    assert len(list(tmp_path.rglob("*.parquet/*"))) == 1


def test_newest_time_is_known_after_all_segments_are_dropped(tmp_path: Path) -> None:
    log = filled(tmp_path, [[1, 9]])
    assert log.discard(STREAM, horizon=100) == 2
    assert log.newest(STREAM) == StreamLog(tmp_path).newest(STREAM) == 9


def test_dropped_batch_is_not_written_again(tmp_path: Path) -> None:
    log = filled(tmp_path, [[1], [2]])
    log.discard(STREAM, horizon=2)
    again = StreamLog(tmp_path)
    again.append(STREAM, "folder", 1, elements([2]))
    assert times(again) == []
    assert again.counts(STREAM).elements == 2


def test_a_removal_that_was_interrupted_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = filled(tmp_path, [[1], [2], [3]])
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        log.discard(STREAM, horizon=2)
    monkeypatch.undo()
    again = StreamLog(tmp_path)
    assert times(again) == [3]
    assert again.dropped(STREAM) == 2
    assert again.counts(STREAM).elements == 3


def test_files_are_replaced_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "state.json"
    durable_files.replace(target, b"old")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(StoreError, match="no space"):
        durable_files.replace(target, b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"state.json": b"old"}


def segment(*stamps: int, number: int = 0) -> Segment:
    return Segment((), len(stamps), min(stamps), max(stamps), {}, number)


@pytest.mark.parametrize(
    ("horizon", "keep_last", "gone"),
    [
        (0, 0, []),
        (3, 0, ["a"]),
        (6, 0, ["a"]),  # b ends with the horizon, but c has an element that is older
        (8, 0, ["a", "b", "c"]),
        (8, 1, ["a"]),  # b stays because c does
        (8, 5, ["a"]),
        (8, 6, []),
    ],
)
def test_which_segments_can_go(horizon: int, keep_last: int, gone: list[str]) -> None:
    """time   1  2  3  4  5  6  7  8  9
    a      ×  ×  ×
    b            ·  ×  ·  ×
    c                  ×  ·  ×  ×
    d                              ×
    """
    segments = {"a": segment(1, 2, 3), "b": segment(4, 6), "c": segment(5, 7, 8), "d": segment(9)}
    assert sorted(droppable(segments, horizon, keep_last)) == gone


@given(
    st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=4), max_size=8),
    st.integers(0, 20),
    st.integers(0, 6),
)
def test_retention_never_drops_a_needed_segment(batches: list[list[int]], horizon: int, keep_last: int) -> None:
    segments = {str(number): segment(*batch, number=number) for number, batch in enumerate(batches)}
    gone = droppable(segments, horizon, keep_last)
    dropped = [ts for name in gone for ts in batches[int(name)]]
    kept = [ts for name in segments if name not in gone for ts in batches[int(name)]]
    assert all(ts <= horizon for ts in dropped)
    assert not dropped or not kept or max(dropped) < min(kept)
    assert not dropped or sum(ts <= horizon for ts in kept) >= keep_last


# Merging.


def test_small_neighbours_become_one(tmp_path: Path) -> None:
    stamps = [[number, 100 - number] for number in range(40)]
    log = filled(tmp_path, stamps)
    log.commit(STREAM, "folder", 40, [], late=3, malformed=2)
    before = times(log)
    assert log.compact(STREAM) == 41
    for each in (log, StreamLog(tmp_path)):
        assert len(each.segments(STREAM)) == 1
        assert times(each) == before
        assert each.counts(STREAM) == Counts(80, 3, 2)
        assert each.holds(STREAM, "folder", 40)
    assert len(list(tmp_path.rglob("*.parquet/*"))) == 1
    log.append(STREAM, "folder", 40, elements([7]))  # a batch that is in the merged one
    assert times(log) == before


def test_few_segments_stay_as_they_are(tmp_path: Path) -> None:
    log = filled(tmp_path, [[number] for number in range(15)])
    assert log.compact(STREAM) == 0
    assert len(log.segments(STREAM)) == 15


def test_rows_are_merged_a_few_times_only(tmp_path: Path) -> None:
    """A thousand segments of one row: no row is written more often than the logarithm says."""
    segments: dict[str, Segment] = {}
    written = 0
    for number in range(1000):
        segments[str(number)] = segment(number, number=number)
        if names := worth_merging(segments):
            rows = sum(segments.pop(name).rows for name in names)
            segments = dict(
                sorted((segments | {f"m{number}": Segment((), rows, 0, 0, {}, number)}).items(), key=_number)
            )
            written += rows
        assert len(segments) < 3 * 16
    assert written <= 3 * 1000


def _number(item: tuple[str, Segment]) -> int:
    return item[1].number


def test_a_merge_that_was_interrupted_counts_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = filled(tmp_path, [[number] for number in range(16)])
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        log.compact(STREAM)
    monkeypatch.undo()
    assert len([path for path in tmp_path.rglob("*.json") if durable_files.read_json(path)["rows"]]) == 17
    again = StreamLog(tmp_path)
    assert times(again) == list(range(16))
    assert len(again.segments(STREAM)) == 1
    assert len(list(tmp_path.rglob("*.json"))) == 1

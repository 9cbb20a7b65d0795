"""The journal: durable records, whole or not at all, that become a segment once, through crashes and failing disks."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from penstock.errors import StoreError
from penstock.io.columns import table_of
from penstock.stream.base import durable_files, failpoints
from penstock.stream.log import maintenance
from penstock.stream.log.journal import Journal, Record
from penstock.stream.log.stream_log import Counts, StreamLog
from penstock.tuning import Tuning
from tests.support.arrivals import STREAM, elements
from tests.support.failing_disk import failing_disk
from tests.unit.stream.log.test_stream_log import times


class Crash(BaseException):
    """Stands for a process that ends at once."""


@pytest.fixture
def crash_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    """Let the process end when it comes to a place; None: nowhere."""

    def arrange(place: str | None) -> None:
        def come_to(here: str) -> None:
            if here == place:
                raise Crash

        monkeypatch.setattr(failpoints, "handler", come_to)

    return arrange


def record(batch: int, *stamps: int, late: int = 0, malformed: int = 0, advanced_to: int | None = None) -> Record:
    return Record(batch, elements(stamps), late, malformed, advanced_to)


def stamps(records: list[Record]) -> list[list[int]]:
    return [each.elements.column("ts").to_numpy().tolist() for each in records]


def written(path: Path, *records: Record) -> Journal:
    journal = Journal(path)
    for each in records:
        journal.append(each)
    return journal


def test_records_are_read_back(tmp_path: Path) -> None:
    graph = Record(1, table_of([("<s>", "<p>", '"o"', 5, "<g>", 3)]), late=2, malformed=1, advanced_to=-7)
    size = written(tmp_path / "journal", record(0, 1, 2), graph, record(2)).size
    again = Journal(tmp_path / "journal")
    found = list(again.read())
    assert [(one.batch, one.late, one.malformed, one.advanced_to) for one in found] == [
        (0, 0, 0, None), (1, 2, 1, -7), (2, 0, 0, None)
    ]  # fmt: skip
    assert all(
        one.elements.equals(other) for one, other in zip(found, [elements([1, 2]), graph.elements], strict=False)
    )
    assert again.size == size == (tmp_path / "journal").stat().st_size


def test_a_record_that_is_cut_short_is_removed_wherever_it_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    whole = written(path, record(0, 1)).size
    content = (written(path, record(0, 1), record(1, 2)), path.read_bytes())[1]
    for end in range(whole, len(content), 31):
        path.write_bytes(content[:end])
        journal = Journal(path)
        assert stamps(list(journal.read())) == [[1]]
        assert path.stat().st_size == whole
        journal.append(record(1, 3))
        assert stamps(list(Journal(path).read())) == [[1], [3]]


@pytest.mark.parametrize("rest", [bytes(5000), b"\xff" * 7, b"\xff" * 500])
def test_a_tail_that_never_reached_the_disk_is_removed(tmp_path: Path, rest: bytes) -> None:
    """After a power failure a file may have its new length, and zeros or anything in place of its content."""
    path = tmp_path / "journal"
    written(path, record(0, 1))
    path.write_bytes(path.read_bytes() + rest)
    assert stamps(list(Journal(path).read())) == [[1]]


def test_a_damaged_record_before_others_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    first = written(path, record(0, 1), record(1, 2)).size // 2
    content = bytearray(path.read_bytes())
    content[first // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreError, match="journal is damaged: its record at byte 0 is not as it was written"):
        list(Journal(path).read())


def test_an_append_takes_one_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, synced, fsync = StreamLog(tmp_path), list[int](), os.fsync
    log.push(STREAM, record(0, 1))  # the first one also makes the file's name durable

    def noted(descriptor: int) -> None:
        synced.append(descriptor)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    log.push(STREAM, record(1, 2))
    assert len(synced) == 1
    assert log.counts(STREAM).elements == 2


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("call", ["fsync", "write"])
@pytest.mark.parametrize("before", [0, 1])
def test_nothing_of_a_failed_append_is_visible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, before: int
) -> None:
    log, heard = StreamLog(tmp_path), list[str]()
    for number in range(before):
        log.push(STREAM, record(number, number))
    log.listen(heard.append)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, full_disk)
        with pytest.raises(StoreError, match="No space left"):
            log.push(STREAM, record(before, 7, late=1, advanced_to=3))
    for each in (log, StreamLog(tmp_path)):
        assert each.counts(STREAM) == Counts(before, 0, 0)
        assert (each.advanced_to(STREAM), each.next_batch(STREAM)) == (None, before)
    assert heard == []
    log.push(STREAM, record(before, 8))
    assert times(StreamLog(tmp_path)) == times(log) == [*range(before), 8]


def test_a_sync_that_fails_after_the_content_was_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of a new journal has to be durable as well: the content alone is no acknowledgement."""
    log = StreamLog(tmp_path)
    log.counts(STREAM)
    with monkeypatch.context() as patch:
        patch.setattr(durable_files, "sync", full_disk)
        with pytest.raises(StoreError, match="No space left"):
            log.push(STREAM, record(0, 7))
    assert StreamLog(tmp_path).counts(STREAM).elements == 0


# The tail of the log.


def test_pushes_are_visible_at_once_and_after_reopening(tmp_path: Path) -> None:
    log, heard = StreamLog(tmp_path), list[str]()
    log.listen(heard.append)
    log.push(STREAM, record(0, 10, 30, late=1))
    log.push(STREAM, record(1, 20, malformed=2, advanced_to=17))
    assert heard == [STREAM, STREAM]
    for each in (log, StreamLog(tmp_path)):
        assert each.counts(STREAM) == Counts(3, late=1, malformed=2)
        assert (each.newest(STREAM), each.advanced_to(STREAM), each.next_batch(STREAM)) == (30, 17, 2)
    log.fold(STREAM)
    for each in (log, StreamLog(tmp_path)):
        assert times(each) == [10, 30, 20]
        assert len(each.segments(STREAM)) == 1
        assert each.counts(STREAM) == Counts(3, late=1, malformed=2)
        assert (each.newest(STREAM), each.advanced_to(STREAM), each.next_batch(STREAM)) == (30, 17, 2)
    assert next(tmp_path.rglob("journal")).stat().st_size == 0


def push_and_fold(log: StreamLog, pushed: Record) -> None:
    log.push(STREAM, pushed)
    log.fold(STREAM)


@pytest.mark.parametrize("place", ["appended", "segment", "folded"])
def test_a_crash_loses_and_repeats_nothing(tmp_path: Path, crash_at: Callable[[str | None], None], place: str) -> None:
    """A push that is durable and not acknowledged may come or not, but whole: here it comes."""
    log = StreamLog(tmp_path)
    log.push(STREAM, record(0, 1, late=1))
    crash_at(place)
    with pytest.raises(Crash):
        push_and_fold(log, record(1, 2, 3, malformed=1, advanced_to=0))
    crash_at(None)
    for _ in range(2):
        log = StreamLog(tmp_path)
        assert log.counts(STREAM) == Counts(3, late=1, malformed=1)
        assert times(log) == [1, 2, 3]
        assert log.advanced_to(STREAM) == 0
        assert log.next_batch(STREAM) == 2
    log.push(STREAM, record(2, 4))
    assert times(StreamLog(tmp_path)) == [1, 2, 3, 4]


def test_a_crash_after_a_fold_does_not_bring_back_dropped_elements(
    tmp_path: Path, crash_at: Callable[[str | None], None]
) -> None:
    log = StreamLog(tmp_path)
    log.push(STREAM, record(0, 1))
    crash_at("folded")
    with pytest.raises(Crash):
        log.fold(STREAM)
    crash_at(None)
    log = StreamLog(tmp_path)
    log.discard(STREAM, horizon=5)
    assert times(StreamLog(tmp_path)) == []
    assert StreamLog(tmp_path).counts(STREAM).elements == 1


def test_a_fold_that_fails_is_tried_again(tmp_path: Path) -> None:
    """The manifest has its name already when the disk fails; more pushes come, and the process may end then."""
    log = StreamLog(tmp_path)
    log.push(STREAM, record(0, 1))
    folder = durable_files.folder_name(STREAM)
    error = pytest.raises(StoreError, match="Input/output error")
    with failing_disk("failed fsync", ending=folder, after=1) as failed, error:  # files are named, then the manifest
        log.fold(STREAM)
    assert len(failed) == 1
    assert log.counts(STREAM).elements == 1
    log.push(STREAM, record(1, 2))
    assert StreamLog(tmp_path).counts(STREAM).elements == 2
    assert times(log) == times(StreamLog(tmp_path)) == [1, 2]


def test_order_of_arrival_stays_between_pushes_and_batches(tmp_path: Path) -> None:
    log = StreamLog(tmp_path)
    for number in range(11):
        log.push(STREAM, record(number, 2 * number))
        log.append(STREAM, "folder", number, elements([2 * number + 1]))
    log.push(STREAM, record(11, 22))
    assert times(log) == times(StreamLog(tmp_path)) == list(range(23))


def test_an_advance_alone_makes_no_segment(tmp_path: Path) -> None:
    log = StreamLog(tmp_path)
    log.push(STREAM, record(0, advanced_to=5))
    assert log.segments(STREAM) == ()
    log.push(STREAM, record(log.next_batch(STREAM), 6))
    again = StreamLog(tmp_path)
    assert (again.advanced_to(STREAM), times(again)) == (5, [6])
    log.advance(STREAM, 4)
    assert log.advanced_to(STREAM) == 5


def test_pushed_elements_are_not_left_behind_by_retention(tmp_path: Path) -> None:
    """A pushed element may be older than a segment: nothing that stays is older than what is dropped."""
    log = StreamLog(tmp_path)
    log.append(STREAM, "folder", 0, elements([4, 9]))
    log.push(STREAM, record(0, 5, 12))
    log.append(STREAM, "folder", 1, elements([6]))
    log.push(STREAM, record(1, 5, 12))
    assert log.discard(STREAM, horizon=10) == 0
    assert times(log) == [4, 9, 5, 12, 6, 5, 12]


def test_retention_does_not_fold_the_journal(tmp_path: Path) -> None:
    """Otherwise each dropped segment would make another."""
    log = StreamLog(tmp_path)
    log.append(STREAM, "folder", 0, elements([4, 9]))
    log.push(STREAM, record(0, 10, 12))
    assert log.discard(STREAM, horizon=11) == 2
    assert list(tmp_path.rglob("*.parquet")) == []
    assert times(log) == [10, 12]


def test_a_large_journal_becomes_a_segment(tmp_path: Path) -> None:
    log = StreamLog(tmp_path, Tuning(journal_bytes=10_000))
    sizes = []
    for number in range(40):
        log.push(STREAM, record(number, *range(10 * number, 10 * number + 10)))
        sizes.append(next(tmp_path.rglob("journal")).stat().st_size)
    assert max(sizes) < 13_000
    assert log.counts(STREAM).elements == 400
    assert times(log) == list(range(400))


def test_a_push_fails_where_a_large_journal_cannot_be_folded(tmp_path: Path) -> None:
    log = StreamLog(tmp_path, Tuning(journal_bytes=1))
    log.push(STREAM, record(0, 1))
    with failing_disk("no space", ending=".parquet"), pytest.raises(StoreError, match="No space left"):
        log.push(STREAM, record(1, 2))
    assert log.counts(STREAM).elements == StreamLog(tmp_path).counts(STREAM).elements == 1


def test_records_with_other_columns_become_one_segment(tmp_path: Path) -> None:
    log = StreamLog(tmp_path)
    log.push(STREAM, Record(0, table_of([("<s>", "<p>", '"1"', 1, "<g>", None)])))
    log.push(STREAM, record(1, 2))
    ((path,),) = (segment.paths for segment in log.segments(STREAM))
    table = pq.read_table(path, partitioning=None)
    assert table.column("g").to_pylist() == ["<g>", None]
    assert table.column("ts").to_pylist() == [1, 2]


def test_pushes_go_on_while_segments_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = StreamLog(tmp_path)
    for number in range(16):
        log.append(STREAM, "folder", number, elements([number]))

    def merge(*arguments: object) -> object:
        log.push(STREAM, record(0, 100))
        log.append(STREAM, "folder", 16, elements([101]))
        return maintenance.merge(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("penstock.stream.log.stream_log.merge", merge)
    assert log.compact(STREAM) == 16
    assert times(log) == times(StreamLog(tmp_path)) == [*range(16), 100, 101]
    assert len(log.segments(STREAM)) == 3


# Staged segments.


def test_staging_syncs_nothing_and_a_crash_brings_the_elements_back(tmp_path: Path) -> None:
    log = StreamLog(tmp_path)
    log.push(STREAM, record(0, 1, late=1))
    with failing_disk("failed fsync", ending=""):
        assert times(log) == [1]
    log.push(STREAM, record(1, 2))
    log.push(STREAM, record(2, 3))
    assert [segment.rows for segment in log.segments(STREAM)] == [1, 2]
    assert times(log) == [1, 2, 3]
    again = StreamLog(tmp_path)
    assert again.counts(STREAM) == Counts(3, late=1, malformed=0)
    assert list(tmp_path.rglob("staged-*")) == []
    assert times(again) == [1, 2, 3]


def test_staged_files_stay_until_no_round_reads_them(tmp_path: Path) -> None:
    log = StreamLog(tmp_path)
    for number in range(3):
        log.push(STREAM, record(number, number))
        assert len(log.segments(STREAM)) == number + 1
    read = [path for segment in log.segments(STREAM) for path in segment.paths]
    log.push(STREAM, record(3, 3))
    log.append(STREAM, "folder", 0, elements([4]))  # folds the journal, while a round may read the staged files
    assert all(Path(path).exists() for path in read)
    log.compact(STREAM)
    assert not any(Path(path).exists() for path in read)
    assert times(log) == times(StreamLog(tmp_path)) == [0, 1, 2, 3, 4]


def test_many_staged_segments_become_one(tmp_path: Path) -> None:
    """After the round; or before one, if the log is never tidied."""
    log = StreamLog(tmp_path, Tuning(staged_segments=3))
    sizes = []
    for number in range(9):
        log.push(STREAM, record(number, number))
        sizes.append([segment.rows for segment in log.segments(STREAM)])
        if number > 5:
            log.compact(STREAM)
    assert sizes[:5] == [[1], [1, 1], [1, 1, 1], [4], [4, 1]]
    assert sizes[5:] == [[4, 1, 1], [4, 1, 1, 1], [4, 3, 1], [4, 3, 1, 1]]
    assert times(log) == list(range(9))

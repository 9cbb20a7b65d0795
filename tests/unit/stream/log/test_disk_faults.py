"""A disk that fails under the log: it is said, nothing acknowledged is lost, and nothing wrong is read."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.errors import StoreError
from penstock.stream.base import durable_files
from penstock.stream.log.journal import Journal, Record
from penstock.stream.log.stream_log import Counts, StreamLog
from penstock.tuning import Tuning
from tests.support.arrivals import STREAM, elements
from tests.support.failing_disk import failing_disk, flip
from tests.unit.stream.log.test_stream_log import times

SMALL = Tuning(journal_bytes=1_500, compaction_fanout=2)
ROUNDS = 4


class Work:
    """Pushes, batches of a source and maintenance; each step is tried until the disk does it."""

    def __init__(self, root: Path) -> None:
        self.log, self.acknowledged, self.errors = StreamLog(root, SMALL), list[int](), list[str]()

    def all(self) -> None:
        for number in range(ROUNDS):
            self.do(self.push, 10 * number)
            self.do(self.push, 10 * number + 1)
            self.do(self.batch, number)
            self.do(self.log.segments, STREAM)
            self.do(self.log.advance, STREAM, 10 * number - 20)
            self.do(self.log.compact, STREAM)
        self.do(self.log.discard, STREAM, 12)

    def push(self, at: int) -> None:
        self.log.push(STREAM, Record(self.log.next_batch(STREAM), elements([at])))
        self.acknowledged.append(at)

    def batch(self, number: int) -> None:
        self.log.append(STREAM, "folder", number, elements([10 * number + 2]))
        self.acknowledged.append(10 * number + 2)

    def do(self, step: Callable[..., object], *arguments: object) -> None:
        for _ in range(3):
            try:
                step(*arguments)
                return
            except StoreError as error:
                self.errors.append(str(error))
        raise AssertionError(self.errors)


def outcome(log: StreamLog) -> tuple[object, ...]:
    segments = log.segments(STREAM)
    log.verify(STREAM, segments)
    return times(log), log.counts(STREAM), log.advanced_to(STREAM), log.next_batch(STREAM)


def expected(dropped: int) -> tuple[object, ...]:
    """Elements came in the order of time; how many are dropped depends on the segments that they are in."""
    everything = [10 * number + digit for number in range(ROUNDS) for digit in range(3)]
    return everything[dropped:], Counts(len(everything), 0, 0), 10 * (ROUNDS - 3), 2 * ROUNDS


@pytest.mark.parametrize("fault", ["no space", "failed fsync", "failed rename"])
def test_log_is_the_same_wherever_the_disk_fails_once(tmp_path: Path, fault: str) -> None:
    """Each operation of the workload fails once, in a workload of its own, and the step is tried again."""
    runs = 0
    while True:
        root = tmp_path / str(runs)
        work = Work(root)
        with failing_disk(fault, after=runs, often=1) as failed:
            work.all()
        assert len(failed) == len(work.errors)
        for log in (work.log, StreamLog(root, SMALL)):
            assert outcome(log) == expected(log.dropped(STREAM)), (runs, failed)
        if not failed:
            break
        runs += 1
    assert runs >= 15


MESSAGES = {
    "no space": "No space left on device; free some space on its disk, and try again.",
    "read-only": "Read-only file system; mount its file system so that it can be written, and try again.",
    "failed fsync": "Input/output error; look after its disk, and try again.",
}


@pytest.mark.parametrize("fault", MESSAGES)
def test_push_says_which_file_and_why_and_goes_on_when_the_disk_does(tmp_path: Path, fault: str) -> None:
    log = StreamLog(tmp_path)
    log.push(STREAM, Record(0, elements([1])))
    with failing_disk(fault, ending="journal"):
        for _ in range(2):
            with pytest.raises(StoreError) as caught:
                log.push(STREAM, Record(1, elements([2])))
    path = tmp_path / durable_files.folder_name(STREAM) / "journal"
    assert str(caught.value) == f"{path} cannot be written: {MESSAGES[fault]}"
    for each in (log, StreamLog(tmp_path)):
        assert each.counts(STREAM).elements == 1
    log.push(STREAM, Record(1, elements([3])))
    assert times(log) == times(StreamLog(tmp_path)) == [1, 3]


def test_a_journal_whose_sync_failed_is_written_anew(tmp_path: Path) -> None:
    """What the system says of the file afterwards is not trusted: its records come from memory."""
    log = StreamLog(tmp_path)
    log.push(STREAM, Record(0, elements([1])))
    with failing_disk("failed fsync", ending="journal"), pytest.raises(StoreError):
        log.push(STREAM, Record(1, elements([2])))
    (journal,) = tmp_path.rglob("journal")
    journal.write_bytes(b"")  # the pages were never written
    log.push(STREAM, Record(1, elements([3])))
    assert [record.batch for record in Journal(journal).read()] == [1]
    assert times(StreamLog(tmp_path)) == times(log) == [1, 3]


def stored(root: Path) -> StreamLog:
    """A log with each kind of file."""
    log = StreamLog(root, SMALL)
    log.append(STREAM, "folder", 0, elements([1]))
    log.append(STREAM, "folder", 1, elements(range(2, 40)))
    log.advance(STREAM, 1)
    log.discard(STREAM, 1)
    for number in range(3):
        log.push(STREAM, Record(number, elements([50 + number])))
    return log


def read(root: Path) -> tuple[object, ...]:
    """All that a log has, read without being changed: copies are looked at."""
    log = StreamLog(root, SMALL)
    counts = log.counts(STREAM)
    return (counts, *outcome(log))


DAMAGED = ("is damaged",)


def read_or_refused(root: Path) -> tuple[object, ...]:
    try:
        return read(root)
    except StoreError as error:
        return tuple(re.findall(r"is damaged(?=: .*\. Put back a copy of the checkpoint, or start on an)", str(error)))


KINDS = {"journal", "dropped.json", "advanced.json", "folder-0.json", "push-0.json", "part-0.parquet"}


def kinds(root: Path) -> set[str]:
    return {re.sub(r"\d+", "0", path.name) for path in root.rglob("*") if path.is_file()}


def damaged_copies(tmp_path: Path, damage: Callable[[Path, int], None], steps: int) -> tuple[int, int]:
    """Damage each file of a log in many places, one at a time; how often it was said, and how often it did no harm."""
    stored(tmp_path / "log")
    shutil.copytree(tmp_path / "log", tmp_path / "sound")
    sound = read(tmp_path / "sound")
    assert kinds(tmp_path / "log") == {
        "journal",
        "dropped.json",
        "advanced.json",
        "folder-0.json",
        "push-0.json",
        "part-0.parquet",
    }
    said = harmless = 0
    for file in [path.relative_to(tmp_path / "log") for path in (tmp_path / "log").rglob("*") if path.is_file()]:
        size = (tmp_path / "log" / file).stat().st_size
        for place in range(0, size, max(1, size // steps)):
            shutil.copytree(tmp_path / "log", tmp_path / "copy")
            damage(tmp_path / "copy" / file, place)
            found = read_or_refused(tmp_path / "copy")
            assert found in (DAMAGED, sound), (file, place)
            said, harmless = said + (found == DAMAGED), harmless + (found == sound)
            shutil.rmtree(tmp_path / "copy")
    return said, harmless


def test_each_flipped_byte_is_found(tmp_path: Path) -> None:
    said, harmless = damaged_copies(tmp_path, flip, steps=60)
    assert (said > 250, harmless) == (True, 0)


def test_a_segment_that_is_cut_off_is_found(tmp_path: Path) -> None:
    log = stored(tmp_path)
    log.segments(STREAM)
    file = max(tmp_path.rglob("*.parquet/*.parquet"), key=lambda path: path.stat().st_size)
    file.write_bytes(file.read_bytes()[:-7])
    again = StreamLog(tmp_path, SMALL)
    with pytest.raises(StoreError) as caught:
        again.verify(STREAM, again.segments(STREAM))
    assert str(caught.value) == (
        f"{file} is damaged: its checksum is not the one in its manifest. Put back a copy of the checkpoint, or start "
        "on an empty folder and replay the sources."
    )
    file.unlink()
    with pytest.raises(StoreError, match=r"is damaged: it cannot be read \(No such file or directory\)\."):
        again.verify(STREAM, again.segments(STREAM))


def test_damage_is_not_merged_into_a_sound_segment(tmp_path: Path) -> None:
    log = StreamLog(tmp_path)
    for number in range(16):
        log.append(STREAM, "folder", number, elements([number]))
    file = next(tmp_path.rglob("folder-3.parquet/*"))
    flip(file, file.stat().st_size // 2)
    again = StreamLog(tmp_path)
    with pytest.raises(StoreError, match="its checksum is not the one in its manifest"):
        again.compact(STREAM)
    assert len(again.segments(STREAM)) == 16


def test_a_segment_is_verified_once_and_only_if_an_earlier_process_wrote_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, checksum = list[str](), durable_files.checksum

    def noted(path: Path, before: int = 0) -> int:
        looked.append(path.parent.name)
        return checksum(path, before)

    monkeypatch.setattr(durable_files, "checksum", noted)
    log = StreamLog(tmp_path)
    log.append(STREAM, "folder", 0, elements([1]))
    log.verify(STREAM, log.segments(STREAM))
    assert looked == []
    again = StreamLog(tmp_path)
    assert again.counts(STREAM).elements == 1
    again.append(STREAM, "folder", 1, elements([2]))
    assert looked == []
    for _ in range(2):
        again.verify(STREAM, again.segments(STREAM))
    assert looked == ["folder-0.parquet"]


@pytest.mark.parametrize("path", ["../other/part-0.parquet", "/etc/passwd"])
def test_a_manifest_that_names_a_file_outside_is_refused(tmp_path: Path, path: str) -> None:
    log = StreamLog(tmp_path)
    log.append(STREAM, "folder", 0, elements([1]))
    manifest = next(tmp_path.rglob("folder-0.json"))
    durable_files.replace_json(manifest, durable_files.read_json(manifest) | {"paths": [path]})
    with pytest.raises(StoreError) as caught:
        StreamLog(tmp_path).segments(STREAM)
    assert str(caught.value) == (
        f"{manifest.parent} is damaged: a manifest names the file {path}, which is not in the folder. Put back a copy "
        "of the checkpoint, or start on an empty folder and replay the sources."
    )

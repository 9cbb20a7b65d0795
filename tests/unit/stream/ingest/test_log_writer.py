"""From arrivals to the log: late ones and bad lines aside, each batch once, however it is cut."""

from __future__ import annotations

import gzip
import json
import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.io import nquads
from penstock.io.nquads import parse
from penstock.io.splits import Split
from penstock.stream.base.time_values import to_datetime
from penstock.stream.base.watermark import Watermarks
from penstock.stream.ingest import load_task
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.element_reader import of_blocks, of_file
from penstock.stream.ingest.elements import Block
from penstock.stream.ingest.file_batches import write_files
from penstock.stream.ingest.late_filter import Advance, Reading
from penstock.stream.ingest.log_writer import ArrivedBatch, LogWriter
from penstock.stream.ingest.sources.folder import Dropped
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.stream_log import Counts, StreamLog
from penstock.testing import ManualClock
from tests.support.arrivals import SECOND, STREAM, elements, text
from tests.unit.stream.log.test_stream_log import times


def log_writer(root: Path, clock: ManualClock | None = None, **options: object) -> LogWriter:
    streams = {STREAM: Declared(**options)}  # type: ignore[arg-type]
    return made(StreamLog(root / "log"), root, clock or ManualClock(), streams)


def made(log: StreamLog, root: Path, clock: ManualClock, streams: dict[str, Declared]) -> LogWriter:
    return LogWriter(log, DeadLetters(root / "dead"), Watermarks(log, clock, streams))


def push(writer: LogWriter, number: int, *blocks: Block) -> None:
    writer.write(ArrivedBatch(STREAM, "folder", number), of_blocks(STREAM, blocks))


def log(root: Path) -> StreamLog:
    return StreamLog(root / "log")


def dead(root: Path, kind: str) -> list[str]:
    return [line for path in sorted((root / "dead").rglob(f"*.{kind}")) for line in path.read_text().splitlines()]


def test_late_elements_are_kept_aside(tmp_path: Path) -> None:
    writer = log_writer(tmp_path, lateness=5)
    push(writer, 0, Block(STREAM, text([10, 20, 14, 15])))
    push(writer, 1, Block(STREAM, text([3, 30])))
    assert times(log(tmp_path)) == [10, 20, 15, 30]
    assert log(tmp_path).counts(STREAM) == Counts(4, late=2, malformed=0)
    letters = "\n".join(dead(tmp_path, "late.nq")).encode()
    assert parse(letters, STREAM).elements.equals(elements([14, 3]))


def test_bad_lines_are_kept_aside_with_their_place(tmp_path: Path) -> None:
    writer = log_writer(tmp_path)
    push(writer, 0, Block(STREAM, text([1]) + b"nonsense\n"), Block(STREAM, b"\n# note\nmore <of> it\n" + text([2])))
    assert times(log(tmp_path)) == [1, 2]
    assert log(tmp_path).counts(STREAM) == Counts(2, late=0, malformed=2)
    found = [json.loads(line) for line in dead(tmp_path, "malformed.ndjson")]
    assert [(item["source"], item["line"], item["text"]) for item in found] == [
        (STREAM, 2, "nonsense"),
        (STREAM, 3, "more <of> it"),
    ]
    assert all(item["reason"] for item in found)


def test_batch_without_an_element_is_counted_once(tmp_path: Path) -> None:
    for _ in range(2):  # the second time after a crash
        push(log_writer(tmp_path), 0, Block(STREAM, b"nonsense\n"))
    assert log(tmp_path).counts(STREAM) == Counts(0, late=0, malformed=1)
    assert len(dead(tmp_path, "malformed.ndjson")) == 1


AHEAD = "it was {} ahead of the clock, which was at 1970-01-01T00:01:40Z: max_ahead is 0:00:10"


def test_elements_too_far_ahead_of_the_clock_are_kept_aside_and_move_no_watermark(tmp_path: Path) -> None:
    writer = log_writer(tmp_path, ManualClock(100 * SECOND), max_ahead=10 * SECOND)
    push(writer, 0, Block(STREAM, text([90 * SECOND, 200 * SECOND, 110 * SECOND])))
    writer.push(STREAM, lambda batch: of_blocks(STREAM, [Block(STREAM, text([111 * SECOND, 110 * SECOND]))], batch))
    assert times(log(tmp_path)) == [90 * SECOND, 110 * SECOND, 110 * SECOND]
    assert log(tmp_path).newest(STREAM) == 110 * SECOND
    assert log(tmp_path).counts(STREAM) == Counts(3, late=0, malformed=0, ahead=2)
    letters = list(DeadLetters(tmp_path / "dead").read(STREAM))
    assert [(letter.kind, letter.reason) for letter in letters] == [
        ("ahead", AHEAD.format("0:01:40")), ("ahead", AHEAD.format("0:00:11")),
    ]  # fmt: skip
    assert [letter.time for letter in letters] == [to_datetime(200 * SECOND), to_datetime(111 * SECOND)]


def test_a_push_of_elements_too_far_ahead_is_counted_through_a_restart(tmp_path: Path) -> None:
    writer = log_writer(tmp_path)  # a day is allowed, unless it is said otherwise
    blocks = [Block(STREAM, text([86_400 * SECOND, 86_401 * SECOND]))]
    writer.push(STREAM, lambda batch: of_blocks(STREAM, blocks, batch))
    assert log(tmp_path).counts(STREAM) == Counts(1, late=0, malformed=0, ahead=1)
    assert times(log(tmp_path)) == [86_400 * SECOND]  # the journal is a segment now
    assert log(tmp_path).counts(STREAM) == Counts(1, late=0, malformed=0, ahead=1)


def test_any_time_is_taken_if_the_clock_does_not_matter(tmp_path: Path) -> None:
    push(log_writer(tmp_path, max_ahead=None), 0, Block(STREAM, text([10**17])))
    assert times(log(tmp_path)) == [10**17]


def test_repeated_batch_has_the_same_late_elements(tmp_path: Path) -> None:
    """By itself, the second run would find its own elements in the log, and all but the newest late."""
    for _ in range(2):
        push(log_writer(tmp_path), 0, Block(STREAM, text([1, 2, 3])))
    assert times(log(tmp_path)) == [1, 2, 3]
    assert log(tmp_path).counts(STREAM) == Counts(3, late=0, malformed=0)


def test_elements_before_an_advance_are_late(tmp_path: Path) -> None:
    writer = log_writer(tmp_path, lateness=100)
    push(writer, 0, Block(STREAM, text([5])), Block(STREAM, b"", 10), Block(STREAM, text([9, 10])))
    assert times(log(tmp_path)) == [5, 10]
    assert log(tmp_path).advanced_to(STREAM) == 9
    assert log(tmp_path).counts(STREAM).late == 1


def test_a_moved_time_is_not_lost_between_segment_and_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [Block(STREAM, text([5])), Block(STREAM, b"", 10)]
    with monkeypatch.context() as patch:
        patch.setattr(StreamLog, "advance", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            push(log_writer(tmp_path), 0, *blocks)
    push(log_writer(tmp_path), 0, *blocks)
    assert times(log(tmp_path)) == [5]
    assert log(tmp_path).advanced_to(STREAM) == 9


def test_lines_without_a_time_get_that_of_their_arrival(tmp_path: Path) -> None:
    line = b'<http://example.org/s> <http://example.org/p> "x" .\n'
    push(log_writer(tmp_path), 0, Block(STREAM, line, 7), Block(STREAM, line, 8))
    assert times(log(tmp_path)) == [7, 8]


@given(st.lists(st.integers(0, 30), max_size=10), st.integers(0, 8), st.data())
def test_any_cut_gives_the_same_log(
    tmp_path_factory: pytest.TempPathFactory, stamps: list[int], lateness: int, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stamps)), max_size=3)))
    whole, pieces = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("pieces")
    log_writer(whole, lateness=lateness).write(ArrivedBatch(STREAM, "folder", 0), [Reading(elements(stamps))])
    writer = log_writer(pieces, lateness=lateness)
    for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(stamps)], strict=True)):
        writer.write(ArrivedBatch(STREAM, "folder", number), [Reading(elements(stamps[start:end]))])
    assert times(log(whole)) == times(log(pieces))
    assert log(whole).counts(STREAM) == log(pieces).counts(STREAM)


# Watermarks.


def combined(writer: LogWriter, *streams: str, others: Iterable[int | None] = ()) -> int | None:
    return writer._watermarks.combined(streams, others)


def test_watermark_by_the_clock_survives_a_restart(tmp_path: Path) -> None:
    """The clock advances a stream; an element before that time is late, also after a restart."""
    writer = log_writer(tmp_path, ManualClock(50), advance=True, lateness=2)
    assert combined(writer, STREAM) == 47
    again = log_writer(tmp_path, lateness=1000)
    push(again, 0, Block(STREAM, text([47, 48])))
    assert times(log(tmp_path)) == [48]


def test_idle_stream_does_not_hold_back_the_watermark_and_is_advanced(tmp_path: Path) -> None:
    clock = ManualClock()
    streams = {"a": Declared(), "b": Declared(idle=10 * SECOND)}
    writer = made(log(tmp_path), tmp_path, clock, streams)
    writer.write(ArrivedBatch("a", "folder", 0), [Reading(elements([100]))])
    writer.write(ArrivedBatch("b", "folder", 0), [Reading(elements([50]))])
    assert combined(writer, "a", "b") == 49
    clock.advance(10 * SECOND)
    assert combined(writer, "a", "b") == 99
    writer.write(ArrivedBatch("b", "folder", 1), [Reading(elements([99, 100]))])
    assert times(log(tmp_path), "b") == [50, 100]
    assert combined(writer, "a", "b") == 99


def test_derived_streams_are_waited_for(tmp_path: Path) -> None:
    writer = log_writer(tmp_path)
    push(writer, 0, Block(STREAM, text([100])))
    assert combined(writer, STREAM, others=[30]) == 30
    assert combined(writer, STREAM, others=[None]) is None


# Parts that a job has written.


def parts_of(folder: Path, pieces: Iterable[bytes]) -> list[load_task.LoadedFile]:
    found = []
    for number, piece in enumerate(pieces):
        source = folder / f"{number}.nq"
        source.write_bytes(piece)
        found.append(load_task.write_part(Split(str(source)), STREAM, str(folder / f"part-{number:05}.parquet")))
    return found


def test_loaded_files_are_read_only_where_elements_may_be_late(tmp_path: Path) -> None:
    shared, batch = log(tmp_path), ArrivedBatch(STREAM, "folder", 0)
    writer = made(shared, tmp_path, ManualClock(), {STREAM: Declared(lateness=5)})
    folder = shared.begin(STREAM, "folder", 0)
    parts = parts_of(folder, [text([10, 20]), text([16, 14, 30]), text([31, 20, 27, 32]), b"bad\n", text([40])])
    untouched = [Path(parts[at].path).stat().st_mtime_ns for at in (0, 4)]
    writer.write_loaded(batch, folder, parts)
    assert times(log(tmp_path)) == [10, 20, 16, 30, 31, 27, 32, 40]
    assert log(tmp_path).counts(STREAM) == Counts(8, late=2, malformed=1)
    assert [Path(parts[at].path).stat().st_mtime_ns for at in (0, 4)] == untouched
    assert len(dead(tmp_path, "late.nq")) == 2
    assert json.loads(dead(tmp_path, "malformed.ndjson")[0])["source"].endswith("3.nq")


def test_loaded_files_with_elements_too_far_ahead_are_read(tmp_path: Path) -> None:
    shared, batch = log(tmp_path), ArrivedBatch(STREAM, "folder", 0)
    writer = made(shared, tmp_path, ManualClock(), {STREAM: Declared(max_ahead=20)})
    folder = shared.begin(STREAM, "folder", 0)
    writer.write_loaded(batch, folder, parts_of(folder, [text([10, 30, 11]), text([12])]))
    assert times(log(tmp_path)) == [10, 11, 12]
    assert log(tmp_path).counts(STREAM) == Counts(3, late=0, malformed=0, ahead=1)


# Files.


def read(path: Path, **options: object) -> list[Reading]:
    return list(of_file(Dropped(str(path), 77, 0), STREAM, Declared(**options)))  # type: ignore[arg-type]


def stamps(readings: Iterable[Reading]) -> list[int]:
    return [int(ts) for reading in readings for ts in reading.elements.column("ts").to_numpy()]


def test_files_by_their_ending(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_bytes(text([1, 2]))
    (tmp_path / "a.nq.gz").write_bytes(gzip.compress(text([3])))
    pq.write_table(elements([4]).select(["ts", "o", "p", "s"]), tmp_path / "a.parquet")
    table = elements([5000]).drop_columns(["ts"])
    pq.write_table(table.append_column("ts", pa.array([5], pa.timestamp("ms"))), tmp_path / "b.parquet")
    (tmp_path / "a.nt").write_bytes(b"<http://e/s> <http://e/p> <http://e/o> .\n")
    assert stamps(read(tmp_path / "a.nq")) == [1, 2]
    assert stamps(read(tmp_path / "a.nq.gz")) == [3]
    assert stamps(read(tmp_path / "a.parquet")) == [4]
    assert stamps(read(tmp_path / "b.parquet")) == [5000]
    assert stamps(read(tmp_path / "a.nt", format="nt")) == [77]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("gone.nq", None, "no such file"),
        ("a.parquet", b"no Parquet at all", "Parquet"),
        ("a.nq.gz", gzip.compress(text(range(1000)))[:200], ""),
    ],
)
def test_a_file_that_cannot_be_read_is_a_dead_letter(
    tmp_path: Path, name: str, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    (bad,) = [item for reading in read(tmp_path / name) for item in reading.malformed]
    assert bad.source == str(tmp_path / name)
    assert reason.lower() in bad.reason.lower()


def drop(root: Path, *files: Path) -> list[str]:
    """The warnings when files have been dropped into a watched folder."""
    dropped_files = [Dropped(str(file), 0, file.stat().st_size) for file in files]
    batch = ArrivedBatch(STREAM, "folder", 0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        write_files(cast(Any, None), log(root), log_writer(root, max_ahead=None), batch, dropped_files, Declared())
    return [str(warning.message) for warning in caught]


def test_a_dropped_file_of_the_wrong_kind_is_told_once(tmp_path: Path) -> None:
    wrong, right = tmp_path / "1.nq", tmp_path / "2.nq"
    wrong.write_text("gate,car\n" * 1000)
    right.write_bytes(text([1, 2]) + b"one bad line\n")
    like = '<s> <p> <o> "2026-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .'
    said = f"none of its 1,000 lines is timestamped N-Quads; line 1: this is CSV; a line looks like {like}"
    assert drop(tmp_path, wrong, right) == [f"{wrong}: {said}"]
    assert times(log(tmp_path)) == [1, 2]
    assert drop(tmp_path, wrong, right) == []  # the same batch after a crash


@pytest.mark.parametrize("change", ["missing", "null"])
def test_parquet_without_the_columns_of_a_stream_is_a_dead_letter(tmp_path: Path, change: str) -> None:
    table = elements([1])
    if change == "missing":
        table = table.drop_columns(["ts"])
    else:
        table = table.set_column(3, "ts", pa.array([None], pa.int64()))
    pq.write_table(table, tmp_path / "a.parquet")
    (bad,) = [item for reading in read(tmp_path / "a.parquet") for item in reading.malformed]
    reason = {"missing": "the file has no column ts", "null": "a term or a time is NULL"}[change]
    assert bad.reason == f"{reason}; no element of it is kept"


def test_a_truncated_gzip_is_reported_with_the_lines_kept(tmp_path: Path) -> None:
    """The elements before are in the log, and the file after it is read."""
    random = Random(1)
    lines = text(random.randrange(10**12) for _ in range(100_000)).splitlines(keepends=True)
    cut, whole = tmp_path / "1.nq.gz", tmp_path / "2.nq"
    cut.write_bytes(gzip.compress(b"".join(lines))[:-100])
    whole.write_bytes(text([10**13]))
    (warning,) = drop(tmp_path, cut, whole)
    counts = log(tmp_path).counts(STREAM)
    kept = counts.elements + counts.late - 1
    assert 0 < kept < 100_000
    assert warning == f"{cut}: the gzip file is cut off; the {kept:,} elements before that are kept"
    (letter,) = (json.loads(line) for line in dead(tmp_path, "malformed.ndjson"))
    assert letter == {"source": str(cut), "line": 0, "text": "", "reason": warning.removeprefix(f"{cut}: ")}
    assert times(log(tmp_path))[-1] == 10**13


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("1.nq.gz", gzip.compress(text(range(1000)))[:200], "the gzip file is cut off; no element of it is kept"),
        ("1.trig.gz", gzip.compress(b"# trig")[:-1], "the gzip file is cut off; no element of it is kept"),
    ],
)
def test_a_dropped_file_that_cannot_be_read_stops_nothing(
    tmp_path: Path, name: str, content: bytes, sentence: str
) -> None:
    broken, whole = tmp_path / name, tmp_path / "2.nq"
    broken.write_bytes(content)
    whole.write_bytes(text([1, 2]))
    assert drop(tmp_path, broken, whole) == [f"{broken}: {sentence}"]
    assert times(log(tmp_path)) == [1, 2]


def test_a_file_that_shrinks_is_reported_with_the_lines_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.stream.ingest import element_reader as module

    file, parse = tmp_path / "1.nq", nquads.parse

    def shrinking(data: bytes, *options: Any) -> Any:
        os.truncate(file, len(data))
        return parse(data, *options)

    monkeypatch.setattr(module, "parse", shrinking)
    file.write_bytes(text(range(200_000)))
    (reading, last) = read(file)
    (bad,) = last.malformed
    assert bad.reason == (
        "the file has become shorter while it was read;"
        f" the {reading.elements.num_rows:,} elements before that are kept"
    )


def test_line_numbers_go_on_through_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.stream.ingest import element_reader as module

    (tmp_path / "a.nq").write_bytes(b"bad\n" * 3)
    monkeypatch.setattr(module, "chunks", lambda _, size: iter([b"bad\nbad\n", b"bad\n"]))
    assert [item.line for reading in read(tmp_path / "a.nq") for item in reading.malformed] == [1, 2, 3]


def test_advances_are_items_of_their_own() -> None:
    items = list(of_blocks(STREAM, [Block(STREAM, b"", 5), Block(STREAM, b"", 5), Block(STREAM, text([1]))]))
    assert items[0] == Advance(4)
    assert isinstance(items[-1], Reading)

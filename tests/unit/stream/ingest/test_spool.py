"""The spool: durable before it is acknowledged, several at a time, in numbers without gaps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

import pytest

from penstock.errors import PenstockError
from penstock.stream.base import durable_files
from penstock.stream.ingest import spool
from penstock.stream.ingest.spool import Block, InFlight, Spool
from penstock.stream.ingest.spool_source import SpoolReader, consumed, files_of
from penstock.testing import ManualClock
from penstock.tuning import DEFAULT


def blocks(folder: Path) -> list[Block]:
    return [block for number in spool.numbers(folder) for block in spool.read(spool.spool_file(folder, number))]


def reader(folder: Path, batch_bytes: int = DEFAULT.spool_batch_bytes) -> SpoolReader:
    return SpoolReader(str(folder), batch_bytes, DEFAULT.spool_wait_s, DEFAULT.spool_look_s)


def test_appended_blocks_are_read_back(tmp_path: Path) -> None:
    written = Spool(tmp_path)
    assert written.append("http://e/a", b"one\ntwo\n") == 0
    assert written.append("http://e/b", b"# a comment\nthree", stamp=-5) == 1
    assert written.append("http://e/a", b"", stamp=7) == 2
    assert blocks(tmp_path) == [
        Block("http://e/a", b"one\ntwo\n"),
        Block("http://e/b", b"# a comment\nthree\n", -5),
        Block("http://e/a", b"", 7),
    ]
    written.close()


def test_numbers_go_on(tmp_path: Path) -> None:
    for expected in range(3):
        written = Spool(tmp_path)
        assert written.append("s", b"x\n") == expected
        written.close()


def test_large_data_becomes_several_files_of_whole_lines(tmp_path: Path) -> None:
    written = Spool(tmp_path, file_bytes=10)
    written.append("s", b"123456\n12345678901234567\n12\n34\n")
    written.close()
    assert [block.data for block in blocks(tmp_path)] == [b"123456\n", b"12345678901234567\n", b"12\n34\n"]


def test_waiting_pushes_share_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is held up with the first until nine others wait."""
    real, arrived, go = durable_files.replace, Event(), Event()

    def slow(path: Path, data: bytes) -> None:
        arrived.set()
        assert go.wait(20)
        real(path, data)

    monkeypatch.setattr(durable_files, "replace", slow)
    written = Spool(tmp_path)
    with ThreadPoolExecutor(10) as pool:
        first = pool.submit(written.append, "s", b"0\n")
        assert arrived.wait(20)
        others = [pool.submit(written.append, "s", b"%d\n" % number) for number in range(1, 10)]
        while written._waiting.qsize() < 9:
            pass
        assert not first.done()
        go.set()
        assert first.result() == 0
        assert {other.result() for other in others} == {1}
    written.close()
    assert sorted(block.data for block in blocks(tmp_path)) == [b"%d\n" % number for number in range(10)]


def test_full_disk_is_an_error_of_the_waiting_pushes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = Spool(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(
            durable_files, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device"))
        )
        with pytest.raises(PenstockError, match="No space left"):
            written.append("s", b"x\n")
    assert written.append("s", b"x\n") == 0
    written.close()
    with pytest.raises(PenstockError, match="stopped"):
        written.append("s", b"x\n")


def test_spool_source_removes_files_after_they_are_read(tmp_path: Path) -> None:
    written, source = Spool(tmp_path), reader(tmp_path)
    assert source.read(source.initialOffset())[1] == {"next": 0}
    for _ in range(3):
        written.append("s", b"x\n")
    assert source.read({"next": 0})[1] == {"next": 3}
    assert source.read({"next": 3})[1] == {"next": 3}
    source.commit({"next": 3})
    assert spool.numbers(tmp_path) == [2]  # from which numbers go on
    written.close()


def test_a_batch_of_the_source_is_not_too_large(tmp_path: Path) -> None:
    written, source = Spool(tmp_path), reader(tmp_path, batch_bytes=20)
    for _ in range(3):
        written.append("s", b"1234567890\n")
    written.append("s", b"1234567890" * 5 + b"\n")
    written.close()
    assert [source.read({"next": start})[1]["next"] for start in (0, 1, 3)] == [1, 2, 4]


def test_offsets_are_read_as_spark_writes_them(tmp_path: Path) -> None:
    for batch, end in enumerate((2, 5, 6)):
        path = tmp_path / "offsets" / str(batch)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'v1\n{{"batchWatermarkMs":0,"conf":{{}}}}\n{{"next": {end}}}')
    assert [files_of(tmp_path, batch) for batch in range(3)] == [(0, 2), (2, 5), (5, 6)]
    assert consumed(tmp_path) == 0
    (tmp_path / "commits").mkdir()
    for batch in range(2):
        (tmp_path / "commits" / str(batch)).write_text("v1\n{}")
    assert consumed(tmp_path) == 5


# What is on its way.


def test_clock_does_not_overtake_pushes_in_flight() -> None:
    clock = ManualClock(100)
    flight = InFlight(clock, read=0, written=0)
    assert flight.now() == 100
    with flight.accepting() as noted:
        clock.advance(10)
        assert flight.now() == 100
        noted(0)
    clock.advance(10)
    assert flight.now() == 100
    flight.read(1)
    assert flight.now() == 120


def test_a_file_that_was_read_before_its_number_was_known() -> None:
    flight = InFlight(ManualClock(5), read=0, written=0)
    with flight.accepting() as noted:
        flight.read(1)
        noted(0)
    assert flight.now() == 5
    flight.wait(lambda: False)


def test_waits_for_spool_files_of_an_earlier_run() -> None:
    flight = InFlight(ManualClock(), read=3, written=5)
    waiter = Thread(target=flight.wait, args=(lambda: False,))
    waiter.start()
    flight.read(4)
    assert waiter.is_alive()
    flight.read(5)
    waiter.join(20)
    assert not waiter.is_alive()


def test_waiting_ends_when_ingest_has_stopped() -> None:
    flight = InFlight(ManualClock(), read=0, written=1)
    flight.wait(lambda: True)

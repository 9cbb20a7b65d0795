"""Drop folders into the log, by Structured Streaming, beside pushes: everything once, whatever happens."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.errors import PenstockError
from penstock.io.splits import Split
from penstock.stream.base import failpoints
from penstock.stream.ingest import parallel_load
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.stream_log import Counts, StreamLog
from penstock.testing import ManualClock
from penstock.tuning import DEFAULT, Tuning
from tests.support.arrivals import STREAM, text
from tests.unit.stream.log.test_stream_log import times

Opener = Callable[..., Ingest]


class Crash(BaseException):
    """Stands for a process that ends at once."""


@pytest.fixture
def open_ingest(spark: SparkSession, tmp_path: Path) -> Iterator[Opener]:
    """Ingest on one checkpoint, closed when the test is over."""
    opened: list[Ingest] = []

    def opener(
        source: object = None, clock: ManualClock | None = None, tuning: Tuning = DEFAULT, **options: object
    ) -> Ingest:
        streams = {STREAM: Declared(source, **options)}  # type: ignore[arg-type]
        opened.append(Ingest(spark, tmp_path / "checkpoint", clock or ManualClock(), streams, tuning=tuning))
        return opened[-1]

    yield opener
    failpoints.handler = None
    for ingest in opened:
        ingest.close()


@pytest.fixture
def drops(tmp_path: Path) -> Path:
    folder = tmp_path / "drops"
    folder.mkdir()
    return folder


def drop(folder: Path, name: str, content: bytes) -> None:
    hidden = folder / f".{name}"
    hidden.write_bytes(content)
    hidden.rename(folder / name)


@pytest.mark.parametrize("place", ["segment", "ingested"])
def test_a_crash_repeats_a_batch_and_no_element(open_ingest: Opener, drops: Path, place: str) -> None:
    """At these places, the process ends for the batch: Spark has not committed it and runs it again."""
    drop(drops, "1.nq", text([1]))
    first = open_ingest(drops, lateness=1)
    first.start()
    first.drain()

    def crash(reached: str) -> None:
        if reached == place:
            raise Crash

    failpoints.handler = crash
    drop(drops, "2.nq", text([5, 3, 4]))
    next(iter(first._runners.values()))._watcher.join(30)
    failpoints.handler = None
    first.close()
    second = open_ingest(drops, lateness=1)
    second.start()
    second.drain()
    second.push(STREAM, text([6]))
    assert times(second.log) == [1, 5, 4, 6]
    assert second.log.counts(STREAM) == Counts(4, late=1, malformed=0)


def test_a_crash_during_the_first_spark_checkpoint_file(open_ingest: Opener, drops: Path, tmp_path: Path) -> None:
    """Such a file gets its name when it is whole; by itself, Spark would not start where one without a name lies."""
    (drops / "1.nq").write_bytes(text([1]))
    accounts = tmp_path / "checkpoint" / "ingest"
    first = open_ingest(drops, lateness=1)
    first.start()
    first.close()
    for checkpoint in accounts.iterdir():
        for account in [*checkpoint.glob("offsets/*"), *checkpoint.glob("commits/*")]:
            account.unlink()
        (checkpoint / "offsets").mkdir(exist_ok=True)
        for torn in (".0.9168adfc.tmp", "..0.9168adfc.tmp.crc"):
            (checkpoint / "offsets" / torn).touch()
    second = open_ingest(drops, lateness=1)
    second.start()
    second.push(STREAM, text([2]))
    second.drain()
    assert len(list(accounts.glob("*/offsets/0"))) == 1
    assert sorted(times(second.log)) == [1, 2]


def test_an_error_is_one_sentence(open_ingest: Opener, drops: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ingest = open_ingest(drops)
    monkeypatch.setattr(StreamLog, "begin", lambda *_: (_ for _ in ()).throw(OSError(5, "Input/output error")))
    drop(drops, "1.nq", text([1]))
    ingest.start()
    with pytest.raises(PenstockError, match=r"^Ingest from .*drops has stopped: .*Input/output error$"):
        ingest.drain()
    with pytest.raises(PenstockError, match="Input/output error"):
        ingest.push(STREAM, text([2]))
    monkeypatch.undo()
    ingest.stop()
    ingest.start()
    ingest.drain()
    assert times(ingest.log) == [1]


def test_pushes_and_files_keep_their_order_of_arrival(open_ingest: Opener, drops: Path) -> None:
    ingest = open_ingest(drops, lateness=100)
    ingest.start()
    for number in range(0, 6, 2):
        ingest.push(STREAM, text([number]))
        drop(drops, f"{number}.nq", text([number + 1]))
        ingest.drain()
    assert times(ingest.log) == list(range(6))


def test_every_file_of_a_folder_is_read_once(open_ingest: Opener, drops: Path) -> None:
    drop(drops, "1 of 3.nq", text([1]))
    first = open_ingest(str(drops))
    first.start()
    first.drain()
    drop(drops, "2.nq.gz", gzip.compress(text([2])))
    drop(drops, "_hidden.nq", text([99]))
    first.drain()
    assert times(first.log) == [1, 2]
    first.close()
    drop(drops, "3.nq", text([3]) + b"bad\n")
    second = open_ingest(str(drops), lateness=1)  # the push may be before the file
    second.start()
    second.push(STREAM, text([4]))
    second.drain()
    assert sorted(times(second.log)) == [1, 2, 3, 4]
    assert second.log.counts(STREAM).malformed == 1


def test_a_large_file_is_a_job(open_ingest: Opener, drops: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    write = parallel_load.write

    def job(
        session: SparkSession, pieces: list[Split], stream: str, folder: str, **how: Any
    ) -> list[parallel_load.LoadedFile]:
        asked.append(stream)
        return write(session, pieces, stream, folder, **how)

    monkeypatch.setattr(parallel_load, "write", job)
    drop(drops, "a.nq", text([*range(10, 500), 3, 500]) + b"bad\n")
    ingest = open_ingest(str(drops), tuning=Tuning(small_files_bytes=100))
    ingest.start()
    ingest.drain()
    assert asked == [STREAM]
    assert times(ingest.log) == list(range(10, 501))
    assert ingest.log.counts(STREAM) == Counts(491, late=1, malformed=1)


def test_a_folder_that_is_not_there(open_ingest: Opener) -> None:
    with pytest.raises(PenstockError, match="nowhere: there is no such folder"):
        open_ingest("nowhere").start()


def test_a_stream_can_be_added_while_it_runs(open_ingest: Opener, drops: Path) -> None:
    ingest = open_ingest()
    ingest.start()
    drop(drops, "a.nq", text([1]))
    ingest.add("http://example.org/added", Declared(str(drops)))
    ingest.drain()
    assert times(ingest.log, "http://example.org/added") == [1]
    assert ingest.log.counts("http://example.org/added").elements == 1

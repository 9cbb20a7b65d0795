"""Sources that end: read once, whatever becomes of them afterwards."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.errors import LoadError, PenstockWarning
from penstock.model.stretches import Stretch
from penstock.stream.ingest.bounded_sources import BoundedSources
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.stream_declaration import declare
from penstock.stream.log.stream_log import StreamLog
from penstock.testing import ManualClock
from tests.support.arrivals import STREAM, text

LIKE = '; a line looks like <s> <p> <o> "2026-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .'


def no_session() -> Any:
    raise AssertionError("small files need no Spark")


def read(root: Path, source: Path) -> int:
    """Read the source as a new process would; how many elements the log has then."""
    log = StreamLog(root / "log")
    streams = {STREAM: declare(source, None, None, False, None)}
    BoundedSources(log, DeadLetters(root / "dead"), ManualClock(), streams).read(STREAM, no_session, in_place=False)
    return log.counts(STREAM).elements


def test_a_file_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "s.nq"
    file.write_bytes(text(range(5)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [read(tmp_path, file) for _ in range(2)] == [5, 5]
        file.unlink()  # nobody needs it any more
        assert read(tmp_path, file) == 5


def test_changed_file_is_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "s.nq"
    file.write_bytes(text(range(5)))
    read(tmp_path, file)
    file.write_bytes(text(range(7)))
    with pytest.warns(PenstockWarning, match=r"s\.nq has changed since it was read, and is not read again: push"):
        assert read(tmp_path, file) == 5


def test_changed_folder_is_warned_of(tmp_path: Path) -> None:
    folder = tmp_path / "drop"
    folder.mkdir()
    (folder / "1.nq").write_bytes(text(range(5)))
    read(tmp_path, folder)
    (folder / "2.nq").write_bytes(text(range(5, 7)))
    with pytest.warns(PenstockWarning, match="drop has changed since it was read"):
        assert read(tmp_path, folder) == 5


def test_the_wrong_file_leaves_no_trace(tmp_path: Path) -> None:
    file = tmp_path / "s.nq"
    file.write_text("a,b\n1,2\n")
    for _ in range(2):
        with pytest.raises(LoadError) as caught:
            read(tmp_path, file)
        assert str(caught.value) == f"{file}: none of its 2 lines is timestamped N-Quads; line 1: this is CSV{LIKE}"
    file.write_bytes(text(range(5)))
    assert read(tmp_path, file) == 5
    assert StreamLog(tmp_path / "log").counts(STREAM).malformed == 0


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a,b\n" * 1000, f"none of its 1,000 lines is timestamped N-Quads; line 1: this is CSV{LIKE}"),
        (
            b"# note\n" + b"<http://e/s> <http://e/p> <http://e/o> .\n" * 2000,
            f"none of its 2,000 lines is timestamped N-Quads; line 2: the line has no timestamp{LIKE}",
        ),
        (b"[\n", f"its only line is not timestamped N-Quads; line 1: this is JSON{LIKE}"),
    ],
)
def test_one_wrong_file_in_a_folder_is_told_once(tmp_path: Path, content: bytes, sentence: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.nq").write_bytes(text(range(5)) + b"one bad line\n")
    (folder / "2.nq").write_bytes(content)
    with pytest.warns(PenstockWarning) as caught:
        assert read(tmp_path, folder) == 5
    assert [str(warning.message) for warning in caught] == [f"{folder / '2.nq'}: {sentence}"]


def test_a_folder_of_wrong_files_names_the_first(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.nq").write_text("a,b\n")
    (folder / "2.nq").write_text("a,b\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(LoadError) as caught:
            read(tmp_path, folder)
    assert str(caught.value) == (
        f"{folder}: none of its 2 lines is timestamped N-Quads; {folder / '1.nq'}, line 1: this is CSV{LIKE}"
    )


def test_a_gzip_that_is_cut_off_leaves_no_trace(tmp_path: Path) -> None:
    """Answers to a part of a file would be wrong, so this is an error, after which the whole file can be read."""
    file = tmp_path / "s.nq.gz"
    whole = gzip.compress(text(range(1000)))
    file.write_bytes(whole[:-100])
    with pytest.raises(LoadError) as caught:
        read(tmp_path, file)
    assert str(caught.value) == f"{file}: the gzip file is cut off; no element of it is kept"
    file.write_bytes(whole)
    assert read(tmp_path, file) == 1000


@pytest.mark.parametrize("statistics", [True, False])
def test_parquet_in_place_knows_where_its_elements_are(tmp_path: Path, statistics: bool) -> None:
    file, year = tmp_path / "s.parquet", 365 * 86_400_000_000
    times = [7, *(56 * year + second for second in range(30)), 8_000 * year]
    terms = pa.array(["<a:b>"] * len(times))
    table = pa.table({"s": terms, "p": terms, "o": terms, "ts": pa.array(times, pa.int64())})
    pq.write_table(table, file, row_group_size=10, write_statistics=statistics)
    streams = {STREAM: declare(file, None, None, False, None)}
    sources = BoundedSources(StreamLog(tmp_path / "log"), DeadLetters(tmp_path / "dead"), ManualClock(), streams)
    (segment,) = sources.read(STREAM, no_session, in_place=True)
    assert (segment.rows, segment.first, segment.last) == (32, 7, 8_000 * year)
    assert segment.stretches == (
        Stretch(7, 7, 1), Stretch(56 * year, 56 * year + 29, 30), Stretch(8_000 * year, 8_000 * year, 1),
    )  # fmt: skip

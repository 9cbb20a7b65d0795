"""Sources that end: read once, whatever becomes of them afterwards."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import LoadError, PenstockWarning
from penstock.stream.ingest.bounded_sources import BoundedSources
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.stream_declaration import declare
from penstock.stream.log.stream_log import StreamLog
from penstock.testing import ManualClock
from tests.support.arrivals import STREAM, text


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
        with pytest.raises(LoadError, match=r"s\.nq: none of its 2 lines is timestamped N-Quads$"):
            read(tmp_path, file)
    file.write_bytes(text(range(5)))
    assert read(tmp_path, file) == 5
    assert StreamLog(tmp_path / "log").counts(STREAM).malformed == 0

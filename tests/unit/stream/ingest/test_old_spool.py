"""The spool of an earlier version: each push once, whatever Spark and the log knew of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.stream.ingest.element_reader import of_blocks
from penstock.stream.ingest.elements import Block
from penstock.stream.ingest.log_writer import ArrivedBatch
from penstock.stream.ingest.old_spool import drain_spool
from penstock.stream.log.stream_log import Counts, StreamLog
from tests.support.arrivals import STREAM, text
from tests.unit.stream.ingest.test_log_writer import log, log_writer
from tests.unit.stream.log.test_stream_log import times

OTHER = "http://example.org/other"


def spool_file(root: Path, number: int, *blocks: Block) -> None:
    """A file as the earlier version wrote it."""
    path = root / "spool" / f"{number}.nq"
    path.parent.mkdir(parents=True, exist_ok=True)
    notes = [block.kind or ("-" if block.stamp is None else block.stamp) for block in blocks]
    heads = [f"# {len(block.data)} {note} {block.stream}\n" for block, note in zip(blocks, notes, strict=True)]
    path.write_bytes(b"".join(head.encode() + block.data for head, block in zip(heads, blocks, strict=True)))


def account(root: Path, ends: list[int], commits: int) -> None:
    """Spark's account: the number after the last file of each batch, and how many batches are committed."""
    for folder in ("offsets", "commits"):
        (root / "ingest" / "spool" / folder).mkdir(parents=True)
        (root / "ingest" / "spool" / folder / ".torn.tmp").touch()
    for batch, end in enumerate(ends):
        head = 'v1\n{"batchWatermarkMs":0,"conf":{}}\n'
        (root / "ingest" / "spool" / "offsets" / str(batch)).write_text(f'{head}{{"next": {end}}}')
    for batch in range(commits):
        (root / "ingest" / "spool" / "commits" / str(batch)).write_text("v1\n{}")


def drained(root: Path) -> StreamLog:
    drain_spool(root, log_writer(root, lateness=3), {})
    return log(root)


def test_pushes_that_spark_had_not_seen(tmp_path: Path) -> None:
    for number in range(8, 12):
        spool_file(tmp_path, number, Block(STREAM, text([number])))
    assert times(drained(tmp_path)) == [8, 9, 10, 11]
    assert not (tmp_path / "spool").exists()
    assert times(drained(tmp_path)) == [8, 9, 10, 11]


def test_blocks_of_every_kind(tmp_path: Path) -> None:
    triple = b"<http://e/s> <http://e/p> <http://e/o> .\n"
    spool_file(tmp_path, 0, Block(STREAM, text([5, 1]) + b"bad\n"), Block(OTHER, triple, stamp=-5))
    graph = (
        '<http://e/g> <http://www.w3.org/ns/prov#generatedAtTime> "1970-01-01T00:00:01Z"^^'
        "<http://www.w3.org/2001/XMLSchema#dateTime> . <http://e/g> { <http://e/s> <http://e/p> <http://e/o> }"
    )
    spool_file(tmp_path, 1, Block(STREAM, b"", stamp=8), Block(STREAM, graph.encode(), kind="trig"))
    found = drained(tmp_path)
    assert times(found)[:1] == [5]
    assert times(found)[-1] == 1_000_000
    assert times(found, OTHER) == [-5]
    assert found.advanced_to(STREAM) == 7
    assert (found.counts(STREAM).late, found.counts(STREAM).malformed) == (1, 1)


@pytest.mark.parametrize("held", [False, True])
def test_a_batch_that_was_interrupted_is_committed_once(tmp_path: Path, held: bool) -> None:
    """Batch 1, with the files 1 and 2, had begun, and perhaps it was in the log; file 3 came later."""
    blocks = [Block(STREAM, text([number])) for number in range(4)]
    for number in range(4):
        spool_file(tmp_path, number, blocks[number])
    account(tmp_path, ends=[1, 3], commits=1)
    writer = log_writer(tmp_path, lateness=3)
    writer.write(ArrivedBatch(STREAM, "spool", 0), of_blocks(STREAM, blocks[:1]))
    if held:
        writer.write(ArrivedBatch(STREAM, "spool", 1), of_blocks(STREAM, blocks[1:3]))
    assert times(drained(tmp_path)) == [0, 1, 2, 3]
    assert drained(tmp_path).counts(STREAM) == Counts(4, 0, 0)
    assert not (tmp_path / "ingest" / "spool").exists()


def test_a_spool_that_spark_has_read_is_removed(tmp_path: Path) -> None:
    spool_file(tmp_path, 1, Block(STREAM, text([1])))  # the newest file stayed
    account(tmp_path, ends=[1, 2], commits=2)
    assert times(drained(tmp_path)) == []
    assert not (tmp_path / "spool").exists()


def test_a_crash_while_the_spool_is_drained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        spool_file(tmp_path, number, Block(STREAM, text([number])), Block(OTHER, text([number])))
    account(tmp_path, ends=[1], commits=0)
    commit, calls = StreamLog.commit, list[str]()

    def crashes(self: StreamLog, stream: str, *arguments: object, **options: object) -> None:
        calls.append(stream)
        if len(calls) == 4:
            raise KeyboardInterrupt
        commit(self, stream, *arguments, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(StreamLog, "commit", crashes)
        with pytest.raises(KeyboardInterrupt):
            drained(tmp_path)
    found = drained(tmp_path)
    assert times(found) == times(found, OTHER) == [0, 1, 2]

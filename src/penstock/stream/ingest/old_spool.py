"""Brings the spool of an earlier version into the log: pushes that were durable, and that the log may not hold.

    ROOT/spool/<number>.nq      blocks, each a line `# <bytes> <stamp or -> <stream>` and so many bytes of whole lines,
                                or `# <bytes> <kind of document> <stream>` and a document
    ROOT/ingest/spool/          Spark's account of the batches: `offsets/<batch>`, with the number after its last file,
                                is written before a batch runs, and `commits/<batch>` after it

Whatever was interrupted is repeated: the log recognises batches that it holds by their number.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from penstock.stream.ingest.element_reader import of_blocks
from penstock.stream.ingest.elements import Block
from penstock.stream.ingest.log_writer import ArrivedBatch, LogWriter
from penstock.stream.ingest.stream_declaration import Declared
from penstock.tuning import DEFAULT, Tuning

__all__ = ["drain_spool"]

_SOURCE = "spool"


def drain_spool(root: Path, log_writer: LogWriter, streams: Mapping[str, Declared], tuning: Tuning = DEFAULT) -> None:
    """Write the pushes of the spool to the log, then remove it. Without a spool, this does nothing."""
    folder, account = root / "spool", root / "ingest" / "spool"
    if not folder.is_dir():
        return
    for number, files in _batches(folder, account):
        blocks: dict[str, list[Block]] = {}
        for block in (block for file in files for block in _read(file)):
            blocks.setdefault(block.stream, []).append(block)
        for stream, some in blocks.items():
            batch = ArrivedBatch(stream, _SOURCE, number)
            properties = streams.get(stream, Declared()).properties
            log_writer.write(batch, of_blocks(stream, some, batch.name, properties, tuning))
    shutil.rmtree(folder)
    shutil.rmtree(account, ignore_errors=True)


def _batches(folder: Path, account: Path) -> Iterator[tuple[int, list[Path]]]:
    """The batches that Spark does not know to be read: that which it had begun, and then each further file."""
    last = max(_numbers(account / "offsets"), default=-1)
    begin, end = 0, 0
    if last >= 0:
        end = _offset(account, last)
        begin = end if last in _numbers(account / "commits") else (_offset(account, last - 1) if last else 0)
    files = {number: folder / f"{number}.nq" for number in _numbers(folder, ".nq")}
    yield last, [file for number, file in files.items() if begin <= number < end]
    yield from enumerate(([file] for number, file in files.items() if number >= end), last + 1)


def _numbers(folder: Path, suffix: str = "") -> list[int]:
    names = (path.name.removesuffix(suffix) for path in folder.glob(f"*{suffix}"))
    return sorted(int(name) for name in names if name.isdecimal())


def _offset(account: Path, batch: int) -> int:
    """The offset in a file of Spark's account: a version, a line about the query, and a line for each source."""
    return int(json.loads((account / "offsets" / str(batch)).read_text().splitlines()[2])["next"])


def _read(path: Path) -> Iterator[Block]:
    content = path.read_bytes()
    start = 0
    while start < len(content):
        end = content.index(b"\n", start)
        size, note, stream = content[start + 2 : end].decode().split(" ", 2)
        start = end + 1 + int(size)
        kind = note if note.isalpha() else None
        yield Block(stream, content[end + 1 : start], None if kind or note == "-" else int(note), kind)

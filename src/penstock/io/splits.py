"""Files of lines, cut into pieces that tasks read on their own.

A plain file is cut by bytes: a line belongs to the piece in which it begins, so the file need not be read to
cut it. A gzipped one can only be read from its start, and is one piece. `pyarrow.fs` opens them, so that a path may
as well be `hdfs://…` or `s3://…`.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from penstock.errors import LoadError
from penstock.tuning import DEFAULT

__all__ = ["Split", "absolute", "chunks", "filesystem", "line_of", "parquet_file", "splits"]

_NAMES = ("nq", "nquads", "trig", "jsonld", "ndjsonld", "jelly", "messages.nt", "messages.ttl")
_SUFFIXES = tuple(f".{name}{gz}" for gz in ("", ".gz") for name in _NAMES)

_SHORTER = "the file has become shorter while it was read"
_CLEARER = {
    "Truncated compressed stream": "the gzip file is cut off",
    "zlib inflate failed": "the gzip file is damaged",
    "Permission denied": "Permission denied",
}


@dataclass(frozen=True, slots=True)
class Split:
    """The lines of a file that begin at these bytes, from `start` up to `end`; None: the whole file, gzipped or not."""

    path: str
    start: int = 0
    end: int | None = None


def splits(source: str | PathLike[str], size: int = DEFAULT.split_bytes) -> list[Split]:
    """The pieces of a file, or of the files of a stream in a folder by their names, in order."""
    name = absolute(source)
    with _one_sentence(str(source)):
        system, path = filesystem(name)
        info = system.get_file_info(path)
        if info.type == fs.FileType.NotFound:
            raise LoadError(f"{source}: there is no such file or folder")
        files = [info] if info.type == fs.FileType.File else _stream_files(system, path)
    if not files:
        raise LoadError(f"{source}: the folder holds no file named {', '.join(_SUFFIXES)}")
    return [split for file in files for split in _cut(_uri(name, path, file.path), file.size, size)]


def chunks(split: Split, size: int = DEFAULT.chunk_bytes) -> Iterator[bytes]:
    """The lines of a piece, in portions of about that many bytes, each of whole lines.

    A byte-order mark at the start of the file is left out.
    """
    portions = _portions(split, size)
    if split.start == 0 and (first := next(portions, b"").removeprefix(BOM_UTF8)):
        yield first
    yield from portions


def _portions(split: Split, size: int) -> Iterator[bytes]:
    with _one_sentence(split.path):
        system, path = filesystem(split.path)
        if split.end is None:
            gzipped = _is_gzip(path)
            least = 0 if gzipped else system.get_file_info(path).size or 0
            with system.open_input_stream(path, compression="gzip" if gzipped else None) as stream:
                yield from _stream(stream, size, least)
        else:
            with system.open_input_file(path) as file:
                yield from _range(file, split.start, split.end, size)


def line_of(split: Split) -> int:
    """The number, in the whole file, of the first line of a piece. Reads all that is before it."""
    before = Split(split.path, 0, split.start) if split.start else None
    return 1 + sum(chunk.count(b"\n") for chunk in (chunks(before) if before else ()))


def absolute(source: str | PathLike[str]) -> str:
    """A path or URI that means the same to a task in another folder, without a slash at its end."""
    name = str(source)
    return name.rstrip("/") if "://" in name else str(Path(name).absolute())


def parquet_file(path: str, **options: Any) -> pq.ParquetFile:
    """The Parquet file at a path with or without a scheme."""
    system, inside = filesystem(path)
    return pq.ParquetFile(system.open_input_file(inside), **options)


def filesystem(name: str) -> tuple[fs.FileSystem, str]:
    """The file system that an absolute path or URI leads to, and its path there."""
    return fs.FileSystem.from_uri(name)


def _stream_files(system: fs.FileSystem, folder: str) -> list[fs.FileInfo]:
    """The files of a folder that a stream can be read from and that are not hidden, by name."""
    entries = system.get_file_info(fs.FileSelector(folder))
    files = [f for f in entries if f.type == fs.FileType.File and f.base_name.lower().endswith(_SUFFIXES)]
    return sorted((f for f in files if f.base_name[0] not in "._"), key=lambda f: f.base_name)


def _uri(name: str, path: str, file: str) -> str:
    """A file as the user would name it: the same scheme and host, another path."""
    if "://" not in name:
        return file
    return name + quote(file.removeprefix(path.removesuffix("/")))


def _cut(path: str, length: int, size: int) -> list[Split]:
    """Pieces of one length and no longer than that; an even number of them, as cores mostly are, so that none idles."""
    if _is_gzip(path):
        return [Split(path)]
    count = -(-length // size)
    count += count % 2 if count > 1 else 0
    return [Split(path, length * i // count, length * (i + 1) // count) for i in range(count)]


def _is_gzip(path: str) -> bool:
    return path.lower().endswith(".gz")


def _stream(stream: pa.NativeFile, size: int, least: int) -> Iterator[bytes]:
    """The lines in portions, from at least that many bytes. The rest after the last newline of a portion goes before
    the next."""
    rest, seen = b"", 0
    while data := stream.read(size):
        seen += len(data)
        data = rest + data
        end = data.rfind(b"\n") + 1
        rest = data[end:]
        if end:
            yield data[:end]
    if seen < least:
        raise OSError(_SHORTER)
    if rest:
        yield rest


def _range(file: pa.NativeFile, start: int, end: int, size: int) -> Iterator[bytes]:
    """From the first line that begins at `start` or later to the end of the last one that begins before `end`.

    The end of a portion is looked up before it is read, so that its bytes are never copied.
    """
    position = _after_newline(file, start - 1) if start else 0
    stop = _after_newline(file, end - 1) if position < end else position
    while position < stop:
        behind = _after_newline(file, min(position + size, stop) - 1)
        file.seek(position)
        data = file.read(behind - position)
        if not data or len(data) < behind - position or (behind < end and not data.endswith(b"\n")):
            if whole := data[: data.rfind(b"\n") + 1]:
                yield whole
            raise OSError(_SHORTER)
        yield data
        position = behind


def _after_newline(file: pa.NativeFile, position: int, size: int = 1 << 12) -> int:
    """The place behind the first newline from there on, or the file's end."""
    file.seek(position)
    while data := file.read(size):
        if (at := data.find(b"\n")) >= 0:
            return position + at + 1
        position += len(data)
    return position


@contextmanager
def _one_sentence(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        said = str(error)
        clearer = (sentence for mark, sentence in _CLEARER.items() if mark in said)
        reason = next(clearer, getattr(error, "strerror", None) or said.splitlines()[0])
        raise LoadError(f"{name}: {reason}") from error

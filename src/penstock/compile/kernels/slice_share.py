"""A share of slices: those that one Spark task evaluates, of one query or of several. Shares and answers are bytes.

The code of this module is sent to workers by value. A worker loads it once, so that its kernel lasts from task to task.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import duckdb
import pyarrow as pa

from penstock.compile.kernels.slice_kernel import Kernel, Program, Scan, Slice

__all__ = ["Work", "evaluate", "pack", "unpack", "unpack_rows"]

_CODEC: Final = "zstd"
_LENGTH = 8  # of the bytes before the compressed ones, which say how many there were
Settings = tuple[int, int, int]  # of a kernel: its memory, Java's version, and the number of programs that it keeps
_kernels: dict[Settings, Kernel] = {}  # of this worker


@dataclass(frozen=True, slots=True)
class Work:
    """A slice of the query with that number, its program and the tables that it reads."""

    number: int
    program: Program
    tables: Mapping[str, pa.Table]
    piece: Slice


_CLASSES = {kind.__name__: kind for kind in (Work, Program, Scan, Slice)}


def pack(share: Iterable[Work], settings: Settings, most: int, large: Collection[int] = ()) -> bytes:
    """Return a share as bytes. They name the classes above, and the tables with the identities `large`: the worker has
    both. It is evaluated by a kernel with these settings, and its answers are sent in parts of at most `most` rows.

    The bytes are compressed: they go to Java as text, and from there to every task. Windows of one stream overlap."""
    pickled = io.BytesIO()
    _Pickler(pickled, large).dump((settings, most, list(share)))
    content = pickled.getvalue()
    return len(content).to_bytes(_LENGTH) + pa.compress(content, _CODEC, asbytes=True)


def evaluate(packed: bytes, large: Mapping[int, pa.Table]) -> Iterator[tuple[int, bytes | None, str]]:
    """Evaluate a share: the number of a query, and a part of its rows; None and the reason if DuckDB fails."""
    settings, most, share = unpack(packed, large)
    kernel = _kernels.get(settings) or _kernels.setdefault(settings, Kernel(*settings))
    for work in share:
        try:
            rows = kernel.evaluate(work.program, work.tables, work.piece)
        except duckdb.Error as error:
            yield work.number, None, str(error)
        else:
            yield from ((work.number, part, "") for part in _pack_rows(rows, most))


def unpack(packed: bytes, large: Mapping[int, pa.Table]) -> tuple[Settings, int, list[Work]]:
    """Return the settings of the kernel, the most rows of a part, and the share."""
    length = int.from_bytes(packed[:_LENGTH])
    content = pa.decompress(packed[_LENGTH:], length, _CODEC, asbytes=True)
    unpacked: tuple[Settings, int, list[Work]] = _Unpickler(content, large).load()
    return unpacked


def unpack_rows(parts: Iterable[bytes]) -> pa.Table:
    """Return the rows of an answer, of which there is one part at least."""
    return pa.concat_tables([pa.ipc.open_stream(part).read_all() for part in parts])


def _pack_rows(rows: pa.Table, most: int) -> Iterator[bytes]:
    """Return the rows as bytes. Terms repeat: compression takes less time than the copies of the bytes that it saves,
    and there are several between a worker and the driver."""
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    for start in range(0, max(1, rows.num_rows), most):
        packed = pa.BufferOutputStream()
        with pa.ipc.new_stream(packed, rows.schema, options=options) as stream:
            stream.write_table(rows.slice(start, most))
        yield packed.getvalue().to_pybytes()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, large: Collection[int]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._large = large

    def persistent_id(self, value: Any) -> str | int | None:
        if isinstance(value, type):
            return value.__name__ if value in _CLASSES.values() else None
        return id(value) if id(value) in self._large else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, packed: bytes, large: Mapping[int, pa.Table]) -> None:
        super().__init__(io.BytesIO(packed))
        self._large = large

    def persistent_load(self, key: str | int) -> Any:
        return _CLASSES[key] if isinstance(key, str) else self._large[key]

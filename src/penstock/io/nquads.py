"""Timestamped N-Quads, and N-Triples, as Arrow tables: fast where lines are as usual, exact everywhere.

    <s> <p> <o> "2009-07-20T22:48:52Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
    <s> <p> <o> <g> "2009-07-20T22:48:52Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
    <s> <p> <o> "2009-07-20T22:48:52Z/2009-07-20T22:50:00Z"^^<urn:penstock:interval> .

The last is how Penstock itself keeps an element that lasts. Terms are encoded as `penstock.model.term_encoding` says,
times are microseconds since 1970. The kernels of `nquads_fast` read what they can prove to be well-formed; all other
lines go one by one through pyoxigraph (`nquads_slow`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2s

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.io.columns import ELEMENTS, LOGGED, slim, table_of
from penstock.io.nquads_fast import Block, Columns, read_block
from penstock.io.nquads_grammar import PLAIN_LINES, TIMED_LINES
from penstock.io.nquads_reasons import LONGEST_LINE, too_long
from penstock.io.nquads_slow import BadLine, Reading, Row, read_lines
from penstock.tuning import DEFAULT, Tuning

__all__ = ["BadLine", "Parsed", "parse", "parse_ntriples", "scope"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """The elements in the order of their lines, with or without the columns that not all of them need
    (`penstock.io.columns`), the lines that hold none though they should, and how many lines there are."""

    elements: pa.Table
    bad: list[BadLine]
    lines: int = 0
    places: npt.NDArray[np.int64] | None = None  # the number of each element's line, where lines are read


def parse(data: bytes, stream: str, stamp: int | None = None, tuning: Tuning = DEFAULT) -> Parsed:
    """The elements in some whole lines (the last may lack its newline) of a stream.

    Blank nodes belong to the stream: the same label there is the same node, and in no other stream or graph. A line
    without a time is bad unless `stamp` says which it shall be.
    """
    return _parse(data, Reading(scope(stream), stamp), tuning)


def parse_ntriples(data: bytes, scope: str, tuning: Tuning = DEFAULT) -> Parsed:
    """The triples (s, p, o) in some whole lines of N-Triples; `scope` goes before every blank node's label."""
    parsed = _parse(data, Reading(scope, stamp=0, timed=False), tuning)
    return replace(parsed, elements=parsed.elements.drop_columns(["ts"]))


def scope(stream: str) -> str:
    """The prefix of a stream's blank node labels: always the same, and different for every stream."""
    return f"s{blake2s(stream.encode(), digest_size=8).hexdigest()}."


def _parse(data: bytes, reading: Reading, tuning: Tuning) -> Parsed:
    tables: list[pa.Table] = [ELEMENTS.empty_table()]
    places: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)]
    bad: list[BadLine] = []
    line = 1
    for raw in _blocks(data, tuning.block_bytes):
        block, broken = _readable(raw, line, reading)
        columns = _fast(block, reading, tuning.slow_lines)
        rows, wrong = read_lines(_unread_lines(block, columns, line), reading)
        for numbers, table in _tables(columns, rows, line, reading):
            tables.append(table)
            places.append(numbers)
        bad += sorted(broken + wrong, key=lambda mistake: mistake.line)
        line += len(block.lines)
    return Parsed(pa.concat_tables(tables, promote_options="default"), bad, line - 1, np.concatenate(places))


def _blocks(data: bytes, size: int) -> Iterator[pa.Buffer]:
    """The data in pieces of whole lines, every one with its newline, none with a carriage return before it."""
    if not data.endswith(b"\n") and data:
        data += b"\n"
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    buffer, start = pa.py_buffer(data), 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + size) + 1 or data.index(b"\n", start) + 1
        yield buffer.slice(start, end - start)
        start = end


def _readable(raw: pa.Buffer, line: int, reading: Reading) -> tuple[Block, list[BadLine]]:
    """The block, with lines that are not UTF-8 or too long emptied and reported."""
    if raw.size <= LONGEST_LINE:
        with suppress(pa.ArrowInvalid):
            return Block.of(raw), []
    lines = raw.to_pybytes().split(b"\n")[:-1]
    bad = [
        BadLine(line + i, text.decode(errors="replace"), reason)
        for i, text in enumerate(lines)
        if (reason := _broken(text, reading))
    ]
    emptied = {malformed.line - line for malformed in bad}
    kept = b"".join(b"\n" if i in emptied else text + b"\n" for i, text in enumerate(lines))
    return Block.of(pa.py_buffer(kept)), bad


def _broken(text: bytes, reading: Reading) -> str:
    if len(text) > LONGEST_LINE:
        return too_long(len(text), timed=reading.stamp is None)
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8: byte 0x{text[error.start]:02x} at byte {error.start + 1} of the line"
    return ""


def _fast(block: Block, reading: Reading, few: int) -> list[Columns]:
    """The elements that the kernels can read: lines with times where these are allowed, else lines without."""
    if len(block.lines) < few:
        return []
    tables = [read_block(block, TIMED_LINES, reading.scope, timed=True)] if reading.timed else []
    if reading.stamp is not None and (not tables or len(tables[0].lines) < len(block.lines)):
        tables.append(read_block(block, PLAIN_LINES, reading.scope, timed=False))
    return tables


def _unread_lines(block: Block, columns: list[Columns], line: int) -> Iterator[tuple[int, str]]:
    """The other lines, numbered."""
    unread = np.ones(len(block.lines), np.bool_)
    for parsed in columns:
        unread[parsed.lines] = False
    if not unread.any():
        return iter(())
    texts = block.lines.filter(pa.array(unread)).to_pylist()
    return ((line + int(i), str(text)[:-1]) for i, text in zip(np.flatnonzero(unread), texts, strict=True))


def _tables(
    columns: list[Columns], rows: list[Row], line: int, reading: Reading
) -> list[tuple[npt.NDArray[np.int64], pa.Table]]:
    """All that was read of a block, in the order of its lines, with their numbers."""
    read = [(part.lines + line, _table(part, reading)) for part in columns if len(part.lines)]
    if rows:
        read.append((np.array([row[0] for row in rows]), slim(table_of([row[1:] for row in rows]))))
    if len(read) < 2:
        return read
    numbers = np.concatenate([numbers for numbers, _ in read])
    order = np.argsort(numbers, kind="stable")
    mixed = pa.concat_tables([table for _, table in read], promote_options="default").take(order)
    return [(numbers[order], mixed.combine_chunks())]


def _table(columns: Columns, reading: Reading) -> pa.Table:
    ts = columns.ts if columns.ts is not None else np.full(len(columns.lines), reading.stamp, np.int64)
    table = pa.Table.from_arrays([columns.s, columns.p, columns.o, pa.array(ts)], schema=ELEMENTS)
    return table if columns.g is None else table.append_column(LOGGED.field("g"), columns.g)

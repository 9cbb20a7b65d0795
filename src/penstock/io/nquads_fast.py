"""Whole blocks of lines at once: RE2 proves them well-formed, numpy finds where terms begin and end, Arrow copies them.

A line that the expression of `nquads_grammar` matches has its subject before the first gap, its predicate before the
second, and its time (which holds no gap) at the end; what lies between is the object. So the positions of the gaps are
all that is needed, and no term is touched before it is copied to its column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.io.nquads_grammar import DATE_TIME

__all__ = ["Block", "Columns", "read_block"]

Positions: TypeAlias = npt.NDArray[np.int32]
Indices: TypeAlias = npt.NDArray[np.intp]
Mask: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Times: TypeAlias = npt.NDArray[np.int64]
Bounds: TypeAlias = tuple[Positions, Positions]

_SPACE, _TAB, _NEWLINE, _QUOTE, _BACKSLASH, _UNDERSCORE, _CLOSE = b' \t\n"\\_>'
_WINDOW = 1 << 16
_TYPED = len(f'"^^<{DATE_TIME}>')
_STAMP = len("Stamp")
_LONGEST = len("2009-07-20T22:48:52.123456")
_AS_STRING = b"^^<http://www.w3.org/2001/XMLSchema#string>"
_NOT_ALONE = tuple(b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#%s>" % n for n in (b"langString", b"dirLangString"))
_CAPITAL = "@[A-Za-z0-9-]*[A-Z][A-Za-z0-9-]*$"
_HARD = rf'\\[^"]|{_CAPITAL}'
_ESCAPE = re.compile(r"\\(?:u(.{4})|U(.{8})|(.))")
_CONTROLS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of UTF-8, each with its newline: where they start, and where the newlines are."""

    data: pa.Buffer
    bytes: Bytes
    starts: Positions
    ends: Positions
    lines: pa.StringArray

    @classmethod
    def of(cls, data: pa.Buffer) -> Block:
        """`pa.ArrowInvalid` if it is not UTF-8."""
        raw = np.frombuffer(memoryview(data), np.uint8)
        ends = _positions(raw, _NEWLINE)
        offsets = np.concatenate([np.zeros(1, np.int32), ends + np.int32(1)])
        lines = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets.data), data)
        lines.validate(full=True)
        return cls(data, raw, offsets[:-1], ends, lines)


@dataclass(frozen=True, slots=True)
class Columns:
    """The elements of the lines that were read, and the indices of those lines."""

    lines: Indices
    s: pa.StringArray
    p: pa.StringArray
    o: pa.StringArray
    ts: Times | None


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Where the terms of some lines begin and end, and where the text of the time does."""

    lines: Indices
    s: Bounds
    p: Bounds
    o: Bounds
    time: Bounds


def read_block(block: Block, pattern: str, scope: str, *, timed: bool) -> Columns:
    """The elements of those lines that match the pattern, one of the two in `nquads_grammar`."""
    matching = pc.match_substring_regex(block.lines, pattern).to_numpy(zero_copy_only=False)
    cuts = _cut(block, np.flatnonzero(matching), timed=timed)
    s, p, o = (_column(block, *bounds) for bounds in (cuts.s, cuts.p, cuts.o))
    o = _rewritten(o, _needs_rewriting(block, cuts))
    s, o = (_scoped(term, block.bytes[bounds[0]], scope) for term, bounds in ((s, cuts.s), (o, cuts.o)))
    return Columns(cuts.lines, s, p, o, _times(block, *cuts.time) if timed else None)


def _cut(block: Block, lines: Indices, *, timed: bool) -> _Cuts:
    """Where the terms of these lines are, but for literals that say rdf:langString and have no language."""
    raw, gaps = block.bytes, _positions(block.bytes, _SPACE, _TAB)
    starts, dots = block.starts[lines], block.ends[lines] - 1
    first = np.searchsorted(gaps, starts)
    stops = dots - ((raw[dots - 1] == _SPACE) | (raw[dots - 1] == _TAB))
    time_gaps = gaps[np.searchsorted(gaps, stops) - 1] if timed else stops
    s_ends, p_ends = gaps[first], gaps[first + 1]
    likely = np.flatnonzero((raw[time_gaps - 1] == _CLOSE) & (raw[time_gaps - 2] == ord("g")))  # as all three suffixes
    refused = _ends_with(raw, time_gaps, likely, *_NOT_ALONE)
    if refused.any():
        return _cut(block, lines[~refused], timed=timed)
    o_ends = time_gaps - len(_AS_STRING) * _ends_with(raw, time_gaps, likely, _AS_STRING)
    time = time_gaps + 2, _time_ends(raw, stops) if timed else stops
    return _Cuts(lines, (starts, s_ends), (s_ends + 1, p_ends), (p_ends + 1, o_ends), time)


def _positions(raw: Bytes, *values: int) -> Positions:
    """Where one of these bytes is. By small windows: fresh memory for a mask of the whole would cost more than it."""
    found = [np.zeros(0, np.intp)]
    for start in range(0, len(raw), _WINDOW):
        window = raw[start : start + _WINDOW]
        here = window == values[0]
        for value in values[1:]:
            here |= window == value
        found.append(np.flatnonzero(here) + start)
    return np.concatenate(found).astype(np.int32)


def _ends_with(raw: Bytes, ends: Positions, likely: Indices, *suffixes: bytes) -> Mask:
    """Which of the terms that end there, and of those only likely ones, end in one of the suffixes."""
    found = np.zeros(len(ends), np.bool_)
    for suffix in suffixes:
        some = likely[ends[likely] >= len(suffix)]
        if len(some):
            windows = np.lib.stride_tricks.sliding_window_view(raw, len(suffix))[ends[some] - len(suffix)]
            found[some] |= (windows == np.frombuffer(suffix, np.uint8)).all(axis=1)
    return found


def _time_ends(raw: Bytes, stops: Positions) -> Positions:
    """Where the text of a time ends, which may be plain, an xsd:dateTime or an xsd:dateTimeStamp."""
    plain, stamp = raw[stops - 1] == _QUOTE, raw[stops - 2] == ord("p")
    return stops - np.where(plain, 1, _TYPED + _STAMP * stamp).astype(np.int32)


def _column(block: Block, starts: Positions, ends: Positions) -> pa.StringArray:
    """The texts between these positions. Arrow sees what lies between two as a value too, and takes every second."""
    offsets = np.empty(2 * len(starts) + 1, np.int32)
    offsets[:-1:2], offsets[1::2], offsets[-1] = starts, ends, len(block.bytes)
    values = pa.StringArray.from_buffers(2 * len(starts), pa.py_buffer(offsets.data), block.data)
    return values.take(np.arange(0, 2 * len(starts), 2))


def _times(block: Block, starts: Positions, ends: Positions) -> Times:
    """Microseconds since 1970: Arrow reads the local time as far as the microsecond; then the zone is taken off."""
    raw, last, sign = block.bytes, block.bytes[ends - 1], block.bytes[ends - 6]
    zoned = (sign == ord("+")) | (sign == ord("-"))
    local_ends = ends - (last == ord("Z")) - 6 * zoned
    texts = _column(block, starts, np.minimum(local_ends, starts + _LONGEST).astype(np.int32))
    times = texts.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy()
    return times - np.where(zoned, _offsets(raw, ends), 0) if zoned.any() else times


def _offsets(raw: Bytes, ends: Positions) -> Times:
    """The zones +hh:mm that end there, in microseconds."""
    hours, minutes = ((raw[ends - at] - 48).astype(np.int64) * 10 + (raw[ends - at + 1] - 48) for at in (5, 2))
    return np.where(raw[ends - 6] == ord("-"), -1, 1) * (hours * 60 + minutes) * 60_000_000


def _needs_rewriting(block: Block, cuts: _Cuts) -> Mask:
    """Literals with escapes, or with capitals in their language tag."""
    starts, ends = cuts.o
    mask = np.zeros(len(starts), np.bool_)
    if len(escapes := _positions(block.bytes, _BACKSLASH)):
        mask |= np.searchsorted(escapes, starts) < np.searchsorted(escapes, ends)
    last = block.bytes[ends - 1]
    tagged = np.flatnonzero((block.bytes[starts] == _QUOTE) & (last != _QUOTE) & (last != _CLOSE))
    mask[tagged] |= _has_capitals(block.bytes, ends[tagged])
    return mask


def _has_capitals(raw: Bytes, ends: Positions) -> Mask:
    """Which of the language tags that end there have one. Going back from the end, each stops at its @."""
    found, at, open_ = np.zeros(len(ends), np.bool_), ends - 1, np.arange(len(ends))
    while len(open_):
        last = raw[at[open_]]
        found[open_] |= (last >= ord("A")) & (last <= ord("Z"))
        open_ = open_[last != ord("@")]
        at[open_] -= 1
    return found


def _rewritten(o: pa.StringArray, mask: Mask) -> pa.StringArray:
    if not mask.any():
        return o
    return _replaced(o, mask, _canonical_all(o.take(np.flatnonzero(mask))))


def _canonical_all(literals: pa.StringArray) -> pa.StringArray:
    """Most have no other escape than that of a quotation mark, which Arrow replaces; the others go one by one."""
    simple: pa.StringArray = pc.replace_substring(literals, '\\"', '"')
    hard = pc.match_substring_regex(literals, _HARD).to_numpy(zero_copy_only=False)
    if not hard.any():
        return simple
    new = [_canonical(str(text)) for text in literals.take(np.flatnonzero(hard)).to_pylist()]
    return _replaced(simple, hard, pa.array(new, pa.string()))


def _canonical(literal: str) -> str:
    lexical, quote, tail = literal.rpartition('"')
    if "\\" in lexical:
        lexical = _ESCAPE.sub(_unescaped, lexical)
    return lexical + quote + (tail.lower() if tail.startswith("@") else tail)


def _unescaped(escape: re.Match[str]) -> str:
    four, eight, other = escape.groups()
    return _CONTROLS.get(other, other) if other else chr(int(four or eight, 16))


def _scoped(terms: pa.StringArray, first_bytes: Bytes, scope: str) -> pa.StringArray:
    """Blank nodes with their scope before their label."""
    blank = first_bytes == _UNDERSCORE
    if not blank.any():
        return terms
    return _replaced(terms, blank, pc.binary_replace_slice(terms.take(np.flatnonzero(blank)), 0, 2, f"_:{scope}"))


def _replaced(texts: pa.StringArray, mask: Mask, new: pa.StringArray) -> pa.StringArray:
    result: pa.StringArray = pc.replace_with_mask(texts, pa.array(mask), new)
    return result

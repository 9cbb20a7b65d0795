"""Whole blocks of lines at once: RE2 proves them well-formed, numpy finds where terms begin and end, Arrow copies them.

A line that the expression of `nquads_grammar` matches has its subject before the first gap, its predicate before the
second, and its time (which holds no gap) at the end; what lies between is the object, and the graph's name if there is
one. So the places of the gaps are all that is needed, and no term is touched before it is copied to its column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.io.nquads_block import Block, Bytes, Indices, Mask, slices
from penstock.io.nquads_grammar import DATE_TIME
from penstock.io.nquads_terms import lowered, replaced, scoped, unescaped

__all__ = ["Block", "Columns", "read_block"]

Times: TypeAlias = npt.NDArray[np.int64]
Bounds: TypeAlias = tuple[Indices, Indices]

_OPEN, _UNDERSCORE = b"<_"
_TOGETHER = 16  # lines
_LONGEST = len("2009-07-20T22:48:52.123456")
_AS_STRING = b"^^<http://www.w3.org/2001/XMLSchema#string>"
_NOT_ALONE = tuple(b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#%s>" % n for n in (b"langString", b"dirLangString"))
_AFTER_TIME = np.full(256, len('"'))  # bytes behind the text of a time, by the last but one of them
_AFTER_TIME[ord("e")] = len(f'"^^<{DATE_TIME}>')
_AFTER_TIME[ord("p")] = len(f'"^^<{DATE_TIME}Stamp>')


@dataclass(frozen=True, slots=True)
class Columns:
    """The elements of the lines that were read, and the indices of those lines; no `g` if none is in a graph."""

    lines: Indices
    s: pa.StringArray
    p: pa.StringArray
    o: pa.StringArray
    ts: Times | None
    g: pa.StringArray | None


@dataclass(frozen=True, slots=True)
class _Cuts:
    """The places where the terms of some lines and the texts of their times begin and end; the graphs of a few rows."""

    lines: Indices
    s: Bounds
    p: Bounds
    o: Bounds
    time: Bounds
    named: Indices
    g: Bounds


def read_block(block: Block, pattern: str, scope: str, *, timed: bool) -> Columns:
    """The elements of those lines that match the pattern, one of the two in `nquads_grammar`."""
    cuts = _cut(block, np.flatnonzero(_matching(block, pattern)), timed=timed)
    s, p, o, g = (slices(block.data, *bounds) for bounds in (cuts.s, cuts.p, cuts.o, cuts.g))
    o = lowered(_without_escapes(block, cuts.lines, o), block.bytes, *cuts.o)
    s, o, g = (
        scoped(term, block.bytes[starts], scope) for term, (starts, _) in ((s, cuts.s), (o, cuts.o), (g, cuts.g))
    )
    times = _times(block, *cuts.time) if timed else None
    return Columns(cuts.lines, s, p, o, times, _spread(g, cuts.named, len(s)) if len(g) else None)


def _matching(block: Block, pattern: str) -> Mask:
    """Whether each line matches. Some are tried at once, since most match and a search costs as much as many bytes."""
    matching = np.repeat(_matches(block.together(_TOGETHER), pattern), _TOGETHER)[: len(block.lines)]
    alone = np.flatnonzero(~matching)
    if len(alone):
        matching[alone] = _matches(block.lines.take(alone), pattern)
    return matching


def _matches(texts: pa.StringArray, pattern: str) -> Mask:
    return pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)


def _cut(block: Block, lines: Indices, *, timed: bool) -> _Cuts:
    """The places of the terms of these lines, but for literals that say rdf:langString and have no language."""
    raw, marks, first, last = block.bytes, block.marks, block.firsts[lines], block.newlines[lines] - 1
    s_ends, p_ends, stops = marks[first], marks[first + 1], marks[last + 1] - 1
    spaced = marks[last] == stops - 1  # before the dot
    stops, last = stops - spaced, last - spaced
    o_ends = marks[last] if timed else stops
    named, g = _graphs(block, p_ends, last) if timed else (lines[:0], (lines[:0], lines[:0]))
    o_ends[named] = g[0] - 1
    likely = np.flatnonzero(raw[o_ends - 2] == ord("g"))  # as in all three suffixes
    refused = _ends_with(raw, o_ends, likely, *_NOT_ALONE)
    if refused.any():
        return _cut(block, lines[~refused], timed=timed)
    time = marks[last] + 2, stops - _AFTER_TIME[raw[stops - 2]]
    o_ends -= len(_AS_STRING) * _ends_with(raw, o_ends, likely, _AS_STRING)
    return _Cuts(lines, (block.starts[lines], s_ends), (s_ends + 1, p_ends), (p_ends + 1, o_ends), time, named, g)


def _graphs(block: Block, p_ends: Indices, last: Indices) -> tuple[Indices, Bounds]:
    """The rows with a graph's name before their last gap, and where that is.

    What stands there may also be the end of a literal with gaps in it, which always has a quotation mark.
    """
    starts = block.marks[last - 1] + 1
    rows = np.flatnonzero(starts > p_ends + 1)
    letters = block.bytes[starts[rows]]
    rows = rows[(letters == _OPEN) | (letters == _UNDERSCORE)]
    bounds = starts[rows], block.marks[last[rows]]
    literal = pc.match_substring(slices(block.data, *bounds), '"').to_numpy(zero_copy_only=False)
    return rows[~literal], (bounds[0][~literal], bounds[1][~literal])


def _ends_with(raw: Bytes, ends: Indices, likely: Indices, *suffixes: bytes) -> Mask:
    """Which of the terms that end there, and of those only likely ones, end in one of the suffixes."""
    mask = np.zeros(len(ends), np.bool_)
    for suffix in suffixes:
        candidates = likely[ends[likely] >= len(suffix)]
        if len(candidates):
            windows = np.lib.stride_tricks.sliding_window_view(raw, len(suffix))[ends[candidates] - len(suffix)]
            mask[candidates] |= (windows == np.frombuffer(suffix, np.uint8)).all(axis=1)
    return mask


def _without_escapes(block: Block, lines: Indices, o: pa.StringArray) -> pa.StringArray:
    """Only objects can have escapes in lines that match."""
    escaped, letters = block.escapes()
    rows = np.flatnonzero(escaped[lines])
    return replaced(o, rows, unescaped(o.take(rows), letters)) if len(rows) else o


def _spread(texts: pa.StringArray, rows: Indices, count: int) -> pa.StringArray:
    """The texts in their rows, and NULL in the others."""
    places = np.full(count, len(texts))
    places[rows] = np.arange(len(texts))
    return pa.concat_arrays([texts, pa.nulls(1, pa.string())]).take(places)


def _times(block: Block, starts: Indices, ends: Indices) -> Times:
    """Microseconds since 1970: Arrow reads the local time as far as the microsecond; then the zone is taken off."""
    raw = block.bytes
    in_utc = raw[ends - 1] == ord("Z")
    other = np.flatnonzero(~in_utc)
    zoned = other[np.isin(raw[ends[other] - 6], np.frombuffer(b"+-", np.uint8))]
    local_ends = ends - in_utc
    local_ends[zoned] -= len("+00:00")
    texts = slices(block.data, starts, np.minimum(local_ends, starts + _LONGEST))
    times = texts.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy()
    return times - _spread_offsets(raw, ends, zoned) if len(zoned) else times


def _spread_offsets(raw: Bytes, ends: Indices, zoned: Indices) -> Times:
    """The zones +hh:mm that end there, in microseconds, and 0 in the rows without."""
    offsets, ends = np.zeros(len(ends), np.int64), ends[zoned]
    hours, minutes = ((raw[ends - at] - 48).astype(np.int64) * 10 + (raw[ends - at + 1] - 48) for at in (5, 2))
    offsets[zoned] = np.where(raw[ends - 6] == ord("-"), -1, 1) * (hours * 60 + minutes) * 60_000_000
    return offsets

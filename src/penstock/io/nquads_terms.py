"""Columns of terms as they are written, made into those that are stored: one text for one term.

Escapes are resolved, language tags are in small letters, and blank nodes have the scope of their stream before them.
"""

from __future__ import annotations

import re
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.io.nquads_block import Bytes, Indices, Mask, slices

__all__ = ["lowered", "replaced", "scoped", "unescaped"]

_UNDERSCORE, _QUOTE, _CLOSE = b'_">'
_SIMPLE = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'"}
_HARD = r"\\[\\uU]"
_ESCAPE = re.compile(r"\\(?:u(.{4})|U(.{8})|(.))")


def scoped(terms: pa.StringArray, first_bytes: Bytes, scope: str) -> pa.StringArray:
    """Blank nodes with their scope before their label."""
    blank = np.flatnonzero(first_bytes == _UNDERSCORE)
    if not len(blank):
        return terms
    return replaced(terms, blank, pc.binary_replace_slice(terms.take(blank), 0, 2, f"_:{scope}"))


def unescaped(literals: pa.StringArray, letters: set[str]) -> pa.StringArray:
    """The texts without their escapes, which have only these letters.

    Simple ones can be replaced in all texts, one after the other, but not where a backslash is escaped itself.
    """
    simple = literals
    for letter in _SIMPLE.keys() & letters:
        simple = pc.replace_substring(simple, f"\\{letter}", _SIMPLE[letter])
    if letters <= _SIMPLE.keys():
        return simple
    hard = np.flatnonzero(pc.match_substring_regex(literals, _HARD).to_numpy(zero_copy_only=False))
    one_by_one = [_ESCAPE.sub(_unescape, str(text)) for text in literals.take(hard).to_pylist()]
    return replaced(simple, hard, pa.array(one_by_one, pa.string()))


def _unescape(escape: re.Match[str]) -> str:
    four, eight, other = escape.groups()
    return _SIMPLE.get(other, other) if other else chr(int(four or eight, 16))


def lowered(terms: pa.StringArray, raw: Bytes, starts: Indices, ends: Indices) -> pa.StringArray:
    """Language tags in small letters; the terms were written between these positions."""
    last = raw[ends - 1]
    rows = np.flatnonzero((last != _QUOTE) & (last != _CLOSE))
    rows = rows[raw[starts[rows]] == _QUOTE]
    lengths, capital = _tags(raw, ends[rows])
    rows, lengths = rows[capital], lengths[capital]
    return replaced(terms, rows, _lowered(terms.take(rows), lengths)) if len(rows) else terms


def _tags(raw: Bytes, ends: Indices) -> tuple[Indices, Mask]:
    """The lengths of the language tags that end there, and which have capitals. Each is read backwards to its @."""
    lengths, capital, open_ = np.ones(len(ends), np.intp), np.zeros(len(ends), np.bool_), np.arange(len(ends))
    while len(open_):
        letters = raw[ends[open_] - lengths[open_]]
        capital[open_] |= (letters >= ord("A")) & (letters <= ord("Z"))
        open_ = open_[letters != ord("@")]
        lengths[open_] += 1
    return lengths, capital


def _lowered(literals: pa.StringArray, lengths: Indices) -> pa.StringArray:
    """The texts with that many of their last bytes in small letters."""
    _, offsets, data = cast(list[pa.Buffer], literals.buffers())
    bounds = np.frombuffer(memoryview(offsets), np.int32)[: len(literals) + 1].astype(np.intp)
    tag_starts = bounds[1:] - lengths
    texts, tags = slices(data, bounds[:-1], tag_starts), slices(data, tag_starts, bounds[1:])
    nothing = cast(pa.StringArray, pa.scalar(""))  # between the two; Arrow takes one for all rows
    return pc.binary_join_element_wise(texts, pc.ascii_lower(tags), nothing)


def replaced(texts: pa.StringArray, rows: Indices, new: pa.StringArray) -> pa.StringArray:
    """The column with other values in these rows."""
    if not len(rows):
        return texts
    places = np.arange(len(texts))
    places[rows] = np.arange(len(texts), len(texts) + len(rows))
    return pa.concat_arrays([texts, new]).take(places)

"""HyperLogLog sketches: estimates of the distinct subjects and objects of each predicate, in a few bytes that merge.

A sketch (Flajolet and others, 2007) has 128 registers: the hash of a term chooses one, and a register keeps the longest
run of zeros that such a hash has begun with. A register is one character, and characters compare as the runs do, so
that of two sketches the greater character at each place is the sketch of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.tuning import DEFAULT, Tuning

__all__ = ["Counted", "Sketches", "among", "estimated", "merged", "sketches"]

_REGISTERS = 128
_ZERO = ord("0")  # the character of an empty register
_FIT = 0.7213 / (1 + 1.079 / _REGISTERS)  # the paper's correction, and 2.5 below is its bound for small numbers

Counted: TypeAlias = tuple[int, str, str]
"""The number of sampled rows, and the sketches of their subjects and of their objects."""

Sketches: TypeAlias = Mapping[str, Counted]
"""Sketches by encoded predicate."""


def sketches(table: pa.Table, tuning: Tuning = DEFAULT) -> Sketches:
    """Return the sketches of the first rows of a table of elements."""
    first_rows = table.slice(0, tuning.sketch_rows)
    predicates = _encoded(first_rows, "p")
    names, rows = predicates.dictionary.to_pylist(), predicates.indices.to_numpy()
    counts = np.bincount(rows, minlength=len(names)).tolist()
    subjects, objects = (_registers(_encoded(first_rows, column), rows, len(names)) for column in ("s", "o"))
    most = min(tuning.sketch_predicates, len(names))  # those that come first
    return {str(names[i]): (counts[i], subjects[i], objects[i]) for i in range(most)}


def merged(parts: Iterable[Sketches]) -> Sketches:
    """Return the sketches of the union of all parts."""
    by_predicate: dict[str, list[Counted]] = {}
    for part in parts:
        for predicate, counted in part.items():
            by_predicate.setdefault(predicate, []).append(counted)
    return {predicate: _one(some) for predicate, some in by_predicate.items()}


def _one(some: Sequence[Counted]) -> Counted:
    counts, subjects, objects = zip(*some, strict=True)
    return sum(counts), _greatest(subjects), _greatest(objects)


def _greatest(texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    rows = np.frombuffer("".join(texts).encode("latin-1"), np.uint8).reshape(len(texts), _REGISTERS)
    return str(rows.max(axis=0).tobytes(), "latin-1")


def estimated(sketch: str) -> float:
    """Estimate the number of distinct terms, with a standard error of 9 %."""
    runs = np.frombuffer(sketch.encode("latin-1"), np.uint8).astype(np.float64) - _ZERO
    estimate = _FIT * _REGISTERS**2 / float(np.exp2(-runs).sum())
    empty = int((runs == 0).sum())
    return _REGISTERS * log(_REGISTERS / empty) if estimate <= 2.5 * _REGISTERS and empty else estimate


def among(rows: float, distinct: float, looked_at: float) -> float:
    """Estimate the distinct terms among `rows` rows, if a sample of `looked_at` rows has `distinct`.

    Each term is taken to be as frequent as any other, and to occur at any time.
    """
    distinct = min(distinct, looked_at)
    if rows <= looked_at:
        return _found(distinct, looked_at, rows)
    low, high = distinct, rows
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if _found(middle, rows, looked_at) < distinct else (low, middle)
    return high


def _found(distinct: float, rows: float, some: float) -> float:
    """Return the expected number of distinct terms in a sample of `some` of the rows, which have `distinct`
    altogether."""
    return distinct * (1 - (1 - some / rows) ** (rows / distinct)) if rows and distinct else 0.0


def _encoded(table: pa.Table, column: str) -> Any:
    return table.column(column).combine_chunks().dictionary_encode()


def _registers(terms: Any, predicates: npt.NDArray[np.int32], count: int) -> list[str]:
    """Return a sketch for each predicate, of the terms beside it."""
    hashes = _hashes(terms.dictionary)[terms.indices.to_numpy()]
    places = predicates.astype(np.int64) * _REGISTERS + (hashes % np.uint64(_REGISTERS)).astype(np.int64)
    _, length = np.frexp((hashes >> np.uint64(7)).astype(np.float64))
    registers = np.full(count * _REGISTERS, _ZERO, np.uint8)
    np.maximum.at(registers, places, (_ZERO + 58 - length).astype(np.uint8))
    text = registers.tobytes().decode("latin-1")
    return [text[at : at + _REGISTERS] for at in range(0, len(text), _REGISTERS)]


def _hashes(terms: Any) -> npt.NDArray[np.uint64]:
    """Return hashes that are the same on every machine and in every release, since sketches are stored.

    A checksum is fast, and its bits are then mixed (the steps are those of splitmix64).
    """
    sums = map(crc32, terms.cast(pa.binary()).to_pylist())
    hashes = np.fromiter(sums, np.uint64, len(terms)) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(31))

"""Some lines of text as numpy and Arrow see them, without a copy: their bytes, and where terms may begin and end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Block", "Bytes", "Indices", "Mask", "slices"]

Indices: TypeAlias = npt.NDArray[np.intp]
Mask: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]

_SPACE, _NEWLINE, _BACKSLASH = b" \n\\"
_WINDOW = 1 << 17  # bytes


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of UTF-8, each with its newline.

    `marks` are the positions of all that is not a letter: gaps, newlines, control characters, and backslashes. A line
    has those from `firsts` to `newlines`, which are places among the marks.
    """

    data: pa.Buffer
    bytes: Bytes
    lines: pa.StringArray
    starts: Indices
    marks: Indices
    firsts: Indices
    newlines: Indices

    @classmethod
    def of(cls, data: pa.Buffer) -> Block:
        """`pa.ArrowInvalid` if it is not UTF-8."""
        raw = np.frombuffer(memoryview(data), np.uint8)
        marks = _marks(raw)
        newlines = np.flatnonzero(raw[marks] == _NEWLINE)
        starts = np.concatenate([[0], marks[newlines] + 1])
        lines = pa.StringArray.from_buffers(len(newlines), pa.py_buffer(starts.astype(np.int32).data), data)
        lines.validate(full=True)
        firsts = np.concatenate([[0], newlines[:-1] + 1]) if len(newlines) else newlines
        return cls(data, raw, lines, starts[:-1], marks, firsts, newlines)

    def together(self, count: int) -> pa.StringArray:
        """The lines, that many in one text."""
        bounds = np.append(self.starts[::count], len(self.bytes)).astype(np.int32)
        return pa.StringArray.from_buffers(len(bounds) - 1, pa.py_buffer(bounds.data), self.data)

    def escapes(self) -> tuple[Mask, set[str]]:
        """The lines with a backslash, and the letters that stand behind one."""
        backslashes = np.flatnonzero(self.bytes[self.marks] == _BACKSLASH)
        lines = np.zeros(len(self.lines), np.bool_)
        lines[np.searchsorted(self.newlines, backslashes)] = True
        return lines, set(map(chr, np.unique(self.bytes[self.marks[backslashes] + 1])))


def _marks(raw: Bytes) -> Indices:
    """The places of white space and backslashes. By small windows: fresh memory for a mask of the whole would cost more
    than to fill it."""
    marks = [np.zeros(0, np.intp)]
    for start in range(0, len(raw), _WINDOW):
        window = raw[start : start + _WINDOW]
        marks.append(np.flatnonzero((window <= _SPACE) | (window == _BACKSLASH)) + start)
    return np.concatenate(marks)


def slices(data: pa.Buffer, starts: Indices, ends: Indices) -> pa.StringArray:
    """The texts between these positions. Arrow sees what lies between two as a value too, and takes every second."""
    offsets = np.empty(2 * len(starts) + 1, np.int32)
    offsets[:-1:2], offsets[1::2], offsets[-1] = starts, ends, data.size
    values = pa.StringArray.from_buffers(2 * len(starts), pa.py_buffer(offsets.data), data)
    return values.take(np.arange(0, 2 * len(starts), 2))

"""Whole lines out of the pieces that a socket delivers."""

from __future__ import annotations

from penstock.io.nquads_reasons import LONGEST_LINE

__all__ = ["Lines"]


class Lines:
    """Keeps the beginning of a line until its end has come.

    Of a line without an end it keeps a little more than a line may have, which is a malformed line then, and lets go of
    the rest: so that it does not fill the memory.
    """

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._open: list[bytes] = []
        self._kept = 0  # bytes of the open line

    def add(self, piece: bytes) -> bytes:
        """The lines that are whole now."""
        complete, newline, rest = piece.rpartition(b"\n")
        if not newline:
            self._keep(rest)
            return b""
        first, newline, others = (complete + newline).partition(b"\n")
        self._keep(first)
        lines = b"".join([*self._open, newline, others])
        self._open, self._kept = [], 0
        self._keep(rest)
        return lines

    def end(self) -> bytes:
        """The rest after the last newline, as a line, when the connection ends."""
        rest, self._open, self._kept = b"".join(self._open), [], 0
        return rest + b"\n" if rest.strip() else b""

    def _keep(self, part: bytes) -> None:
        part = part[: self._longest + 1 - self._kept]
        if part:
            self._open.append(part)
            self._kept += len(part)

"""Whole lines out of the pieces that a socket delivers."""

from __future__ import annotations

__all__ = ["Lines"]


class Lines:
    """Keeps the beginning of a line until its end has come."""

    def __init__(self) -> None:
        self._open: list[bytes] = []

    def add(self, piece: bytes) -> bytes:
        """The lines that are whole now."""
        complete, newline, rest = piece.rpartition(b"\n")
        if not newline:
            self._open.append(rest)
            return b""
        lines = b"".join([*self._open, complete, newline])
        self._open = [rest] if rest else []
        return lines

    def end(self) -> bytes:
        """The rest after the last newline, as a line, when the connection ends."""
        rest, self._open = b"".join(self._open), []
        return rest + b"\n" if rest.strip() else b""

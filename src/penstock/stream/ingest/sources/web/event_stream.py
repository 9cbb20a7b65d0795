"""Parses an event stream, as the HTML standard has it: fields by line, and an empty line behind each event."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Event", "EventStream"]

_LINE_END = re.compile(rb"\r\n|\n|\r")
_LARGEST = 64 << 20  # bytes of an event


@dataclass(frozen=True, slots=True)
class Event:
    """The data of an event, its type, and the id that is the last one by then ("": there was none)."""

    data: bytes
    type: str
    id: str


class EventStream:
    """Takes the stream in pieces. `id` is the last event's, from a former connection at first; `retry` is the time
    that the server wants to pass before the next connection, in microseconds, if it has said one."""

    def __init__(self, id: str = "") -> None:
        self.id = id
        self.retry: int | None = None
        self._rest = b""
        self._is_first = True
        self._next_id = id
        self._data: list[bytes] = []
        self._type = ""
        self._size = 0

    def add(self, piece: bytes) -> list[Event]:
        """The events that are whole now; a `ValueError` says that one has no end."""
        return [event for line in self._lines(piece) if (event := self._line(line)) is not None]

    def _lines(self, piece: bytes) -> list[bytes]:
        text = self._rest + piece
        held = text.endswith(b"\r")  # perhaps a newline follows, which is of the same line end
        *lines, rest = _LINE_END.split(text[:-1] if held else text)
        self._rest = rest + b"\r" if held else rest
        self._size += len(piece)
        if self._size > _LARGEST:
            raise ValueError(f"it sends an event of more than {_LARGEST >> 20} MiB")
        if self._is_first and lines:
            self._is_first, lines[0] = False, lines[0].removeprefix(b"\xef\xbb\xbf")
        return lines

    def _line(self, line: bytes) -> Event | None:
        if not line:
            return self._dispatched()
        name, _, value = line.partition(b":")
        self._field(name, value.removeprefix(b" "))
        return None

    def _field(self, name: bytes, value: bytes) -> None:
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._type = value.decode(errors="replace")
        elif name == b"id" and b"\0" not in value:
            self._next_id = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit() and len(value) < 10:
            self.retry = int(value) * 1_000

    def _dispatched(self) -> Event | None:
        """The event that the empty line ends; without data there is none, though its id counts."""
        self.id = self._next_id
        data, kind = self._data, self._type or "message"
        self._data, self._type, self._size = [], "", len(self._rest)
        return Event(b"\n".join(data), kind, self.id) if data else None

"""Encodes pushed elements as lines of timestamped N-Quads, the one form in which ingest reads them."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from pyoxigraph import Dataset, Quad, RdfFormat, Triple, serialize

from penstock.errors import LoadError
from penstock.io.graphs import KINDS, kind_named
from penstock.options import StreamFormat
from penstock.stream.base.time_values import Moment, moment, stamp
from penstock.stream.ingest.messages.message import Message, total_size
from penstock.stream.log.source_positions import SourcePosition

__all__ = ["LINES", "MESSAGE", "Block", "Element", "Elements", "When", "count_texts", "lines", "pushed", "without_mark"]

When: TypeAlias = Moment | tuple[Moment, Moment]
"""A time, or a start and an end."""
Element: TypeAlias = Triple | Quad | tuple[Triple | Quad, Moment] | tuple[Triple | Quad, Moment, Moment]
Elements: TypeAlias = str | bytes | Triple | Quad | Dataset | Iterable[Element]

LINES = "nquads"
MESSAGE = "message"
"""The kind of text that is a message in the stream's own format."""
_OWN_TIMES = "Text brings its own times: push it without one, or push triples."


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of one stream, and the time of lines that have none (None: they should have one); or a document of
    the kind that is named (`penstock.io.graphs`). No lines and a stamp: a call of `advance`.

    Or messages of a source with that stamp as the time of their arrival, and the positions behind them."""

    stream: str
    data: bytes = b""
    stamp: int | None = None
    kind: str | None = None
    messages: Sequence[Message] = ()
    positions: Mapping[str, SourcePosition] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """About the bytes that it takes."""
        return len(self.data) + total_size(self.messages)

    @property
    def is_message(self) -> bool:
        """Whether a source has brought it."""
        return bool(self.messages or self.positions)


def pushed(elements: Elements, time: When | None, now: int, format: StreamFormat | None) -> tuple[bytes, str | None]:
    """The bytes for the stream, and their kind: a kind of document, `LINES`, or None for text of the stream's format.
    A dataset without a time has the times of its graphs."""
    if isinstance(elements, Dataset) and time is None:
        return cast(bytes, serialize(elements, format=RdfFormat.TRIG)), "trig"
    if not isinstance(elements, str | bytes):
        return lines(elements, time, now), LINES
    kind = kind_named(format) or (LINES if format in (LINES, "nq") else None)
    if format is not None and kind is None:
        raise LoadError(f"Text of format {format!r} cannot be pushed: there are nquads, {', '.join(KINDS)}.")
    if time is not None:
        raise LoadError(_OWN_TIMES)
    return without_mark(elements), kind


def without_mark(text: str | bytes) -> bytes:
    """The text as UTF-8, without a byte-order mark at its start."""
    return (text.encode() if isinstance(text, str) else text).removeprefix(BOM_UTF8)


def lines(elements: Elements, time: When | None, now: int) -> bytes:
    """Text as it is; triples with their own time, else the given one, else now, and with their graph's name.

    An element that ends before it starts becomes a line as well, which ingest writes to the dead letters.
    """
    if isinstance(elements, str | bytes):
        if time is not None:
            raise LoadError(_OWN_TIMES)
        text = elements.encode() if isinstance(elements, str) else elements
        return text if text.endswith(b"\n") or not text else text + b"\n"
    default = stamp(now) if time is None else _stamp(time)
    pairs = [_pair(item, default) for item in ([elements] if isinstance(elements, Triple | Quad) else elements)]
    written = cast(bytes, serialize([quad for quad, _ in pairs], format=RdfFormat.N_QUADS)).decode()
    timed = zip(written.split("\n")[:-1], (when for _, when in pairs), strict=True)
    return "".join(f"{line.removesuffix(' .')} {when} .\n" for line, when in timed).encode()


def _pair(item: Element, default: str) -> tuple[Quad, str]:
    triple, when = (item[0], _stamp(item[1:])) if isinstance(item, tuple) else (item, default)
    if isinstance(triple, Triple):
        triple = Quad(*triple)
    if not isinstance(triple, Quad):
        kind = type(triple).__name__
        raise LoadError(f"A stream takes triples, alone or with a time or a start and an end, not {kind}.")
    return triple, when


def _stamp(when: Moment | tuple[Moment, ...]) -> str:
    """A time, or a start and an end, as a term."""
    times = [moment(time) for time in (when if isinstance(when, tuple) else (when,))]
    if not 1 <= len(times) <= 2:
        raise LoadError(f"An element has one time, or a start and an end, not {len(times)} times.")
    return stamp(*reversed(times))


def count_texts(data: bytes, kind: str | None) -> int:
    """The number of lines that are neither empty nor comments, or of documents of the kind."""
    if kind not in (None, "ndjsonld"):
        return 1
    lines = (line.lstrip() for line in data.split(b"\n"))
    return sum(1 for line in lines if line and not line.startswith(b"#"))

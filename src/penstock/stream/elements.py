"""What people push, as lines of timestamped N-Quads: the one form in which elements are made durable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, cast

from pyoxigraph import Quad, RdfFormat, Triple, serialize

from penstock.errors import LoadError
from penstock.stream.moments import Moment, moment, stamp

__all__ = ["Elements", "lines"]

Element: TypeAlias = Triple | tuple[Triple, Moment]
Elements: TypeAlias = str | bytes | Triple | Iterable[Element]


def lines(elements: Elements, time: Moment | None, now: int) -> bytes:
    """Text as it is; triples with their own time, else the given one, else now."""
    if isinstance(elements, str | bytes):
        if time is not None:
            raise LoadError("Text brings its own times: push it without one, or push triples.")
        text = elements.encode() if isinstance(elements, str) else elements
        return text if text.endswith(b"\n") or not text else text + b"\n"
    default = now if time is None else moment(time)
    pairs = [_pair(item, default) for item in ([elements] if isinstance(elements, Triple) else elements)]
    written = cast(bytes, serialize([triple for triple, _ in pairs], format=RdfFormat.N_TRIPLES)).decode()
    timed = zip(written.split("\n")[:-1], (time for _, time in pairs), strict=True)
    return "".join(f"{line.removesuffix(' .')} {stamp(time)} .\n" for line, time in timed).encode()


def _pair(item: Element, default: int) -> tuple[Triple, int]:
    triple, time = (item[0], moment(item[1])) if isinstance(item, tuple) else (item, default)
    if isinstance(triple, Quad):
        triple = triple.triple
    if not isinstance(triple, Triple):
        raise LoadError(f"A stream takes triples, or pairs of a triple and a time, not {type(triple).__name__}.")
    return triple, time

"""The provenance of a solution: the elements and the background triples that made it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape

from pyoxigraph import Triple

from penstock.answer import Row
from penstock.io.results import time_text

__all__ = ["Provenance", "SourceElement"]


@dataclass(frozen=True, slots=True)
class SourceElement:
    """An element of a stream that a solution was made of. One that lasts has a `start`, and `time` is its end."""

    triple: Triple
    time: datetime
    stream: str
    start: datetime | None = None

    def __str__(self) -> str:
        since = "" if self.start is None else f"{time_text(self.start)}/"
        return f"{self.triple} .  # <{self.stream}> at {since}{time_text(self.time)}"


@dataclass(frozen=True, slots=True)
class Provenance:
    """The provenance of a solution at an instant: elements of streams, by time, and triples of the background.

    It prints as N-Triples, each with a comment that says where it is from.
    """

    query: str
    time: datetime
    solution: Row | Triple
    elements: tuple[SourceElement, ...] = ()
    background: tuple[Triple, ...] = ()

    def __iter__(self) -> Iterator[Triple]:
        yield from (element.triple for element in self.elements)
        yield from self.background

    def __len__(self) -> int:
        return len(self.elements) + len(self.background)

    def __str__(self) -> str:
        parts = [*map(str, self.elements), *(f"{triple} .  # background" for triple in self.background)]
        return "\n".join(
            [f"# {_written(self.solution)} at {time_text(self.time)}", *(parts or ["# made of no triple"])]
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _written(row: Row | Triple) -> str:
    if isinstance(row, Triple):
        return str(row)
    return ", ".join(f"?{name} = {term}" for name, term in row.items()) or "a solution without variables"

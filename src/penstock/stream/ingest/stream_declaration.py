"""Stream declarations: the source of a stream, be it a file that ends or a live one, and how its event time moves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, get_args

from pyoxigraph import NamedNode, Triple

from penstock.errors import LoadError, OptionError, PenstockError
from penstock.io.graphs import GENERATED_AT, Documents, Properties, kind_named
from penstock.options import StreamFormat, WhenFull
from penstock.stream.base.time_values import Duration, duration_option
from penstock.stream.ingest import sources
from penstock.stream.ingest.elements import Element, Elements, lines, without_mark

__all__ = ["Declared", "SourceSpec", "declare"]

Item: TypeAlias = Element | Elements
SourceSpec: TypeAlias = str | os.PathLike[str] | Iterable[Item] | None

DAY = 86_400_000_000  # microseconds
UNLIMITED = 1 << 62  # microseconds: no element is that late, and time minus this still is a number of 64 bits


@dataclass(frozen=True, slots=True)
class Declared:
    """A stream declaration: its source (None: pushes alone) and how its event time moves. Durations are microseconds.

    `lateness` is the allowed lateness, by how much an element may be behind the newest one (None: not declared). `idle`
    is the silence after which the stream no longer holds back the watermark of a query, and with `advance` its
    event time moves with the clock. The `format` "nt" has no times: lines get that of their arrival. The properties say
    when a graph of a document was. An element that is further ahead of the clock than `max_ahead` (None: as far as it
    likes) does not count. While too much waits to be evaluated, a push waits, or with `when_full` "refuse" is refused.
    """

    source: Any = None
    lateness: int | None = None
    idle: int | None = None
    advance: bool = False
    format: StreamFormat | None = None
    time_property: str | None = None
    start_property: str | None = None
    end_property: str | None = None
    max_ahead: int | None = DAY
    when_full: WhenFull = "block"

    @property
    def path(self) -> str | None:
        """The path or address, if the source is one."""
        return self.source if isinstance(self.source, str) else None

    @property
    def is_endless(self) -> bool:
        return self.path is not None and sources.is_live(self.path)

    @property
    def is_folder(self) -> bool:
        return self.path is not None and not self.is_endless and Path(self.path).is_dir()

    @property
    def is_file(self) -> bool:
        return self.path is not None and not self.is_endless and not self.is_folder

    @property
    def is_parquet(self) -> bool:
        return self.path is not None and (self.format == "parquet" or self.path.rstrip("/").endswith(".parquet"))

    @property
    def properties(self) -> Properties:
        return Properties(self.time_property or GENERATED_AT, self.start_property, self.end_property)

    @property
    def documents(self) -> Documents:
        """The reader of documents, with the properties that have the time of a graph."""
        return Documents(self.format, self.properties)

    @property
    def kind(self) -> str | None:
        """The kind of the documents that come as text; None: lines of timestamped N-Quads."""
        return kind_named(self.format)

    @property
    def stamped_on_arrival(self) -> bool:
        return self.format in ("nt", "ntriples")

    @property
    def allowed_lateness(self) -> int:
        """The declared lateness; without one no element may be behind another."""
        return self.lateness or 0

    def live(self) -> Declared:
        """The view of ingest, before which files have been read."""
        return replace(self, source=None) if self.is_file else self

    def bounded(self) -> Declared:
        """The view of a bounded run: no element is late unless a lateness is declared, and no clock moves the time."""
        lateness = UNLIMITED if self.lateness is None else self.lateness
        return replace(self, source=None, lateness=lateness, idle=None, advance=False, max_ahead=None)

    def remembered(self) -> dict[str, Any]:
        """The declaration as the metadata store saves it. Sources that are Python objects cannot be saved."""
        return asdict(replace(self, source=self.path))


def declare(
    source: SourceSpec,
    lateness: Duration | None,
    idle: Duration | None,
    advance: bool,
    format: StreamFormat | None,
    max_ahead: Duration | None = DAY,
    when_full: WhenFull = "block",
    **properties: str | NamedNode | None,
) -> Declared:
    """The checked declaration of a stream. `properties` are those with the time of a graph, by option."""
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        if sources.is_live(text):
            sources.open(text)  # an error of the address is one of the declaration
            _check_lines(text, format)
        source = text if "://" in text else str(Path(text).absolute())
    elif source is not None:
        if not isinstance(source, Iterable):
            raise PenstockError(
                f"{source!r} is not a source: give a path, tcp://HOST:PORT, listen://HOST:PORT or an iterable"
            )
        source = _Lines(source, kind_named(format))
    late, silent = duration_option("lateness", lateness), duration_option("idle", idle)
    if format is not None and format.lower().lstrip(".") not in get_args(StreamFormat):
        raise OptionError(f"format is one of {', '.join(get_args(StreamFormat))}, not {format!r}")
    property_iris = {name: _property(name, given) for name, given in properties.items() if given is not None}
    if property_iris.get("start_property", 0) == property_iris.get("end_property", 1):
        raise PenstockError("start_property and end_property are the same: for points of time there is time_property")
    ahead = None if max_ahead == "off" else duration_option("max_ahead", max_ahead)
    if when_full not in get_args(WhenFull):
        raise OptionError(f'when_full is "block" or "refuse", not {when_full!r}')
    return Declared(source, late, silent, advance, format, **property_iris, max_ahead=ahead, when_full=when_full)


def _check_lines(address: str, format: str | None) -> None:
    if kind_named(format) == "trig":
        raise PenstockError(f"{address}: TriG has no lines to tell documents apart: send JSON-LD, a document a line")


def _property(name: str, given: str | NamedNode) -> str:
    """An IRI as such: `prov:generatedAtTime` would be one too, but hardly the one that was meant."""
    text = given.value if isinstance(given, NamedNode) else given.removeprefix("<").removesuffix(">")
    if not text.startswith("urn:") and "://" not in text:
        raise PenstockError(f"{name}={text!r}: write out its IRI, as in {GENERATED_AT}")
    try:
        return NamedNode(text).value
    except ValueError as error:
        raise PenstockError(f"{name}={text!r} is not an IRI: {error}") from None


class _Lines:
    """The items of an iterable as lines, or each item as a document of some kind.

    It is gone through once, however often the engine starts; one that can be resumed, and says so by having a `done`,
    is asked again for the rest.
    """

    def __init__(self, items: Iterable[Item], kind: str | None = None) -> None:
        self._items = items
        self._kind = kind
        self.resumable = hasattr(items, "done")
        self._only = self._lines()

    def __iter__(self) -> Iterator[bytes]:
        return self._lines() if self.resumable else self._only

    def _lines(self) -> Iterator[bytes]:
        """Triples come with a time: whose clock would it be otherwise? A byte-order mark may begin a document, and the
        first of the lines."""
        for number, item in enumerate(self._items):
            if isinstance(item, Triple):
                raise LoadError(
                    "A source of triples must give each triple with its time, or with its start and its end."
                )
            if self._kind is not None and not isinstance(item, str | bytes):
                raise LoadError(f"A source of {self._kind} must give each document as text.")
            if isinstance(item, str | bytes) and (number == 0 or self._kind is not None):
                item = without_mark(item)
            yield lines([item] if isinstance(item, tuple) else item, None, 0)

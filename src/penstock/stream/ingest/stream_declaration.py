"""Stream declarations: the source of a stream, be it a file that ends or a live one, and how its event time moves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, get_args

from pyoxigraph import NamedNode, Triple

from penstock.errors import LoadError, OptionError, PenstockError
from penstock.io.connect.address import address_text
from penstock.io.graphs import GENERATED_AT, Documents, Properties, kind_named
from penstock.io.message_logs.syntax import SYNTAXES, message_format
from penstock.lift.event_time import TimeUnit
from penstock.lift.lifting import Lifting
from penstock.options import StreamFormat, StreamTime, WhenFull
from penstock.stream.base.time_values import Duration, duration_option
from penstock.stream.ingest import sources
from penstock.stream.ingest.elements import Element, Elements, lines, without_mark
from penstock.stream.ingest.messages.lift_messages import compiled

__all__ = ["Declared", "SourceSpec", "declare"]

Item: TypeAlias = Element | Elements
SourceSpec: TypeAlias = str | os.PathLike[str] | Iterable[Item] | Mapping[str, Any] | sources.Source | None

_FULL_NAMES = {
    "nq": "nquads", "nt": "ntriples", "ttl": "turtle", "json-ld": "jsonld", "ndjson-ld": "ndjsonld",
}  # fmt: skip
_LIFTED = {"json", "ndjson", "csv", "xml"}
_WHOLE_MESSAGES = {"turtle", "jelly", "cloudevents", *SYNTAXES, *_LIFTED}
_NOT_BY_LINE = {"trig", "ttl", "turtle", "jelly", "xml", *SYNTAXES}
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

    `time` says where the times of messages come from (None: as their format has it). A `mapping`, which is a name and
    the text, lifts messages that are not RDF: `time_path` is where the time is in them, in the `time_unit`, and
    `header` names the columns of CSV.
    """

    source: Any = None
    lateness: int | None = None
    idle: int | None = None
    advance: bool = False
    format: StreamFormat | None = None
    time_property: tuple[str, ...] = ()
    start_property: str | None = None
    end_property: str | None = None
    max_ahead: int | None = DAY
    when_full: WhenFull = "block"
    origin: str | None = None  # the name of its source, if that has positions
    time: StreamTime | None = None
    mapping: tuple[str, str] | None = None
    time_path: str | None = None
    time_unit: TimeUnit = "iso"
    header: str | None = None

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
        return Properties(self.time_property or (GENERATED_AT,), self.start_property, self.end_property)

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
        """Whether lines get the time of their arrival; that of a broker is for messages alone."""
        return self.message_time == "arrival" and self.mapping is None

    @property
    def message_format(self) -> str:
        """The format of messages by its full name. That of messages that are lifted may be left out."""
        return _full_name(self.format) or ("nquads" if self.mapping is None else "json")

    @property
    def message_time(self) -> StreamTime | None:
        """Where the times of messages come from; None: as the format has it."""
        untimed: dict[str, StreamTime] = {"ntriples": "arrival", "turtle": "data", **dict.fromkeys(SYNTAXES, "data")}
        return self.time or untimed.get(self.message_format)

    def message_file(self, path: str) -> str | None:
        """The format of a file that is read as messages, whose times are in them: a log of RDF Messages, or Jelly."""
        return message_format(path, self.message_format)

    @property
    def takes_messages(self) -> bool:
        """Whether pushed text is a message in the stream's format: neither lines, nor documents of timed graphs."""
        timed_elsewise = self.kind is not None and self.time is not None
        return self.message_format in _WHOLE_MESSAGES or self.mapping is not None or timed_elsewise

    @property
    def lifting(self) -> Lifting | None:
        """The compiled mapping."""
        if self.mapping is None:
            return None
        properties = self.time_property if self.time in (None, "data") and self.time_path is None else ()
        return compiled(*self.mapping, self.time_path, self.time_unit, properties, self.header)

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

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Declared:
        """What `remembered` has made, from the metadata store."""
        mapping = kept["mapping"]
        known = {"time_property": tuple(kept["time_property"]), "mapping": None if mapping is None else tuple(mapping)}
        return cls(**{**kept, **known})


def declare(
    source: SourceSpec,
    lateness: Duration | None,
    idle: Duration | None,
    advance: bool,
    format: StreamFormat | None,
    max_ahead: Duration | None = DAY,
    when_full: WhenFull = "block",
    *,
    time: StreamTime | None = None,
    mapping: str | os.PathLike[str] | None = None,
    time_path: str | None = None,
    time_unit: TimeUnit = "iso",
    header: str | None = None,
    time_property: str | NamedNode | Sequence[str | NamedNode] | None = None,
    **properties: str | NamedNode | None,
) -> Declared:
    """The checked declaration of a stream. `properties` are those with the start and end of a graph, by option."""
    origin = None
    if isinstance(source, Mapping):
        source = address_text(source)
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        if sources.is_live(text):
            opened = sources.open(text)  # an error of the address is one of the declaration
            origin = None if isinstance(opened, sources.Folder) else opened.name
            _check_lines(text, opened, format)
        source = text if "://" in text else str(Path(text).absolute())
    elif isinstance(source, sources.Source):
        origin = source.name
    elif source is not None:
        if not isinstance(source, Iterable):
            raise PenstockError(
                f"{source!r} is not a source: give a path, tcp://HOST:PORT, listen://HOST:PORT or an iterable"
            )
        source = _Lines(source, kind_named(format), whole=mapping is not None or _full_name(format) in _WHOLE_MESSAGES)
    late, silent = duration_option("lateness", lateness), duration_option("idle", idle)
    if format is not None and _plain(format) not in get_args(StreamFormat):
        raise OptionError(f"format is one of {', '.join(get_args(StreamFormat))}, not {format!r}")
    property_iris = {name: _property(name, given) for name, given in properties.items() if given is not None}
    if property_iris.get("start_property", 0) == property_iris.get("end_property", 1):
        raise PenstockError("start_property and end_property are the same: for points of time there is time_property")
    times = [time_property] if isinstance(time_property, str | NamedNode) else time_property or ()
    ahead = None if max_ahead == "off" else duration_option("max_ahead", max_ahead)
    if when_full not in get_args(WhenFull):
        raise OptionError(f'when_full is "block" or "refuse", not {when_full!r}')
    declared = Declared(
        source,
        late,
        silent,
        advance,
        format,
        tuple(_property("time_property", given) for given in times),
        **property_iris,
        max_ahead=ahead,
        when_full=when_full,
        origin=origin,
        time=time,
        mapping=None if mapping is None else _mapping(mapping),
        time_path=time_path,
        time_unit=time_unit,
        header=header,
    )
    _check_times(declared)
    return declared


def _mapping(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The name and the text of a mapping, which the declaration keeps."""
    try:
        return str(path), Path(path).read_text("utf-8-sig")
    except OSError as error:
        raise LoadError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError:
        raise LoadError(f"{path}: the mapping is not text in UTF-8") from None


def _check_times(declared: Declared) -> None:
    """Raise an error if it is not said how messages are lifted, or what their times are; one of the mapping too."""
    if declared.time not in (None, *get_args(StreamTime)):
        raise OptionError(f"time is one of {', '.join(get_args(StreamTime))}, not {declared.time!r}")
    lifting = declared.lifting
    if lifting is None:
        if declared.message_format in _LIFTED:
            raise OptionError(f"format={declared.format!r} has to be lifted: give a mapping, mapping=FILE")
        if declared.time_path is not None or declared.header is not None:
            raise OptionError("time_path and header are for messages that are lifted: give a mapping, mapping=FILE")
    elif lifting.time is None and declared.time in (None, "data") and declared.message_format != "cloudevents":
        raise OptionError(
            'mapping: where is the time of a message? Give time_path (as in "$.time"), time_property, or time="broker" '
            'or "arrival"'
        )


def _full_name(format: str | None) -> str:
    return _FULL_NAMES.get(_plain(format), _plain(format))


def _plain(format: str | None) -> str:
    return (format or "").lower().lstrip(".")


def _check_lines(address: str, source: object, format: str | None) -> None:
    if getattr(source, "by_line", False) and _plain(format) in _NOT_BY_LINE:
        name = "TriG" if kind_named(format) == "trig" else format
        raise PenstockError(f"{address}: {name} has no lines to tell documents apart: send JSON-LD, a document a line")


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

    def __init__(self, items: Iterable[Item], kind: str | None = None, *, whole: bool = False) -> None:
        self._items = items
        self._kind, self._whole = kind, whole
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
            if self._whole and isinstance(item, str | bytes):
                yield without_mark(item)
                continue
            if isinstance(item, str | bytes) and (number == 0 or self._kind is not None):
                item = without_mark(item)
            yield lines([item] if isinstance(item, tuple) else item, None, 0)

"""Arguments of the command line that name inputs: query files, background files, streams."""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

from penstock.errors import OptionError, PenstockError, QueryError
from penstock.stream.ingest.sources import is_live

__all__ = ["QueryFile", "StreamSpec", "input_bytes", "read_query", "split_graph", "stream_spec"]

_RDF_FILES = {".ttl", ".nt", ".nq", ".trig", ".rdf", ".owl", ".jsonld"}
_COMPRESSED, _EXPANSION = {".gz", ".parquet"}, 10  # files that are about so many times as long when they are read
_BARE_NAME = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True, slots=True)
class QueryFile:
    """A query as read, with the name that its answers carry and the place that messages point to."""

    name: str
    place: str
    text: str
    base: str | None
    registered: bool = False  # by a name of its own: REGISTER QUERY name
    continuous: bool = False
    kind: str | None = None  # of its answers; None: its text is wrong


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """`--stream IRI=SOURCE`."""

    iri: str
    source: str

    @property
    def endless(self) -> bool:
        """Whether it has no end of its own."""
        return is_live(self.source)


def split_graph(spec: str) -> tuple[str | None, str]:
    """`[GRAPH=]FILE` in its parts. An IRI and a file name may both hold `=`: the split is where the file exists."""
    if "=" not in spec or Path(spec).exists():
        return None, spec
    cut = _cut(spec)
    return spec[:cut], spec[cut + 1 :]


def stream_spec(spec: str) -> StreamSpec:
    """`IRI=SOURCE` in its parts; a bare word names the stream as it does in a query."""
    if "=" not in spec:
        raise OptionError(f"--stream {spec}: write it as IRI=SOURCE, as in http://example.org/cars=cars.nq")
    cut = _cut(spec)
    iri, source = spec[:cut].strip("<>"), spec[cut + 1 :]
    if not iri or not source:
        raise OptionError(f"--stream {spec}: write it as IRI=SOURCE, as in http://example.org/cars=cars.nq")
    if "://" not in source and not Path(source).exists():
        raise PenstockError(f"--stream {spec}: {source} does not exist; give a file, a folder, tcp://… or listen://…")
    return StreamSpec(f"urn:penstock:stream:{iri}" if _BARE_NAME.fullmatch(iri) else iri, source)


def input_bytes(streams: list[str], background: list[str]) -> int | None:
    """The bytes that all sources have together, about; None if one of them has no end or cannot be read."""
    try:
        specs = [stream_spec(spec) for spec in streams]
        sources = [*(spec.source for spec in specs), *(split_graph(spec)[1] for spec in background)]
        return None if any(spec.endless for spec in specs) else sum(map(_bytes, sources))
    except (PenstockError, OSError):
        return None


def _bytes(source: str) -> int:
    path = Path(source)
    if path.is_dir():
        return sum(_bytes(str(file)) for file in path.iterdir() if not file.name.startswith("."))
    return path.stat().st_size * (_EXPANSION if path.suffix in _COMPRESSED else 1)


def _cut(spec: str) -> int:
    """The `=` after which something exists, else the last one."""
    cuts = [place for place, letter in enumerate(spec) if letter == "="]
    return next((cut for cut in cuts if is_live(spec[cut + 1 :]) or Path(spec[cut + 1 :]).exists()), cuts[-1])


def read_query(path: str) -> QueryFile:
    """The file, or standard input for `-`."""
    file = Path(path)
    if file.suffix in _RDF_FILES:
        raise PenstockError(f"{path} looks like data: give each file its own --background")
    try:
        text = _text(sys.stdin.buffer.read() if path == "-" else file.read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise PenstockError(f"{path}: the query cannot be read: {reason}") from None
    if path == "-":
        return _described(QueryFile("stdin", "stdin", text, None))
    return _described(QueryFile(file.stem, path, text, file.resolve().as_uri()))


def _described(query: QueryFile) -> QueryFile:
    """The query with its registered name and the kind of its answers. Errors in it are left to `run`."""
    from penstock.algebra import ops
    from penstock.algebra.build import translate

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            meaning = translate(query.text, query.base)
    except QueryError:
        return query
    registration = meaning.registration
    registered = registration.name if registration else None
    kind = "boolean" if isinstance(meaning.form, ops.Ask) else "solutions"
    kind = "graph" if isinstance(meaning.form, ops.Construct | ops.Describe) else kind
    continuous = bool(meaning.streams) or meaning.emit == "events"
    name, known = registered or query.name, registered is not None
    return replace(query, name=name, registered=known, continuous=continuous, kind=kind)


def _text(data: bytes) -> str:
    """The text of a UTF-8 file. A binary file, which nearly always holds a zero byte, is an error."""
    if b"\0" in data:
        raise ValueError("binary")
    return data.decode("utf-8-sig").replace("\r\n", "\n")

"""Documents of named graphs with a time each, TriG or JSON-LD, as elements: every triple of a graph is one.

    <http://e/g1> prov:generatedAtTime "2009-07-20T22:48:52Z"^^xsd:dateTime .
    <http://e/g1> { <s> <p> <o> }

A document is parsed as it is read. Blank nodes belong to the document: no other one, and no line, has the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, cast

from pyoxigraph import RdfFormat, parse

from penstock.errors import LoadError
from penstock.io.graphs_feed import Feed
from penstock.io.graphs_times import GENERATED_AT, PROPERTIES, Graphs, Properties, Rows
from penstock.io.lines import TOO_LONG
from penstock.io.message_logs.contexts import with_contexts
from penstock.io.nquads import BadLine, Parsed, scope
from penstock.io.splits import Split, chunks, filesystem
from penstock.tuning import DEFAULT, Tuning

__all__ = [
    "DOCUMENTS", "GENERATED_AT", "KINDS", "PROPERTIES", "Documents", "Properties", "kind_named", "parse_documents",
]  # fmt: skip

KINDS = {"trig": "TRIG", "jsonld": "JSON_LD", "ndjsonld": "JSON_LD"}
"""Kinds of text, and what pyoxigraph calls the format. In `ndjsonld` there is a document in every line;
one with a context alone holds for those behind it."""
_ALSO = {"json-ld": "jsonld", "ndjson-ld": "ndjsonld"}
_LINES = (".nq", ".nquads", ".nt", ".parquet")
_PLACE = re.compile(r"^Parser error at line \d+ (?:column \d+|between [^:]*): | \(line \d+\)$")
_CLEARER = {
    "No scheme found in an absolute IRI": "{}; a relative IRI needs a base in the document",
    "No LoadDocumentCallback": "the @context is elsewhere, and Penstock does not fetch it",
}


def kind_named(format: str | None) -> str | None:
    """The kind of document that a format's name stands for, None if it is not of documents."""
    name = (format or "").lower().lstrip(".")
    name = _ALSO.get(name, name)
    return name if name in KINDS else None


@dataclass(frozen=True, slots=True)
class Documents:
    """The options of a stream's documents: the format of files without an ending, and the properties with the time."""

    format: str | None = None
    properties: Properties = PROPERTIES

    def kind(self, path: str) -> str | None:
        """The kind of a file, by its ending; None: lines, or Parquet."""
        ending = Path(path.lower().removesuffix(".gz")).suffix
        return kind_named(ending) or (None if ending in _LINES else kind_named(self.format))

    def whole_documents(self, pieces: Iterable[Split]) -> list[Split]:
        """The pieces of files, those of documents as one: only lines can be read from the middle."""
        return list(dict.fromkeys(Split(piece.path) if self.kind(piece.path) else piece for piece in pieces))

    def of_file(self, path: str, stream: str, tuning: Tuning = DEFAULT) -> Iterator[Parsed]:
        """The elements of a file of documents. The same path at another time is another document."""
        system, place = filesystem(path)
        written = system.get_file_info(place).mtime_ns
        base = path if "://" in path else Path(path).absolute().as_uri()
        labels = scope(f"{stream} {path} {written}")
        pieces = chunks(Split(path), tuning.chunk_bytes)
        return parse_documents(pieces, self.kind(path) or "trig", labels, self.properties, base, tuning)


DOCUMENTS = Documents()
"""As they are read if nothing is said."""


def parse_documents(
    pieces: Iterable[bytes],
    kind: str,
    labels: str,
    properties: Properties = PROPERTIES,
    base: str | None = None,
    tuning: Tuning = DEFAULT,
) -> Iterator[Parsed]:
    """The elements of a document, or of one in each line, some at a time; `labels` goes before blank nodes' labels.

    The statements before a mistake in the document count; from there on nothing can be read of it, and unless that lies
    in a file, whose IRI is then the base, all of it is kept as bad. The lines of bad statements are those in the whole
    input, where the parser tells.
    """
    rows = Rows(tuning.graph_rows)
    begin = partial(Graphs, rows=rows, properties=properties)
    if kind == "ndjsonld":
        for number, line in with_contexts(Feed(pieces).lines()):
            yield from _read(Feed([line], number), kind, begin(f"{labels}{number}."), rows, base)
    else:
        yield from _read(Feed(pieces, tuning=tuning), kind, begin(labels), rows, base)
    yield rows.take()


def _read(feed: Feed, kind: str, graphs: Graphs, rows: Rows, base: str | None) -> Iterator[Parsed]:
    first, format = feed.line, getattr(RdfFormat, KINDS[kind])
    try:
        for quad in parse(cast(IO[bytes], feed), format, base_iri=base):
            graphs.add(quad, feed.line if kind == "trig" else first)
            if rows.full:
                yield rows.take()
    except LoadError:
        graphs.end()
        yield rows.take()
        raise
    except (SyntaxError, ValueError, UnicodeError, MemoryError) as error:
        line, reason = _mistake(feed, first, error)
        rows.bad.append(BadLine(line, feed.text(line) if base else feed.rest(line), reason))
    graphs.end()


def _mistake(feed: Feed, first: int, error: Exception) -> tuple[int, str]:
    """The line and the reason of a mistake."""
    if isinstance(error, MemoryError):
        return feed.line, TOO_LONG
    reason = _PLACE.sub("", error.msg if isinstance(error, SyntaxError) else str(error))
    for mark, clearer in _CLEARER.items():
        if mark in reason:
            reason = clearer.format(reason)
    place = getattr(error, "lineno", None)
    return (feed.line if place is None else first + place - 1), reason

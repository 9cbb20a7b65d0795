"""RDF files, bytes and statements in memory as one stream of quads.

pyoxigraph parses. Added here: the choice of format, gzip, the graph for statements that name none, one kind
of error that says where, a byte-order mark that is skipped, and a refusal of what RDF 1.1 does not have.
"""

from __future__ import annotations

import gzip
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import IO, TypeAlias, cast
from xml.parsers.expat import ErrorString, ExpatError

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from penstock.errors import LoadError
from penstock.io.lines import TOO_LONG, LineReader, XmlLineReader

__all__ = ["FORMATS", "Source", "Target", "graph_name", "read"]

Source: TypeAlias = str | PathLike[str] | bytes | Iterable[Triple | Quad]
Target: TypeAlias = str | NamedNode | None
"""The graph for statements that name none: its IRI, or None for the default graph."""

FORMATS: dict[str, RdfFormat] = {
    "ttl": RdfFormat.TURTLE,
    "turtle": RdfFormat.TURTLE,
    "nt": RdfFormat.N_TRIPLES,
    "ntriples": RdfFormat.N_TRIPLES,
    "nq": RdfFormat.N_QUADS,
    "nquads": RdfFormat.N_QUADS,
    "trig": RdfFormat.TRIG,
    "rdf": RdfFormat.RDF_XML,
    "xml": RdfFormat.RDF_XML,
    "owl": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.JSON_LD,
    "json-ld": RdfFormat.JSON_LD,
}
_ENDINGS = FORMATS | {"n3": RdfFormat.TURTLE}  # mostly it is; rules and formulas are not RDF, and an error
_DEFAULT = DefaultGraph()
_EXTENSIONS = ".ttl, .nt, .nq, .trig, .rdf or .jsonld (gzipped: .ttl.gz and so on)"
_ONE_OF = "one of turtle, nt, nq, trig, rdf, jsonld, or a media type"

# These two parsers do not say where they stopped, so they are fed line by line.
_LINE_READERS = {RdfFormat.RDF_XML: XmlLineReader, RdfFormat.JSON_LD: LineReader}

_PROLOG = 1 << 20  # bytes of a document of XML in which entities are declared
_NESTED_ENTITY = re.compile(rb'<!ENTITY\s+(\S+)\s+"[^"]*&(?!amp;|lt;|gt;|quot;|apos;|#)')

_PARSER_PREFIX = re.compile(r"^Parser error at line \d+ (?:column \d+|between [^:]*): ")
_CLEARER = {
    "No scheme found in an absolute IRI": "{}; a relative IRI needs base=…",
    "No LoadDocumentCallback": "the @context is elsewhere, and Penstock does not fetch it",
}


def read(source: Source, graph: Target = None, base: str | None = None, format: str | None = None) -> Iterator[Quad]:
    """The quads of a file (`str` or path; `.gz` is unpacked), of `bytes`, or of pyoxigraph triples and quads.

    Statements in the default graph go to `graph`. Labels of blank nodes in files and bytes are renamed, so that those
    of two sources never meet. `base` is the file's own IRI unless given. The stream is lazy: a `LoadError` can come
    after many good quads, and a caller that must not keep half a file commits at the end.
    """
    target = None if graph is None else graph_name(graph)
    if isinstance(source, bytes):
        return _place("bytes", _parse_bytes(source, base, format), target)
    if isinstance(source, str | PathLike):
        return _place(str(source), _parse_file(source, base, format), target)
    return _place("statements", _statements(source), target)


def graph_name(graph: str | NamedNode) -> NamedNode:
    """The IRI of a graph, given as such or as text."""
    if isinstance(graph, NamedNode):
        return graph
    try:
        return NamedNode(graph)
    except ValueError as error:
        raise LoadError(f"graph={graph!r} is not an absolute IRI: {error}") from error


def _parse_bytes(data: bytes, base: str | None, format: str | None) -> Iterator[Quad]:
    if format is None:
        raise LoadError(f"bytes need a format: give format=, {_ONE_OF}")
    return _parse("bytes", data, _named_format("bytes", format), base)


def _parse_file(path: str | PathLike[str], base: str | None, format: str | None) -> Iterator[Quad]:
    name, file = str(path), Path(path)
    if name.startswith(("http://", "https://")):
        raise LoadError(f"{name}: Penstock does not fetch data; download it and load the file")
    with _located(name):
        file.open("rb").close()  # so that a missing file is an error here and not at the first quad
    kind = _named_format(name, format) if format is not None else _format_of(file)
    return _parse(name, file, kind, base or file.resolve().as_uri())


def _format_of(file: Path) -> RdfFormat:
    suffix = (file.with_suffix("") if file.suffix == ".gz" else file).suffix
    kind = _ENDINGS.get(suffix[1:].lower())
    if kind is None:
        problem = f"unknown extension {suffix}" if suffix else "no extension"
        raise LoadError(f"{file}: {problem}: name it {_EXTENSIONS}, or say format=")
    return kind


def _named_format(name: str, format: str) -> RdfFormat:
    kind = FORMATS.get(format.lower().lstrip(".")) or RdfFormat.from_media_type(format)
    if kind is None or kind not in FORMATS.values():
        raise LoadError(f"{name}: unknown format {format!r}: say {_ONE_OF}")
    return kind


def _parse(name: str, source: Path | bytes, kind: RdfFormat, base: str | None) -> Iterator[Quad]:
    with _located(name), _opened(source) as file:
        reader = _LINE_READERS[kind](file) if kind in _LINE_READERS else None
        if kind == RdfFormat.RDF_XML:
            _refuse_nested_entities(name, file)
        try:
            yield from parse(cast(IO[bytes], reader or file), kind, base_iri=base, rename_blank_nodes=True)
        except SyntaxError as error:
            raise _syntax_error(name, error, reader.line if reader else None) from error
        except MemoryError as error:
            raise LoadError(f"{name}: {TOO_LONG}") from error


def _refuse_nested_entities(name: str, file: IO[bytes]) -> None:
    """Raise a LoadError if an entity of XML refers to another: ten of them make gigabytes of a page."""
    before = file.tell()
    if (nested := _NESTED_ENTITY.search(file.read(_PROLOG))) is not None:
        entity = nested[1].decode(errors="replace")
        raise LoadError(f"{name}: the entity {entity} refers to another, which can make gigabytes of it: write it out")
    file.seek(before)


def _opened(source: Path | bytes) -> IO[bytes]:
    """The unpacked bytes, behind a byte-order mark at their start."""
    if isinstance(source, bytes):
        return BytesIO(source.removeprefix(BOM_UTF8))
    file = gzip.GzipFile(source) if source.suffix == ".gz" else source.open("rb")
    if file.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
        file.read(len(BOM_UTF8))
    return cast(IO[bytes], file)


def _statements(source: Iterable[Triple | Quad]) -> Iterator[Quad]:
    for number, statement in enumerate(source, start=1):
        if isinstance(statement, Triple):
            yield Quad(*statement)
        elif isinstance(statement, Quad):
            yield statement
        else:
            raise LoadError(f"item {number} is neither a pyoxigraph Triple nor a Quad: {statement!r}")


def _place(name: str, quads: Iterator[Quad], target: NamedNode | None) -> Iterator[Quad]:
    """The quads in their graphs. Triple terms and text directions are RDF 1.2, for which SPARQL 1.1 has no answers."""
    for quad in quads:
        term = quad.object
        if isinstance(term, Triple) or (isinstance(term, Literal) and term.direction is not None):
            raise LoadError(f"{name}: Penstock reads RDF 1.1, which has no such object: {term}")
        if target is not None and quad.graph_name == _DEFAULT:
            yield Quad(quad.subject, quad.predicate, term, target)
        else:
            yield quad


@contextmanager
def _located(name: str) -> Iterator[None]:
    """Whatever goes wrong in reading, as one sentence that begins with the file's name."""
    try:
        yield
    except ExpatError as error:
        reason = ErrorString(error.code)
        raise LoadError(f"{name}, line {error.lineno}, column {error.offset + 1}: {reason}") from error
    except OSError as error:
        raise LoadError(f"{name}: {error.strerror or error}") from error
    except EOFError as error:
        raise LoadError(f"{name}: the gzip file is cut off; nothing of it is loaded") from error
    except (ValueError, zlib.error) as error:
        raise LoadError(f"{name}: {error}") from error


def _syntax_error(name: str, error: SyntaxError, line: int | None) -> LoadError:
    reason = _PARSER_PREFIX.sub("", error.msg)
    for mark, clearer in _CLEARER.items():
        if mark in reason:
            reason = clearer.format(reason)
    if name.lower().removesuffix(".gz").endswith(".n3"):
        reason += "; of N3, only what is Turtle too is read"
    place = f", line {error.lineno}, column {error.offset}" if error.lineno else f", line {line}" if line else ""
    return LoadError(f"{name}{place}: {reason}")

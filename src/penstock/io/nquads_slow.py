"""The slow reader: lines that the fast kernels leave, one by one. pyoxigraph decides whether a term is RDF.

A regular expression that accepts too much finds the terms; the three of the triple go to pyoxigraph as N-Triples.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from penstock.io.columns import BACKWARDS, interval
from penstock.io.nquads_grammar import DATE_TIME, INTERVAL
from penstock.io.nquads_reasons import clip, likely_format, mistaken_time, sentence
from penstock.io.nquads_time import microseconds

__all__ = ["BadLine", "Reading", "Row", "encoded", "moment_of", "read_lines", "unreadable"]

Row: TypeAlias = tuple[int, str, str, str, int, str | None, int | None]
"""The number of a line, and its element: encoded subject, predicate and object, the time, the graph's name, and the
start if it has a duration."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that holds no element: its number (from 1), its text, and why; and the file where that is known."""

    line: int
    text: str
    reason: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """Options: the prefix of blank node labels, the time of lines without one, and whether lines may have times."""

    scope: str
    stamp: int | None = None
    timed: bool = True


@dataclass(frozen=True, slots=True)
class _Found:
    """A line, its triple as N-Triples or with its graph as N-Quads, and its time; or the problem with that."""

    line: int
    text: str
    triple: str = ""
    time: int = 0
    start: int | None = None
    problem: str | None = None
    named: bool = False  # whether it is in a graph


# Possessive (*+) where it can be: no input may take time beyond its length.
_GAP = "[ \t]*+"
_ANY_IRI = "<[^<> \t]*+>"
_ANY_BLANK = '_:[^ \t<>"#]*?'
_ANY_LITERAL = rf'"[^"\\]*+(?:\\.[^"\\]*+)*+"(?:{_GAP}@[A-Za-z0-9\-]+|{_GAP}\^\^{_GAP}{_ANY_IRI})?'
_RESOURCE = f"(?:{_ANY_IRI}|{_ANY_BLANK})"
_TRIPLE = f"(?P<triple>{_RESOURCE}{_GAP}{_ANY_IRI}{_GAP}(?:{_RESOURCE}|{_ANY_LITERAL})){_GAP}"
_GRAPH = rf"(?P<graph>{_ANY_IRI}|(?<=[ \t]){_ANY_BLANK}){_GAP}"
_END = rf"(?P<stamp>{_ANY_LITERAL})?{_GAP}\.{_GAP}(?:#.*)?"
_LINE = re.compile(f'{_TRIPLE}(?:{_GRAPH}(?="))?{_END}')
_STAMPED_LINE = re.compile(f"{_TRIPLE}(?:{_GRAPH})?{_END}")  # one that needs no time may have a graph all the same
_USUAL_STAMP = re.compile(rf'"([^"\\]*)"(?:\^\^<{re.escape(DATE_TIME)}(?:Stamp)?>)?')
_INTERVAL = re.compile(rf'"([^"\\/]*)/([^"\\/]*)"\^\^<{re.escape(INTERVAL)}>')
_TIMESTAMP = re.compile(rf'"[^"\\]*"\^\^<{re.escape(DATE_TIME)}(?:Stamp)?>|"[-+0-9T:.Z]*+"(?=[ \t]*+\.?[ \t]*+$)')
_PLACE = re.compile(r"^Parser error at line \d+ (?:column \d+|between [^:]*): | \(line \d+\)$")
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_STAMP_TYPES = {DATE_TIME, DATE_TIME + "Stamp", _STRING}
_TOGETHER = 64  # triples handed to the parser at once; if one is bad, all of them again, one by one


def read_lines(numbered: Iterable[tuple[int, str]], reading: Reading) -> tuple[list[Row], list[BadLine]]:
    """The elements of some lines, in order, and the lines that are none. Blank lines and comments are neither."""
    items = [item for line in numbered if (item := _find(*line, reading))]
    good = [item for item in items if item.problem is None]
    bad = [BadLine(item.line, item.text, _said(item.problem, reading)) for item in items if item.problem is not None]
    rows: list[Row] = []
    for item, result in zip(good, _quads_of(good), strict=True):
        if isinstance(result, str):
            bad.append(BadLine(item.line, item.text, _said(result, reading)))
        else:
            s, p, o = (encoded(term, reading.scope) for term in result.triple)
            graph = None if isinstance(result.graph_name, DefaultGraph) else encoded(result.graph_name, reading.scope)
            rows.append((item.line, s, p, o, item.time, graph, item.start))
    return rows, sorted(bad, key=lambda line: line.line)


def _said(problem: str, reading: Reading) -> str:
    """Return the problem, and how a line looks, unless the line looks like that."""
    if problem == BACKWARDS or not reading.timed:
        return problem
    return sentence(problem, timed=reading.stamp is None)


def _find(line: int, text: str, reading: Reading) -> _Found | None:
    """The triple and the time in a line; None if there is nothing in it."""
    content = text.strip(" \t\r")
    if not content or (content.startswith("#") and "\r" not in content):
        return None
    match = (_STAMPED_LINE if reading.timed and reading.stamp is not None else _LINE).fullmatch(content)
    if match is None or "\r" in content:
        return _Found(line, text, problem=_reason(content))
    try:
        time, start = _times(match["stamp"], reading)
    except ValueError as error:
        return _Found(line, text, problem=str(error))
    if match["graph"] is None:
        return _Found(line, text, match["triple"] + " .\n", time, start)
    return _Found(line, text, f"{match['triple']} {match['graph']} .\n", time, start, named=True)


def _reason(content: str) -> str:
    """Why the line is no element, from the parser of N-Quads, which sees an IRI where timestamps are."""
    if "\r" in content:
        return "a carriage return in the midst of the line"
    if problem := likely_format(content) or mistaken_time(content):
        return problem
    quads = _quads(_TIMESTAMP.sub("<x:>", content), RdfFormat.N_QUADS)
    if isinstance(quads, str):
        return quads
    if quads and not isinstance(graph := quads[0].graph_name, DefaultGraph) and graph.value != "x:":
        return f"the fourth term must be a timestamp, not {clip(graph)}"
    return "not a triple of RDF 1.1 with a timestamp"


def _quads(text: str, kind: RdfFormat) -> list[Quad] | str:
    try:
        return list(parse(text.encode(), kind))
    except SyntaxError as error:
        return clip(_PLACE.sub("", error.msg))


def _times(token: str | None, reading: Reading) -> tuple[int, int | None]:
    """The time; of an element with a duration, the end and the start."""
    if token is not None and reading.timed and (both := _INTERVAL.fullmatch(token)):
        return interval(*map(microseconds, both.groups()))
    return _time(token, reading), None


def _time(token: str | None, reading: Reading) -> int:
    if token is None:
        if reading.stamp is None:
            raise ValueError("the line has no timestamp")
        return reading.stamp
    if not reading.timed:
        raise ValueError("N-Triples have no fourth term")
    if usual := _USUAL_STAMP.fullmatch(token):
        return microseconds(usual[1])
    quads = _quads(f"<x:> <x:> {token} .", RdfFormat.N_TRIPLES)
    if isinstance(quads, str):
        raise ValueError(quads)
    return moment_of(quads[0].object)


def moment_of(term: object) -> int:
    """The time that a literal tells, as microseconds since 1970; a `ValueError` says why it tells none."""
    if not isinstance(term, Literal) or term.datatype.value not in _STAMP_TYPES:
        raise ValueError(f"a timestamp must be an xsd:dateTime, not {clip(term)}")
    return microseconds(term.value)


def _quads_of(items: Sequence[_Found]) -> list[Quad | str]:
    """Each line's triple with its graph, or the reason why it is none."""
    results: list[Quad | str] = []
    for start in range(0, len(items), _TOGETHER):
        batch = items[start : start + _TOGETHER]
        quads = _quads("".join(item.triple for item in batch), _format(any(item.named for item in batch)))
        if isinstance(quads, str) or len(quads) != len(batch):
            results += map(_quad, batch)
        else:
            results += map(_checked, quads)
    return results


def _format(named: bool) -> RdfFormat:
    return RdfFormat.N_QUADS if named else RdfFormat.N_TRIPLES


def _quad(item: _Found) -> Quad | str:
    quads = _quads(item.triple, _format(item.named))
    return quads if isinstance(quads, str) else _checked(quads[0])


def _checked(quad: Quad) -> Quad | str:
    return unreadable(quad) or quad


def unreadable(quad: Quad) -> str | None:
    """RDF 1.2 has triples and text with a direction as objects, which SPARQL 1.1 cannot ask for: a sentence then."""
    term = quad.object
    if isinstance(term, Triple) or (isinstance(term, Literal) and term.direction is not None):
        return f"Penstock reads RDF 1.1, which has no such object: {term}"
    return None


def encoded(term: object, scope: str) -> str:
    """The encoded term, as in `penstock.model.term_encoding`, which stands above `io`; blank nodes get the scope."""
    match term:
        case NamedNode(value=value):
            return f"<{value}>"
        case BlankNode(value=value):
            return f"_:{scope}{value}"
        case Literal(value=value, language=str(tag)):
            return f'"{value}"@{tag}'
        case Literal(value=value, datatype=NamedNode(value=datatype)):
            return f'"{value}"' if datatype == _STRING else f'"{value}"^^<{datatype}>'
    raise TypeError(f"no term of a triple: {term!r}")

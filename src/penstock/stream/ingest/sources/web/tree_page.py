"""Reads a page of a TREE collection: its members with their times, and its relations to further pages.

A member is its concise bounded description (its own triples, and those of blank nodes that it leads to) and all of
the graph that has its name. A path is a property, or a list of properties.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, parse

from penstock.io.nquads_slow import moment_of

__all__ = ["Collection", "Member", "Page", "read_page"]

_TREE, _LDES = "https://w3id.org/tree#", "https://w3id.org/ldes#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_FORMATS = {
    "text/turtle": RdfFormat.TURTLE,
    "application/trig": RdfFormat.TRIG,
    "application/n-quads": RdfFormat.N_QUADS,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/ld+json": RdfFormat.JSON_LD,
}
_LOWER_BOUNDS = {f"{_TREE}{name}Relation" for name in ("GreaterThan", "GreaterThanOrEqualTo", "EqualTo")}
_NOTHING: Mapping[str, list[Any]] = {}
ACCEPTED = ", ".join(_FORMATS)


@dataclass(frozen=True, slots=True)
class Collection:
    """What the first page says of the event stream, as lists of properties; `timestamp` gives the time of a member."""

    timestamp: tuple[str, ...] = ()
    version_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """A member: its statements as lines with its time, which is None if it has none."""

    id: str
    time: int | None
    payload: bytes
    version_of: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Members, the lower bound of the times behind each relation (None: unknown), and whether it says it is final."""

    collection: Collection
    members: Sequence[Member] = ()
    relations: Mapping[str, int | None] = field(default_factory=dict)
    is_immutable: bool = False


def read_page(body: bytes, media_type: str, url: str, known: Collection) -> Page:
    """The page; a `ValueError` says in a few words why it is none. `known` is what earlier pages have said."""
    format = _FORMATS.get(media_type.partition(";")[0].strip().lower())
    if format is None:
        raise ValueError(f"{url} is of the type {media_type or 'nothing'}; Penstock reads {ACCEPTED}")
    try:
        triples = _Triples(list(parse(body, format, base_iri=url)))
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"{url} cannot be read ({error})") from None
    return triples.page(url, known)


class _Triples:
    """The statements of a page by subject and property, those of its default graph alone, and of named graphs."""

    def __init__(self, quads: Sequence[Quad]) -> None:
        self._of: dict[Any, dict[str, list[Any]]] = {}
        self._graphs: dict[Any, list[Quad]] = {}
        for quad in quads:
            if quad.graph_name != DefaultGraph():
                self._graphs.setdefault(quad.graph_name, []).append(quad)
            else:
                self._of.setdefault(quad.subject, {}).setdefault(quad.predicate.value, []).append(quad.object)

    def page(self, url: str, known: Collection) -> Page:
        collection = self._collection(known)
        ids = dict.fromkeys(member for _, member in self._pairs(f"{_TREE}member"))
        relations = self._relations(url, collection)
        if not ids and not relations:  # the stream's own description, which leads to a view of it
            views = sorted(str(view.value) for _, view in self._pairs(f"{_TREE}view") if isinstance(view, NamedNode))
            relations = dict.fromkeys(view for view in views[:1] if view != url)
        if ids and not collection.timestamp:
            raise ValueError(f"{url} has members and no ldes:timestampPath: give the option timestamp")
        final = Literal("true", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#boolean"))
        is_immutable = final in self._objects(NamedNode(url), f"{_LDES}immutable")
        return Page(collection, [self._member(id, collection) for id in ids], relations, is_immutable)

    def _collection(self, known: Collection) -> Collection:
        for name, field_name in (("timestampPath", "timestamp"), ("versionOfPath", "version_of")):
            for _, path in self._pairs(f"{_LDES}{name}"):
                if not getattr(known, field_name):
                    known = replace(known, **{field_name: self._path(path)})
        return known

    def _relations(self, url: str, collection: Collection) -> dict[str, int | None]:
        """Several relations to a page hold together, so that the highest bound counts."""
        found: dict[str, int | None] = {}
        for _, relation in self._pairs(f"{_TREE}relation"):
            for node in self._objects(relation, f"{_TREE}node"):
                if node.value != url:
                    bounds = [found.get(node.value), self._bound(relation, collection)]
                    found[node.value] = max((bound for bound in bounds if bound is not None), default=None)
        return found

    def _bound(self, relation: Any, collection: Collection) -> int | None:
        kinds = {kind.value for kind in self._objects(relation, f"{_RDF}type")}
        paths = [self._path(path) for path in self._objects(relation, f"{_TREE}path")]
        if not kinds & _LOWER_BOUNDS or not collection.timestamp or paths != [collection.timestamp]:
            return None
        return next(filter(None, map(_time, self._objects(relation, f"{_TREE}value"))), None)

    def _member(self, id: Any, collection: Collection) -> Member:
        quads = [*self._described(id), *self._graphs.get(id, ())]
        timed = ((end, time) for end in self._ends(id, collection.timestamp) if (time := _time(end)) is not None)
        stamp, time = next(timed, (None, None))
        versions = [end.value for end in self._ends(id, collection.version_of) if isinstance(end, NamedNode)]
        graph = "" if stamp is None else f" {stamp}"
        lines = "".join(f"{quad.subject} {quad.predicate} {quad.object}{graph} .\n" for quad in quads)
        return Member(str(id.value), time, lines.encode(), versions[0] if versions else None)

    def _described(self, id: Any) -> Iterator[Quad]:
        """The concise bounded description."""
        waiting, seen = [id], {id}
        while waiting:
            subject = waiting.pop()
            for predicate, ends in self._of.get(subject, _NOTHING).items():
                for end in ends:
                    yield Quad(subject, NamedNode(predicate), end)
                    if isinstance(end, BlankNode) and end not in seen:
                        seen.add(end)
                        waiting.append(end)

    def _ends(self, start: Any, path: Sequence[str]) -> list[Any]:
        ends = [start] if path else []
        for step in path:
            ends = [end for one in ends for end in self._objects(one, step)]
        return ends

    def _path(self, start: Any) -> tuple[str, ...]:
        """The properties of a path; a `ValueError` if it has other steps."""
        if isinstance(start, NamedNode):
            return (start.value,)
        steps: list[Any] = []
        seen = set[Any]()
        while start not in seen and (first := self._objects(start, f"{_RDF}first")):
            seen.add(start)
            steps += first[:1]
            start = next(iter(self._objects(start, f"{_RDF}rest")), None)
        if not steps or not all(isinstance(step, NamedNode) for step in steps):
            raise ValueError("it has a path that is neither a property nor a list of properties: give timestamp")
        return tuple(step.value for step in steps)

    def _objects(self, subject: Any, predicate: str) -> list[Any]:
        return self._of.get(subject, _NOTHING).get(predicate, [])

    def _pairs(self, predicate: str) -> Iterator[tuple[Any, Any]]:
        return ((subject, end) for subject, said in self._of.items() for end in said.get(predicate, ()))


def _time(term: Any) -> int | None:
    try:
        return moment_of(term)
    except ValueError:
        return None

"""The sources that the triples of a pattern may come from: windows of streams, and graphs of the background."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pyoxigraph import NamedNode

from penstock.algebra.expressions import PatternTerm, Var
from penstock.algebra.ops import Query, StreamWindow
from penstock.algebra.pattern_scope import PatternScope
from penstock.algebra.windows import SlideWindow
from penstock.explain.notation import Notation
from penstock.translate.window_forms import written_window

__all__ = ["KnownPredicates", "Source", "Sources"]

ANY_STREAM = NamedNode("urn:penstock:any-stream")
"""Stands for the streams that there will be, where a query of events names none."""


@dataclass(frozen=True, slots=True)
class KnownPredicates:
    """The predicates that occur, as IRIs: in the background, and in each stream by its IRI. A source without an entry
    may have any predicate."""

    background: frozenset[str] | None = None
    streams: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def has(self, source: Source, predicate: PatternTerm) -> bool:
        """Whether the source can have a triple with that predicate."""
        source_predicates = self.background if source.window is None else self.streams.get(source.window.iri.value)
        return source_predicates is None or not isinstance(predicate, NamedNode) or predicate.value in source_predicates


@dataclass(frozen=True, slots=True)
class Source:
    """A window, or a graph of the background (no name: the default graph)."""

    window: StreamWindow | None = None
    graph: NamedNode | Var | None = None

    @property
    def kind(self) -> str:
        return "graph" if self.window is None else "window"


class Sources:
    """The sources of one query."""

    def __init__(self, query: Query, known: KnownPredicates | None = None, names: Notation | None = None) -> None:
        self._query, self._known = query, known or KnownPredicates()
        self._names = names or Notation()
        self.windows = query.streams or _any_stream(query)
        self.iris = frozenset(stream.iri for stream in self.windows)

    def of(self, predicate: PatternTerm | None, place: PatternScope) -> tuple[Source, ...]:
        """The sources of a triple pattern with that predicate, windows first; without a predicate, all possible
        sources."""
        return tuple(s for s in self._at(place) if predicate is None or self._known.has(s, predicate))

    def _at(self, place: PatternScope) -> Iterator[Source]:
        for window in place.windows(self.windows):
            yield Source(window)
        if place.background:
            yield from self._graphs(place.graph)

    def _graphs(self, name: Var | NamedNode | None) -> Iterator[Source]:
        """The graph of a stream has the default graph for its background; a variable stands for streams as well."""
        of_stream = name in self.iris or (isinstance(name, Var) and any(w.name is None for w in self.windows))
        dataset = self._query.dataset
        if (name is None or of_stream) and (dataset is None or dataset.adds or dataset.default):
            yield Source()
        if name is not None and name not in self.iris:
            yield Source(graph=name)

    def title(self, source: Source) -> str:
        """The title of a window or graph."""
        if source.window is not None:
            return self.window_title(source.window)
        if isinstance(source.graph, NamedNode):
            return self._names.iri(source.graph)
        dataset = self._query.dataset
        named = source.graph is not None
        given = () if dataset is None or dataset.adds else dataset.named if named else dataset.default
        return ", ".join(map(self._names.iri, given)) or ("all named graphs" if named else "default graph")

    def stream_title(self, iri: NamedNode) -> str:
        return "all streams" if iri == ANY_STREAM else self._names.iri(iri)

    def window_title(self, window: StreamWindow) -> str:
        """The title of a window, with its name if the query names it."""
        name = "" if window.name is None else self._names.iri(window.name)
        return f"{'' if name.startswith('.') else name} {written_window(window.window)}".lstrip()


def _any_stream(query: Query) -> tuple[StreamWindow, ...]:
    return (StreamWindow(ANY_STREAM, SlideWindow(None)),) if query.emit == "events" else ()

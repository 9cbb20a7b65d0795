"""C-SPARQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.syntax import tree
from penstock.translate.language import Language
from penstock.translate.window_forms import WindowForm, usual_forms

__all__ = ["CSparql"]

_ALONE = "a block reads a window without the background's default graph (--no-background assumes that it is empty)"


class CSparql(Language):
    """GRAPH <s> reads the window of a stream, but the background's default graph too. So a block can be said only where
    that graph is empty: because there is none, or because FROM NAMED stands there without FROM."""

    title = "C-SPARQL"
    window_forms = usual_forms(WindowForm.STEP) | {
        WindowForm.COUNT: "RANGE TRIPLES {size}",
        WindowForm.COUNT_STEP: "RANGE TRIPLES {size} STEP {step}",
    }
    no_slide = "elements enter its window at their own time, and not at steps"

    def __init__(self, query: tree.Query, meaning: ops.Query, background: bool) -> None:
        super().__init__(query, meaning, background)
        self.blocks = False
        self._graphs: dict[str, None] = {}
        self._inside: str | None = None  # "window" or "graph"
        self._default_is_read = False

    # Patterns

    def triples(self, triples: tuple[tree.Triple, ...]) -> Iterator[str]:
        self._default_is_read |= self._inside is None
        return super().triples(triples)

    def group(self, group: tree.Group) -> str:
        if group.window is not None:
            raise self.cannot("a group has a window of its own")
        return super().group(group)

    def graph(self, block: tree.NamedGraph) -> str:
        if self._inside == "window":
            raise self.cannot("a block asks for the graphs in which the elements of a window came")
        if isinstance(block.name, tree.Iri):
            self._graphs[block.name.value] = None
        elif self.meaning.streams and self.meaning.streams[-1].name is not None:
            raise self.cannot(f"GRAPH ?{block.name.name} would read streams as well as graphs")
        return f"GRAPH {self.term(block.name)} {self._within('graph', block.group)}"

    def window_block(self, block: tree.WindowBlock) -> str:
        if isinstance(block.name, tree.Variable):
            raise self.cannot(f"WINDOW ?{block.name.name} reads each window in turn")
        stream = next(s for s in self.meaning.streams if s.name == NamedNode(block.name.value))
        return self._block(stream.iri.value, block.group)

    def stream_block(self, block: tree.StreamBlock) -> str:
        return self._block(block.iri.value, block.group)

    def _block(self, stream: str, group: tree.Group) -> str:
        self.blocks = True
        return f"GRAPH {self.terms.iri(stream)} {self._within('window', group)}"

    def _within(self, place: str, group: tree.Group) -> str:
        before, self._inside = self._inside, place
        written = self.group(group)
        self._inside = before
        return written

    # FROM

    def datasets(self) -> Iterator[str]:
        if not self.blocks or not self.background:
            yield from super().datasets()
            return
        dataset = self.meaning.dataset
        visible = list(self._graphs) if dataset is None or dataset.adds else [graph.value for graph in dataset.named]
        own = any(stream.name is None for stream in self.meaning.streams)
        if self._default_is_read or own or not visible:
            raise self.cannot(_ALONE)
        yield from (f"FROM NAMED {self.terms.iri(graph)}" for graph in visible)

    def streams(self) -> Iterator[str]:
        windows: dict[NamedNode, ops.StreamWindow] = {}
        for stream in self.meaning.streams:
            first = windows.setdefault(stream.iri, replace(stream, named=stream.named or stream.name is not None))
            if first.window != stream.window:
                raise self.cannot(f"{stream.iri} has two windows")
        for stream in windows.values():
            words = "FROM NAMED STREAM" if stream.named else "FROM STREAM"
            yield f"{words} {self.terms.iri(stream.iri.value)} {self.window(stream.window)}"

    # AGGREGATE

    def modifiers(self, modifiers: tree.Modifiers) -> Iterator[str]:
        yield from super().modifiers(modifiers)
        if modifiers.annotations:
            made = " ".join(map(self._annotation, modifiers.annotations))
            filters = "".join(f" FILTER {self.bracketed(f.condition)}" for f in modifiers.annotation_filters)
            yield f"AGGREGATE {{ {made}{filters} }}"

    def _annotation(self, annotation: tree.Annotation) -> str:
        aggregate = annotation.aggregate
        function = "COUNT" if aggregate.argument is None and not aggregate.distinct else self.expression(aggregate)
        keys = ", ".join(f"?{key.name}" for key in annotation.keys)
        return f"(?{annotation.variable.name}, {function}, {{{keys}}})"

"""Base of languages in which a block reads one window alone: a pattern that reads several sources is a UNION there.

In C-SPARQL a triple comes from the background or from one of the windows, so each pattern becomes the union of the
pattern in the background and in each of the windows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.build import window_of
from penstock.algebra.windows import Window
from penstock.syntax import tree
from penstock.syntax.scope import subexpressions
from penstock.translate.language import Language

__all__ = ["BlockLanguage", "Read"]

Read = tuple[NamedNode, Window]


class BlockLanguage(Language):
    def __init__(self, query: tree.Query, meaning: ops.Query, background: bool) -> None:
        super().__init__(query, meaning, background)
        self.own = [stream for stream in meaning.streams if stream.name is None and stream.tag == 0]
        self.named = {stream.name: stream for stream in meaning.streams if stream.name is not None}
        self.default: tuple[Read, ...] = tuple((s.iri, s.window) for s in self.own if not s.named)
        self.override: Window | None = None
        self.reads = self.default
        self._blank_nodes: dict[str, str] = {}

    def block(self, read: Read, name: NamedNode | None, inside: str) -> str:
        """The text of a block that reads this window; `name` is its name in the query, if it has one."""
        raise NotImplementedError

    def unread(self, read: Collection[Read]) -> list[Read]:
        """The windows that no block has. They count all the same: when a query is evaluated depends on its windows."""
        return [each for each in dict.fromkeys((s.iri, s.window) for s in self.meaning.streams) if each not in read]

    # Patterns

    def group(self, group: tree.Group) -> str:
        if group.window is None:
            return super().group(group)
        window = window_of(self.query, group.window)
        with self.reading(tuple((iri, window) for iri, _ in self.reads), window):
            return super().group(group)

    def triples(self, triples: tuple[tree.Triple, ...]) -> Iterator[str]:
        if not self.reads:
            yield from super().triples(triples)
        elif len(self.reads) == 1 and not self.background:
            yield self.block(self.reads[0], None, f"{{ {' '.join(super().triples(triples))} }}")
        else:
            yield from map(self._from_anywhere, triples)

    def _from_anywhere(self, triple: tree.Triple) -> str:
        if isinstance(triple.predicate, tree.RepeatPath | tree.SequencePath):
            raise self.cannot("its paths may use triples of several windows, or of windows and the background")
        inside = f"{{ {self.triple(triple)} }}"
        choices = [f"{{ {self.block(read, None, inside)} }}" for read in self.reads]
        return " UNION ".join([inside, *choices] if self.background else choices)

    def term(self, term: tree.Term) -> str:
        """A blank node cannot stand on both sides of a UNION; a variable that is not projected can."""
        if isinstance(term, tree.BlankNode) and self.reads:
            return self._blank_nodes.setdefault(term.label, self.unused(f"?blank{len(self._blank_nodes)}"))
        return super().term(term)

    def unused(self, variable: str) -> str:
        while variable in self.query.text:
            variable += "_"
        return variable

    def template(self, triples: tuple[tree.Triple, ...]) -> str:
        with self.reading(()):  # its blank nodes stay what they are
            return super().template(triples)

    def check(self, expression: tree.Expression) -> None:
        super().check(expression)
        for part in subexpressions(expression):
            if isinstance(part, tree.Call) and part.name == "TIMESTAMP":
                raise self.cannot("it asks for timestamps")

    def modifiers(self, modifiers: tree.Modifiers) -> Iterator[str]:
        if modifiers.annotations:
            raise self.cannot("it has an AGGREGATE clause, which adds to solutions without grouping them")
        return super().modifiers(modifiers)

    # What blocks and graphs read

    def graph(self, block: tree.NamedGraph) -> str:
        if isinstance(block.name, tree.Variable):
            if self.own:
                raise self.cannot(f"GRAPH ?{block.name.name} reads streams as well as graphs")
            return super().graph(block)
        stream = next((s for s in self.own if s.iri.value == block.name.value), None)
        if stream is None:
            with self.reading(()):
                return super().graph(block)
        with self.reading(((stream.iri, self.override or stream.window),)):
            return self.group(block.group)

    def window_block(self, block: tree.WindowBlock) -> str:
        if isinstance(block.name, tree.Variable):
            return self.any_window(block.name, block.group)
        name = NamedNode(block.name.value)
        with self.reading(()):
            return self.block((self.named[name].iri, self.named[name].window), name, self.group(block.group))

    def any_window(self, variable: tree.Variable, group: tree.Group) -> str:
        raise self.cannot(f"WINDOW ?{variable.name} reads each window in turn")

    def stream_block(self, block: tree.StreamBlock) -> str:
        with self.reading(()):
            return self.block(
                (NamedNode(block.iri.value), window_of(self.query, block.window)), None, self.group(block.group)
            )

    @contextmanager
    def reading(self, reads: tuple[Read, ...], override: Window | None = None) -> Iterator[None]:
        before = self.reads, self.override
        self.reads, self.override = reads, override or self.override
        yield
        self.reads, self.override = before

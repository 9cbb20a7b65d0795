"""Generated patterns that read windows of their own: blocks with a window alone, and groups whose window stands in for
those of the streams.

A query is written twice, once as Penstock reads it and once in plain SPARQL for pyoxigraph, where every window is a
named graph. Where the two differ the text has a mark, and `ours` and `theirs` put in what belongs there.

Kept out on purpose: `GRAPH ?g` in a group with a window. What it is bound to are streams, for which plain SPARQL would
need graphs of the same names with other content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tests.oracle import expressions as ex
from tests.oracle import patterns
from tests.oracle.data import GRAPHS
from tests.oracle.declared_windows import Alone, Overriding, Own
from tests.oracle.window_syntax import name_of
from tests.support.tape import Tape


@dataclass(frozen=True, slots=True)
class Place:
    """What is around: a block, or a group with a window."""

    alone: bool = False
    overriding: Overriding | None = None


class Blocks:
    """The windows of one query, and what the generator has to remember of where it is."""

    def __init__(self, own: Sequence[Own], alone: Sequence[Alone], overriding: Sequence[Overriding]) -> None:
        self.own, self.alone, self.overriding = own, alone, overriding if own else ()
        self._place = Place()
        self._marks: list[tuple[str, str]] = []

    # Text

    def mark(self, ours: str, theirs: str) -> str:
        self._marks.append((ours, theirs))
        return f"⟦{len(self._marks) - 1}⟧"

    def ours(self, text: str) -> str:
        return self._written(text, 0)

    def theirs(self, text: str) -> str:
        return self._written(text, 1)

    def _written(self, text: str, whose: int) -> str:
        for number, mark in enumerate(self._marks):
            text = text.replace(f"⟦{number}⟧", mark[whose])
        return text

    def clauses(self) -> str:
        clauses = [own.clause for own in self.own] + [read.clause for read in self.alone]
        return "".join(f"{clause}\n" for clause in clauses if clause)

    # What is generated

    def element(self, draw: Tape, context: patterns.Context, depth: int) -> str:
        """Patterns that read something else than those around them."""
        if self._overridable and draw.chance(6):
            return self._optional(draw)
        form = draw.pick(("{0}", "{0}", "{0}", "OPTIONAL {{ {0} }}", "MINUS {{ {0} }}", "{{ {0} }} UNION {{ {1} }}"))
        return form.format(*(draw.saw(self._block(draw, context, depth)) for _ in range(1 + form.count("{1}"))))

    def condition(self, draw: Tape) -> str:
        """For EXISTS: no more than a few triples, see `patterns.py`."""
        around, closes = self._around(draw)
        return around + patterns.block(draw) + closes

    def each_graph(self, inside: str) -> str:
        names = [f":{g}" for g in GRAPHS] + [name_of(own.stream) for own in self.own]
        return self._each("GRAPH ?g {", inside, [] if self._place.alone else names)

    def _each(self, ours: str, inside: str, names: Sequence[str]) -> str:
        """Each of these graphs in turn, among others that pyoxigraph has too."""
        end = f"}} FILTER(?g IN ({', '.join(names)})) }}"
        return self.mark(ours, "{ GRAPH ?g {") + f" {inside} " + self.mark("}", end)

    def _block(self, draw: Tape, context: patterns.Context, depth: int) -> str:
        return draw.pick(list(self._kinds()))(draw, context, depth)

    def _kinds(self) -> Iterator[Callable[[Tape, patterns.Context, int], str]]:
        yield from (self._read,) * 6 * bool(self.alone)
        yield from (self._each_window,) * 3 * any(read.merges for read in self.alone)
        yield from (self._group,) * 6 * self._overridable
        yield from (self._stream,) * 2 * bool(self.own)
        yield from (self._each_graph,) * (self._place.overriding is None)
        yield self._graph

    def _each_window(self, draw: Tape, context: patterns.Context, depth: int) -> str:
        with self._within(context, Place(alone=True), variable=True):
            inside = patterns.group(draw, context, depth - 1)
        return self._each("WINDOW ?g {", inside, [read.graph for read in self.alone if read.merges])

    def _each_graph(self, draw: Tape, context: patterns.Context, depth: int) -> str:
        with self._within(context, self._place, variable=True):
            return self.each_graph(patterns.group(draw, context, depth - 1))

    def _group(self, draw: Tape, context: patterns.Context, depth: int) -> str:
        one = draw.pick(self.overriding)
        with self._within(context, Place(overriding=one)):
            inside = patterns.group(draw, context, depth - 1)
        return self.mark("{", f"{{ GRAPH {one.graph} {{") + f" {inside} " + self.mark(one.closes, "} }")

    def _read(self, draw: Tape, context: patterns.Context, depth: int) -> str:
        read = draw.pick(self.alone)
        with self._within(context, Place(alone=True)):
            inside = draw.pick((patterns.group, patterns.group, patterns.subselect))(draw, context, depth - 1)
        return f"{self.mark(f'{read.opens} {{', f'GRAPH {read.graph} {{')} {inside} }}"

    def _graph(self, draw: Tape, context: patterns.Context, depth: int) -> str:
        name = f":{draw.pick(GRAPHS)}"
        return self._named(draw, name, name)

    def _stream(self, draw: Tape, context: patterns.Context, depth: int) -> str:
        stream, around = draw.pick(self.own).stream, self._place.overriding
        return self._named(draw, name_of(stream), name_of(stream) if around is None else around.of_stream(stream))

    def _named(self, draw: Tape, ours: str, theirs: str) -> str:
        """GRAPH with a name. In a block it means the graphs that elements came in, and these came in none."""
        opens = self.mark(f"GRAPH {ours} {{", f"GRAPH {':nothing' if self._place.alone else theirs} {{")
        return f"{opens} {patterns.block(draw)} FILTER({ex.condition(draw, 1)}) }}"

    def _optional(self, draw: Tape) -> str:
        """OPTIONAL with a window: its condition sees the solutions before it, and EXISTS in it reads the window."""
        one = draw.pick(self.overriding)
        here, there = self.mark("", f"GRAPH {one.graph} {{"), self.mark("", "}")
        exists = f"{draw.pick(('', 'NOT '))}EXISTS {{ {here} {patterns.block(draw)} {there} }}"
        condition = draw.pick((ex.condition(draw, 1), exists))
        block = draw.saw(patterns.block(draw))
        return f"OPTIONAL {{ {here} {block} {there} FILTER({condition}) {self.mark(one.closes, '}')}"

    def _around(self, draw: Tape) -> tuple[str, str]:
        if self.alone and (not self._overridable or draw.chance(2)):
            read = draw.pick(self.alone)
            return self.mark(f"{read.opens} {{", f"GRAPH {read.graph} {{"), "}"
        if self._overridable:
            one = draw.pick(self.overriding)
            return self.mark("{", f"{{ GRAPH {one.graph} {{"), self.mark(one.closes, "} }")
        return "", ""

    @property
    def _overridable(self) -> bool:
        return bool(self.overriding) and not self._place.alone

    @contextmanager
    def _within(self, context: patterns.Context, place: Place, variable: bool = False) -> Iterator[None]:
        before = self._place, context.anchored
        self._place, context.in_graph_variable = place, variable
        context.anchored = context.anchored and not place.alone
        yield
        self._place, context.anchored = before
        context.in_graph_variable = False

"""Generated cases with windows inside of queries (`blocks.py`), and the datasets that they are at an instant."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from hypothesis import strategies as st
from pyoxigraph import DefaultGraph, NamedNode, Quad, Store, Triple

from penstock.algebra.build import translate
from penstock.algebra.ops import StreamWindow
from penstock.algebra.windows import Window
from penstock.options import Duplicates
from tests.oracle.blocks import Blocks
from tests.oracle.compare import answered, oracle, same
from tests.oracle.data import NS, PREFIXES, dataset
from tests.oracle.declared_windows import declared
from tests.oracle.strategies import DATA_BYTES, QUERY_BYTES, Generated, query
from tests.oracle.streams import SECOND, STREAM_BYTES, WINDOWS, Streamed, streamed
from tests.support.quads import quad
from tests.support.tape import Tape

BLOCK_BYTES = 60
BYTES = DATA_BYTES + QUERY_BYTES + STREAM_BYTES + BLOCK_BYTES
KINDS = (*WINDOWS, "sliding", "tumbling", "past", "leaving", "moving")  # few of those that count, which are slow


@dataclass(frozen=True)
class Inside:
    """A query with windows inside, as both engines read it, and the streams that it is asked on."""

    streamed: Streamed
    query: Generated
    blocks: Blocks

    def windows(self) -> set[tuple[NamedNode, Window]]:
        """All windows of the query. Those of groups are on each of the streams; those that only blocks have count if
        some block does."""
        own = {(each.stream, each.window) for each in self.blocks.own}
        used = [each for each in self.blocks.overriding if f"GRAPH {each.graph} " in self.query.whole]
        groups = {(stream, each.window) for stream, _ in own for each in used}
        alone = {(r.stream, r.window) for r in self.blocks.alone if r.clause or r.opens in self.query.text}
        return own | groups | alone

    def store(self, instant: int) -> Store:
        """The dataset at an instant, with a graph for each window, and for what each window of a group makes of it."""
        background = list(oracle(self.streamed.background, self.query.source))
        store = Store()
        store.extend([*background, *self._windows([q.triple for q in background if _is_default(q)], instant)])
        for graph in self._graphs():
            store.add_graph(graph)
        return store

    def tells(self) -> bool:
        """Whether it can be seen from the answers what the windows inside hold, or without such what the others do."""
        return any(map(self._tells_at, self.streamed.instants()[::3]))

    def _tells_at(self, instant: int) -> bool:
        whole = self.query.whole
        return not same(answered(self.store(instant), whole), answered(self._confused(instant), whole))

    def _confused(self, instant: int) -> Store:
        """As if the windows inside were not looked at, but the default graph."""
        right, wrong = self.store(instant), oracle(self.streamed.background, self.query.source)
        inside = self._graphs()
        for one in right if inside else ():
            if one.graph_name not in inside:
                wrong.add(one)
            if _is_default(one):
                wrong.extend(quad(one.triple, graph) for graph in inside)
        return wrong

    def _graphs(self) -> list[NamedNode]:
        """The graphs of plain SPARQL that stand for the windows inside."""
        return [
            *(_iri(read.graph) for read in self.blocks.alone),
            *(_iri(group.graph) for group in self.blocks.overriding),
        ]

    def _windows(self, background: list[Triple], instant: int) -> Iterator[Quad]:
        for own in self.blocks.own:
            content = self._content(own.stream, own.window, instant)
            yield from (quad(t) for t in content if not own.named)
            yield from (quad(t, own.stream) for t in [*background, *content])
            for each in self.blocks.overriding:
                content = self._content(own.stream, each.window, instant)
                visible = [] if own.named else content
                yield from (quad(t, _iri(each.graph)) for t in [*background, *visible])
                yield from (quad(t, _iri(each.of_stream(own.stream))) for t in [*background, *content])
        for read in self.blocks.alone:
            yield from (quad(t, _iri(read.graph)) for t in self._content(read.stream, read.window, instant))

    def _content(self, stream: NamedNode, window: Window, instant: int) -> list[Triple]:
        return [e.triple for e in self.streamed.visible(StreamWindow(stream, window), instant)]


def _iri(name: str) -> NamedNode:
    return NamedNode(NS + name[1:])


def _is_default(quad: Quad) -> bool:
    return isinstance(quad.graph_name, DefaultGraph)


def inside_cases(
    style: str = "mixed", kinds: Sequence[str] = KINDS, wanted: Callable[[Inside], bool] = Inside.tells
) -> st.SearchStrategy[Inside]:
    """Of each seed the first case that is wanted. Trying some takes little time beside a Spark job."""

    def found(seed: int) -> Inside:
        tapes = random.Random(seed)
        return next(filter(wanted, (inside_case(tapes.randbytes(BYTES), style, kinds) for _ in count())))

    return st.integers(0, 1 << 40).map(found)


def inside_case(tape: bytes, style: str = "mixed", kinds: Sequence[str] = KINDS) -> Inside:
    data, rest = Tape(tape[:DATA_BYTES]), tape[DATA_BYTES:]
    asked, rest = Tape(rest[:QUERY_BYTES]), rest[QUERY_BYTES:]
    found = streamed(dataset(data), Tape(rest[:STREAM_BYTES]), kinds)
    made = asked.blocks = Blocks(*declared(Tape(rest[STREAM_BYTES:]), tuple(found.elements), style, kinds))
    return inside(found, query(asked), made)


def inside(found: Streamed, asked: Generated, made: Blocks) -> Inside:
    every = "" if found.every is None else f" COMPUTED EVERY {found.every // SECOND}s"
    header = f"{PREFIXES}REGISTER RSTREAM q{every} AS\n{made.clauses()}"
    text = made.ours(asked.text).replace(PREFIXES, header, 1)
    windows, spans = translate(text).streams, min(found.spans, 2)  # each window makes each span dearer
    found = replace(found, windows=windows, spans=spans, duplicates=_duplicates(found, made))
    return Inside(found, replace(asked, text=text, whole=made.theirs(asked.whole)), made)


def _duplicates(found: Streamed, made: Blocks) -> Duplicates:
    """RSP-QL's windows merge equal triples by themselves."""
    return "keep" if not made.own and all(read.merges for read in made.alone) else found.duplicates

"""Generated streams and windows around the generated queries of `strategies.py`, and their snapshots.

Part of a generated default graph becomes the elements of one or two streams, each triple once or a few times; what is
left is the background. The snapshot of an instant is worked out here, element by element, from the definition of the
windows, and given to pyoxigraph as plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from pyoxigraph import DefaultGraph, NamedNode, Quad, Triple

from penstock.algebra.ops import StreamWindow
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, Window
from penstock.options import Duplicates
from tests.oracle.data import NS, Data, dataset
from tests.oracle.strategies import DATA_BYTES, QUERY_BYTES, Generated, query
from tests.support.quads import quad
from tests.support.tape import Tape

STREAM_BYTES = 200
SECOND = 1_000_000
ALWAYS = 1 << 60
STREAMS = tuple(NamedNode(f"{NS}stream{i}") for i in (1, 2))


@dataclass(frozen=True, slots=True)
class Element:
    triple: Triple
    time: int


SOME = Element(Triple(STREAMS[0], STREAMS[0], STREAMS[0]), 11 * SECOND)
OTHER = Element(Triple(STREAMS[1], STREAMS[1], STREAMS[1]), 12 * SECOND)


@dataclass(frozen=True, slots=True)
class Streamed:
    """A dataset of which a part comes as streams, and how it is cut and evaluated."""

    background: list[Quad]
    elements: dict[NamedNode, list[Element]]
    windows: tuple[StreamWindow, ...]
    every: int | None
    duplicates: Duplicates
    files: int  # into how many a stream is cut
    spans: int  # into how many the instants are cut
    known: bool  # whether the predicates of the streams are known

    @property
    def last(self) -> int:
        return max(e.time for elements in self.elements.values() for e in elements)

    def instants(self) -> list[int]:
        """All instants that may have an answer, by brute force: everything happens within a few dozen seconds."""
        return sorted(t for t in self.moments() if any(self.visible(w, t) for w in self.windows))

    def moments(self) -> list[int]:
        """The same, with those at which there is nothing to see."""
        steps = [w.window.step for w in self.windows if isinstance(w.window, TimeWindow)]
        moving = [w for w in self.windows if not isinstance(w.window, TimeWindow)]
        if self.every is not None:
            steps, moving = [self.every], []
        end = min((self.last + -self.last % step for step in steps), default=self.last)
        times = {t for step in steps for t in range(0, end + 1, step)}
        times |= {t for window in moving for t in self.changes(window)}
        return sorted(t for t in times if t <= end)

    def changes(self, source: StreamWindow) -> Iterator[int]:
        """When something comes into a window, or leaves it."""
        window, times = source.window, sorted(e.time for e in self.elements[source.iri])
        if isinstance(window, CountWindow):
            yield from times[window.step - 1 :: window.step]
        elif isinstance(window, SlideWindow):
            yield from times
            yield from (end for _, end in map(window.visible, times) if end is not None)

    def visible(self, source: StreamWindow, instant: int) -> list[Element]:
        """The content of a window, as its definition says."""
        window, elements = source.window, self.elements[source.iri]
        if isinstance(window, TimeWindow):
            at = instant - instant % window.step - window.delay
            return [e for e in elements if at - window.range < e.time <= at]
        if isinstance(window, SlideWindow):
            ends = (ALWAYS if window.range is None else e.time - e.time % window.slide + window.range for e in elements)
            return [e for e, end in zip(elements, ends, strict=True) if e.time <= instant < end]
        arrived = [e for e in sorted(elements, key=lambda e: e.time) if e.time <= instant]
        full = len(arrived) - len(arrived) % window.step
        return arrived[max(0, full - window.size) : full]

    def snapshot(self, instant: int, background: list[Quad]) -> Iterator[Quad]:
        """The dataset at an instant: windows in the default graph, and as graphs on top of the background's."""
        yield from background
        background = [q for q in background if isinstance(q.graph_name, DefaultGraph)]
        for source in self.windows:
            content = [e.triple for e in self.visible(source, instant)]
            if not source.named:
                yield from map(quad, content)
            yield from (quad(t, source.iri) for t in content)
            yield from (quad(q.triple, source.iri) for q in background)


# How to draw windows of each kind, given a step.
WINDOWS: dict[str, Callable[[Tape, int], Window]] = {
    "sliding": lambda draw, step: TimeWindow(step * draw.count(1, 4), step),
    "uneven": lambda draw, step: TimeWindow(step * draw.count(1, 3) + SECOND // 2, step),
    "tumbling": lambda draw, step: TimeWindow(step, step),
    "counting": lambda draw, step: CountWindow(draw.count(1, 6)),
    "stepping": lambda draw, step: CountWindow(draw.count(2, 6), draw.count(1, 2)),
    "sampling": lambda draw, step: TimeWindow(step * draw.count(1, 3) // 4, step, draw.count(0, 1) * SECOND // 2),
    "sparse": lambda draw, step: CountWindow(draw.count(1, 2), draw.count(3, 4)),
    "past": lambda draw, step: TimeWindow(step * draw.count(1, 3), step, draw.count(1, 6) * SECOND // 2),
    "leaving": lambda draw, step: SlideWindow(step * draw.count(1, 4), step),
    "moving": lambda draw, step: SlideWindow(draw.count(1, 12) * SECOND // 2),
    "now": lambda draw, step: SlideWindow(1),
    "all": lambda draw, step: SlideWindow(None),
}


def streamed_cases(*kinds: str) -> st.SearchStrategy[tuple[Streamed, Generated]]:
    """Cases with windows of these kinds, or of all."""
    size = DATA_BYTES + QUERY_BYTES + STREAM_BYTES
    return st.binary(min_size=size, max_size=size).map(lambda tape: streamed_case(tape, kinds or tuple(WINDOWS)))


def streamed_case(tape: bytes, kinds: Sequence[str] = tuple(WINDOWS)) -> tuple[Streamed, Generated]:
    data, asked = tape[:DATA_BYTES], tape[DATA_BYTES : DATA_BYTES + QUERY_BYTES]
    return streamed(dataset(Tape(data)), Tape(tape[DATA_BYTES + QUERY_BYTES :]), kinds), query(Tape(asked))


def streamed(data: Data, draw: Tape, kinds: Sequence[str] = tuple(WINDOWS)) -> Streamed:
    """Blank nodes stay in the background: a stream has its own."""
    quads = data.quads()
    movable = [q for q in quads if isinstance(q.graph_name, DefaultGraph) and "_:" not in str(q)]
    elsewhere = {q.triple for q in quads if not isinstance(q.graph_name, DefaultGraph)}  # FROM may bring them in
    windows = tuple(one_window(draw, iri, kinds) for iri in STREAMS[: draw.count(1, 2)])
    every = draw.pick((None, None, 3 * SECOND, 10 * SECOND))
    merge = draw.chance(2)
    elements: dict[NamedNode, list[Element]] = {w.iri: [] for w in windows}
    moved = set()
    for q in movable:
        if str(q.predicate) != f"<{NS}i>" and (merge or q.triple not in elsewhere) and not draw.chance(3):
            moved.add(q)
            for _ in range(draw.pick((1, 1, 2)) if merge else 1):
                source = draw.pick(windows).iri
                elements[source].append(Element(q.triple, draw.count(0, 40) * SECOND // 2))
    for found in elements.values():
        found.append(SOME)  # no stream is empty
        found.sort(key=lambda e: e.time)
    if not merge:  # two streams with the same triple at once would be two matches
        first = elements[windows[0].iri]
        elements |= {
            w.iri: [e for e in elements[w.iri] if e.triple.subject != STREAMS[0]] or first for w in windows[1:]
        }
    left = [q for q in quads if q not in moved or (merge and draw.chance(4))]
    return Streamed(
        left, elements, windows, every, "merge" if merge else "keep", draw.count(1, 3), draw.count(1, 3), draw.chance(2)
    )


def one_window(draw: Tape, iri: NamedNode, kinds: Sequence[str] = tuple(WINDOWS)) -> StreamWindow:
    step = draw.pick((1, 2, 5)) * SECOND
    return StreamWindow(iri, WINDOWS[draw.pick(tuple(kinds))](draw, step), named=draw.chance(6))

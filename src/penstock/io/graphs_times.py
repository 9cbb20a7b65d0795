"""Graphs of a document and their times: what has one is an element, what has none yet waits for it.

The time of a graph is said of its name, in the default graph (and is then no element) or in the graph itself (and then
is one). The first that a document says counts. What the default graph says otherwise of a graph's name is an element
of that time which is in no graph. Whatever gets no time is bad.
"""

from __future__ import annotations

from collections.abc import Hashable

import pyarrow as pa
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad

from penstock.io.nquads import GRAPHED, BadLine, Parsed
from penstock.io.nquads_slow import encoded, moment_of, unreadable

__all__ = ["Graphs", "Rows"]

_MANY = 1 << 16  # rows that leave together


class Rows:
    """Elements and bad statements on their way out, some at a time."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, str, str, int, str | None]] = []
        self.bad: list[BadLine] = []

    @property
    def full(self) -> bool:
        return len(self._rows) >= _MANY or len(self.bad) >= _MANY

    def add(self, s: str, p: str, o: str, ts: int, g: str | None) -> None:
        self._rows.append((s, p, o, ts, g))

    def take(self) -> Parsed:
        """What has come together, which is then forgotten here."""
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(GRAPHED)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, GRAPHED, strict=True)]
        taken = Parsed(pa.Table.from_arrays(arrays, schema=GRAPHED), self.bad)
        self._rows, self.bad = [], []
        return taken


class Graphs:
    """The graphs of one document."""

    def __init__(self, labels: str, rows: Rows, time_property: str) -> None:
        self._labels = labels
        self._rows = rows
        self._property = NamedNode(time_property)
        self._times: dict[Hashable, int] = {}
        self._waiting: dict[Hashable, list[tuple[Quad, int]]] = {}

    def add(self, quad: Quad, line: int) -> None:
        """One statement more, which stands about there."""
        name = quad.graph_name
        about = quad.subject if isinstance(name, DefaultGraph) else name
        if quad.predicate == self._property and quad.subject == about:
            self._time(quad, about, line)
        elif (time := self._times.get(about)) is not None:
            self._element(quad, time, line)
        else:
            self._waiting.setdefault(about, []).append((quad, line))

    def end(self) -> None:
        """Nothing more comes: what still waits has no time."""
        for name, some in self._waiting.items():
            for quad, line in some:
                self._refuse(quad, line, self._untimed(quad, name))
        self._waiting = {}

    def _time(self, quad: Quad, name: Hashable, line: int) -> None:
        try:
            time = moment_of(quad.object)
        except ValueError as error:
            self._refuse(quad, line, str(error))
            return
        if self._times.setdefault(name, time) != time:
            self._refuse(quad, line, f"{name} has another time already, and the first counts")
            return
        for waiting, place in self._waiting.pop(name, ()):
            self._element(waiting, time, place)
        if not isinstance(quad.graph_name, DefaultGraph):
            self._element(quad, time, line)

    def _element(self, quad: Quad, time: int, line: int) -> None:
        subject, predicate, term, name = quad
        text = str(term)
        if not isinstance(term, NamedNode):
            if (problem := unreadable(quad)) is not None:
                self._refuse(quad, line, problem)
                return
            if text[0] == "_" or "\\" in text:
                text = encoded(term, self._labels)  # any other term is written as it is encoded
        self._rows.add(self._named(subject), str(predicate), text, time, self._named(name) or None)

    def _named(self, name: object) -> str:
        """An IRI or a blank node encoded; nothing for the default graph."""
        if isinstance(name, NamedNode):
            return str(name)
        return encoded(name, self._labels) if isinstance(name, BlankNode) else ""

    def _refuse(self, quad: Quad, line: int, reason: str) -> None:
        self._rows.bad.append(BadLine(line, f"{quad} .", reason))

    def _untimed(self, quad: Quad, name: Hashable) -> str:
        if isinstance(quad.graph_name, DefaultGraph):
            return f"it is in no graph, and {name} is none that has a time ({self._property})"
        return f"its graph has no time ({self._property})"

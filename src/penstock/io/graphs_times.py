"""The graphs of a document and their times: triples of a graph with a time are elements, the others wait for it.

The time of a graph is said of its name, in the default graph (and is then no element) or in the graph itself (and then
is one). The first that a document says counts. What the default graph says otherwise of a graph's name is an element
of that time which is in no graph. Whatever gets no time is bad.

Where a graph may have a start and an end, one that has both lasts from the one to the other, and one that has either is
a point of time there. Until both are known, or the document ends, the kind of its time is unknown, so its triples wait.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad

from penstock.io.columns import interval, table_of
from penstock.io.nquads import BadLine, Parsed
from penstock.io.nquads_slow import encoded, moment_of, unreadable
from penstock.tuning import DEFAULT

__all__ = ["GENERATED_AT", "PROPERTIES", "Graphs", "Properties", "Rows", "When", "when_of"]

GENERATED_AT = "http://www.w3.org/ns/prov#generatedAtTime"
_TIME, _START, _END = "time", "start", "end"

When: TypeAlias = tuple[int, int | None]
"""The columns `ts` and `start` of all that is in a graph."""


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties with the time of a graph; `start` and `end` only where graphs may have a duration."""

    time: tuple[str, ...] = (GENERATED_AT,)
    start: str | None = None
    end: str | None = None

    def roles(self) -> dict[NamedNode, str]:
        """The role of each property. One that is named twice is a start or an end: alone, either is the
        time."""
        named: dict[str | None, str] = {**dict.fromkeys(self.time, _TIME), self.start: _START, self.end: _END}
        return {NamedNode(iri): role for iri, role in named.items() if iri is not None}


PROPERTIES = Properties()
"""The properties of a graph's time, if no others are given."""


class Rows:
    """Elements and bad statements on their way out, some at a time."""

    def __init__(self, most: int = DEFAULT.graph_rows) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self._most = most
        self.bad: list[BadLine] = []

    @property
    def full(self) -> bool:
        return max(len(self._rows), len(self.bad)) >= self._most

    def add(self, s: str, p: str, o: str, ts: int, g: str | None, start: int | None) -> None:
        self._rows.append((s, p, o, ts, g, start))

    def __len__(self) -> int:
        return len(self._rows)

    def cut(self, length: int) -> None:
        """Remove the elements beyond that number, and all bad statements."""
        del self._rows[length:]
        self.bad = []

    def take(self) -> Parsed:
        """The elements and bad statements so far, which are then removed."""
        taken = Parsed(table_of(self._rows), self.bad)
        self._rows, self.bad = [], []
        return taken


class Graphs:
    """The graphs of one document."""

    def __init__(self, labels: str, rows: Rows, properties: Properties) -> None:
        self._labels = labels
        self._rows = rows
        self._roles = properties.roles()
        self._enough = {_START, _END} & {*self._roles.values()} or {_TIME}  # nothing that follows changes these
        self._said: dict[Hashable, dict[str, int]] = {}
        self._known: dict[Hashable, When | str] = {}  # or why it cannot be
        self._waiting: dict[Hashable, list[tuple[Quad, int]]] = {}

    def add(self, quad: Quad, line: int) -> None:
        """Add a statement that is at about that line."""
        name = quad.graph_name
        about = quad.subject if isinstance(name, DefaultGraph) else name
        role = self._roles.get(quad.predicate)
        if role is not None and quad.subject == about:
            self._time(quad, about, role, line)
        else:
            self._place(quad, about, line)

    def end(self) -> None:
        """End the input: a graph has the times read so far, and elements that still wait have none."""
        for name in self._said:
            self._settle(name)
        for name, some in self._waiting.items():
            for quad, line in some:
                self._refuse(quad, line, self._untimed(quad, name))
        self._waiting = {}

    def _time(self, quad: Quad, name: Hashable, role: str, line: int) -> None:
        try:
            time = moment_of(quad.object)
        except ValueError as error:
            self._refuse(quad, line, str(error))
            return
        times = self._said.setdefault(name, {})
        if times.setdefault(role, time) != time:
            self._refuse(quad, line, f"{name} has another {role} already, and the first counts")
            return
        if not isinstance(quad.graph_name, DefaultGraph):
            self._place(quad, name, line)
        if self._enough <= times.keys():
            self._settle(name)

    def _settle(self, name: Hashable) -> None:
        when = self._known.setdefault(name, when_of(self._said[name]))
        for quad, line in self._waiting.pop(name, ()):
            self.element(quad, when, line)

    def _place(self, quad: Quad, about: Hashable, line: int) -> None:
        if (when := self._known.get(about)) is None:
            self._waiting.setdefault(about, []).append((quad, line))
        else:
            self.element(quad, when, line)

    def element(self, quad: Quad, when: When | str, line: int) -> None:
        """Add a statement as an element of that time; or refuse it, if that is a reason."""
        if isinstance(when, str):
            self._refuse(quad, line, when)
            return
        subject, predicate, term, name = quad
        text = str(term)
        if not isinstance(term, NamedNode):
            if (problem := unreadable(quad)) is not None:
                self._refuse(quad, line, problem)
                return
            if text[0] == "_" or "\\" in text:
                text = encoded(term, self._labels)  # any other term is written as it is encoded
        ts, start = when
        self._rows.add(self._named(subject), str(predicate), text, ts, self._named(name) or None, start)

    def _named(self, name: object) -> str:
        """An IRI or a blank node encoded; nothing for the default graph."""
        if isinstance(name, NamedNode):
            return str(name)
        return encoded(name, self._labels) if isinstance(name, BlankNode) else ""

    def _refuse(self, quad: Quad, line: int, reason: str) -> None:
        self._rows.bad.append(BadLine(line, f"{quad} .", reason))

    def _untimed(self, quad: Quad, name: Hashable) -> str:
        properties = ", ".join(map(str, self._roles))
        if isinstance(quad.graph_name, DefaultGraph):
            return f"it is in no graph, and {name} is none that has a time ({properties})"
        return f"its graph has no time ({properties})"


def when_of(times: Mapping[str, int]) -> When | str:
    """The time of a graph, from its properties."""
    if not {_START, _END} <= times.keys():
        return next(times[role] for role in (_START, _END, _TIME) if role in times), None
    try:
        return interval(times[_START], times[_END])
    except ValueError:
        return "its graph ends before it starts"

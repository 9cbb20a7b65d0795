"""The content of a logic test file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from pyoxigraph import Quad, Triple

from penstock.answer import Term

Cells: TypeAlias = tuple[Term | None, ...]
When: TypeAlias = tuple[int | None, int | None]  # None and an instant, or the bounds of an interval


@dataclass(frozen=True, slots=True)
class StreamBlock:
    """A stream and its elements, each with its time in microseconds since 1970, in the order of arrival.

    An element with a duration has two times, its start and its end. A quad is an element of a graph.
    """

    iri: str
    elements: tuple[tuple[tuple[int, ...], Triple | Quad], ...]


@dataclass(frozen=True, slots=True)
class BackgroundBlock:
    """Turtle for the default graph or a named one."""

    graph: str | None
    turtle: str


@dataclass(frozen=True, slots=True)
class QueryBlock:
    """A query. Its text is padded with empty lines, so that an error in it names the line of the file."""

    name: str | None
    text: str
    line: int


class Kind(StrEnum):
    """The kinds of expectation."""

    rows = "rows"  # a bag of solutions, or a graph as rows of three; none of them: an empty answer
    boolean = "boolean"
    nothing = "nothing"  # no report at that instant
    error = "error"
    warning = "warning"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One `expect`: the query (by position), the instant (None: a query without streams), and the expected answer.

    With `since` it is about the interval from then to `time` (None: it is open at the end).
    """

    line: int
    query: int
    kind: Kind
    time: int | None = None
    rows: tuple[Cells, ...] = ()
    boolean: bool | None = None
    text: str = ""
    since: int | None = None

    @property
    def when(self) -> When:
        """The instant or interval by which the answer is found among those of the query."""
        return self.since, self.time


@dataclass(frozen=True, slots=True)
class LogicTest:
    """A whole file. `final` says that there are no further answers than those listed."""

    name: str
    streams: tuple[StreamBlock, ...] = ()
    background: tuple[BackgroundBlock, ...] = ()
    queries: tuple[QueryBlock, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    final: bool = False

    def expected_of(self, query: int) -> tuple[Expectation, ...]:
        """The expectations of the query at that position."""
        return tuple(one for one in self.expectations if one.query == query)

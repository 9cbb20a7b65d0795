"""timestamp(): the latest among the triples that bound a variable, against a matcher that tries all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from penstock.answer import Answer
from penstock.spark.session.session import private
from tests.oracle.data import PREFIXES
from tests.oracle.repeated_triples import LINKS, NODES, NUMBER, REPEATED_BYTES, repeated
from tests.oracle.strategies import Generated
from tests.oracle.streams import STREAMS, Streamed
from tests.oracle.test_snapshots import evaluated, explained
from tests.support.sampling import sampled
from tests.support.tape import Tape

pytestmark = pytest.mark.usefixtures("plan")

MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Pattern = tuple[Any, Any, Any]  # terms, and variables as strings


@dataclass(frozen=True)
class Stamped:
    """A triple, where it came from and when; from the background it has no time."""

    triple: Pattern
    stream: NamedNode | None = None
    time: int | None = None


@dataclass(frozen=True)
class Match:
    """Bindings, and for each variable the times of the triples that bound it, stream by stream."""

    bound: dict[str, Any]
    times: frozenset[tuple[str, NamedNode, int]]

    def latest(self, variable: str, stream: Any = None) -> int | None:
        times = [t for v, s, t in self.times if v == variable and stream in (None, s)]
        return max(times, default=None)

    def joined(self, other: Match) -> Match | None:
        if any(other.bound.get(v, term) != term for v, term in self.bound.items()):
            return None
        return Match(self.bound | other.bound, self.times | other.times)


@dataclass(frozen=True)
class Asked:
    """{ patterns OPTIONAL { optional } }, perhaps in GRAPH ?g, and whose timestamps are wanted of which stream."""

    patterns: tuple[Pattern, ...]
    optional: Pattern | None
    graph: bool
    stamps: tuple[tuple[str, NamedNode | str | None], ...]

    @property
    def text(self) -> str:
        optional = "" if self.optional is None else f" OPTIONAL {{ {_text(self.optional)} }}"
        group = f"{{ {' . '.join(map(_text, self.patterns))}{optional} }}"
        calls = (
            f"(timestamp(?{v}{'' if s is None else f', {_term(s)}'}) AS ?t{i})" for i, (v, s) in enumerate(self.stamps)
        )
        names = "?a ?b ?c ?n" + (" ?g" if self.graph else "")
        where = f"{{ GRAPH ?g {group} }}" if self.graph else group
        return f"{PREFIXES}SELECT {names} {' '.join(calls)} WHERE {where}"

    def row(self, match: Match) -> frozenset[tuple[str, Any]]:
        named = {name: match.bound[name] for name in "abcng" if name in match.bound}
        of = ((v, match.bound["g"] if s == "g" else s) for v, s in self.stamps)
        times = {f"t{i}": time for i, (v, s) in enumerate(of) if (time := match.latest(v, s)) is not None}
        return frozenset((named | times).items())


def _text(pattern: Pattern) -> str:
    return " ".join(map(_term, pattern))


def _term(term: Any) -> str:
    return f"?{term}" if isinstance(term, str) else str(term)


def cases() -> st.SearchStrategy[tuple[Streamed, Asked]]:
    size = REPEATED_BYTES + 50
    return st.binary(min_size=size, max_size=size).map(case)


def case(tape: bytes) -> tuple[Streamed, Asked]:
    draw = Tape(tape[:50])
    patterns = tuple(_pattern(draw) for _ in range(draw.count(1, 2)))
    optional = _pattern(draw) if draw.chance(3) else None
    graph = draw.chance(3)
    streams: tuple[NamedNode | str | None, ...] = (None, *STREAMS, "g") if graph else (None, *STREAMS)
    stamps = tuple((draw.pick("abcn"), draw.pick(streams)) for _ in range(draw.count(1, 3)))
    return repeated(Tape(tape[50:]), draw.count(1, 2)), Asked(patterns, optional, graph, stamps)


def _pattern(draw: Tape) -> Pattern:
    if draw.chance(3):
        return draw.pick("ab"), NUMBER, "n"
    subject = draw.pick(("a", "b", NODES[0]))
    return subject, draw.pick((*LINKS, "c")), draw.pick(("b", "c", "a"))


@pytest.fixture(scope="module")
def session(spark: Any) -> Any:
    return private(spark)


@given(case=cases())
@sampled(16)
def test_the_latest_of_the_triples_that_bound_it(
    case: tuple[Streamed, Asked], session: Any, tmp_path_factory: Any
) -> None:
    streamed, asked = case
    query = Generated(asked.text, asked.text)
    answers = evaluated(streamed, query, session, tmp_path_factory.mktemp("stream"))
    assert sorted(answers) == streamed.instants(), explained(streamed, query)
    for instant, answer in answers.items():
        expected = Counter(asked.row(match) for match in matches(asked, streamed, instant))
        assert found(answer) == expected, f"at {instant}\n{explained(streamed, query)}"


def matches(asked: Asked, streamed: Streamed, instant: int) -> Iterable[Match]:
    windows = {
        window.iri: [Stamped(tuple(e.triple), window.iri, e.time) for e in streamed.visible(window, instant)]
        for window in streamed.windows
    }
    background = [Stamped(tuple(quad.triple)) for quad in streamed.background]
    if not asked.graph:
        return solved(asked, [*background, *(e for window in windows.values() for e in window)])
    solutions = ((iri, match) for iri, window in windows.items() for match in solved(asked, [*background, *window]))
    return [Match(match.bound | {"g": iri}, match.times) for iri, match in solutions]


def solved(asked: Asked, elements: list[Stamped]) -> list[Match]:
    result = [Match({}, frozenset())]
    for pattern in asked.patterns:
        result = [both for one in result for both in _partners(one, pattern, elements)]
    if asked.optional is None:
        return result
    return [both for one in result for both in _partners(one, asked.optional, elements) or [one]]


def _partners(one: Match, pattern: Pattern, elements: list[Stamped]) -> list[Match]:
    found = (_match(pattern, element) for element in elements)
    return [both for match in found if match is not None and (both := one.joined(match)) is not None]


def _match(pattern: Pattern, element: Stamped) -> Match | None:
    bound: dict[str, Any] = {}
    for wanted, term in zip(pattern, element.triple, strict=True):
        if (bound.setdefault(wanted, term) if isinstance(wanted, str) else wanted) != term:
            return None
    if element.stream is None or element.time is None:
        return Match(bound, frozenset())
    return Match(bound, frozenset((v, element.stream, element.time) for v in bound))


def found(answer: Answer) -> Counter[frozenset[tuple[str, Any]]]:
    return Counter(frozenset((name, _plain(term)) for name, term in row.items()) for row in answer.rows)


def _plain(term: Any) -> Any:
    if isinstance(term, Literal) and term.datatype.value.endswith("#dateTime"):
        return (datetime.fromisoformat(term.value) - EPOCH) // MICROSECOND
    return term

"""`python -m benchmarks.run small`: ten different queries over a few thousand elements, beside a pyoxigraph loop.

The loop keeps the content of the window in a store and asks plain SPARQL at every instant, as a person would write it.
Penstock answers all ten in one engine. Then one of the queries over eight streams, beside the same elements in one.
"""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Store, Triple
from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks.common import Effort, seconds
from benchmarks.report import Section, at_most
from penstock.answer import Answer

OBSERVATIONS, SENSORS, ROOMS, FLOORS, STREAMS = 2_500, 40, 12, 3, 8
RANGE, STEP, INSTANTS, START = 60, 15, 240, 1_250_000_040  # seconds; a whole number of steps
RUNS, A_QUERY, TIMES_THE_LOOP, TIMES_ONE_STREAM = 3, 1.0, 3.0, 3.0
NS = "http://example.org/"
STREAM = NS + "observations"
PATTERNS = {
    "average by room": "SELECT ?room (AVG(?v) AS ?mean) WHERE { ?o :by ?s ; :value ?v . ?s :in ?room } GROUP BY ?room",
    "above the limit": "SELECT ?s ?v WHERE { ?o :by ?s ; :value ?v . ?s :limit ?limit FILTER (?v > ?limit) }",
    "all sensors, with high values": """SELECT ?s ?v WHERE { ?s :in ?room
        OPTIONAL { ?o :by ?s ; :value ?v FILTER (?v > 90) } }""",
    "highest by floor": """SELECT ?floor (MAX(?v) AS ?top) WHERE {
        ?o :by ?s ; :value ?v . ?s :in ?room . ?room :on ?floor } GROUP BY ?floor HAVING (MAX(?v) > 95)""",
    "silent sensors": "SELECT ?s WHERE { ?s :in ?room FILTER NOT EXISTS { ?o :by ?s } }",
    "low or high": "SELECT ?o ?v WHERE { { ?o :value ?v FILTER (?v < 5) } UNION { ?o :value ?v FILTER (?v > 95) } }",
    "sensors by room": """SELECT ?room (COUNT(DISTINCT ?s) AS ?n) WHERE { ?o :by ?s . ?s :in ?room }
        GROUP BY ?room""",
    "far apart": """SELECT ?s ?t WHERE { ?o :by ?s ; :value ?v . ?p :by ?t ; :value ?w . ?s :in ?room . ?t :in ?room
        FILTER (?v > ?w + 70) }""",
    "not too high": "SELECT ?o WHERE { ?o :by ?s MINUS { ?o :value ?v FILTER (?v > 50) } }",
    "five highest": "SELECT ?o ?v WHERE { ?o :value ?v } ORDER BY DESC(?v) ?o LIMIT 5",
}
EIGHT = "above the limit"


def background() -> list[Quad]:
    chance, found = random.Random(1), []
    for i in range(SENSORS):
        found.append(Quad(_node(f"sensor{i}"), _node("in"), _node(f"room{i % ROOMS}")))
        found.append(Quad(_node(f"sensor{i}"), _node("limit"), Literal(chance.randrange(60, 100))))
    return found + [Quad(_node(f"room{i}"), _node("on"), _node(f"floor{i % FLOORS}")) for i in range(ROOMS)]


def elements(observations: int) -> list[tuple[Triple, int]]:
    """Two triples an observation, at one time, in microseconds."""
    chance, length = random.Random(2), INSTANTS * STEP * 1_000_000
    found = []
    for i, moment in enumerate(sorted(chance.randrange(1, length) for _ in range(observations))):
        time, node = START * 1_000_000 + moment, _node(f"o{i}")
        found.append((Triple(node, _node("by"), _node(f"sensor{chance.randrange(SENSORS)}")), time))
        found.append((Triple(node, _node("value"), Literal(chance.randrange(100))), time))
    return found


def _node(name: str) -> NamedNode:
    return NamedNode(NS + name)


Answers = dict[int, Counter[tuple[str, ...]]]  # by instant, in seconds


def loop(known: Sequence[Quad], given: Sequence[tuple[Triple, int]], pattern: str) -> Answers:
    """One store, from which elements that have left the window are removed."""
    store, found, first, last = Store(), Answers(), 0, 0
    store.extend(known)
    for instant in range(START + STEP, START + (INSTANTS + 1) * STEP, STEP):
        while last < len(given) and given[last][1] <= instant * 1_000_000:
            store.add(Quad(*given[last][0]))
            last += 1
        while first < last and given[first][1] <= (instant - RANGE) * 1_000_000:
            store.remove(Quad(*given[first][0]))
            first += 1
        solutions = store.query(f"PREFIX : <{NS}> {pattern}")
        assert isinstance(solutions, QuerySolutions)
        names = [variable.value for variable in solutions.variables]
        found[instant] = Counter(tuple(str(row[name]) for name in names) for row in solutions)
    return found


def ours(
    spark: SparkSession,
    known: Sequence[Quad],
    streams: Mapping[str, Sequence[tuple[Triple, int]]],
    patterns: Mapping[str, str],
) -> dict[str, Answers]:
    """All queries in one engine, by the public face."""
    found: dict[str, Answers] = {name: {} for name in patterns}
    windows = " ".join(f"FROM STREAM <{iri}> [RANGE {RANGE}s STEP {STEP}s]" for iri in streams)

    def take(name: str) -> Callable[[Answer], None]:
        def taken(answer: Answer) -> None:
            assert answer.time is not None
            rows = (tuple(str(row.get(v)) for v in answer.variables) for row in answer)
            found[name][int(answer.time.timestamp())] = Counter(rows)

        return taken

    with penstock.Engine(spark=spark) as engine:
        engine.load(known)
        for iri, given in streams.items():
            engine.stream(iri, given)
        for number, (name, pattern) in enumerate(patterns.items()):
            text = f"PREFIX : <{NS}> {pattern.replace('WHERE', f'{windows} WHERE', 1)}"
            engine.register(text, name=f"q{number}", sink=take(name))
        engine.run()
    return found


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    known, given, runs = background(), elements(effort.of(OBSERVATIONS, 500)), effort.runs(RUNS)
    console.print(f"measuring: {len(PATTERNS)} queries, {len(given):,} elements", style="dim")
    found: list[dict[str, Answers]] = []
    first = seconds(lambda: found.append(ours(spark, known, {STREAM: given}, PATTERNS)))
    expected = {name: loop(known, given, pattern) for name, pattern in PATTERNS.items()}
    _same(found[0], expected)
    turns = [
        (
            seconds(lambda: ours(spark, known, {STREAM: given}, PATTERNS)),
            seconds(lambda: [loop(known, given, pattern) for pattern in PATTERNS.values()]),
        )
        for _ in range(runs)
    ]
    again, looped = (statistics.median(turn[side] for turn in turns) for side in (0, 1))
    one, eight = streams_side_by_side(spark, known, given, runs)
    console.print(f"seconds: {first:.2f} at first, {turns}, {one:.2f}, {eight:.2f}", style="dim")
    count = len(PATTERNS)
    rows = [
        ("ten queries, in a new session", f"{first:.2f}", f"{first / count:.2f}"),
        ("ten queries, again", f"{again:.2f}", f"{again / count:.2f}"),
        ("ten queries, pyoxigraph loop", f"{looped:.2f}", f"{looped / count:.2f}"),
        ("one query, one stream", f"{one:.2f}", f"{one:.2f}"),
        (f"one query, {STREAMS} streams", f"{eight:.2f}", f"{eight:.2f}"),
    ]
    bars = [
        at_most("seconds a query, in a new session", first / count, A_QUERY),
        at_most("ten queries to the loop, ratio", again / looped, TIMES_THE_LOOP),
        at_most(f"{STREAMS} streams to one, ratio", eight / one, TIMES_ONE_STREAM),
    ]
    title = f"{len(given):,} elements, {INSTANTS} instants, median of {runs} runs"
    return Section(title, ("work", "s", "s a query"), rows, bars)


def _same(found: Mapping[str, Answers], expected: Mapping[str, Answers]) -> None:
    for name, answers in expected.items():
        wrong = [instant for instant in answers if not _equal(found[name].get(instant, Counter()), answers[instant])]
        if wrong:
            here, there = found[name].get(wrong[0]), answers[wrong[0]]
            raise AssertionError(f"{name}: the answers differ at {wrong[0]}: {here}, {there}")


def _equal(one: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]]) -> bool:
    """Whether the rows are the same but for the last digits of an average."""
    return Counter(map(_rounded, one.elements())) == Counter(map(_rounded, other.elements()))


def _rounded(row: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{float(cell.split(chr(34))[1]):.9f}" if "#decimal" in cell else cell for cell in row)


def streams_side_by_side(
    spark: SparkSession, known: Sequence[Quad], given: Sequence[tuple[Triple, int]], runs: int
) -> tuple[float, float]:
    """The medians of a query over one stream, and over eight with the same elements; an error if answers differ."""
    pairs = list(zip(given[::2], given[1::2], strict=True))
    apart = {f"{STREAM}{i}": [e for pair in pairs[i::STREAMS] for e in pair] for i in range(STREAMS)}
    wanted = {EIGHT: PATTERNS[EIGHT]}
    answers = [ours(spark, known, streams, wanted) for streams in ({STREAM: given}, apart)]
    if any(one != other for one, other in pairwise(answers)):
        raise AssertionError("the answers of one stream and of eight differ")
    turns = [
        (
            seconds(lambda: ours(spark, known, {STREAM: given}, wanted)),
            seconds(lambda: ours(spark, known, apart, wanted)),
        )
        for _ in range(runs)
    ]
    one, eight = (statistics.median(turn[side] for turn in turns) for side in (0, 1))
    return one, eight

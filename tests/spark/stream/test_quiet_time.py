"""Elements of 1970, 2026 and 9999 in one stream: the answers are those of three short streams, as soon as those."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from pyspark.sql import SparkSession

from penstock import Answer, Engine
from penstock.tuning import DEFAULT, Tuning

E = "http://e/"
S, D = f"{E}s", f"{E}d"
ERAS = [
    datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC),
    datetime(2026, 3, 2, 9, tzinfo=UTC),
    datetime(9999, 12, 31, tzinfo=UTC),
]
SECONDS = (0, 1, 4, 12)  # of the elements of an era
V = f"?s <{E}v> ?o"
WINDOW = f"FROM STREAM <{S}> [RANGE 3s STEP 1s] WHERE {{ {V} }}"
LONG = WINDOW.replace("3s", "90s")
QUERIES: dict[str, tuple[str, str | None]] = {
    "rstream": (f"SELECT ?s ?o {WINDOW}", None),
    "tumbling": (f"SELECT ?s FROM STREAM <{S}> [RANGE 5s TUMBLING] WHERE {{ {V} }}", None),
    "no solution": (f"SELECT ?s FROM STREAM <{S}> [RANGE 3s STEP 1s] WHERE {{ ?s <{E}other> ?o }}", None),
    "count": (f"SELECT (COUNT(*) AS ?n) {WINDOW}", None),
    "deltas": (f"SELECT ?s ?o {WINDOW}", "istream"),
    "deletions": (f"SELECT ?s ?o {WINDOW}", "dstream"),
    "inserted counts": (f"SELECT (COUNT(*) AS ?n) {WINDOW}", "istream"),
    "deleted counts": (f"SELECT (COUNT(*) AS ?n) {WINDOW}", "dstream"),
    "intervals": (f"SELECT ?s {WINDOW}", "intervals"),
    "rare": (f"REGISTER QUERY rare COMPUTED EVERY 60s AS SELECT (COUNT(*) AS ?n) {LONG}", "dstream"),
    "slide": (f"SELECT ?s ?o WHERE {{ STREAM <{S}> [RANGE 3s SLIDE 1s] {{ {V} }} }}", "rstream"),
    "now": (f"SELECT ?s ?o WHERE {{ STREAM <{S}> [NOW] {{ {V} }} }}", None),
    "sequence": (
        f"SELECT ?s ?t FROM STREAM <{S}> WHERE {{ {{ {V} }} SEQ {{ ?t <{E}v> ?p }}"
        ' FILTER(getDURATION() < "PT4S"^^<http://www.w3.org/2001/XMLSchema#duration>) }',
        None,
    ),
    "consumed": (f"SELECT ?s FROM STREAM <{D}> [RANGE 2s STEP 1s] WHERE {{ ?s <{E}w> ?o }}", None),
}  # fmt: skip
DERIVED = f"REGISTER STREAM <{D}> COMPUTED EVERY 1s AS CONSTRUCT {{ ?s <{E}w> ?o }} {WINDOW}"
Row = tuple[str, datetime | None, tuple[tuple[str, ...], ...]]


def elements(era: datetime) -> list[tuple[Triple, datetime]]:
    terms = NamedNode(f"{E}v"), Literal(era.year)
    return [(Triple(NamedNode(f"{E}{n}"), *terms), era + timedelta(seconds=n)) for n in SECONDS]


def rows(name: str, answers: Iterable[Answer]) -> list[Row]:
    return [
        (name, answer.time, tuple(sorted(tuple(str(row[v]) for v in answer.variables) for row in answer.rows)))
        for answer in answers
    ]


def engine_of(spark: SparkSession, plan: str, tuning: Tuning = DEFAULT) -> Engine:
    return Engine(spark=spark, rules=["-sliced_plan"] if plan == "shuffled" else None, rounds="auto", tuning=tuning)


def live(engine: Engine, eras: Sequence[datetime], names: Iterable[str]) -> list[Row]:
    """The answers of a live engine to which all elements are pushed at once."""
    engine.stream(S, max_ahead=None)
    engine.register(DERIVED)
    queries = {name: engine.register(QUERIES[name][0], emit=QUERIES[name][1]) for name in names}  # type: ignore[arg-type]
    engine.start()
    engine.push(S, [element for era in eras for element in elements(era)])
    engine.advance(S, eras[-1] + timedelta(hours=1))
    engine.flush()
    engine.stop()
    return [row for name, query in queries.items() for row in rows(name, query.answers())]


@pytest.fixture(scope="module")
def expected(spark: SparkSession) -> list[Row]:
    """The answers to each era alone."""
    found = []
    for era in ERAS:
        with engine_of(spark, "sliced") as engine:
            found += live(engine, [era], QUERIES)
    return sorted(found)


@pytest.mark.parametrize("plan", ["sliced", "shuffled"])
@pytest.mark.parametrize("pieces", ["one piece", "several pieces"])
def test_quiet_time_costs_nothing_live(spark: SparkSession, plan: str, pieces: str, expected: list[Row]) -> None:
    tuning = Tuning(job_elements=1) if pieces == "several pieces" else DEFAULT
    with engine_of(spark, plan, tuning) as engine:
        assert sorted(live(engine, ERAS, QUERIES)) == expected


@pytest.mark.parametrize("plan", ["sliced", "shuffled"])
def test_quiet_time_costs_nothing_in_a_replay(spark: SparkSession, plan: str, expected: list[Row]) -> None:
    names = [name for name in QUERIES if name not in ("intervals", "tumbling", "rare")]  # these go on after the end
    end = ERAS[-1] + timedelta(seconds=SECONDS[-1])
    with engine_of(spark, plan, Tuning(job_elements=1)) as engine:
        engine.stream(S, [element for era in ERAS for element in elements(era)])
        engine.register(DERIVED)
        queries = {name: engine.register(QUERIES[name][0], emit=QUERIES[name][1]) for name in names}  # type: ignore[arg-type]
        engine.run()
        found = [row for name, query in queries.items() for row in rows(name, query.answers())]
    assert sorted(found) == [row for row in expected if row[0] in names and row[1] is not None and row[1] <= end]


@pytest.mark.parametrize("plan", ["sliced", "shuffled"])
@pytest.mark.parametrize(("window", "held"), [("TRIPLES 2", 2), ("ALL", 12)])
def test_windows_that_elements_do_not_leave_have_no_instant_in_quiet_time(
    spark: SparkSession, plan: str, window: str, held: int
) -> None:
    times = [time for era in ERAS for _, time in elements(era)]
    with engine_of(spark, plan, Tuning(job_elements=1)) as engine:
        engine.stream(S, [element for era in ERAS for element in elements(era)])
        query = engine.register(f"SELECT ?s ?o WHERE {{ STREAM <{S}> [{window}] {{ {V} }} }}", emit="rstream")
        engine.run()
        found = [(answer.time, len(answer.rows)) for answer in query.answers()]
    assert found == [(time, min(held, number)) for number, time in enumerate(times, 1)]

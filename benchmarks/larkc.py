"""Figure 2 of the LarKC paper: selecting by a window on the stream, against FILTER on stored triples with dates.

Topics of posts come at some number a second. For the repository every post is stored for good, with its creation date,
and each answer filters them by date. For the stream the window is all there is. Both count the topics of the last
three minutes and are checked to agree.
"""

from __future__ import annotations

import math
import statistics
from datetime import UTC, datetime, timedelta
from queue import Queue

import pyoxigraph as ox
from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks.common import DOCS, Effort, seconds
from benchmarks.plot import Line, svg
from benchmarks.report import Section
from penstock.answer import Answer

SIZES = (100, 500, 1_000, 1_500, 2_000, 2_500, 10_000, 30_000, 100_000, 300_000, 1_000_000)  # the paper's, and beyond
ENDS = {200: 1_000_000, 5: 100_000}  # up to where, by posts a second
RATE = 200  # of the repository and of the replay
ANSWERS, WARM_UP = 5, 2
START, STEP, RANGE, TOPICS = 1_248_130_000, 10, 180, 50  # the first three in seconds
STREAM = "http://c-sparql.cefriel.it/sdow-demo/interactions.trdf"
SIOC, XSD = "http://rdfs.org/sioc/ns#", "http://www.w3.org/2001/XMLSchema#"
TOPIC, CREATED = ox.NamedNode(SIOC + "topic"), ox.NamedNode("http://purl.org/dc/terms/created")
PICTURE, TITLE = "larkc-figure-2.svg", "topics of the last three minutes, time for an answer"
TICK, PATIENCE = timedelta(microseconds=1), 60.0  # PATIENCE in seconds

WINDOWED = f"""REGISTER QUERY CountHowManyGlueUsersAreInterestedInEachTopic AS
PREFIX sioc: <{SIOC}>
SELECT DISTINCT ?topic ?number FROM STREAM <{STREAM}> [RANGE 3m STEP 10s]
WHERE {{ ?post sioc:topic ?topic . }} AGGREGATE {{ (?number, COUNT, {{?topic}}) }}"""

Counts = dict[str, int]


def filtered(instant: int) -> str:
    """The paper's query on the repository, at that second."""
    after, through = (f'"{_stamp(moment)}"^^<{XSD}dateTime>' for moment in (instant - RANGE, instant))
    return f"""PREFIX sioc: <{SIOC}> PREFIX dcterms: <http://purl.org/dc/terms/>
    SELECT ?topic (COUNT(?topic) AS ?number) WHERE {{ ?post sioc:topic ?topic . ?post dcterms:created ?date .
    FILTER (?date > {after} && ?date <= {through}) }} GROUP BY ?topic"""


def repository(posts: int) -> ox.Store:
    """pyoxigraph, in memory: posts with their topics and creation dates."""
    store, date = ox.Store(), ox.NamedNode(XSD + "dateTime")
    for n in range(posts):
        post = ox.NamedNode(_post(n))
        store.add(ox.Quad(post, TOPIC, ox.NamedNode(_topic(n))))
        store.add(ox.Quad(post, CREATED, ox.Literal(_stamp(_moment(n, RATE)), datatype=date)))
    return store


def lines(posts: int, rate: int) -> str:
    """The same posts as elements of a stream."""
    return "".join(
        f'<{_post(n)}> {TOPIC} <{_topic(n)}> "{_stamp(_moment(n, rate))}"^^<{XSD}dateTime> .\n' for n in range(posts)
    )


def instants(posts: int, rate: int) -> list[int]:
    """The first instant that sees all the posts, and those after it."""
    first = -(-math.ceil(_moment(posts - 1, rate)) // STEP) * STEP
    return [first + STEP * k for k in range(WARM_UP + ANSWERS)]


def by_filter(posts: int) -> tuple[float, list[Counts]]:
    """Seconds for an answer, and the answers."""
    store, found = repository(posts), list[Counts]()

    def ask(instant: int) -> None:
        rows = store.query(filtered(instant))
        found.append({row["topic"].value: int(row["number"].value) for row in rows})  # type: ignore[union-attr]

    times = [seconds(lambda at=at: ask(at)) for at in instants(posts, RATE)]  # type: ignore[misc]
    return statistics.median(times[WARM_UP:]), found


def by_window(spark: SparkSession, posts: int, rate: int) -> tuple[float, list[Counts]]:
    """Live: seconds from the word that an instant is over to its answer, through the log and Spark."""
    answers: Queue[Answer] = Queue()
    with penstock.Engine(spark=spark) as engine:
        engine.stream(STREAM)
        engine.register(WINDOWED, sink=answers.put)
        engine.start()
        engine.push(STREAM, lines(posts, rate))
        engine.flush()
        found: list[Counts] = []

        def ask(instant: int) -> None:
            engine.advance(STREAM, datetime.fromtimestamp(instant, UTC) + TICK)
            found.append(_counts(_at(answers, instant)))

        times = [seconds(lambda at=at: ask(at)) for at in instants(posts, rate)]  # type: ignore[misc]
        engine.stop()
    return statistics.median(times[WARM_UP:]), found


def _at(answers: Queue[Answer], instant: int) -> Answer:
    while (answer := answers.get(timeout=PATIENCE)).time != datetime.fromtimestamp(instant, UTC):
        pass
    return answer


def by_replay(spark: SparkSession, posts: int) -> float:
    """All instants in one job: seconds for each of them."""
    with penstock.Engine(spark=spark) as engine:
        engine.stream(STREAM)
        engine.push(STREAM, lines(posts, RATE))
        query = engine.register(WINDOWED)
        took = seconds(engine.run)
        return took / len(list(query.answers()))


def _counts(answer: Answer) -> Counts:
    return {row["topic"].value: int(row["number"].value) for row in answer}


def _post(n: int) -> str:
    return f"http://example.org/post/{n}"


def _topic(n: int) -> str:
    return f"http://example.org/topic/{n * n % TOPICS}"


def _moment(n: int, rate: int) -> float:
    return START + (n + 0.5) / rate


def _stamp(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    sizes = [size for size in SIZES if size <= effort.of(SIZES[-1])]
    _measured(spark, sizes[0], console)  # Java has to get warm
    found = [_measured(spark, size, console) for size in sizes]
    lines = [
        Line(name, [(size, row[name]) for size, row in zip(sizes, found, strict=True) if name in row])
        for name in found[0]
    ]
    if effort.scale == 1:
        (DOCS / PICTURE).write_text(svg(lines, TITLE, "posts so far", "milliseconds an answer"), "utf-8")
    rows = [(f"{size:,}", *(_cell(row, name) for name in found[0])) for size, row in zip(sizes, found, strict=True)]
    headings = ("posts so far", *(f"{name}, ms" for name in found[0]))
    return Section(f"{TITLE}, median of {ANSWERS}", headings, rows, pictures=(PICTURE,))


def _cell(row: dict[str, float], name: str) -> str:
    return f"{row[name]:.1f}" if name in row else "–"


def _measured(spark: SparkSession, posts: int, console: Console) -> dict[str, float]:
    """Milliseconds for an answer by each way."""
    console.print(f"measuring: LarKC, {posts:,} posts", style="dim")
    stored, expected = by_filter(posts)
    row = {"FILTER": stored * 1000}
    for rate in (rate for rate, end in ENDS.items() if posts <= end):
        took, answers = by_window(spark, posts, rate)
        if rate == RATE and answers != expected:
            raise AssertionError(f"{posts} posts: the window's answers and those of FILTER differ")
        row[f"window, {rate}/s"] = took * 1000
    row["window, replayed"] = by_replay(spark, posts) * 1000
    return row

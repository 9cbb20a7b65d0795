"""`python -m benchmarks.run many`: the CQELS paper's tables 2 and 3: thousands of people ask the same of themselves.

Each registers a query of their own with their name in it; a live engine answers all of them, a second of the location
stream a round, on background knowledge of 7.6 million triples. A round is timed from its beginning to its end, and
beside that what of it is not within a job of Spark: planning, delivery, and what Spark does before it starts a job.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks import dblp
from benchmarks.common import DATA, DOCS, Effort, seconds
from benchmarks.plot import Line, svg
from benchmarks.report import Bar, Section, at_most

PICTURE = "many.svg"
COUNTS = (10, 100, 1_000, 5_000)
RATE, ROUNDS, WARM_UP, BEFORE = 1_000, 8, 4, 30  # elements a second; seconds that are timed, not timed, and not there
TIMES, OUTSIDE = 5.0, 0.5
ONE_MORE = 20  # queries that are registered, and dropped, when all others are there

NOW = f"FROM NAMED <{dblp.STREAM}> [NOW] as ?lsnow"
LAST = f"FROM NAMED <{dblp.STREAM}> [RANGE 30 seconds] as ?ls30"
QUERIES = {
    "Q1'": f"""{dblp.PREFIXES} SELECT ?name ?locName {LAST} WHERE {{ GRAPH ?ls30 {{?person loc:at ?loc}}.
    GRAPH <{dblp.PLACES}> {{?loc loc:name ?locName}} ?person foaf:name "Author %d". }}""",
    "Q2'": f"""{dblp.PREFIXES} SELECT ?citedAuthorName {NOW} {LAST} WHERE {{ GRAPH ?lsnow {{?anAuthor loc:at ?loc}}.
    GRAPH ?ls30 {{?citedAuthor loc:at ?loc}}. ?citedAuthor foaf:name ?citedAuthorName. ?p1 dc:creator ?anAuthor.
    ?anAuthor foaf:name "Author %d". ?p2 dc:creator ?citedAuthor. ?p1 dcterms:references ?p2. }}""",
}


@dataclass(slots=True)
class Taken:
    """Of the rounds that were timed: how long they were, and how much of that no job of Spark was running."""

    rounds: list[float] = field(default_factory=list)
    outside: list[float] = field(default_factory=list)
    registered: float = 0.0
    one_more: float = 0.0
    one_less: float = 0.0
    answers: int = 0


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    known = dblp.dblp(effort.of(dblp.PAPERS))
    path = DATA / f"dblp-{known.papers}.parquet"
    if not path.exists():
        dblp.background(known, path)
    rows, bars, lines = [], [], []
    for name, text in QUERIES.items():
        measured(spark, text, COUNTS[0], known, path, console)  # Java compiles while it warms up
        taken = {count: measured(spark, text, count, known, path, console) for count in COUNTS}
        rows += [_row(name, count, each) for count, each in taken.items()]
        bars += _bars(name, taken)
        lines.append(Line(name, [(count, statistics.median(each.rounds)) for count, each in taken.items()]))
    if effort.scale == 1:
        picture = svg(lines, "Thousands of queries", "instances of a query", "seconds of a round")
        (DOCS / PICTURE).write_text(picture, "utf-8")
    title = (
        f"CQELS, tables 2 and 3: rounds of one second ({RATE:,} elements), on the background of the experiment above"
    )
    per_query = ["register ms", "one more ms", "one less ms"]
    heads = ["query", "instances", "round s", "outside Spark's jobs s", *per_query, "answers"]
    return Section(title, heads, rows, bars, (PICTURE,))


def _row(name: str, count: int, taken: Taken) -> list[str]:
    each = (statistics.median(taken.rounds), statistics.median(taken.outside))
    per_query = (taken.registered / count, taken.one_more / ONE_MORE, taken.one_less / ONE_MORE)
    times = [*(f"{t:.2f}" for t in each), *(f"{1_000 * t:.1f}" for t in per_query)]
    return [name, f"{count:,}", *times, f"{taken.answers:,}"]


def _bars(name: str, taken: dict[int, Taken]) -> list[Bar]:
    few, many = (statistics.median(taken[count].rounds) for count in (COUNTS[0], COUNTS[-1]))
    outside = statistics.median(taken[COUNTS[-1]].outside)
    return [
        at_most(f"{name}: time for {COUNTS[-1]:,} by time for {COUNTS[0]}", many / few, TIMES),
        at_most(f"{name}: seconds of a round outside Spark's jobs with {COUNTS[-1]:,}", outside, OUTSIDE),
    ]


def measured(spark: SparkSession, text: str, count: int, known: dblp.Dblp, path: Path, console: Console) -> Taken:
    """So many instances, of guests first, since those are seen."""
    taken, present = Taken(), dblp.guests(known)
    others = sorted({*range(20_000)} - {*present.tolist()})
    asking = [*present.tolist(), *others][: count + ONE_MORE]
    with penstock.Engine(background="spark", spark=spark) as engine:
        engine.load(str(path))
        engine.stream(dblp.STREAM)
        taken.registered = seconds(lambda: [engine.register(text % n, name=f"a{n}") for n in asking[:count]])
        engine.start()
        timed = _timing(engine, spark, taken)
        for second in range(BEFORE, BEFORE + WARM_UP + ROUNDS):
            timed(second >= BEFORE + WARM_UP)
            engine.push(dblp.STREAM, _lines(dblp.seen(second, RATE, present)))
            engine.flush()
        timed(False)
        taken.one_more = seconds(lambda: [engine.register(text % n, name=f"a{n}") for n in asking[count:]])
        taken.one_less = seconds(lambda: _drop(engine, asking[count:]))
        taken.answers = sum(engine[f"a{n}"].status.answers for n in asking[:count])
    console.print(f"{count} {[round(t, 2) for t in taken.rounds]} {[round(t, 2) for t in taken.outside]}", style="dim")
    return taken


def _drop(engine: penstock.Engine, numbers: Iterable[int]) -> None:
    for number in numbers:
        engine[f"a{number}"].drop()


def _timing(engine: penstock.Engine, spark: SparkSession, taken: Taken) -> Callable[[bool], None]:
    """Times every round that evaluates something, while it is switched on."""
    rounds, on, evaluated = engine._runtime._rounds, [False], list[bool]()
    live, answer = rounds.live, rounds._evaluator.answer

    def noted(*given: Any) -> bool:
        evaluated.append(True)
        return answer(*given)

    def timed() -> bool:
        evaluated.clear()
        began, first = time.time(), time.perf_counter()
        busy = live()
        took = time.perf_counter() - first
        if evaluated and on[0]:
            taken.rounds.append(took)
            taken.outside.append(took - _in_jobs(spark, began, began + took))
        return busy

    rounds.live, rounds._evaluator.answer = timed, noted  # type: ignore[method-assign, assignment]

    def switch(value: bool) -> None:
        on[0] = value

    return switch


def _in_jobs(spark: SparkSession, began: float, ended: float) -> float:
    """For how many seconds between the two some job was running."""
    jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    times = []
    for i in range(jobs.size()):
        start, end = jobs.apply(i).submissionTime(), jobs.apply(i).completionTime()
        if start.isDefined() and end.isDefined():
            times.append((max(began, start.get().getTime() / 1_000), min(ended, end.get().getTime() / 1_000)))
    total, until = 0.0, began
    for start, end in sorted(times):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def _lines(table: pa.Table) -> str:
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return "".join(f"{s} {p} {o} {_stamp(ts)} .\n" for s, p, o, ts in rows)


def _stamp(ts: int) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ts // 1_000_000))
    return f'"{whole}.{ts % 1_000_000:06d}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'

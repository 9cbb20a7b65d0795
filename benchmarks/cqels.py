"""`python -m benchmarks.run cqels`: the experiment of the CQELS paper, Figure 5, in the shape of its data.

Each query answers one second of the location stream after the other, on background knowledge of five million triples,
with what reads the background alone answered beforehand or not, and with joins in the order of live numbers or in that
of the text. Only evaluation is timed, from the segments of the log to the rows of the answers.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks import dblp
from benchmarks.common import DATA, DOCS, Effort, seconds
from benchmarks.plot import columns
from benchmarks.report import Bar, Section
from penstock.algebra.build import translate
from penstock.optimise import ALL_RULES
from penstock.spark.continuous import Background, ContinuousQuery, Span
from penstock.spark.store import SparkStore
from penstock.stream import due
from penstock.stream.log import StreamLog

PICTURE = "cqels-figure-5.svg"
RATE = 1_000  # elements a second
KEPT, ASKED = (6, 4), (2, 2)  # seconds that are timed, and before those; fewer where the background is asked each time
MOST = sum(KEPT)
WINDOW = 30  # seconds that are there before
GAINS = {"Q1": 3.0, "Q2": 8.0, "Q3": 8.0, "Q4": 8.0}  # by answering the background beforehand, as in the paper
ALL = frozenset(rule.name for rule in ALL_RULES)
MODES = {
    "neither": ALL - {"keep_static", "order_joins"},
    "order": ALL - {"keep_static"},
    "kept": ALL - {"order_joins"},
    "both": ALL,
}


@dataclass(frozen=True, slots=True)
class World:
    """The background, the log of the stream, and who is there."""

    background: Background
    log: StreamLog


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    """A row a query: seconds to answer a second of the stream."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        world, triples = prepared(spark, effort, Path(folder))
        rows, bars, figure = [], [], {}
        for name, text in dblp.queries().items():
            found = {mode: answered(text, mode, world, effort, console, name) for mode in MODES}
            _check_equal([rows for _, rows in found.values()])
            took = figure[name] = {mode: median for mode, (median, _) in found.items()}
            gain, further = took["neither"] / took["kept"], took["kept"] / took["both"]
            rows.append([name, *(f"{took[mode]:.2f}" for mode in MODES), f"{gain:.1f}", f"{further:.1f}"])
            what = f"{name}: answering the background beforehand gains {gain:.1f}, bar {GAINS[name]:g}"
            bars.append(Bar(what, gain >= GAINS[name]))
    title = f"CQELS, Figure 5: seconds to answer one second ({RATE:,} elements, windows of 30 s), {triples:,} triples"
    heads = ["query", "neither", "order alone", "kept alone", "both", "gain by keeping", "then by order"]
    if effort.scale == 1:
        picture = columns(figure, "The background answered beforehand", "seconds to answer one second")
        (DOCS / PICTURE).write_text(picture, "utf-8")
    return Section(title, heads, rows, bars, (PICTURE,))


def prepared(spark: SparkSession, effort: Effort, folder: Path) -> tuple[World, int]:
    papers = effort.of(dblp.PAPERS)
    known, path = dblp.dblp(papers), DATA / f"dblp-{papers}.parquet"
    if not path.exists():
        dblp.background(known, path)
    store = SparkStore(spark=spark)
    triples = store.load(str(path))
    log, present = StreamLog(folder), dblp.guests(known)
    for second in range(WINDOW + MOST):
        log.append(dblp.STREAM, "bench", second, dblp.seen(second, RATE, present))
    return World(Background(store._ours, store), log), triples


def answered(
    text: str, mode: str, world: World, effort: Effort, console: Console, name: str
) -> tuple[float, list[int]]:
    """The median over the seconds that are timed, and the rows of each."""
    plan = ContinuousQuery(translate(text), world.background, rules=MODES[mode])
    times, rows, (timed, before) = [], [], KEPT if "keep_static" in MODES[mode] else ASKED
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        for second in range(WINDOW, WINDOW + before + effort.runs(timed)):
            work = partial(evaluate, plan, world.log, second, Path(folder))
            times.append(seconds(lambda work=work: rows.append(work())))  # type: ignore[misc]
    plan.close()
    console.print(f"{name} {mode}: {sum(rows):,} rows, {[round(t, 2) for t in times]}", style="dim")
    return statistics.median(times[before:]), rows


def _check_equal(rows: list[list[int]]) -> None:
    """As far as all have come."""
    assert len({tuple(each[: min(map(len, rows))]) for each in rows}) == 1, f"answers differ: {rows}"


def evaluate(plan: ContinuousQuery, log: StreamLog, second: int, folder: Path) -> int:
    """The rows that one second of the stream adds."""
    begins = dblp.START + second * dblp.SECOND
    span = Span(begins - 1, begins + dblp.SECOND - 1)
    streams = due.view(plan, span, {dblp.STREAM: log.segments(dblp.STREAM)}, lambda _: 0)
    before = folder / f"{second - 1}.parquet"
    made = plan.evaluate(streams, span, str(before) if before.exists() else None)
    rows = int(made.toArrow().num_rows)
    if plan.carries:
        made.write_open(str(folder / f"{second}.parquet"))
    return rows

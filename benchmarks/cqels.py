"""`python -m benchmarks.run cqels`: the experiment of the CQELS paper, Figure 5, in the shape of its data.

Each query answers one second of the location stream after the other, on background knowledge of 7.6 million triples,
with what reads the background alone answered beforehand or not, and with joins in the order of live numbers or in that
of the text. Only evaluation is timed, from the segments of the log to the rows of the answers.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks import dblp
from benchmarks.common import DATA, DOCS, Effort, seconds
from benchmarks.plot import columns
from benchmarks.report import Bar, Section
from penstock.algebra.build import translate
from penstock.model.span import Span
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.store.store import SparkStore
from penstock.spark.views.background_tables import BackgroundTables
from penstock.stream.log.stream_log import StreamLog
from penstock.stream.registry import due_instants

PICTURE = "cqels-figure-5.svg"
RATE = 1_000  # elements a second
TIMED, FIRST, MOST = 3, 2, 250  # seconds of the stream that are timed twice, and at least and at most before those
WARM = 30.0  # seconds in which Java gets warm: a query is to run for days
WINDOW = 30  # seconds of the stream that are there before
GAINS = {"Q1": 3.0, "Q2": 8.0, "Q3": 8.0, "Q4": 8.0}  # by answering the background beforehand, as in the paper
MODES: dict[str, list[str] | None] = {  # rules that are left out
    "neither": ["-materialise_static", "-order_joins"],
    "order": ["-materialise_static"],
    "kept": ["-order_joins"],
    "both": None,
}


@dataclass(frozen=True, slots=True)
class World:
    """The background, the log of the stream, and the persons who are there."""

    background: BackgroundTables
    log: StreamLog


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    """A row a query: seconds to answer a second of the stream."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        world, triples = prepared(spark, effort, Path(folder))
        rows, bars, figure = [], [], {}
        for name, text in dblp.queries().items():
            found = answered(text, world, effort, console, name)
            took = figure[name] = {mode: statistics.median(times) for mode, times in found.items()}
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
    for second in range(WINDOW + MOST + 2 * TIMED):
        log.append(dblp.STREAM, "bench", second, dblp.seen(second, RATE, present))
    return World(BackgroundTables(store.private_session, store), log), triples


def answered(text: str, world: World, effort: Effort, console: Console, name: str) -> dict[str, list[float]]:
    """How long each mode takes for a second of the stream. Each gets warm; then each answers a few seconds, as if it
    were alone, and all do so once more in the opposite order."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        query = translate(text)
        modes = [
            Mode(mode, ContinuousQuery(query, world.background, rules=rules), world.log, Path(folder))
            for mode, rules in MODES.items()
        ]
        before = {mode.name: mode.warmed(WARM * effort.scale) for mode in modes}
        for mode in (*modes, *reversed(modes)):
            mode.times += [mode.evaluate() for _ in range(effort.runs(TIMED))]
    for mode in modes:
        mode.plan.close()
        both = zip(mode.answers, modes[0].answers, strict=False)  # as far as both have come
        assert all(one == other for one, other in both), f"{name}: answers of {mode.name} and {modes[0].name} differ"
    times = {mode.name: mode.times for mode in modes}
    told = {mode: [round(took, 2) for took in found] for mode, found in times.items()}
    console.print(f"{name}, seconds before {before}: {told}", style="dim")
    return times


@dataclass(slots=True)
class Mode:
    """A query as it is answered with some of the rules, second by second."""

    name: str
    plan: ContinuousQuery
    log: StreamLog
    folder: Path
    second: int = WINDOW
    times: list[float] = field(default_factory=list)
    answers: list[tuple[int, int]] = field(default_factory=list)  # rows that a second adds, and a sum of their hashes

    def warmed(self, long: float) -> int:
        """How many seconds of the stream were answered meanwhile."""
        until = time.monotonic() + long
        while len(self.answers) < FIRST or (len(self.answers) < MOST and time.monotonic() < until):
            self.evaluate()
        return len(self.answers)

    def evaluate(self) -> float:
        """The seconds that it takes to answer the next one."""
        found: list[pa.Table] = []
        took = seconds(lambda: found.append(self._answered()))
        rows = zip(*(column.to_pylist() for column in found[0].columns), strict=True)
        self.answers.append((found[0].num_rows, sum(map(hash, rows))))
        self.second += 1
        return took

    def _answered(self) -> pa.Table:
        begins = dblp.START + self.second * dblp.SECOND
        span = Span(begins - 1, begins + dblp.SECOND - 1)
        streams = due_instants.visible_segments(
            self.plan, span, {dblp.STREAM: self.log.segments(dblp.STREAM)}, lambda _: 0
        )
        before = self._left_open(self.second - 1)
        made = self.plan.evaluate(Evaluation(streams, span, str(before) if before.exists() else None))
        answers = made.collect()
        if self.plan.carries:
            made.write_open(str(self._left_open(self.second)))
        return answers

    def _left_open(self, second: int) -> Path:
        return self.folder / f"{self.name}-{second}.parquet"

"""`python -m benchmarks.run cost`: the constants of the optimiser's cost model, found from joins of many sizes.

Rows are joined as the compiler has them joined: by strings, many by hashing what was shuffled, and those that are kept
lie in the partitions of their key. From the time of each join goes that of a job which only reads both sides, since a
query has its job, and reads what it reads, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np
from pyspark import StorageLevel
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.common import Effort, seconds
from benchmarks.report import Bar, Section
from penstock.optimise.cost import Model
from penstock.spark.session import session
from penstock.spark.session.jobs import Jobs
from penstock.tuning import DEFAULT

MODEL = Model.of(DEFAULT)
RUNS, RANK = 3, 0.8
LEAST = 0.001  # seconds: what is less is chance


@dataclass(frozen=True, slots=True)
class Case:
    """Rows on the left, which always come to the join, rows on the right, and how many different keys either has."""

    left: int
    right: int
    keys: int
    kept: bool = False  # whether the right side lies ready

    @property
    def output(self) -> float:
        return self.left * self.right / self.keys

    @property
    def counted(self) -> tuple[float, ...]:
        """How often each constant of the model counts."""
        moved, read = (self.left, self.right) if self.kept else (self.left + self.right, 0)
        return 1.0, moved, read, self.output

    def told(self, model: Model) -> float:
        """What the model says, in seconds."""
        return sum(map(float.__mul__, map(float, astuple(model)), map(float, self.counted))) / 1e6

    def __str__(self) -> str:
        return f"{self.left:,} with {self.right:,}{' kept' if self.kept else ''}, {self.keys:,} keys"


CASES = (
    Case(30_000, 30_000, 30_000),
    Case(30_000, 30_000, 300),
    Case(20_000, 200_000, 200_000),
    Case(100_000, 100_000, 100_000),
    Case(100_000, 100_000, 10_000),
    Case(100_000, 100_000, 2_000),
    Case(200_000, 500_000, 500_000),
    Case(400_000, 400_000, 400_000),
    Case(400_000, 400_000, 80_000),
    Case(600_000, 600_000, 600_000),
    Case(20_000, 200_000, 200_000, kept=True),
    Case(20_000, 1_000_000, 1_000_000, kept=True),
    Case(100_000, 300_000, 30_000, kept=True),
    Case(200_000, 600_000, 600_000, kept=True),
    Case(400_000, 1_000_000, 1_000_000, kept=True),
)


def measured(spark: SparkSession, case: Case) -> tuple[float, float]:
    """The seconds of a job that joins both sides, all rows made and none kept, and of one that only reads them."""
    jobs = Jobs(spark)
    jobs.tune_for(case.left + case.right)
    frames = [_relation(spark, "l", case.left, case.keys), _relation(spark, "r", case.right, case.keys, case.kept)]
    joined = "SELECT /*+ SHUFFLE_HASH(l) */ l.k, l.v AS a, r.v AS b FROM l JOIN r ON l.k = r.k"
    read = "SELECT k, v AS a, v AS b FROM l UNION ALL SELECT k, v, v FROM r"

    def once(text: str) -> float:
        return seconds(lambda: spark.sql(text).write.format("noop").mode("overwrite").save())

    try:
        return min(once(joined), once(joined)), min(once(read), once(read))
    finally:
        for frame in frames:
            frame.unpersist()


def _relation(spark: SparkSession, name: str, rows: int, keys: int, kept: bool = False):  # type: ignore[no-untyped-def]
    """A view of so many rows, in memory."""
    key = f"concat('<http://example.org/key', id % {keys}, '>') AS k"
    value = f"concat('<http://example.org/{name}', id, '>') AS v"
    frame = spark.range(rows).selectExpr(key, value)
    frame = (frame.repartition("k") if kept else frame).persist(StorageLevel.MEMORY_ONLY)
    frame.createOrReplaceTempView(name)
    frame.count()
    return frame


def fitted(cases: Sequence[Case], times: Sequence[float]) -> Model:
    """The constants whose relative errors are least, in squares; none is negative."""
    counted, weights = np.array([case.counted for case in cases]), 1 / np.array(times)
    used = list(range(counted.shape[1]))
    while True:
        found = np.linalg.lstsq(counted[:, used] * weights[:, None], np.full(len(cases), 1e6), rcond=None)[0]
        if (found >= 0).all():
            return Model(**{field.name: float(dict(zip(used, found, strict=True)).get(i, 0.0))
                            for i, field in enumerate(fields(Model))})  # fmt: skip
        used.remove(used[int(found.argmin())])


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's."""
    first, second = (np.argsort(np.argsort(values)) for values in (one, other))
    return float(np.corrcoef(first, second)[0, 1])


def _told(turns: range, console: Console) -> Iterator[int]:
    for turn in turns:
        console.print(f"measuring: turn {turn + 1} of {len(turns)}", style="dim")
        yield turn


def _added(turns: Sequence[tuple[float, float]]) -> float:
    """What a join adds to a job, when nothing disturbed either."""
    return max(LEAST, min(joined for joined, _ in turns) - min(read for _, read in turns))


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    ours, runs = session.private(spark), effort.runs(RUNS)
    cases = [Case(effort.of(c.left), effort.of(c.right), effort.of(c.keys), c.kept) for c in CASES]
    measured(ours, cases[0])  # Java compiles while it warms up
    turns = [[measured(ours, case) for case in cases] for _ in _told(range(runs), console)]
    times = [_added([turn[i] for turn in turns]) for i in range(len(cases))]
    model = fitted(cases, times)
    for name, found, used in zip([f.name for f in fields(Model)], astuple(model), astuple(MODEL), strict=True):
        console.print(f"{name}: {found:.3g} µs (in use: {used:.3g})")
    told = [case.told(MODEL) for case in cases]
    rank = rank_correlation(told, times)
    rows = [
        (str(case), f"{case.output:,.0f}", f"{time:.2f}", f"{case.told(model):.2f}", f"{said:.2f}")
        for case, time, said in zip(cases, times, told, strict=True)
    ]
    bars = (Bar(f"rank correlation of the model in use with what was measured {rank:.2f}, bar {RANK}", rank >= RANK),)
    constants = ", ".join(
        f"{name} {value:.3g}" for name, value in zip((f.name for f in fields(Model)), astuple(model), strict=True)
    )
    title = f"Joins of two relations, best of {runs} runs; fitted constants in µs: {constants}"
    return Section(title, ("join", "rows made", "measured s", "fitted s", "in use s"), rows, bars)

"""`python -m benchmarks.run buckets`: joins of windows in buckets of time, beside the same joins by the key alone."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import partial

from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.common import DATA, Effort, seconds
from benchmarks.replay import comparable, ours
from benchmarks.report import Bar, Section, at_most
from benchmarks.streams import SECOND, STREAM, Case, T, crossings_of, stream
from penstock.algebra.ops import Op, Query, nodes
from penstock.compile.physical.nodes import TimeBucketJoin
from penstock.compile.probe import probing
from penstock.tuning import DEFAULT, Tuning

ELEMENTS, LEAST, RUNS = 400_000, 250_000, 3  # of fewer elements nothing is asked
FORCED = Tuning(bucket_gain=0.0)  # buckets whatever they gain, where none are chosen
GAIN = 1.5
QUERY = f"""PREFIX t: <{T}> SELECT ?gate (COUNT(*) AS ?n) FROM STREAM <{STREAM}> [RANGE 2s STEP 1s]
WHERE {{ ?gate t:enters ?car . ?gate t:exits ?other }} GROUP BY ?gate"""
GATES = {"few gates": 300, "many gates": 100_000}


@dataclass(frozen=True, slots=True)
class Compared:
    """Medians, in seconds; `width` is what was chosen, in microseconds."""

    name: str
    rows: int
    plain: float
    cut: float
    width: int | None

    @property
    def gain(self) -> float:
        return self.plain / self.cut


class Widths:
    """A probe that records the widths of the buckets in physical plans."""

    def __init__(self) -> None:
        self.found: list[int] = []

    def planned(self, optimised: object, physical: Query, statistics: object, contents: object) -> None:
        self.found += [op.width for op in nodes(physical.pattern) if isinstance(op, TimeBucketJoin)]

    def compiled(self, op: Op, relation: object) -> None:
        """The plan says it all."""


def compared(spark: SparkSession, name: str, elements: int, runs: int, console: Console) -> Compared:
    """The plan is asked first; both ways then take turns, also where buckets were not chosen."""
    console.print(f"measuring: {name}, {elements:,} elements", style="dim")
    case = Case(name, elements, QUERY, partial(crossings_of, GATES[name]), lambda: "", lambda _, frame: frame)
    path, widths = stream(case, elements, DATA), Widths()
    with probing(widths):
        chosen = comparable(ours(spark, case, path))
    plain = partial(ours, spark, case, path, rules=["-time_bucket_join"])
    cut = partial(ours, spark, case, path, tuning=DEFAULT if widths.found else FORCED)
    if comparable(plain()) != chosen:
        raise AssertionError(f"{name}: the answers differ")
    times = [(seconds(plain), seconds(cut)) for _ in range(runs)]
    by_key, in_buckets = map(statistics.median, zip(*times, strict=True))
    return Compared(name, len(chosen), by_key, in_buckets, widths.found[-1] if widths.found else None)


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    elements, runs = effort.of(ELEMENTS, LEAST), effort.runs(RUNS)
    few, many = (compared(spark, name, elements, runs, console) for name in GATES)
    bars = (
        Bar(f"{few.name}: buckets are chosen", few.width is not None),
        at_most(f"{few.name}: time in buckets, ratio", few.cut / few.plain, 1 / GAIN),
        Bar(f"{many.name}: buckets are not chosen", many.width is None),
    )
    headings = ("stream", "rows", "chosen", "by the key s", "in buckets s", "times as fast")
    title = f"{elements:,} elements, median of {runs} runs"
    return Section(title, headings, [_cells(few), _cells(many)], bars)


def _cells(c: Compared) -> tuple[str, ...]:
    width = "no" if c.width is None else f"{c.width / SECOND:.1f} s"
    return (f"{c.name}, {GATES[c.name]:,}", f"{c.rows:,}", width, f"{c.plain:.2f}", f"{c.cut:.2f}", f"{c.gain:.2f}")

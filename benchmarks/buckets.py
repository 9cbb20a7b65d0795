"""`python -m benchmarks.run buckets`: joins of windows in buckets of time, beside the same joins by the key alone."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.common import DATA, Effort, seconds
from benchmarks.replay import comparable, ours
from benchmarks.report import Bar, Section, at_most
from benchmarks.streams import SECOND, STREAM, Case, T, crossings_of, stream
from penstock.compile.operators.physical import time_buckets
from penstock.compile.operators.physical.time_buckets import Buckets
from penstock.compile.relation import Relation
from penstock.model.span import Span
from penstock.tuning import Tuning

ELEMENTS, LEAST, RUNS = 400_000, 250_000, 3  # of fewer elements nothing is asked
FORCED = 4_000_000  # microseconds: the width where buckets are not chosen
GAIN = 1.5
QUERY = f"""PREFIX t: <{T}> SELECT ?gate (COUNT(*) AS ?n) FROM STREAM <{STREAM}> [RANGE 2s STEP 1s]
WHERE {{ ?gate t:enters ?car . ?gate t:exits ?other }} GROUP BY ?gate"""
GATES = {"few gates": 300, "many gates": 100_000}

Choice = Callable[[Relation, Relation, Span | None, Tuning], Buckets | None]


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


def never(left: Relation, right: Relation, span: Span | None, _: Tuning) -> None:
    """No buckets."""


def forced(left: Relation, right: Relation, span: Span | None, _: Tuning) -> Buckets | None:
    """Buckets, whatever is known."""
    return Buckets(FORCED, span) if span is not None and left.timed and right.timed else None


def compared(spark: SparkSession, name: str, elements: int, runs: int, console: Console) -> Compared:
    """What is chosen is asked first; both ways then take turns, also where none was."""
    console.print(f"measuring: {name}, {elements:,} elements", style="dim")
    case = Case(name, elements, QUERY, partial(crossings_of, GATES[name]), lambda: "", lambda _, frame: frame)
    path, found = stream(case, elements, DATA), []

    def noted(left: Relation, right: Relation, span: Span | None, tuning: Tuning) -> Buckets | None:
        found.append(_choose(left, right, span, tuning))
        return found[-1]

    chosen = comparable(_answers(spark, case, path, noted))
    ways = (never, forced) if found[-1] is None else (never, _choose)
    if comparable(_answers(spark, case, path, ways[0])) != chosen:
        raise AssertionError(f"{name}: the answers differ")
    times = [[seconds(partial(_answers, spark, case, path, way)) for way in ways] for _ in range(runs)]
    plain, cut = map(statistics.median, zip(*times, strict=True))
    return Compared(name, len(chosen), plain, cut, None if found[-1] is None else found[-1].width)


_choose: Choice = time_buckets.choose


def _answers(spark: SparkSession, case: Case, path: Path, way: Choice) -> pa.Table:
    with patch.object(time_buckets, "choose", way):
        return ours(spark, case, path)


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

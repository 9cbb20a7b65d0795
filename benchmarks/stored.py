"""Plain SPARQL on stored triples: six query shapes beside PySpark by hand, and the time to compile a query."""

from __future__ import annotations

import statistics
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks.common import DATA, Effort
from benchmarks.generate import generate
from benchmarks.measure import Measured, compile_milliseconds, measure
from benchmarks.report import HEADINGS, Section, at_most, cells
from benchmarks.shapes import PREFIX, SHAPES, Shape, ten_patterns

TRIPLES, RUNS = 5_000_000, 5
HIGHEST_RATIO, MEDIAN_RATIO, COMPILE_MILLISECONDS = 2.0, 1.5, 50.0


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    triples, runs = effort.of(TRIPLES), effort.runs(RUNS)
    path = generate(spark, triples, DATA)
    with penstock.Engine(background="spark", spark=spark) as engine:
        engine.load(path)
        measured = [_measure(engine, spark, path, shape, runs, console) for shape in SHAPES]
        milliseconds = compile_milliseconds(lambda number: engine._dataframe(ten_patterns(number)))
    ratios = [m.ratio for m in measured]
    bars = (
        at_most("highest ratio", max(ratios), HIGHEST_RATIO),
        at_most("median ratio", statistics.median(ratios), MEDIAN_RATIO),
        at_most("ten patterns compiled, milliseconds", milliseconds, COMPILE_MILLISECONDS, 0),
    )
    title = f"{triples:,} triples, median of {runs} runs"
    return Section(title, ("shape", *HEADINGS), [cells(m) for m in measured], bars)


def _measure(
    engine: penstock.Engine, spark: SparkSession, path: Path, shape: Shape, runs: int, console: Console
) -> Measured:
    console.print(f"measuring: {shape.name}", style="dim")
    ours = partial(engine._dataframe, PREFIX + shape.sparql)
    return measure(shape, ours, lambda: shape.by_hand(spark.read.parquet(str(path))), runs)

"""`python -m benchmarks.run`: generate, measure, print, and write the table into `docs/benchmarks.md`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks.generate import generate
from benchmarks.measure import Measured, compile_milliseconds, measure
from benchmarks.report import Report, describe_machine, write_into
from benchmarks.shapes import PREFIX, SHAPES, Shape, ten_patterns
from penstock.spark import session

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "benchmarks.md"
DATA = ROOT / "benchmarks" / "data"


def start() -> SparkSession:
    """One session for both sides, with a partition a core, as either would be set up on this machine."""
    cores = os.cpu_count() or 2
    settings = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": str(cores)}
    return session.start(f"local[{cores}]", **settings)


def run(spark: SparkSession, triples: int, shapes: Iterable[Shape], runs: int, console: Console) -> Report:
    path = generate(spark, triples, DATA)
    with penstock.Engine(background="spark", spark=spark) as engine:
        engine.load(path)
        measured = [_measure(engine, spark, path, shape, runs, console) for shape in shapes]
        milliseconds = compile_milliseconds(lambda number: engine._dataframe(ten_patterns(number)))
    return Report(triples, runs, measured, milliseconds, describe_machine(spark))


def _measure(
    engine: penstock.Engine, spark: SparkSession, path: Path, shape: Shape, runs: int, console: Console
) -> Measured:
    console.print(f"measuring: {shape.name}", style="dim")
    ours = partial(engine._dataframe, PREFIX + shape.sparql)
    return measure(shape, ours, lambda: shape.by_hand(spark.read.parquet(str(path))), runs)


def main(
    triples: Annotated[int, typer.Option(help="How many triples to generate.")] = 5_000_000,
    shapes: Annotated[str, typer.Option(help="Only shapes whose name contains one of these, by commas.")] = "",
    quick: Annotated[bool, typer.Option(help="100,000 triples, one run; nothing is written.")] = False,
) -> None:
    """Penstock beside PySpark by hand: six query shapes, and the time to compile a query of ten patterns."""
    console = Console()
    chosen = [shape for shape in SHAPES if any(word.lower() in shape.name.lower() for word in shapes.split(","))]
    spark = start()
    try:
        report = run(spark, 100_000 if quick else triples, chosen, 1 if quick else 5, console)
    finally:
        session.stop(spark)
    report.show(console)
    if not quick and len(chosen) == len(SHAPES):
        write_into(DOCUMENT, report.markdown())
    raise typer.Exit(0 if quick or all(report.bars().values()) else 1)


if __name__ == "__main__":
    typer.run(main)

"""`python -m benchmarks.replay`: the papers' queries replayed from Parquet, beside PySpark by hand."""

from __future__ import annotations

import statistics
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer
from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks.common import DATA, Effort, seconds, start_session
from benchmarks.measure import Measured
from benchmarks.report import HEADINGS, Section, at_most, cells
from benchmarks.streams import CASES, STREAM, Case, counted, passages, stream
from penstock.io.sinks.sink import Batch, Position
from penstock.spark.session import session
from penstock.tuning import DEFAULT, Tuning

RATIO, RUNS = 1.5, 3
OVERLAP = Case("overlap", 10_000_000, "", passages, lambda: "", lambda spark, elements: elements)


class Collected:
    """A sink that keeps the rows as they come."""

    def __init__(self) -> None:
        self.tables: list[pa.Table] = []

    def begin(self) -> None:
        return None

    def rewind(self, position: Position) -> None:
        self.tables.clear()

    def deliver(self, batch: Batch) -> None:
        self.tables.append(batch.rows)

    def close(self) -> None: ...


def ours(
    spark: SparkSession,
    case: Case,
    path: Path,
    query: str | None = None,
    rules: Collection[str] | None = None,
    tuning: Tuning = DEFAULT,
) -> pa.Table:
    """All answers, through the public face: columns time and the query's variables, as encoded terms."""
    with penstock.Engine(spark=spark, rules=rules, tuning=tuning) as engine:
        if case.background():
            engine.load(case.background().encode(), format="nt")
        engine.stream(STREAM, str(path))
        sink = Collected()
        engine.register(query or case.query, sink=sink)
        engine.run()
        return pa.concat_tables(sink.tables)


def by_hand(spark: SparkSession, case: Case, path: Path) -> pa.Table:
    return case.by_hand(spark, spark.read.parquet(str(path))).toArrow()


def comparable(table: pa.Table) -> list[tuple[object, ...]]:
    """Rows as plain values, sorted: a time is a number, and so is a numeric literal."""
    columns = [column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in table.columns]
    return sorted(zip(*(map(_value, column.to_pylist()) for column in columns), strict=True))


def _value(cell: object) -> object:
    return int(cell.split('"')[1]) if isinstance(cell, str) and cell.startswith('"') else cell


def measured(spark: SparkSession, case: Case, elements: int, runs: int, console: Console) -> Measured:
    console.print(f"measuring: {case.name}, {elements:,} elements", style="dim")
    path = stream(case, elements, DATA)
    mine, theirs = ours(spark, case, path), by_hand(spark, case, path)
    if comparable(mine) != comparable(theirs):
        raise AssertionError(f"{case.name}: the answers differ ({mine.num_rows} and {theirs.num_rows} rows)")
    times = [
        (seconds(lambda: ours(spark, case, path)), seconds(lambda: by_hand(spark, case, path))) for _ in range(runs)
    ]
    first, second = zip(*times, strict=True)
    return Measured(
        f"{case.name}, {elements:,} elements", mine.num_rows, statistics.median(first), statistics.median(second)
    )


def overlapping(spark: SparkSession, elements: int, runs: int, console: Console) -> Measured:
    """A window in which an element is seen 60 times, beside one in which it is seen once, on the same input."""
    console.print("measuring: range/step = 60 beside tumbling", style="dim")
    path = stream(OVERLAP, elements, DATA)
    sliding, tumbling = counted("1h", "1m"), counted("1h", "1h")
    rows = ours(spark, OVERLAP, path, sliding).num_rows
    ours(spark, OVERLAP, path, tumbling)
    work = [lambda q=q: ours(spark, OVERLAP, path, q) for q in (sliding, tumbling)]
    first, second = zip(*[tuple(map(seconds, work)) for _ in range(runs)], strict=True)
    return Measured(
        f"range/step = 60 (beside tumbling), {elements:,} elements",
        rows,
        statistics.median(first),
        statistics.median(second),
    )


def section(spark: SparkSession, effort: Effort, console: Console, only: str = "", runs: int | None = None) -> Section:
    runs = runs or effort.runs(RUNS)
    found = [measured(spark, c, effort.of(c.elements), runs, console) for c in CASES if only in c.name]
    if only in OVERLAP.name:
        found.append(overlapping(spark, effort.of(OVERLAP.elements), runs, console))
    title = f"replayed from Parquet into Arrow, median of {runs} runs"
    bars = [at_most(f"{m.name}, ratio", m.ratio, RATIO) for m in found]
    return Section(title, ("query", *HEADINGS), [cells(m) for m in found], bars)


def main(
    scale: Annotated[float, typer.Option(help="Part of the full number of elements.")] = 1.0,
    runs: Annotated[int | None, typer.Option(help="How often each is timed.")] = None,
    only: Annotated[str, typer.Option(help="Only cases whose name contains this.")] = "",
) -> None:
    """Some of the cases, for tuning."""
    console, spark = Console(), start_session()
    try:
        section(spark, Effort(scale), console, only, runs).show(console)
    finally:
        session.stop(spark)


if __name__ == "__main__":
    typer.run(main)

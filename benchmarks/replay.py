"""`python -m benchmarks.replay`: the papers' queries replayed from Parquet, beside PySpark by hand."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer
from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks.measure import Measured
from benchmarks.run import DATA, start
from benchmarks.streams import CASES, STREAM, Case, counted, passages, stream
from penstock.io.sinks.sink import Batch, Position
from penstock.spark import session

RATIO = 1.5
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


def ours(spark: SparkSession, case: Case, path: Path, query: str | None = None) -> pa.Table:
    """All answers, through the public face: columns time and the query's variables, as encoded terms."""
    with penstock.Engine(spark=spark) as engine:
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


def seconds(work: Callable[[], pa.Table]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


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
    return Measured(case.name, mine.num_rows, statistics.median(first), statistics.median(second))


def overlapping(spark: SparkSession, elements: int, runs: int, console: Console) -> Measured:
    """A window in which an element is seen 60 times, beside one in which it is seen once, on the same input."""
    console.print("measuring: range/step = 60 beside tumbling", style="dim")
    path = stream(OVERLAP, elements, DATA)
    sliding, tumbling = counted("1h", "1m"), counted("1h", "1h")
    rows = ours(spark, OVERLAP, path, sliding).num_rows
    ours(spark, OVERLAP, path, tumbling)
    work = [lambda q=q: ours(spark, OVERLAP, path, q) for q in (sliding, tumbling)]
    first, second = zip(*[tuple(map(seconds, work)) for _ in range(runs)], strict=True)
    return Measured("range/step = 60 beside tumbling", rows, statistics.median(first), statistics.median(second))


def main(
    scale: Annotated[float, typer.Option(help="Part of the full number of elements.")] = 1.0,
    runs: int = 3,
    only: Annotated[str, typer.Option(help="Only cases whose name contains this.")] = "",
) -> None:
    """Times in seconds, and ratios, in one run."""
    console, spark = Console(), start()
    try:
        found = [measured(spark, c, int(c.elements * scale), runs, console) for c in CASES if only in c.name]
        if only in "overlap":
            found.append(overlapping(spark, int(10_000_000 * scale), runs, console))
    finally:
        session.stop(spark)
    for m in found:
        verdict = "[green]PASS[/]" if m.ratio <= RATIO else "[red]MISS[/]"
        console.print(f"{verdict} {m.name}: {m.rows:,} rows, {m.penstock:.2f} s, {m.by_hand:.2f} s, {m.ratio:.2f}")


if __name__ == "__main__":
    typer.run(main)

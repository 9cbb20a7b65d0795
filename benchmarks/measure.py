"""Timing two ways to the same rows fairly: same session, same file, same sink, taking turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from benchmarks.shapes import Shape


@dataclass(frozen=True, slots=True)
class Measured:
    """Medians, in seconds."""

    name: str
    rows: int
    penstock: float
    by_hand: float

    @property
    def ratio(self) -> float:
        return self.penstock / self.by_hand


def measure(shape: Shape, penstock: Callable[[], DataFrame], by_hand: Callable[[], DataFrame], runs: int) -> Measured:
    """One warm-up each, which is also when the answers are compared, then the runs by turns."""
    rows = same_rows(shape, penstock(), by_hand())
    _seconds(penstock), _seconds(by_hand)
    times = [(_seconds(penstock), _seconds(by_hand)) for _ in range(runs)]
    ours, theirs = zip(*times, strict=True)
    return Measured(shape.name, rows, statistics.median(ours), statistics.median(theirs))


def _seconds(make: Callable[[], DataFrame]) -> float:
    """From nothing to the last row, every column of it, thrown away."""
    start = time.perf_counter()
    make().write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def same_rows(shape: Shape, ours: DataFrame, theirs: DataFrame) -> int:
    """How many rows both have; an error if they are not the same."""
    found = fingerprint(ours, shape, of_terms=True), fingerprint(theirs, shape, of_terms=False)
    if found[0] != found[1]:
        raise AssertionError(f"{shape.name}: Penstock has (rows, hash) {found[0]}, by hand {found[1]}")
    return found[0][0]


def fingerprint(frame: DataFrame, shape: Shape, *, of_terms: bool) -> tuple[int, int]:
    """The number of rows, and a sum of their hashes: no order, but duplicates count."""
    cells = [_comparable(name, shape, of_terms=of_terms) for name in sorted(frame.columns)]
    total = F.sum(F.xxhash64(*cells).cast("decimal(38, 0)"))
    row = frame.agg(F.count("*"), total).collect()[0]
    return int(row[0]), int(row[1] or 0)


def _comparable(name: str, shape: Shape, *, of_terms: bool) -> Column:
    column = F.col(f"`{name}`")
    if name not in shape.numbers:
        return column
    number = F.regexp_extract(column, '^"([^"]*)"', 1).cast("double") if of_terms else column
    return F.round(number, 6)


def compile_milliseconds(compile_query: Callable[[int], object], runs: int = 20, warm_up: int = 60) -> float:
    """The median time from text to DataFrame, once warm: Java compiles what Spark plans with as it goes."""

    def once(number: int) -> float:
        start = time.perf_counter()
        compile_query(number)
        return (time.perf_counter() - start) * 1000

    for number in range(warm_up):
        once(number)
    return statistics.median(once(warm_up + number) for number in range(runs))

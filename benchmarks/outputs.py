"""`python -m benchmarks.outputs`: what it costs to take rows away, and to report what comes and goes, and for how long.

Cars enter a motorway and most of them leave it again: two streams, whose windows overlap. Penstock is compared with
itself here, one query beside another on the same input.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer
from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks.common import DATA, Effort, seconds, start_session
from benchmarks.report import Bar, Section, at_most
from benchmarks.streams import SECOND, START, T
from penstock.io.sinks.sink import Batch, Position
from penstock.options import Emit
from penstock.spark.session import session

ELEMENTS, RATE = 1_000_000, 100  # a second
CARS, GATES, SHARE, DELAY = 500_000, 200, 0.7, 90 * SECOND  # the share that leaves again, and the mean time until then
RUNS = 5
TIMES_THE_JOIN, TIMES_RSTREAM, TIMES_THE_FASTEST = 3, 1, 1.5
TIMES_THE_FEWEST = 1.2  # a window that moves by its whole range never sees a pair across its border
ENTRIES, EXITS = "http://streams.org/entries.trdf", "http://streams.org/exits.trdf"
ENTERS, LEAVES = "?car t:enters ?from", "?car t:leaves ?to"
JOIN = f"{ENTERS} . {LEAVES}"
AWAY = {
    "OPTIONAL": f"{ENTERS} OPTIONAL {{ {LEAVES} }}",
    "MINUS": f"{ENTERS} MINUS {{ {LEAVES} }}",
    "NOT EXISTS": f"{ENTERS} FILTER NOT EXISTS {{ {LEAVES} }}",
}
OVERLAPPING, TUMBLING = "[RANGE 10m STEP 1m]", "[RANGE 10m TUMBLING]"
SLIDES = ("30 MINUTE", "10 MINUTE", "3 MINUTE", "1 MINUTE", "10 S")

Query = tuple[str, str, Emit]  # the window of both streams, the pattern, and what is reported


class Counted:
    """A sink that counts the rows, all of which come into this process."""

    def __init__(self) -> None:
        self.rows = 0

    def begin(self) -> None:
        return None

    def rewind(self, position: Position) -> None:
        self.rows = 0

    def deliver(self, batch: Batch) -> None:
        self.rows += batch.rows.num_rows

    def close(self) -> None: ...


# The streams


def streams(elements: int, folder: Path) -> dict[str, str]:
    """The file of each stream, generated if it is not there: together they have about so many elements."""
    paths = {iri: folder / f"{name}-{elements}.parquet" for iri, name in ((ENTRIES, "entries"), (EXITS, "exits"))}
    if not all(path.exists() for path in paths.values()):
        folder.mkdir(parents=True, exist_ok=True)
        for path, table in zip(paths.values(), journeys(elements), strict=True):
            pq.write_table(table, path, row_group_size=1_000_000)
    return {iri: str(path) for iri, path in paths.items()}


def journeys(elements: int) -> tuple[pa.Table, pa.Table]:
    """The cars that enter, and those of them that leave, some minutes later. A car is on its way several times."""
    rng, entering = np.random.default_rng(4), int(elements / (1 + SHARE))
    cars = rng.integers(0, CARS, entering)
    entered = START + np.sort(rng.integers(0, elements * SECOND // RATE, entering))
    left = entered + rng.exponential(DELAY, entering).astype(np.int64)
    gone = np.flatnonzero((rng.random(entering) < SHARE) & (left <= entered[-1]))
    gone = gone[np.argsort(left[gone], kind="stable")]
    gates = rng.integers(0, GATES, (2, entering))
    return _table(cars, "enters", gates[0], entered), _table(cars[gone], "leaves", gates[1][gone], left[gone])


def _table(cars: np.ndarray, verb: str, gates: np.ndarray, times: np.ndarray) -> pa.Table:
    columns = [_iris("car", cars), _iris(verb, np.zeros(len(cars), int)), _iris("gate", gates), pa.array(times)]
    return pa.table(columns, names=["s", "p", "o", "ts"])


def _iris(kind: str, numbers: np.ndarray) -> pa.Array[Any]:
    plain = kind in ("enters", "leaves")
    names = pa.array([f"<{T}{kind}{'' if plain else i}>" for i in range(int(numbers.max()) + 1)])
    return names.take(numbers)


# Measuring


@dataclass(frozen=True, slots=True)
class Timed:
    """The rows of a query, and the times of its runs. Ratios are taken turn by turn, since a machine has its moods."""

    rows: int
    times: Sequence[float]

    def ratio(self, other: Timed) -> float:
        return statistics.median(a / b for a, b in zip(self.times, other.times, strict=True))

    def cells(self, name: str, beside: Timed | None) -> tuple[str, ...]:
        middle = statistics.median(self.times)
        spread = f"{(max(self.times) - min(self.times)) / middle:.0%}"
        return name, f"{self.rows:,}", f"{middle:.2f}", spread, "–" if beside is None else f"{self.ratio(beside):.2f}"


def rows(spark: SparkSession, paths: Mapping[str, str], query: Query) -> int:
    """All answers through the public face, into this process."""
    window, pattern, emit = query
    sources = " ".join(f"FROM STREAM <{iri}> {window}" for iri in paths)
    with penstock.Engine(spark=spark) as engine:
        for iri, path in paths.items():
            engine.stream(iri, path)
        sink = Counted()
        engine.register(f"PREFIX t: <{T}> SELECT * {sources} WHERE {{ {pattern} }}", sink=sink, emit=emit)
        engine.run()
        return sink.rows


def by_turns(
    spark: SparkSession, paths: Mapping[str, str], queries: Mapping[str, Query], runs: int
) -> dict[str, Timed]:
    """Two rounds to warm up, in which Java compiles most of what it will, then the runs, taking turns."""
    counts = [{name: rows(spark, paths, query) for name, query in queries.items()} for _ in range(2)][-1]
    times = [{n: seconds(lambda q=q: rows(spark, paths, q)) for n, q in queries.items()} for _ in range(runs)]  # type: ignore[misc]
    return {name: Timed(counts[name], [turn[name] for turn in times]) for name in queries}


JOINED, CAME = "inner join", "inner join, ISTREAM"


def on_windows(window: str, patterns: Mapping[str, str]) -> dict[str, Query]:
    """The join and its ISTREAM, and other patterns."""
    others: dict[str, Query] = {name: (window, pattern, "rstream") for name, pattern in patterns.items()}
    return {JOINED: (window, JOIN, "rstream"), CAME: (window, JOIN, "istream"), **others}


def sliding() -> dict[str, Query]:
    return {slide: (f"WINDOW RANGE 30 MINUTE SLIDE {slide}", JOIN, "intervals") for slide in SLIDES}


def check(found: Mapping[str, Timed]) -> None:
    """Check that the cars with a partner and those without one are all cars."""
    counts = {name: timed.rows for name, timed in found.items()}
    if counts["OPTIONAL"] != counts[JOINED] + counts["MINUS"] or counts["MINUS"] != counts["NOT EXISTS"]:
        raise AssertionError(f"the answers do not fit together: {counts}")


def grown(found: Mapping[str, Timed]) -> list[Bar]:
    """How much more, in time and in rows, one slide costs than another."""
    ratios = [timed.ratio(found[SLIDES[0]]) for timed in found.values()]
    counts = [timed.rows for timed in found.values()]
    return [
        at_most("intervals, slowest to fastest slide, ratio", max(ratios) / min(ratios), TIMES_THE_FASTEST),
        at_most("intervals, most to fewest rows, ratio", max(counts) / min(counts), TIMES_THE_FEWEST),
    ]


def taken_away(found: Mapping[str, Timed]) -> list[Bar]:
    ratios = {name: found[name].ratio(found[JOINED]) for name in (*AWAY, CAME)}
    bars = [at_most(f"{name} to {JOINED}, ratio", ratios[name], TIMES_THE_JOIN) for name in AWAY]
    return [*bars, at_most("ISTREAM to RSTREAM of the join, ratio", ratios[CAME], TIMES_RSTREAM)]


def cells(what: str, found: Mapping[str, Timed]) -> list[tuple[str, ...]]:
    """Each query beside the first."""
    first = next(iter(found.values()))
    return [timed.cells(f"{what} {name}", None if timed is first else first) for name, timed in found.items()]


def section(spark: SparkSession, effort: Effort, console: Console, runs: int | None = None) -> Section:
    runs, elements = runs or effort.runs(RUNS), effort.of(ELEMENTS)
    groups = {
        OVERLAPPING: on_windows(OVERLAPPING, AWAY),
        TUMBLING: on_windows(TUMBLING, {}),
        "intervals, RANGE 30 MINUTE SLIDE": sliding(),
    }
    found = {}
    for what, queries in groups.items():
        console.print(f"measuring: {what}: {', '.join(queries)}", style="dim")
        found[what] = by_turns(spark, streams(elements, DATA), queries, runs)
    overlapping, _, slides = found.values()
    check(overlapping)
    rows = [row for what in found for row in cells(what, found[what])]
    title = f"{elements:,} elements replayed from Parquet into Arrow, median of {runs} runs"
    return Section(title, ("query", "rows", "s", "spread", "ratio"), rows, taken_away(overlapping) + grown(slides))


def main(
    scale: Annotated[float, typer.Option(help="Part of the full number of elements.")] = 1.0,
    runs: Annotated[int | None, typer.Option(help="How often each is timed.")] = None,
) -> None:
    """The section alone, for tuning."""
    console, spark = Console(), start_session()
    try:
        section(spark, Effort(scale), console, runs).show(console)
    finally:
        session.stop(spark)


if __name__ == "__main__":
    typer.run(main)

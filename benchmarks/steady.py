"""`python -m benchmarks.run steady`: ten thousand elements a second, minute after minute, and how far answers lag.

An element's time is that of its push, so the lag of an answer is the time from its instant until it is here. The
watermark passes an instant with the next push, a tenth of a second later at most: that is part of the lag.
"""

from __future__ import annotations

import random
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks.common import Effort
from benchmarks.live import percentile
from benchmarks.report import Section, at_most
from penstock.answer import Answer

RATE, PUSHES, MINUTES, LAG = 10_000, 10, 10, 1.0  # elements and pushes a second; seconds of lag
STREAM, T = "http://example.org/gates", "http://example.org/t#"
QUERY = f"""PREFIX t: <{T}> SELECT ?gate (COUNT(?car) AS ?n)
FROM STREAM <{STREAM}> [RANGE 10s STEP 1s] WHERE {{ ?gate t:registers ?car }} GROUP BY ?gate"""


def lines(chance: random.Random, count: int) -> bytes:
    """Elements of this moment."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    ends = f' "{stamp}"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'
    cars = (
        f"<http://e/gate/{chance.randrange(20)}> <{T}registers> <http://e/car/{chance.randrange(10_000)}>"
        for _ in range(count)
    )
    return "".join(f"{car}{ends}" for car in cars).encode()


def lags(spark: SparkSession, seconds: int, folder: Path) -> list[float]:
    """Push for so many seconds, at an even pace, and return the lag of every answer."""
    found: list[float] = []

    def take(answer: Answer) -> None:
        assert answer.time is not None
        found.append(time.time() - answer.time.timestamp())

    chance = random.Random(7)
    with penstock.Engine(spark=spark, checkpoint=folder) as engine:
        engine.stream(STREAM)
        engine.register(QUERY, sink=take)
        engine.start()
        began = time.monotonic()
        for number in range(seconds * PUSHES):
            time.sleep(max(0.0, began + number / PUSHES - time.monotonic()))
            engine.push(STREAM, lines(chance, RATE // PUSHES))
        engine.stop()
    return found


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    length = effort.of(60 * MINUTES, 40)
    console.print(f"measuring: {RATE:,} elements a second for {length} s", style="dim")
    with tempfile.TemporaryDirectory() as folder:
        found = lags(spark, length, Path(folder))
    part = max(5, min(60, length // 3))
    parts = {"at the start": found[10 : 10 + part], "at the end": found[-part:]}
    rows = [(name, f"{percentile(lag, 0.5):.2f}", f"{max(lag):.2f}") for name, lag in parts.items()]
    bars = [at_most(f"lag {name}, longest, s", max(lag), LAG) for name, lag in parts.items()]
    title = f"{RATE:,} elements a second for {length} s, {len(found)} answers"
    return Section(title, ("answers", "median lag s", "longest lag s"), rows, bars)

"""`python -m benchmarks.run memory`: what a live engine holds while a bounded sequence goes on for an hour of events.

The hour is that of the events: a minute of them is pushed at a time, as fast as it is answered. After each minute Java
collects its garbage, and what is left is measured, beside the size of this process and of the files.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from itertools import pairwise
from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks.common import DOCS, Effort
from benchmarks.outputs import Counted
from benchmarks.plot import Line, Linear, svg
from benchmarks.report import Bar, Section, at_most
from benchmarks.sequences import QUERY, STEPS, STREAM, predicate
from benchmarks.streams import MINUTE, START, T

MINUTES, EVENTS, MACHINES = 60, 12_000, 100  # EVENTS in a minute
WARM_UP = 6  # minutes, in which Java loads and compiles
GROWN = 1.2
TRIES, MOMENT = 5, 0.2  # to collect garbage, and seconds between them
PICTURE, TITLE = "memory.svg", "a sequence of three within two seconds"
XSD = "http://www.w3.org/2001/XMLSchema#"


@dataclass(frozen=True, slots=True)
class Held:
    """After some minute, in MB."""

    heap: float
    process: float
    log: float
    folder: float


NAMES = {
    "heap": "Java's heap, collected",
    "process": "this Python process",
    "log": "the stream log",
    "folder": "all files of the engine",
}
BOUNDED = ("heap", "log")


def minute(number: int, events: int) -> str:
    """Machines heat up, shake and stop at random."""
    rng = np.random.default_rng(number)
    machines, steps, values = (rng.integers(0, most, events).tolist() for most in (MACHINES, len(STEPS), 1_000))
    times = np.datetime64(START + number * MINUTE, "us") + np.sort(rng.integers(0, MINUTE, events))
    rows = zip(machines, steps, values, np.datetime_as_string(times).tolist(), strict=True)
    return "".join(
        f'<{T}machine{m}> {predicate(STEPS[step])} "{v}"^^<{XSD}integer> "{at}Z"^^<{XSD}dateTime> .\n'
        for m, step, v, at in rows
    )


def over_time(spark: SparkSession, minutes: int, events: int, console: Console) -> tuple[list[Held], int]:
    """What is held after each minute, and the number of answers."""
    sink, found = Counted(), []
    with tempfile.TemporaryDirectory() as folder, penstock.Engine(spark=spark, checkpoint=folder) as engine:
        engine.stream(STREAM)
        engine.register(QUERY, name="stops", sink=sink)
        engine.start()
        for number in range(minutes):
            engine.push(STREAM, minute(number, events))
            engine.flush()
            found.append(held(spark, Path(folder)))
            if (number + 1) % 10 == 0:
                console.print(f"measuring: {number + 1} minutes, {sink.rows:,} rows", style="dim")
        engine.stop()
    return found, sink.rows


def held(spark: SparkSession, folder: Path) -> Held:
    log = next(folder.rglob("log"))
    return Held(heap(spark) / 2**20, resident() / 2**20, size(log) / 2**20, size(folder) / 2**20)


def heap(spark: SparkSession) -> int:
    """Bytes that Java cannot do without. Python has to let go first of what it holds there, and Spark takes a moment to
    throw tables away that it had sent to its workers, once it has seen that nobody has a plan with them any more."""
    runtime = spark._jvm.java.lang.Runtime.getRuntime()  # type: ignore[union-attr]
    gc.collect()
    found = []
    for _ in range(TRIES):
        runtime.gc()
        found.append(int(runtime.totalMemory() - runtime.freeMemory()))
        time.sleep(MOMENT)
    return min(found)


def resident() -> int:
    """Bytes of this process, as Linux counts them."""
    status = Path("/proc/self/status").read_text()
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


def size(folder: Path) -> int:
    """Bytes of all files. One may go while we look."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def thirds(found: Sequence[Held], what: str) -> list[float]:
    """The mean of each third, after the warm-up."""
    values = [getattr(one, what) for one in found][WARM_UP * len(found) // MINUTES :]
    edges = [len(values) * n // 3 for n in range(4)]
    return [statistics.mean(values[a:b]) for a, b in pairwise(edges)]


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    minutes, events = (MINUTES, EVENTS) if effort.scale >= 0.5 else (max(12, effort.of(MINUTES)), effort.of(EVENTS))
    found, answers = over_time(spark, minutes, events, console)
    means = {what: thirds(found, what) for what in NAMES}
    rows = [
        (name, *(f"{value:.2f}" for value in means[what]), f"{means[what][-1] / means[what][0]:.2f}")
        for what, name in NAMES.items()
    ]
    if effort.scale == 1:
        (DOCS / PICTURE).write_text(picture(found), "utf-8")
    title = f"{TITLE}, {minutes} minutes of {events:,} events, {answers:,} rows, MB"
    headings = ("what", "first third", "second", "last", "last to first")
    return Section(title, headings, rows, [grown(NAMES[what], means[what]) for what in BOUNDED], (PICTURE,))


def grown(name: str, means: Sequence[float]) -> Bar:
    return at_most(f"{name}, last third to first, ratio", means[-1] / means[0], GROWN)


def picture(found: Sequence[Held]) -> str:
    columns = zip(*map(astuple, found), strict=True)
    lines = [
        Line(NAMES[field.name], list(enumerate(values, start=1)))
        for field, values in zip(fields(Held), columns, strict=True)
    ]
    return svg(lines, f"{TITLE}: what is held", "minutes of events", "MB", Linear)

"""`python -m benchmarks.run workers`: one worker and two, on cores of one process and in processes of their own.

Each setting is a process with its own Java, which evaluates a kind of work (`kinds.py`) and says how long it took and
how much memory its Python tasks held at most. A local cluster has executors in processes of their own.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks import kinds
from benchmarks.common import DATA, ROOT, Effort, seconds
from benchmarks.report import Section, at_least_ratio, at_most
from penstock.spark.session import session

FASTER, RUNS = 1.7, 3
MEMORY = 4_096  # MB of a task, which DuckDB may use before it writes to disk: `Tuning.slice_memory`
ELEMENTS, LARGE = 10_000_000, 50_000_000
MASTERS = {"cores of one process": "local[{}]", "processes": "local-cluster[{},1,2048]"}
KIND = kinds.KINDS[0]  # topics: a join, which a task has to hold
PERIOD = 0.05  # seconds between two looks at the memory of tasks


def _descendants(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            yield child
            yield from _descendants(child)


def _held(pid: int) -> int:
    """The memory of a Python process, in kB; 0 of others."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status["VmRSS"].split()[0]) if status["Name"].strip().startswith("python") and "VmRSS" in status else 0


class Watch:
    """Looks at the memory of the Python processes below this one, until it is left."""

    def __init__(self) -> None:
        self.most, self._ended = 0, threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(PERIOD):
            try:
                self.most = max([self.most, *map(_held, _descendants(os.getpid()))])
            except OSError:
                continue  # a process has ended meanwhile


def child(master: str, elements: int, runs: int) -> None:
    """Print the seconds of each run and the memory of the largest task, in MB."""
    path = kinds.stream(KIND, elements, DATA)
    spark = session.start(master, **{"spark.driver.memory": "4g"})
    try:
        kinds.ours(spark, KIND, path)
        with Watch() as watch:
            taken = [seconds(lambda: kinds.ours(spark, KIND, path)) for _ in range(runs)]
    finally:
        session.stop(spark)
    print(json.dumps([taken, watch.most / 1024]))


def measured(master: str, elements: int, runs: int, console: Console) -> tuple[float, float]:
    """The median of the seconds, and the memory of the largest task in MB."""
    console.print(f"measuring: {master}, {elements:,} elements", style="dim")
    command = [sys.executable, "-m", "benchmarks.workers", master, str(elements), str(runs)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    taken, memory = json.loads(done.stdout.splitlines()[-1])
    return statistics.median(taken), memory


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    elements, runs = effort.of(ELEMENTS), effort.runs(RUNS)
    rows, bars = [], []
    for name, master in MASTERS.items():
        (one, small), (two, large) = (measured(master.format(n), elements, runs, console) for n in (1, 2))
        rows.append((f"{name}, {elements:,} elements", f"{one:.1f}", f"{two:.1f}", f"{max(small, large):,.0f}"))
        bars.append(at_least_ratio(f"{name}: two beside one, ratio", one / two, FASTER))
    many = effort.of(LARGE)
    taken, memory = measured("local[2]", many, 1, console)
    rows.append((f"cores of one process, {many:,} elements", "", f"{taken:.1f}", f"{memory:,.0f}"))
    bars.append(at_most("memory of the largest task, MB", memory, MEMORY, 0))
    headings = ("workers", "one, s", "two, s", "largest task, MB")
    return Section(f"{KIND.name}, replayed from Parquet, median of {runs} runs", headings, rows, bars)


if __name__ == "__main__":
    child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

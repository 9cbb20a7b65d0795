"""The table, for the terminal and for `docs/benchmarks.md`, and whether the bars are met."""

from __future__ import annotations

import os
import platform
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from benchmarks.measure import Measured

HIGHEST_RATIO, MEDIAN_RATIO, COMPILE_MILLISECONDS = 2.0, 1.5, 50.0
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
HEADINGS = ("shape", "rows", "Penstock s", "by hand s", "ratio")


@dataclass(frozen=True, slots=True)
class Report:
    """All that was measured; no bar is met by what was not."""

    triples: int
    runs: int
    shapes: Sequence[Measured]
    compile_milliseconds: float
    machine: str

    def bars(self) -> dict[str, bool]:
        ratios = [shape.ratio for shape in self.shapes] or [float("inf")]
        highest, median, took = max(ratios), statistics.median(ratios), self.compile_milliseconds
        return {
            f"highest ratio {highest:.2f}, bar {HIGHEST_RATIO}": highest <= HIGHEST_RATIO,
            f"median ratio {median:.2f}, bar {MEDIAN_RATIO}": median <= MEDIAN_RATIO,
            f"ten patterns compiled in {took:.0f} ms, bar {COMPILE_MILLISECONDS:.0f}": took < COMPILE_MILLISECONDS,
        }

    def rows(self) -> list[tuple[str, ...]]:
        return [(m.name, f"{m.rows:,}", f"{m.penstock:.2f}", f"{m.by_hand:.2f}", f"{m.ratio:.2f}") for m in self.shapes]

    def show(self, console: Console) -> None:
        table = Table(*HEADINGS, title=f"{self.triples:,} triples, median of {self.runs}")
        for row in self.rows():
            table.add_row(*row)
        console.print(table)
        for bar, met in self.bars().items():
            console.print("[green]PASS[/]" if met else "[red]MISS[/]", bar)
        console.print(self.machine)

    def markdown(self) -> str:
        lines = [f"{self.triples:,} triples, median of {self.runs} runs, on {self.machine}.", ""]
        lines += [f"| {' | '.join(HEADINGS)} |", "| --- | ---: | ---: | ---: | ---: |"]
        lines += [f"| {' | '.join(row)} |" for row in self.rows()]
        lines += ["", *(f"- {'PASS' if met else 'MISS'}: {bar}" for bar, met in self.bars().items())]
        return "\n".join(lines)


def describe_machine(spark: SparkSession) -> str:
    """Cores, memory and versions, nothing that names the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    java = spark._jvm.java.lang.System.getProperty("java.version")  # type: ignore[union-attr]
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GB of memory, {platform.system()} {platform.machine()}, "
        f"Spark {spark.version}, Java {java}, Python {platform.python_version()}"
    )


def write_into(document: Path, markdown: str) -> None:
    """Replace what stands between the markers."""
    text = document.read_text("utf-8")
    between = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    if not between.search(text):
        raise ValueError(f"{document} lacks the markers {BEGIN} and {END}")
    document.write_text(between.sub(lambda _: f"{BEGIN}\n{markdown}\n{END}", text), "utf-8")

"""Tables, for the terminal and for `docs/benchmarks.md`, and whether the bars are met."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from benchmarks.measure import Measured


@dataclass(frozen=True, slots=True)
class Bar:
    """Something that was promised. A ratio has a name and a value, so that it can be held against another limit."""

    text: str
    met: bool
    what: str = ""
    value: float | None = None

    @property
    def verdict(self) -> str:
        return "PASS" if self.met else "MISS"


def at_most(what: str, value: float, limit: float, digits: int = 2) -> Bar:
    return Bar(f"{what} {value:.{digits}f}, bar {limit:g}", value <= limit, what, value)


def at_least_ratio(what: str, value: float, limit: float) -> Bar:
    return Bar(f"{what} {value:.2f}, bar {limit:g}", value >= limit)


def at_least(what: str, value: float, limit: float) -> Bar:
    return Bar(f"{what} {value:,.0f}, bar {limit:,.0f}", value >= limit)


@dataclass(frozen=True, slots=True)
class Section:
    """What one benchmark found. The first column is text, the others are numbers."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    bars: Sequence[Bar] = ()
    pictures: Sequence[str] = ()  # files beside the document

    def show(self, console: Console) -> None:
        first, *others = self.headings
        table = Table(first, title=self.title, title_justify="left")
        for heading in others:
            table.add_column(heading, justify="right")
        for row in self.rows:
            table.add_row(*row)
        console.print(table)
        for bar in self.bars:
            console.print(f"[{'green' if bar.met else 'red'}]{bar.verdict}[/] {bar.text}", highlight=False)

    def markdown(self, machine: str) -> str:
        lines = [f"{self.title}, on {machine}.", ""]
        lines += [f"| {' | '.join(self.headings)} |", f"| --- {'| ---: ' * (len(self.headings) - 1)}|"]
        lines += [f"| {' | '.join(row)} |" for row in self.rows]
        lines += ["", *(f"- {bar.verdict}: {bar.text}" for bar in self.bars)] if self.bars else []
        lines += [line for picture in self.pictures for line in ("", f"![{self.title}]({picture})")]
        return "\n".join(lines)


HEADINGS = ("rows", "Penstock s", "by hand s", "ratio")


def cells(m: Measured) -> tuple[str, ...]:
    """A row for a section with `HEADINGS`, after a word on what the rows are."""
    return (m.name, f"{m.rows:,}", f"{m.penstock:.2f}", f"{m.by_hand:.2f}", f"{m.ratio:.2f}")


def describe_machine(spark: SparkSession) -> str:
    """Cores, memory and versions, nothing that names the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    java = spark._jvm.java.lang.System.getProperty("java.version")  # type: ignore[union-attr]
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GB of memory, {platform.system()} {platform.machine()}, "
        f"Spark {spark.version}, Java {java}, Python {platform.python_version()}"
    )


def write_into(document: Path, part: str, markdown: str) -> None:
    """Replace what stands between the part's markers."""
    begin, end = (f"<!-- measured {part}: {word} -->" for word in ("begin", "end"))
    text = document.read_text("utf-8")
    between = re.compile(f"{re.escape(begin)}.*{re.escape(end)}", re.DOTALL)
    if not between.search(text):
        raise ValueError(f"{document} lacks the markers {begin} and {end}")
    document.write_text(between.sub(lambda _: f"{begin}\n{markdown}\n{end}", text), "utf-8")

"""`python -m benchmarks.run [PART…]`: generate, measure, print, and write the tables into `docs/benchmarks.md`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks import (
    buckets,
    classes,
    connect,
    cost,
    cqels,
    flip,
    kinds,
    larkc,
    lift,
    live,
    many,
    memory,
    nquads,
    outputs,
    pushes,
    replay,
    rules,
    sequences,
    small,
    start,
    steady,
    stored,
    workers,
)
from benchmarks.common import DOCS, Effort, seconds, start_session
from benchmarks.gate import GATES, Gate
from benchmarks.report import Section, describe_machine, write_into
from penstock.spark.session import session

PARTS: dict[str, Callable[[SparkSession, Effort, Console], Section]] = {
    "live": live.section,  # first, in a JVM that nothing else has filled
    "larkc": larkc.section,
    "stored": stored.section,
    "nquads": nquads.section,
    "lift": lift.section,
    "connect": connect.section,
    "replay": replay.section,
    "kinds": kinds.section,
    "workers": workers.section,
    "small": small.section,
    "buckets": buckets.section,
    "cost": cost.section,
    "flip": flip.section,
    "pushes": pushes.section,
    "cqels": cqels.section,
    "many": many.section,
    "outputs": outputs.section,
    "sequences": sequences.section,
    "rules": rules.section,
    "classes": classes.section,
    "memory": memory.section,
    "start": start.section,
    "steady": steady.section,
}
QUICK = 0.02


def run(part: str, effort: Effort, console: Console, gate: Gate | None = None) -> Section:
    """Measure a part in a session of its own, so that no part sees what another has left."""
    found: list[Section] = []
    spark = start_session()
    try:
        took = seconds(lambda: found.append(PARTS[part](spark, effort, console)))
        machine = describe_machine(spark)
    finally:
        session.stop(spark)
    section = found[0] if gate is None else gate.judged(found[0])
    section.show(console)
    console.print(f"{part}: {took / 60:.1f} minutes, on {machine}", style="dim")
    if effort.scale == 1:
        write_into(DOCS / "benchmarks.md", part, section.markdown(machine))
    return section


def main(
    parts: Annotated[list[str] | None, typer.Argument(help=f"Some of {', '.join(PARTS)}; all by default.")] = None,
    scale: Annotated[float, typer.Option(help="Part of the full sizes; unless it is 1, nothing is written.")] = 1.0,
    quick: Annotated[bool, typer.Option(help=f"The same as --scale {QUICK}.")] = False,
    gate: Annotated[bool, typer.Option(help="The ratios that CI looks at, small and with bars of their own.")] = False,
) -> None:
    """Penstock beside the same work by hand, everything in one run."""
    console, effort = Console(), Effort(QUICK if quick else scale)
    chosen = parts or list(PARTS)
    if unknown := set(chosen) - PARTS.keys():
        raise typer.BadParameter(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    if gate:
        sections = [run(each.part, each.effort, console, each) for each in GATES if each.part in chosen]
    else:
        sections = [run(part, effort, console) for part in chosen]
    missed = [bar.text for section in sections for bar in section.bars if not bar.met]
    console.print(f"{len(missed)} bars missed" if missed else "all bars met")
    raise typer.Exit(1 if missed and (gate or effort.scale == 1) else 0)


if __name__ == "__main__":
    typer.run(main)

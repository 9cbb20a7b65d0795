"""`python -m benchmarks.run flip`: a stream in whose middle the rare becomes frequent, and the frequent rare.

Sensors of a place tell three things. In the first half alarms are rare, in the second visits are; joined in the wrong
order, what is frequent makes millions of rows that the rare one then throws away. A round is what a running engine
does: one instant, over one segment of the log and its manifest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.common import Effort, seconds
from benchmarks.report import Bar, Section, at_most
from benchmarks.streams import SECOND, START, STREAM, T
from penstock.algebra.build import translate
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session import arrow_functions, session
from penstock.spark.views.background_tables import BackgroundTables
from penstock.stream.log.segment import Segment, segment_of, write_part

ROUNDS, PLACES, FREQUENT, RARE, STEP = 6, 300, 300, 20, 10 * SECOND  # frequent: so many times a place
KINDS = ("alarms", "counts", "visits")
ORDERS = {"alarms first": (0, 1, 2), "visits first": (2, 1, 0)}
FIXED = ["-order_joins"]


def query(order: Sequence[int]) -> str:
    patterns = " . ".join(f"?place t:{KINDS[i]} ?{KINDS[i]}" for i in order)
    return f"""PREFIX t: <{T}> SELECT ?place (COUNT(*) AS ?n)
    FROM STREAM <{STREAM}> [RANGE {STEP // SECOND}s TUMBLING] WHERE {{ {patterns} }} GROUP BY ?place"""


@dataclass(frozen=True, slots=True)
class Round:
    """What is due at one instant."""

    span: Span
    segment: Segment

    @property
    def streams(self) -> dict[str, StreamFiles]:
        known = frozenset(self.segment.predicates or ())
        return {STREAM: StreamFiles(self.segment.paths, known, 0, self.segment.rows, (self.segment,))}


def rounds(count: int, places: int, folder: Path) -> list[Round]:
    return [_round(i, i < count // 2, places, folder) for i in range(count)]


def _round(number: int, first: bool, places: int, folder: Path) -> Round:
    rng, start = np.random.default_rng(number), START // STEP * STEP + number * STEP
    often = places * FREQUENT
    counts = dict(zip(KINDS, (RARE, often, often) if first else (often, often, RARE), strict=True))
    tables = [_elements(kind, count, places, start, rng) for kind, count in counts.items()]
    part = write_part(pa.concat_tables(tables).sort_by("ts"), folder / f"{number}.parquet")
    return Round(Span(start, start + STEP), segment_of([part], number, {}))


def _elements(kind: str, count: int, places: int, start: int, rng: np.random.Generator) -> pa.Table:
    names = pa.array([f"<{T}place{i}>" for i in range(places)])
    values = pa.array([f"<{T}{kind}{i}>" for i in range(count)])
    where = names.take(rng.integers(0, places, count))
    times = start + 1 + np.sort(rng.integers(0, STEP, count))
    return pa.table([where, pa.array([f"<{T}{kind}>"] * count), values, pa.array(times)], names=["s", "p", "o", "ts"])


class Way:
    """One way to order the joins, round after round."""

    def __init__(self, background: BackgroundTables, order: Sequence[int], rules: Sequence[str] | None) -> None:
        self.plan = ContinuousQuery(translate(query(order)), background, rules=rules)
        self.times: list[float] = []
        self.rows: list[list[tuple[object, ...]]] = []

    def answer(self, due: Round) -> None:
        self.times.append(seconds(lambda: self.rows.append(self._rows(due))))

    def _rows(self, due: Round) -> list[tuple[object, ...]]:
        table = self.plan.evaluate(Evaluation(due.streams, due.span)).collect()
        return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    count, places = max(4, effort.of(ROUNDS)), effort.of(PLACES, 20)
    ours = session.private(spark)
    arrow_functions.register(ours)
    background = BackgroundTables(ours, OxigraphStore())
    with TemporaryDirectory() as folder:
        due = rounds(count, places, Path(folder))
        ways = {name: Way(background, order, FIXED) for name, order in ORDERS.items()}
        ways["adaptive"] = Way(background, ORDERS["alarms first"], None)
        for way in ways.values():  # what Java has compiled once, it has compiled for all
            way.answer(due[0])
            way.answer(due[-1])
            way.times.clear()
        for number, each in enumerate(due):
            console.print(f"measuring: round {number + 1} of {count}", style="dim")
            turn = number % len(ways)  # the first one finds the file cold
            for way in [*ways.values()][turn:] + [*ways.values()][:turn]:
                way.answer(each)
    return _section(ways, count, sum(each.segment.rows for each in due))


def _section(ways: dict[str, Way], count: int, elements: int) -> Section:
    if any(way.rows != ways["adaptive"].rows for way in ways.values()):
        raise AssertionError("the answers differ")
    halves = {name: (sum(way.times[: count // 2]), sum(way.times[count // 2 :])) for name, way in ways.items()}
    fixed = [halves[name] for name in ORDERS]
    halves["the best of each half"] = min(first for first, _ in fixed), min(second for _, second in fixed)
    ours, ideal, worst = sum(halves["adaptive"]), sum(halves["the best of each half"]), max(map(sum, fixed))
    bars = (
        at_most("adaptive to the best fixed order of each half, ratio", ours / ideal, 1.2),
        Bar(f"adaptive {worst / ours:.1f} times as fast as the worst fixed order, bar 3", worst / ours >= 3),
    )
    rows = [(name, *(f"{half:.2f}" for half in found), f"{sum(found):.2f}") for name, found in halves.items()]
    title = f"{elements:,} elements in {count} rounds, what is rare changes in the middle"
    return Section(title, ("order", "first half s", "second half s", "all s"), rows, bars)

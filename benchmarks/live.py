"""`python -m benchmarks.live`: from push to answer, beside native Structured Streaming written by hand.

All sides get the same lines. One minute of them at a time is made durable, and the first of them says that the minute
before is over: its counts by tollgate are the answer, and the clock runs from the push until they have arrived. The
next push comes a little later, so that no side's own rhythm decides. Penstock answers by Spark jobs, as by default, and
in the driver (`rounds="auto"`); then twenty different queries on the stream, beside one.
"""

from __future__ import annotations

import math
import random
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from queue import Queue
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console

import penstock
from benchmarks.common import Effort
from benchmarks.report import Section, at_most
from penstock.answer import Answer
from penstock.options import Rounds
from penstock.stream.base import durable_files
from penstock.stream.ingest.streaming_query import streaming_session

RATIO, MEDIAN, NINETY_NINTH, IN_DRIVER, TIMES_ONE = 0.35, 120.0, 250.0, 25.0, 2.0  # milliseconds, but for ratios
BLOCKS, TIMED, WARM_UP, ELEMENTS = 3, 20, 15, 200
SHARES = {"median": 0.5, "99th percentile": 0.99}
PAUSE = 0.03, 0.1  # seconds between an answer and the next push
STREAM, T, XSD = "http://example.org/gates", "http://example.org/t#", "http://www.w3.org/2001/XMLSchema#"
MINUTE, START, GATES = 60, 1_250_000_040, 20  # seconds, and a whole minute to begin with
PATIENCE = 60.0  # seconds for one answer: more means that something is broken

Counts = dict[str, int]  # by tollgate


@dataclass(frozen=True, slots=True)
class Window:
    """A window of some minutes that moves by one."""

    name: str
    minutes: int

    @property
    def query(self) -> str:
        return f"""PREFIX t: <{T}> SELECT ?gate (COUNT(?car) AS ?n)
        FROM STREAM <{STREAM}> [RANGE {self.minutes}m STEP 1m]
        WHERE {{ ?gate t:registers ?car }} GROUP BY ?gate"""


WINDOWS = (Window("tumbling, 1m", 1), Window("sliding, 5m by 1m", 5))
FORMS = (
    "SELECT ?gate (COUNT(DISTINCT ?car) AS ?n) {} WHERE {{ ?gate t:registers ?car }} GROUP BY ?gate",
    "SELECT ?car (MAX(?gate) AS ?last) {} WHERE {{ ?gate t:registers ?car }} GROUP BY ?car HAVING (COUNT(?gate) > 1)",
    "SELECT DISTINCT ?gate {} WHERE {{ ?gate t:registers ?car FILTER (STRENDS(STR(?car), '7')) }}",
    "SELECT (COUNT(*) AS ?n) {} WHERE {{ ?gate t:registers ?car }}",
)


def others(count: int) -> list[str]:
    """Queries of several forms and windows, so that no two are of one family."""
    windows = [f"FROM STREAM <{STREAM}> [RANGE {minutes}m STEP 1m]" for minutes in range(1, 2 + count // len(FORMS))]
    return [f"PREFIX t: <{T}> {form.format(window)}" for window in windows for form in FORMS][:count]


def lines(minute: int, elements: int) -> bytes:
    """A minute of the stream without its first and last second: windows open at either end see the same."""
    chance, begin = random.Random(minute), START + MINUTE * minute + 1
    return "".join(_line(chance, begin + 58 * n / elements) for n in range(elements)).encode()


def _line(chance: random.Random, moment: float) -> str:
    gate, car = chance.randrange(GATES), chance.randrange(10_000)
    stamp = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return (
        f'<http://example.org/gate/{gate}> <{T}registers> <http://example.org/car/{car}> "{stamp}"^^<{XSD}dateTime> .\n'
    )


Make = Callable[[Path], "Side"]


class Side(Protocol):
    """Answers by instant, in seconds since 1970, from what is pushed."""

    answers: Queue[tuple[int, Counts]]

    def push(self, data: bytes) -> None: ...
    def __enter__(self) -> Side: ...
    def __exit__(self, *_: object) -> None: ...


class Ours:
    """Penstock: a live engine, an answer at a time to a function. Of the `others` only the number counts."""

    def __init__(
        self,
        spark: SparkSession,
        window: Window,
        folder: Path,
        rounds: Rounds = "spark",
        others: Sequence[str] = (),
        source: str | None = None,
    ) -> None:
        self.answers: Queue[tuple[int, Counts]] = Queue()
        self._engine = penstock.Engine(spark=spark, checkpoint=folder, rounds=rounds)
        self._engine.stream(STREAM, source)
        self._missing: dict[int, int] = {}  # answers to an instant that have not come
        self._count, self._counts = 1 + len(others), dict[int, Counts]()
        self._engine.register(window.query, name="count", sink=self._take)
        for number, text in enumerate(others):
            self._engine.register(text, name=f"other{number}", sink=self._took)

    def push(self, data: bytes) -> None:
        self._engine.push(STREAM, data)

    def _take(self, answer: Answer) -> None:
        assert answer.time is not None
        counts = {row["gate"].value: int(row["n"].value) for row in answer}
        self._counts[int(answer.time.timestamp())] = counts
        self._took(answer)

    def _took(self, answer: Answer) -> None:
        """Count an answer; the last one of an instant makes it whole."""
        assert answer.time is not None
        instant = int(answer.time.timestamp())
        self._missing[instant] = self._missing.get(instant, self._count) - 1
        if not self._missing[instant]:
            self.answers.put((instant, self._counts.pop(instant)))

    def __enter__(self) -> Ours:
        self._engine.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.stop()
        self._engine.close()


class Native:
    """Structured Streaming by hand: files in a folder, a watermark, a window, append mode."""

    def __init__(self, spark: SparkSession, window: Window, folder: Path) -> None:
        self.answers: Queue[tuple[int, Counts]] = Queue()
        self._drop, self._checkpoint = folder / "drop", folder / "checkpoint"
        self._drop.mkdir(parents=True, exist_ok=True)
        counted = by_hand(streaming_session(spark).readStream.text(str(self._drop)), window)
        self._writer = counted.writeStream.outputMode("append").option("checkpointLocation", str(self._checkpoint))
        self._number = len(list(self._drop.iterdir()))

    def push(self, data: bytes) -> None:
        durable_files.replace(self._drop / f"{self._number:06}.nq", data)
        self._number += 1

    def _take(self, frame: DataFrame, _number: int) -> None:
        found: dict[int, Counts] = {}
        for row in frame.collect():
            found.setdefault(int(row["time"]), {})[row["gate"]] = int(row["n"])
        for instant in sorted(found):
            self.answers.put((instant, found[instant]))

    def __enter__(self) -> Native:
        self._query = self._writer.foreachBatch(self._take).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._query.processAllAvailable()
        self._query.stop()


def by_hand(text: DataFrame, window: Window) -> DataFrame:
    """Return the counts by hand: a programmer who knows the data splits each line into its four words."""
    word = F.split("value", " ")
    stamp = F.split(word[3], '"')[1].cast("timestamp")
    elements = text.select(word[0].alias("gate"), word[1].alias("p"), stamp.alias("ts"))
    seen = elements.where(F.col("p") == f"<{T}registers>").withWatermark("ts", "0 seconds")
    span = F.window("ts", f"{window.minutes} minutes", "1 minute")
    counted = seen.groupBy(span.alias("w"), "gate").agg(F.count("*").alias("n"))
    return counted.select(F.unix_timestamp("w.end").alias("time"), F.trim("gate", F.lit("<>")).alias("gate"), "n")


@dataclass(slots=True)
class Track:
    """One side's way through the stream, block after block: how long each answer took, and what it was."""

    make: Callable[[], Side]
    chance: random.Random = field(default_factory=lambda: random.Random(2026))
    minute: int = 0
    times: list[float] = field(default_factory=list)
    answers: dict[int, Counts] = field(default_factory=dict)

    def block(self, warm_up: int, timed: int, elements: int) -> None:
        """Some answers that only warm up, then some that count; then the side stops, so that the other has the
        machine."""
        with self.make() as side:
            took = [self._answer(side, elements) for _ in range(warm_up + timed)]
        self.times += took[warm_up:]

    def _answer(self, side: Side, elements: int) -> float:
        """Seconds from the push until the minute before it is answered."""
        time.sleep(self.chance.uniform(*PAUSE))
        data = lines(self.minute, elements)
        began = time.perf_counter()
        side.push(data)
        while self.minute and self._take(side) < START + MINUTE * self.minute:
            pass
        self.minute += 1
        return time.perf_counter() - began

    def _take(self, side: Side) -> int:
        instant, counts = side.answers.get(timeout=PATIENCE)
        self.answers[instant] = counts
        return instant


def measure(sides: Mapping[str, Make], blocks: int, timed: int, warm_up: int) -> dict[str, Track]:
    """All sides by turns, and an error if their answers differ."""
    with tempfile.TemporaryDirectory() as folder:
        tracks = {name: Track(partial(make, Path(folder, name))) for name, make in sides.items()}
        for number in range(blocks):
            for track in tracks.values():
                track.block(warm_up if number == 0 else max(1, warm_up // 3), timed, ELEMENTS)
    for (one, first), (other, second) in pairwise(tracks.items()):
        if first.answers != second.answers:
            instant = _first_difference(first.answers, second.answers)
            raise AssertionError(f"{one} and {other}: the answers differ, first at {instant}")
    return tracks


def _first_difference(one: dict[int, Counts], other: dict[int, Counts]) -> int:
    return min(instant for instant in one.keys() | other.keys() if one.get(instant) != other.get(instant))


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all does not exceed."""
    return sorted(values)[max(0, math.ceil(len(values) * share) - 1)]


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    rows, bars = [], []
    blocks, timed, warm_up = (BLOCKS, TIMED, WARM_UP) if effort.scale >= 0.5 else (1, 10, 5)
    for window in WINDOWS:
        console.print(f"measuring: live, {window.name}", style="dim")
        sides: dict[str, Make] = {
            "jobs": partial(Ours, spark, window),
            "driver": partial(Ours, spark, window, rounds="auto"),
            "native": partial(Native, spark, window),
        }
        tracks = measure(sides, blocks, timed, warm_up)
        for word, share in SHARES.items():
            jobs, driver, native = (1000 * percentile(track.times, share) for track in tracks.values())
            what = f"{window.name}: {word}"
            rows.append((what, f"{jobs:.0f}", f"{driver:.0f}", f"{native:.0f}", f"{jobs / native:.2f}"))
            bars.append(at_most(f"{what}, ratio", jobs / native, RATIO if share == 0.5 else 1.0))
            bars.append(at_most(f"{what}, ms", jobs, MEDIAN if share == 0.5 else NINETY_NINTH, 0))
            if share == 0.5:
                bars.append(at_most(f"{what}, in the driver, ms", driver, IN_DRIVER, 0))
    console.print("measuring: live, 20 queries", style="dim")
    make = partial(Ours, spark, WINDOWS[0])
    several = measure({"one": make, "twenty": partial(make, others=others(19))}, blocks, timed, warm_up)
    one, twenty = (1000 * percentile(track.times, 0.5) for track in several.values())
    rows.append(("20 different queries: median", f"{twenty:.0f}", "", "", ""))
    bars.append(at_most("20 different queries to one, ratio", twenty / one, TIMES_ONE))
    title = f"from push to answer, {blocks * timed} answers each, {ELEMENTS} elements a push"
    return Section(title, ("window", "Penstock ms", "in the driver ms", "native ms", "ratio"), rows, bars)

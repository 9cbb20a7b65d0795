"""`python -m benchmarks.run classes`: Test 2 of the EP-SPARQL paper, instances of a class with 40,080 below it.

Things come, each typed with some class of a tree that is eight levels deep. A query for the class at the top gets all
of them, a query for one in the middle a few. Beside it the same number of things typed with the class at the top
itself, and no reasoning: what remains is what reasoning costs.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Queue

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks.common import DATA, DOCS, Effort, seconds
from benchmarks.outputs import Counted
from benchmarks.plot import Line, Linear, svg
from benchmarks.report import Section
from benchmarks.streams import RDF, SECOND, START
from penstock.io.sinks.sink import Batch

BELOW, BRANCHES, TOP, MIDDLE = 40_080, 4, 0, 85  # MIDDLE is the first class four levels below TOP
SIZES = (1_000, 2_500, 5_000, 10_000, 15_000, 20_000)
ANSWERS, WARM_UP, RUNS = 7, 5, 3
REPLAYED = 2_000_000
PATIENCE = 120.0  # seconds for one answer
STREAM, E = "http://streams.org/plants.trdf", "http://example.org/plants#"
SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
PICTURE, TITLE = "classes.svg", f"instances of a class with {BELOW:,} classes below it"


@dataclass(frozen=True, slots=True)
class Way:
    """The class that is asked for, and whether things are typed with any class, or with the one at the top."""

    name: str
    asked: int
    reasoning: bool = True

    def query(self, stream: str = STREAM) -> str:
        return f"""PREFIX : <{E}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
        SELECT ?plant FROM STREAM <{stream}> WHERE {{
          ?plant a :Class{self.asked} FILTER (getDURATION() < "PT1S"^^xsd:duration) }}"""

    def classes(self, things: int, seed: int) -> np.ndarray:
        if not self.reasoning:
            return np.full(things, TOP)
        return np.random.default_rng(seed).integers(1, BELOW + 1, things)

    def expected(self, classes: np.ndarray) -> int:
        """How many are in the class that is asked for, or in one below it."""
        found, climbing = np.zeros(len(classes), bool), classes.copy()
        while (climbing >= self.asked).any():
            found |= climbing == self.asked
            climbing = np.where(climbing > 0, (climbing - 1) // BRANCHES, -1)
        return int(found.sum())


WAYS = (
    Way("the class at the top", TOP),
    Way("a class in the middle", MIDDLE),
    Way("no reasoning", TOP, reasoning=False),
)


def ontology() -> bytes:
    """A tree: each class has four right below it, as long as there are any."""
    pairs = ((i, (i - 1) // BRANCHES) for i in range(1, BELOW + 1))
    return "".join(f"<{E}Class{i}> <{SUBCLASS}> <{E}Class{above}> .\n" for i, above in pairs).encode()


# A batch after the other, live


class Told(Counted):
    """A sink that says how many rows have come."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Queue[int] = Queue()

    def deliver(self, batch: Batch) -> None:
        self.counts.put(batch.rows.num_rows)


@contextmanager
def asking(spark: SparkSession, way: Way, sink: Counted, source: str | None = None) -> Iterator[penstock.Engine]:
    with penstock.Engine(spark=spark, entailment="rdfs" if way.reasoning else None) as engine:
        if way.reasoning:
            engine.load(ontology(), format="nt")
        engine.stream(STREAM, source)
        engine.register(way.query(), sink=sink)
        yield engine


def delays(spark: SparkSession, way: Way) -> dict[int, float]:
    """Seconds from the push of so many triples to the answer, by their number."""
    sink, second = Told(), 0
    with asking(spark, way, sink) as engine:
        engine.start()

        def delay(size: int) -> float:
            nonlocal second
            second += 1
            classes, time = way.classes(size, second), datetime.fromtimestamp(START // SECOND + second, UTC)
            data = lines(classes, time)
            return seconds(lambda: _answered(engine, sink, data, time, way.expected(classes)))

        for size in SIZES[-1:] * WARM_UP:
            delay(size)
        found = {size: statistics.median(delay(size) for _ in range(ANSWERS)) for size in SIZES}
        engine.stop()
    return found


def lines(classes: np.ndarray, time: datetime) -> str:
    end = f'"{time:%Y-%m-%dT%H:%M:%SZ}"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'
    return "".join(f"<{E}plant{n}> <{RDF}type> <{E}Class{c}> {end}" for n, c in enumerate(classes.tolist()))


def _answered(engine: penstock.Engine, sink: Told, data: str, time: datetime, expected: int) -> None:
    """All of a batch have one time, and it is over when we say so."""
    engine.push(STREAM, data)
    engine.advance(STREAM, time + timedelta(microseconds=1))
    found = 0
    while found < expected:
        found += sink.counts.get(timeout=PATIENCE)
    if found != expected:
        raise AssertionError(f"{found} answers, and there should be {expected}")


# All at once, from a file


def stream(way: Way, things: int, folder: Path) -> str:
    """The file, generated if it is not there: a thousand things have one time."""
    path = folder / f"plants-{things}{'' if way.reasoning else '-typed'}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(_table(way, things), path, row_group_size=1_000_000)
    return str(path)


def _table(way: Way, things: int) -> pa.Table:
    classes = pa.array([f"<{E}Class{i}>" for i in range(BELOW + 1)]).take(way.classes(things, 0))
    plants = pa.array([f"<{E}plant{i}>" for i in range(things)])
    times = pa.array(START + np.arange(things) // 1_000 * SECOND)
    return pa.table([plants, pa.repeat(f"<{RDF}type>", things), classes, times], names=["s", "p", "o", "ts"])


def rate(spark: SparkSession, way: Way, things: int, runs: int) -> float:
    """Triples a second. An engine that has answered before has closed its ontology."""
    path, expected, times = stream(way, things, DATA), way.expected(way.classes(things, 0)), []
    with asking(spark, way, Counted(), stream(way, SIZES[0], DATA)) as engine:
        engine.run()
        for number in range(runs + 1):
            again, sink = f"{STREAM}/{number}", Counted()
            engine.stream(again, path)
            engine.register(way.query(again), sink=sink)
            times.append(seconds(engine.run))
            if sink.rows != expected:
                raise AssertionError(f"{way.name}: {sink.rows} answers, and there should be {expected}")
    return things / statistics.median(times[1:])


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    things, runs = effort.of(REPLAYED), effort.runs(RUNS)
    found: dict[str, Mapping[int, float]] = {}
    rates: dict[str, float] = {}
    for way in WAYS:
        console.print(f"measuring: {way.name}", style="dim")
        found[way.name], rates[way.name] = delays(spark, way), rate(spark, way, things, runs)
    if effort.scale == 1:
        lines = [Line(name, [(size, took * 1000) for size, took in by.items()]) for name, by in found.items()]
        (DOCS / PICTURE).write_text(svg(lines, TITLE, "triples", "milliseconds from push to answer", Linear), "utf-8")
    with_it, without = WAYS[0].name, WAYS[-1].name
    rows = [
        (f"{size:,} pushed, ms", *(f"{by[size] * 1000:.0f}" for by in found.values()),
         f"{found[with_it][size] / found[without][size]:.2f}")
        for size in SIZES
    ]  # fmt: skip
    replayed = (f"{value:,.0f}" for value in rates.values())
    rows.append((f"{things:,} replayed, triples a second", *replayed, f"{rates[without] / rates[with_it]:.2f}"))
    title = f"{TITLE}, median of {ANSWERS} batches and of {runs} runs"
    return Section(title, ("triples", *found, "top to no reasoning"), rows, pictures=(PICTURE,))

"""`python -m benchmarks.run sequences`: three things in a row within a time, beside a self-join and a loop by hand."""

from __future__ import annotations

import statistics
from collections import defaultdict, deque
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyoxigraph import Literal
from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks.common import DATA, Effort, seconds
from benchmarks.outputs import Counted
from benchmarks.report import Section, at_most
from benchmarks.streams import SECOND, START, T
from penstock.model.term_encoding import encode

EVENTS, RATE, KEYS, RUNS = 2_000_000, 1_000, 500, 5
STEPS = ("heats", "shakes", "stops")
WITHIN = 2 * SECOND
STREAM = "http://streams.org/machines.trdf"
QUERY = f"""PREFIX t: <{T}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?machine ?heat ?force ?code FROM STREAM <{STREAM}> WHERE {{
  {{ ?machine t:heats ?heat }} SEQ {{ ?machine t:shakes ?force }} SEQ {{ ?machine t:stops ?code }}
  FILTER (getDURATION() < "PT{WITHIN // SECOND}S"^^xsd:duration)
}}"""


def stream(events: int, folder: Path) -> str:
    """The file, generated if it is not there: machines heat up, shake and stop at random."""
    path = folder / f"machines-{events}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(_table(events), path, row_group_size=1_000_000)
    return str(path)


def _table(events: int) -> pa.Table:
    rng = np.random.default_rng(5)
    machines = pa.array([f"<{T}machine{i}>" for i in range(KEYS)])
    values = pa.array([encode(Literal(i)) for i in range(1_000)])
    columns = (machines, pa.array([predicate(step) for step in STEPS]), values)
    taken = [terms.take(rng.integers(0, len(terms), events)) for terms in columns]
    times = START + np.sort(rng.integers(0, events * SECOND // RATE, events))
    return pa.table([*taken, pa.array(times)], names=["s", "p", "o", "ts"])


def predicate(step: str) -> str:
    return f"<{T}{step}>"


# Three ways. All of them read the file and have the rows in this process at the end.


def ours(spark: SparkSession, path: str) -> int:
    with penstock.Engine(spark=spark) as engine:
        engine.stream(STREAM, path)
        sink = Counted()
        engine.register(QUERY, sink=sink)
        engine.run()
        return sink.rows


def self_join(spark: SparkSession, path: str) -> int:
    """By the machine, with conditions on the times."""
    events = spark.read.parquet(path)
    a, b, c = (events.where(events.p == predicate(step)).selectExpr("s", "o", "ts") for step in STEPS)
    first = a.toDF("s", "heat", "t1").join(b.toDF("s", "force", "t2"), "s").where(f"t1 < t2 AND t2 - t1 < {WITHIN}")
    both = first.join(c.toDF("s", "code", "t3"), "s").where(f"t2 < t3 AND t3 - t1 < {WITHIN}")
    return both.select("s", "heat", "force", "code", "t1", "t3").toArrow().num_rows


def loop(path: str) -> int:
    """One event after the other, on one core; of every machine it keeps what is young enough."""
    heats, shakes = map(predicate, STEPS[:2])
    hot: dict[str, deque[tuple[int, str]]] = defaultdict(deque)
    shaken: dict[str, deque[tuple[int, str]]] = defaultdict(deque)
    found = []
    for s, p, o, ts in zip(*(column.to_pylist() for column in pq.read_table(path).columns), strict=True):
        if p == heats:
            hot[s].append((ts, o))
        elif p == shakes:
            shaken[s].append((ts, o))
        else:
            for t2, b in _young(shaken[s], ts):
                if t2 < ts:
                    found += [(s, a, b, o, t1, ts) for t1, a in _young(hot[s], ts) if t1 < t2]
    return len(found)


def _young(events: deque[tuple[int, str]], now: int) -> deque[tuple[int, str]]:
    while events and now - events[0][0] >= WITHIN:
        events.popleft()
    return events


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    events, runs = effort.of(EVENTS), effort.runs(RUNS)
    path = stream(events, DATA)
    console.print(f"measuring: {events:,} events of {KEYS} machines", style="dim")
    ways: dict[str, Callable[[], int]] = {
        "Penstock": lambda: ours(spark, path),
        "PySpark self-join": lambda: self_join(spark, path),
        "Python loop, one core": lambda: loop(path),
    }
    counts = {name: [way() for _ in range(3)][-1] for name, way in ways.items()}  # Java compiles while it warms up
    if len(set(counts.values())) > 1:
        raise AssertionError(f"the answers differ: {counts}")
    turns = [{name: seconds(way) for name, way in ways.items()} for _ in range(runs)]
    first, *others = ways
    ratios = {name: statistics.median(turn[first] / turn[name] for turn in turns) for name in others}
    bars = [at_most(f"{first} to {name}, ratio", ratio, 1) for name, ratio in ratios.items()]
    rows = []
    for name in ways:
        middle = statistics.median(turn[name] for turn in turns)
        ratio = f"{ratios[name]:.2f}" if name in ratios else "–"
        rows.append((name, f"{counts[name]:,}", f"{middle:.2f}", f"{events / middle:,.0f}", ratio))
    title = f"{events:,} events of {KEYS} machines, three steps within {WITHIN // SECOND} s, median of {runs} runs"
    return Section(title, ("way", "rows", "s", "events a second", "Penstock to it"), rows, bars)

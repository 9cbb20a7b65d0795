"""Continuous queries of the papers, replayed from Parquet, beside the best PySpark that we could write by hand.

Streams are generated once per size. Both sides read the same file, give the same answers (compared before anything is
timed) and bring them into this process as Arrow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

SECOND, MINUTE = 1_000_000, 60_000_000
START = 1_250_000_000 * SECOND
RATE = 1_000  # elements a second
C, T = "http://linkedurbandata.org/city#", "http://linkedurbandata.org/traffic#"
SIOC, RDF = "http://rdfs.org/sioc/ns#", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
STREAM = "http://streams.org/elements.trdf"
GATES, STREETS, DISTRICTS, CAMERAS, TOPICS = 1_000, 200, 20, 200, 500


@dataclass(frozen=True, slots=True)
class Case:
    """A query, its stream, its background, and the same by hand: columns time (microseconds), then the query's."""

    name: str
    elements: int
    query: str
    generate: Callable[[int], pa.Table]
    background: Callable[[], str]
    by_hand: Callable[[SparkSession, DataFrame], DataFrame]


# Streams


def _iris(pattern: str, numbers: np.ndarray) -> pa.Array[Any]:
    names = pa.array([f"<{pattern.format(i)}>" for i in range(int(numbers.max()) + 1)])
    return names.take(numbers)


def _table(s: pa.Array[Any], p: pa.Array[Any], o: pa.Array[Any], times: np.ndarray) -> pa.Table:
    return pa.table({"s": s, "p": p, "o": o, "ts": pa.array(times)})


def _times(elements: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    return START + np.sort(rng.integers(0, elements * SECOND // RATE, elements))


def posts(elements: int) -> pa.Table:
    """Posts with a type and a topic, the topic up to two seconds after the type."""
    rng, half = np.random.default_rng(1), elements // 2
    numbers = np.arange(half)
    typed = _times(elements)[::2][:half]
    topical = typed + rng.integers(0, 2 * SECOND, half)
    times = np.concatenate([typed, topical])
    order = np.argsort(times, kind="stable")
    subject = _iris("http://example.org/post/{}", np.concatenate([numbers, numbers]))
    predicate = pa.array([f"<{RDF}type>", f"<{SIOC}topic>"]).take(np.repeat([0, 1], half))
    topics = _iris("http://example.org/topic/{}", rng.zipf(1.3, half) % TOPICS)
    thing = pa.concat_arrays([pa.array([f"<{SIOC}Post>"]).take(np.zeros(half, int)), topics])
    return _table(subject, predicate, thing, times).take(order)


def passages(elements: int) -> pa.Table:
    """Cars at tollgates."""
    rng = np.random.default_rng(2)
    registers = pa.array([f"<{T}registers>"]).take(np.zeros(elements, int))
    gates = _iris(C + "gate{}", rng.integers(0, GATES, elements))
    return _table(gates, registers, _iris(C + "car{}", rng.integers(0, elements // 10, elements)), _times(elements))


def crossings_of(gates: int, elements: int) -> pa.Table:
    """Cars that enter and exit through so many gates, any gate at any time."""
    rng = np.random.default_rng(4)
    ways = pa.array([f"<{T}enters>", f"<{T}exits>"]).take(rng.integers(0, 2, elements))
    through = _iris(C + "gate{}", rng.integers(0, gates, elements))
    return _table(through, ways, _iris(C + "car{}", rng.integers(0, elements // 10, elements)), _times(elements))


def sightings(elements: int) -> pa.Table:
    """Cars at cameras."""
    rng = np.random.default_rng(3)
    registers = pa.array([f"<{T}registers>"]).take(np.zeros(elements, int))
    cameras = _iris(C + "camera{}", rng.integers(0, CAMERAS, elements))
    return _table(cameras, registers, _iris(C + "car{}", rng.integers(0, elements // 40, elements)), _times(elements))


def stream(case: Case, elements: int, folder: Path) -> Path:
    """The file of the case's stream, generated if it is not there."""
    return stored(case.name.replace(" ", "-"), case.generate, elements, folder)


def stored(
    name: str, generate: Callable[[int], pa.Table], elements: int, folder: Path, group_rows: int = 1_000_000
) -> Path:
    """The file of a stream of so many elements, generated if it is not there."""
    path = folder / f"{name}-{elements}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(generate(elements), path, row_group_size=group_rows)
    return path


# Background


def streets() -> str:
    lines = [f"<{C}gate{i}> <{C}placedIn> <{C}street{i % STREETS}> ." for i in range(GATES)]
    lines += [f"<{C}district{i % DISTRICTS}> <{C}contains> <{C}street{i}> ." for i in range(STREETS)]
    return "\n".join(lines)


def crossings() -> str:
    lines = [f"<{C}camera{i}> <{C}placedAt> <{C}light{i // 2}> ." for i in range(CAMERAS)]
    watched = ("Oak-Avenue", "Palm-Street")
    lines += [f"<{C}camera{i}> <{C}monitors> <{C}{watched[i % 2]}> ." for i in range(CAMERAS)]
    return "\n".join(lines)


# By hand


def _visible(frame: DataFrame, span: int, step: int) -> DataFrame:
    """The interval during which an element is in the window."""
    up = "({0} + pmod(-({0}), {1}L))"
    return frame.withColumns({"f": F.expr(up.format("ts", step)), "u": F.expr(up.format(f"(ts + {span}L)", step))})


def _counted(frame: DataFrame, key: str, step: int, last: int) -> DataFrame:
    """Panes first, then each pane's count at the instants of its windows."""
    panes = frame.groupBy(key, "f", "u").count()
    instants = F.explode(F.expr(f"sequence(f, least(u - {step}L, {last}L), {step}L)"))
    return panes.withColumn("time", instants).groupBy("time", key).agg(F.sum("count").alias("n"))


def _last(frame: DataFrame, step: int) -> int:
    newest = int(frame.agg(F.max("ts")).collect()[0][0])
    return newest + -newest % step


def topics_by_hand(spark: SparkSession, elements: DataFrame) -> DataFrame:
    last = _last(elements, 10 * SECOND)
    seen = _visible(elements, 3 * MINUTE, 10 * SECOND)
    typed = seen.where(f"p = '<{RDF}type>' AND o = '<{SIOC}Post>'").selectExpr("s", "f AS f1", "u AS u1")
    topical = seen.where(f"p = '<{SIOC}topic>'").selectExpr("s", "o AS topic", "f AS f2", "u AS u2")
    both = typed.join(topical.hint("shuffle_hash"), "s").where("f1 < u2 AND f2 < u1")
    panes = both.selectExpr("topic", "greatest(f1, f2) AS f", "least(u1, u2) AS u")
    return _counted(panes, "topic", 10 * SECOND, last)


def districts_by_hand(spark: SparkSession, elements: DataFrame) -> DataFrame:
    last = _last(elements, 5 * MINUTE)
    placed = [(f"<{C}gate{i}>", f"<{C}district{i % STREETS % DISTRICTS}>") for i in range(GATES)]
    table = spark.createDataFrame(placed, "s STRING, district STRING")
    seen = _visible(elements.where(f"p = '<{T}registers>'"), 30 * MINUTE, 5 * MINUTE)
    return _counted(seen.join(F.broadcast(table), "s"), "district", 5 * MINUTE, last)


def turns_by_hand(spark: SparkSession, elements: DataFrame) -> DataFrame:
    last = _last(elements, MINUTE)
    pairs = [(f"<{C}camera{i}>", f"<{C}camera{i + 1}>") for i in range(0, CAMERAS, 2)]
    table = F.broadcast(spark.createDataFrame(pairs, "c1 STRING, c2 STRING"))
    seen = _visible(elements.where(f"p = '<{T}registers>'"), 5 * MINUTE, MINUTE)
    first = seen.selectExpr("s AS c1", "o AS car", "ts AS t1", "f AS f1", "u AS u1").join(table, "c1")
    second = seen.selectExpr("s AS c2", "o AS car", "ts AS t2", "f AS f2", "u AS u2")
    met = first.join(second.hint("shuffle_hash"), ["c2", "car"]).where("t1 > t2 AND f1 < u2 AND f2 < u1")
    instants = F.explode(F.expr(f"sequence(greatest(f1, f2), least(u1, u2, {last + MINUTE}L) - {MINUTE}L, {MINUTE}L)"))
    return met.select(instants.alias("time"), "car").distinct()


CASES = (
    Case(
        "topic count",
        10_000_000,
        f"""PREFIX sioc: <{SIOC}> PREFIX rdf: <{RDF}>
        SELECT DISTINCT ?topic ?number FROM STREAM <{STREAM}> [RANGE 3m STEP 10s]
        WHERE {{ ?post rdf:type sioc:Post . ?post sioc:topic ?topic }}
        AGGREGATE {{ (?number, COUNT, {{?topic}}) }}""",
        posts,
        lambda: "",
        topics_by_hand,
    ),
    Case(
        "district count",
        10_000_000,
        f"""PREFIX c: <{C}> PREFIX t: <{T}>
        SELECT DISTINCT ?district ?passages FROM STREAM <{STREAM}> [RANGE 30m STEP 5m]
        WHERE {{ ?tollgate t:registers ?car . ?tollgate c:placedIn ?street . ?district c:contains ?street }}
        AGGREGATE {{ (?passages, COUNT, {{?district}}) }}""",
        passages,
        streets,
        districts_by_hand,
    ),
    Case(
        "turning cars",
        4_000_000,
        f"""PREFIX c: <{C}> PREFIX t: <{T}>
        SELECT DISTINCT ?car1 FROM STREAM <{STREAM}> [RANGE 5m STEP 1m]
        WHERE {{ ?camera1 c:monitors c:Oak-Avenue . ?camera2 c:monitors c:Palm-Street .
                 ?camera1 c:placedAt ?light . ?camera2 c:placedAt ?light .
                 ?camera1 t:registers ?car1 . ?camera2 t:registers ?car2 .
                 FILTER (timestamp(?car1) > timestamp(?car2) && ?car1 = ?car2) }}""",
        sightings,
        crossings,
        turns_by_hand,
    ),
)


def counted(span: str, step: str) -> str:
    """COUNT by tollgate, for windows of any range and step."""
    return f"""PREFIX t: <{T}> SELECT DISTINCT ?tollgate ?n FROM STREAM <{STREAM}> [RANGE {span} STEP {step}]
    WHERE {{ ?tollgate t:registers ?car }} AGGREGATE {{ (?n, COUNT, {{?tollgate}}) }}"""

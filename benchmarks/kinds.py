"""`python -m benchmarks.run kinds`: five kinds of work, beside PySpark and DuckDB written by hand.

The data differs from that of the other benchmarks: keys are skewed, streams have predicates that no query asks for, and
sequences have conditions between their steps. All three sides read the same Parquet file and bring all rows into this
process as Arrow; Penstock does so through the public face, with a sink for each query.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console

import penstock
from benchmarks.common import DATA, Effort, seconds
from benchmarks.replay import Collected
from benchmarks.report import Section, at_least_ratio, at_most
from benchmarks.streams import MINUTE, RDF, SECOND, SIOC, START, STREAM, C, T, stored

RUNS = 3
BY_HAND, DUCKDB, DUCKDB_SINKS = 0.5, 0.3, 0.15  # time by PySpark's, throughput by DuckDB's, and that of 1,000 sinks
TOPICS, GATES, STREETS, DISTRICTS, STOCKS, QUERIES = 2_000, 3_000, 500, 40, 500, 1_000
XSD = "http://www.w3.org/2001/XMLSchema#"
UP = "({0} + pmod(-({0}), {1}L))"  # the next multiple of a step
WITHIN, FALL, RISE = MINUTE, 0.7, 1.05


@dataclass(frozen=True, slots=True)
class Kind:
    """Queries on a stream and a background, and the same by hand. Rows have the time, or start and end, first."""

    name: str
    elements: int
    queries: tuple[str, ...]
    generate: Callable[[int], pa.Table]
    background: Callable[[], str]
    by_hand: Callable[[SparkSession, DataFrame], DataFrame]
    duckdb: Callable[[], str]
    throughput: float = DUCKDB


# Streams


def _names(pattern: str, numbers: np.ndarray) -> pa.Array[Any]:
    names = pa.array([f"<{pattern.format(i)}>" for i in range(int(numbers.max()) + 1)])
    return names.take(numbers)


def _skewed(rng: np.random.Generator, keys: int, rows: int) -> np.ndarray:
    """Numbers of keys, of which a few are far more frequent than the rest."""
    weights = 1 / np.arange(1, keys + 1) ** 0.8
    chosen: np.ndarray = rng.choice(keys, rows, p=weights / weights.sum())
    numbers: np.ndarray = rng.permutation(keys)[chosen]
    return numbers


def _times(rng: np.random.Generator, rows: int, rate: float) -> np.ndarray:
    """Times in order, so many a second, in waves."""
    moments = np.sort(rng.random(rows))
    waves = moments + 0.02 * np.sin(moments * 40) / 40
    return START + (waves * rows / rate * SECOND).astype(np.int64)


def _stream(s: pa.Array[Any], p: pa.Array[Any], o: pa.Array[Any], times: np.ndarray) -> pa.Table:
    order = np.argsort(times, kind="stable")
    return pa.table({"s": s, "p": p, "o": o, "ts": pa.array(times)}).take(order)


def posts(elements: int) -> pa.Table:
    """Posts with a type, a topic up to five seconds later, and a language that no query asks for."""
    rng, count = np.random.default_rng(11), elements // 3
    typed = _times(rng, count, 400)
    times = [typed, typed + rng.integers(0, 5 * SECOND, count), typed + rng.integers(0, SECOND, count)]
    post = _names("http://example.org/post/{}", rng.permutation(count))
    kinds = pa.array([f"<{SIOC}Post>", f"<{SIOC}Item>"]).take((rng.random(count) < 0.2).astype(int))
    topic = _names("http://example.org/topic/{}", _skewed(rng, TOPICS, count))
    language = _names("http://example.org/language/{}", rng.integers(0, 30, count))
    words = pa.array([f"<{RDF}type>", f"<{SIOC}topic>", "<http://purl.org/dc/terms/language>"])
    predicates = words.take(np.repeat([0, 1, 2], count))
    return _stream(
        pa.concat_arrays([post] * 3), predicates, pa.concat_arrays([kinds, topic, language]), np.concatenate(times)
    )


def passages(elements: int) -> pa.Table:
    """Cars that enter, pass or exit at gates."""
    rng = np.random.default_rng(12)
    ways = pa.array([f"<{T}{way}>" for way in ("enters", "exits", "passes")])
    return _stream(
        _names(C + "gate{}", _skewed(rng, GATES, elements)),
        ways.take(rng.choice(3, elements, p=(0.4, 0.35, 0.25))),
        _names(C + "car{}", rng.integers(0, max(1, elements // 10), elements)),
        _times(rng, elements, 1_000),
    )


def few_gates(elements: int) -> pa.Table:
    """The same at few gates, none of which is rare."""
    rng, table = np.random.default_rng(13), passages(elements)
    gates = _names(C + "gate{}", rng.integers(0, 300, elements))
    return table.set_column(0, "s", gates)


def prices(elements: int) -> pa.Table:
    """Prices of stocks, which differ by some per cent and now and then fall; and volumes, that no query asks for."""
    rng = np.random.default_rng(14)
    stocks, times = _skewed(rng, STOCKS, elements), _times(rng, elements, 25)
    level = rng.integers(2_000, 50_000, STOCKS)[stocks] * rng.lognormal(0, 0.04, elements)
    cents = (level * np.where(rng.random(elements) < 0.02, 0.6, 1)).astype(np.int64)
    is_price = rng.random(elements) < 0.8
    numbers = np.where(is_price, cents, rng.integers(1, 10_000, elements))
    texts = pa.array([f'"{n}"^^<{XSD}integer>' for n in range(int(numbers.max()) + 1)])
    words = pa.array(["<http://example.org/volume>", "<http://example.org/price>"])
    return _stream(
        _names("http://example.org/stock/{}", stocks),
        words.take(is_price.astype(int)),
        texts.take(numbers),
        times,
    )


def stream(kind: Kind, elements: int, folder: Path) -> Path:
    """The file of the stream, generated if it is not there."""
    return stored(f"kinds-{kind.generate.__name__}", kind.generate, elements, folder, group_rows=500_000)


def streets() -> str:
    """Where gates are, and the streets of districts: a gate in ten is nowhere."""
    lines = [f"<{C}gate{i}> <{C}placedIn> <{C}street{i % STREETS}> ." for i in range(GATES) if i % 10]
    lines += [f"<{C}district{i % DISTRICTS}> <{C}contains> <{C}street{i}> ." for i in range(STREETS)]
    return "\n".join(lines)


def nothing() -> str:
    return ""


# PySpark by hand


def _visible(frame: DataFrame, span: int, step: int) -> DataFrame:
    return frame.withColumns({"f": F.expr(UP.format("ts", step)), "u": F.expr(UP.format(f"(ts + {span}L)", step))})


def _last(frame: DataFrame, step: int) -> int:
    newest = int(frame.agg(F.max("ts")).collect()[0][0])
    return newest + -newest % step


def _by_pane(frame: DataFrame, keys: tuple[str, ...], step: int, last: int) -> DataFrame:
    """Counts of panes first, then the sum at each instant that sees a pane."""
    panes = frame.groupBy(*keys, "f", "u").count()
    instants = F.explode(F.expr(f"sequence(f, least(u - {step}L, {last}L), {step}L)"))
    return panes.where(f"f <= {last}L").withColumn("time", instants).groupBy("time", *keys).agg(F.sum("count"))


def topics_by_hand(spark: SparkSession, elements: DataFrame) -> DataFrame:
    last, seen = _last(elements, 10 * SECOND), _visible(elements, 3 * MINUTE, 10 * SECOND)
    typed = seen.where(f"p = '<{RDF}type>' AND o = '<{SIOC}Post>'").selectExpr("s", "f AS f1", "u AS u1")
    topical = seen.where(f"p = '<{SIOC}topic>'").selectExpr("s", "o AS topic", "f AS f2", "u AS u2")
    both = typed.join(topical.hint("shuffle_hash"), "s").where("f1 < u2 AND f2 < u1")
    return _by_pane(
        both.selectExpr("topic", "greatest(f1, f2) AS f", "least(u1, u2) AS u"), ("topic",), 10 * SECOND, last
    )


def districts_by_hand(spark: SparkSession, elements: DataFrame) -> DataFrame:
    last = _last(elements, 5 * MINUTE)
    placed = [(f"<{C}gate{i}>", f"<{C}district{i % STREETS % DISTRICTS}>") for i in range(GATES) if i % 10]
    table = F.broadcast(spark.createDataFrame(placed, "s STRING, district STRING"))
    seen = _visible(elements.where(f"p = '<{T}enters>'"), 30 * MINUTE, 5 * MINUTE)
    return _by_pane(seen.join(table, "s"), ("district",), 5 * MINUTE, last)


def pairs_by_hand(spark: SparkSession, elements: DataFrame) -> DataFrame:
    """By the gate and a bucket of five seconds."""
    last, seen = _last(elements, SECOND), _visible(elements, 5 * SECOND, SECOND)
    bucket = f"ts div {5 * SECOND}L"
    entry = seen.where(f"p = '<{T}enters>'").selectExpr(
        "s", "ts AS t1", "f AS f1", "u AS u1", f"explode(array({bucket}, {bucket} + 1)) AS b"
    )
    leave = seen.where(f"p = '<{T}exits>'").selectExpr("s", "ts AS t2", "f AS f2", "u AS u2", f"{bucket} AS b")
    both = entry.join(leave.hint("shuffle_hash"), ["s", "b"]).where("t1 < t2 AND f1 < u2 AND f2 < u1")
    return _by_pane(both.selectExpr("s", "greatest(f1, f2) AS f", "least(u1, u2) AS u"), ("s",), SECOND, last)


def falls_by_hand(spark: SparkSession, elements: DataFrame) -> DataFrame:
    """By the stock and a bucket of a minute, twice."""
    number = "CAST(split(o, '\"')[1] AS DOUBLE)"
    known = elements.where("p = '<http://example.org/price>'").selectExpr("s", "o", f"{number} AS n", "ts")
    bucket = f"ts div {WITHIN}L"
    first = known.selectExpr("s", "o AS o1", "n AS n1", "ts AS t1", f"explode(array({bucket}, {bucket} + 1)) AS b")
    second = known.selectExpr("s", "o AS o2", "n AS n2", "ts AS t2", f"{bucket} AS b")
    third = known.selectExpr("s", "o AS o3", "n AS n3", "ts AS t3", f"{bucket} AS b")
    fell = first.join(second.hint("shuffle_hash"), ["s", "b"]).where(
        f"t1 < t2 AND t2 - t1 < {WITHIN}L AND n2 < n1 * {FALL}"
    )
    again = fell.drop("b").withColumn("b", F.explode(F.expr(f"array(t2 div {WITHIN}L, t2 div {WITHIN}L + 1)")))
    rose = again.join(third.hint("shuffle_hash"), ["s", "b"]).where(
        f"t2 < t3 AND t3 - t1 < {WITHIN}L AND n3 > n1 * {RISE}"
    )
    return rose.select("t1", "t3", "s", "o1", "o2", "o3")


def queries_by_hand(spark: SparkSession, elements: DataFrame) -> DataFrame:
    last = _last(elements, SECOND)
    table = F.broadcast(spark.createDataFrame([(f"<{C}gate{i}>",) for i in range(QUERIES)], "s STRING"))
    return _by_pane(_visible(elements.join(table, "s"), 3 * SECOND, SECOND), ("s", "p"), SECOND, last)


# DuckDB by hand


MACROS = """CREATE OR REPLACE MACRO up(t, step) AS t + (step - t % step) % step;
CREATE OR REPLACE MACRO instants(f, u, step, newest) AS
  unnest(generate_series(f, least(u - step, up(newest, step)), step));"""


def _panes(both: str, keys: str, step: int) -> str:
    panes = f"SELECT {keys}, f, u, count(*) AS n FROM ({both}) GROUP BY ALL"
    at = f"SELECT instants(f, u, {step}, (SELECT max(ts) FROM e)) AS time, {keys}, n FROM ({panes})"
    return f"SELECT time, {keys}, sum(n)::BIGINT AS n FROM ({at}) GROUP BY ALL"


def _seen(columns: str, where: str, span: int, step: int) -> str:
    return f"(SELECT {columns}, ts, up(ts, {step}) AS f, up(ts + {span}, {step}) AS u FROM e WHERE {where})"


def topics_in_duckdb() -> str:
    span, step = 3 * MINUTE, 10 * SECOND
    typed = _seen("s", f"p = '<{RDF}type>' AND o = '<{SIOC}Post>'", span, step)
    topical = _seen("s, o AS topic", f"p = '<{SIOC}topic>'", span, step)
    both = f"""SELECT topic, greatest(a.f, b.f) AS f, least(a.u, b.u) AS u
    FROM {typed} a JOIN {topical} b ON a.s = b.s AND a.f < b.u AND b.f < a.u"""
    return _panes(both, "topic", step)


def districts_in_duckdb() -> str:
    span, step = 30 * MINUTE, 5 * MINUTE
    placed = f"""(SELECT '<{C}gate' || i || '>' AS s, '<{C}district' || (i % {STREETS} % {DISTRICTS}) || '>' AS district
    FROM range({GATES}) t(i) WHERE i % 10 <> 0)"""
    entered = _seen("s", f"p = '<{T}enters>'", span, step)
    return _panes(f"SELECT * FROM {entered} JOIN {placed} USING (s)", "district", step)


def pairs_in_duckdb() -> str:
    bucket = f"ts // {5 * SECOND}"
    entry = _seen(f"s, unnest([{bucket}, {bucket} + 1]) AS b", f"p = '<{T}enters>'", 5 * SECOND, SECOND)
    leave = _seen(f"s, {bucket} AS b", f"p = '<{T}exits>'", 5 * SECOND, SECOND)
    both = f"""SELECT x.s, greatest(x.f, y.f) AS f, least(x.u, y.u) AS u
    FROM {entry} x JOIN {leave} y ON x.s = y.s AND x.b = y.b AND x.ts < y.ts AND x.f < y.u AND y.f < x.u"""
    return _panes(both, "s", SECOND)


def falls_in_duckdb() -> str:
    bucket = f"ts // {WITHIN}"
    return f"""WITH k AS MATERIALIZED (
      SELECT s, o, split_part(o, '"', 2)::DOUBLE AS n, ts FROM e WHERE p = '<http://example.org/price>'),
    fell AS (SELECT a.s, a.o AS o1, b.o AS o2, a.n AS n1, a.ts AS t1, b.ts AS t2
      FROM (SELECT *, unnest([{bucket}, {bucket} + 1]) AS b FROM k) a JOIN (SELECT *, {bucket} AS b FROM k) b
      ON a.s = b.s AND a.b = b.b AND a.ts < b.ts AND b.ts - a.ts < {WITHIN} AND b.n < a.n * {FALL})
    SELECT t1, c.ts AS t3, f.s, o1, o2, c.o AS o3
    FROM (SELECT *, unnest([t2 // {WITHIN}, t2 // {WITHIN} + 1]) AS b FROM fell) f
    JOIN (SELECT *, {bucket} AS b FROM k) c
    ON f.s = c.s AND f.b = c.b AND t2 < c.ts AND c.ts - t1 < {WITHIN} AND c.n > n1 * {RISE}"""


def queries_in_duckdb() -> str:
    asked = f"(SELECT '<{C}gate' || i || '>' AS s FROM range({QUERIES}) t(i))"
    return _panes(f"SELECT * FROM {_seen('s, p', 'true', 3 * SECOND, SECOND)} JOIN {asked} USING (s)", "s, p", SECOND)


# The queries

PREFIXES = f"PREFIX c: <{C}> PREFIX t: <{T}> PREFIX sioc: <{SIOC}> PREFIX : <http://example.org/> PREFIX xsd: <{XSD}>"
KINDS = (
    Kind(
        "topics, 3m/10s",
        10_000_000,
        (
            f"""{PREFIXES} SELECT ?topic (COUNT(?post) AS ?n) FROM STREAM <{STREAM}> [RANGE 3m STEP 10s]
            WHERE {{ ?post a sioc:Post ; sioc:topic ?topic }} GROUP BY ?topic""",
        ),
        posts,
        nothing,
        topics_by_hand,
        topics_in_duckdb,
    ),
    Kind(
        "districts with background, 30m/5m",
        10_000_000,
        (
            f"""{PREFIXES} SELECT ?district (COUNT(?car) AS ?n) FROM STREAM <{STREAM}> [RANGE 30m STEP 5m]
            WHERE {{ ?gate t:enters ?car . ?gate c:placedIn ?street . ?district c:contains ?street }}
            GROUP BY ?district""",
        ),
        passages,
        streets,
        districts_by_hand,
        districts_in_duckdb,
    ),
    Kind(
        "pairs by timestamp, few keys, 5s/1s",
        2_000_000,
        (
            f"""{PREFIXES} SELECT ?gate (COUNT(*) AS ?n) FROM STREAM <{STREAM}> [RANGE 5s STEP 1s]
            WHERE {{ ?gate t:enters ?in . ?gate t:exits ?out FILTER (timestamp(?in) < timestamp(?out)) }}
            GROUP BY ?gate""",
        ),
        few_gates,
        nothing,
        pairs_by_hand,
        pairs_in_duckdb,
    ),
    Kind(
        "falls by 30 %, then rises by 5 %, in 60 s",
        2_000_000,
        (
            f"""{PREFIXES} SELECT ?stock ?p1 ?p2 ?p3 FROM STREAM <{STREAM}> WHERE {{
            {{ ?stock :price ?p1 }} SEQ {{ ?stock :price ?p2 }} SEQ {{ ?stock :price ?p3 }}
            FILTER (?p2 < ?p1 * {FALL} && ?p3 > ?p1 * {RISE} && getDURATION() < "PT60S"^^xsd:duration) }}""",
        ),
        prices,
        nothing,
        falls_by_hand,
        falls_in_duckdb,
    ),
    Kind(
        "1,000 queries, 3s/1s",
        2_000_000,
        tuple(
            f"""{PREFIXES} SELECT ?way (COUNT(?car) AS ?n) FROM STREAM <{STREAM}> [RANGE 3s STEP 1s]
            WHERE {{ c:gate{i} ?way ?car }} GROUP BY ?way"""
            for i in range(QUERIES)
        ),
        passages,
        nothing,
        queries_by_hand,
        queries_in_duckdb,
        DUCKDB_SINKS,
    ),
)


# Measuring


def ours(spark: SparkSession, kind: Kind, path: Path) -> pa.Table:
    """All rows of all queries. Those of several queries have the number of the query behind them."""
    with penstock.Engine(spark=spark) as engine:
        if kind.background():
            engine.load(kind.background().encode(), format="nt")
        engine.stream(STREAM, str(path))
        sinks = [Collected() for _ in kind.queries]
        for number, (text, sink) in enumerate(zip(kind.queries, sinks, strict=True)):
            engine.register(text, name=f"q{number}", sink=sink)
        engine.run()
    if len(sinks) == 1:
        return pa.concat_tables(sinks[0].tables)
    tables = [
        table.append_column("query", pa.array([f"<{C}gate{number}>"] * table.num_rows, pa.string()))
        for number, sink in enumerate(sinks)
        for table in sink.tables
    ]
    return pa.concat_tables(tables).select(["time", "query", "way", "n"])


def by_hand(spark: SparkSession, kind: Kind, path: Path) -> pa.Table:
    return kind.by_hand(spark, spark.read.parquet(str(path))).toArrow()


def in_duckdb(kind: Kind, path: Path) -> pa.Table:
    with duckdb.connect() as connection:
        connection.execute(MACROS)
        connection.execute(f"CREATE VIEW e AS SELECT * FROM read_parquet('{path}')")
        rows: pa.Table = connection.sql(kind.duckdb()).to_arrow_table()
    return rows


def comparable(table: pa.Table) -> pa.Table:
    """The rows in an order, with numbers as terms and times as numbers."""
    with duckdb.connect() as connection:
        rows = connection.from_arrow(table)
        cells = [_cell(i, str(kind)) for i, kind in enumerate(rows.types)]
        projected = rows.project(", ".join(f"{cell} AS c{i}" for i, cell in enumerate(cells)))
        found: pa.Table = projected.order("ALL").to_arrow_table()
    return found


def _cell(position: int, kind: str) -> str:
    column = f"#{position + 1}"
    if kind.startswith("TIMESTAMP"):
        return f"epoch_us({column})"
    return f"""'"' || {column} || '"^^<{XSD}integer>'""" if kind == "BIGINT" and position > 1 else column


def measured(spark: SparkSession, kind: Kind, effort: Effort, runs: int, console: Console) -> dict[str, float]:
    """The medians of the seconds of each side, by its name."""
    elements = effort.of(kind.elements)
    console.print(f"measuring: {kind.name}, {elements:,} elements", style="dim")
    path = stream(kind, elements, DATA)
    sides: dict[str, Callable[[], pa.Table]] = {
        "Penstock": lambda: ours(spark, kind, path),
        "PySpark": lambda: by_hand(spark, kind, path),
        "DuckDB": lambda: in_duckdb(kind, path),
    }
    found = {name: side() for name, side in sides.items()}
    expected = comparable(found["DuckDB"])
    for name, rows in found.items():
        if not comparable(rows).equals(expected):
            raise AssertionError(f"{kind.name}: {name} has other rows ({rows.num_rows:,} and {expected.num_rows:,})")
    turns = [{name: seconds(side) for name, side in sides.items()} for _ in range(runs)]
    console.print("  ".join(f"{name} {[round(turn[name], 2) for turn in turns]}" for name in sides), style="dim")
    return {name: statistics.median(turn[name] for turn in turns) for name in sides} | {"rows": expected.num_rows}


def section(spark: SparkSession, effort: Effort, console: Console, only: str = "") -> Section:
    runs, rows, bars = effort.runs(RUNS), [], []
    for kind in KINDS:
        if only not in kind.name:
            continue
        taken, elements = measured(spark, kind, effort, runs, console), effort.of(kind.elements)
        rates = [elements / taken[side] for side in ("Penstock", "PySpark", "DuckDB")]
        by_spark, by_duckdb = taken["Penstock"] / taken["PySpark"], taken["DuckDB"] / taken["Penstock"]
        name = f"{kind.name}, {elements:,} elements"
        rows.append(
            (name, f"{taken['rows']:,}", *(f"{rate:,.0f}" for rate in rates), f"{by_spark:.2f}", f"{by_duckdb:.2f}")
        )
        bars.append(at_most(f"{kind.name}: time by PySpark's, ratio", by_spark, BY_HAND))
        bars.append(at_least_ratio(f"{kind.name}: throughput by DuckDB's, ratio", by_duckdb, kind.throughput))
    headings = ("work", "rows", "Penstock/s", "PySpark/s", "DuckDB/s", "time by PySpark's", "throughput by DuckDB's")
    return Section(f"elements a second, replayed from Parquet into Arrow, median of {runs} runs", headings, rows, bars)

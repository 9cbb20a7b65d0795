"""`python -m benchmarks.run rules`: Test 1 of the EP-SPARQL paper, a sliding average by rules and in one query.

Every company has a price each second. The rules are the paper's queries (5) and (6): from each price a chain of counts
and sums goes on as long as the window lasts, and one that began right after the window's edge holds the average. Its
chains are told apart by their intervals and not by blank nodes, so that every triple has its company as subject, and
elements can be split by it.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyoxigraph import Literal
from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks.common import DATA, Effort, seconds
from benchmarks.report import Section
from benchmarks.streams import SECOND, START
from penstock.algebra.build import translate
from penstock.io.sinks.sink import Batch, Position
from penstock.model.term_encoding import decode, encode
from penstock.recursive_rules.analysis.rule import Rule
from penstock.recursive_rules.machine import Element, Machine
from penstock.recursive_rules.solutions import expressions
from penstock.recursive_rules.solutions.fast_expressions import fast_evaluator

PRICES, MORE, COMPANIES, RUNS = 8_000, 25, 16, 2  # one query reads so many times as many prices as well
WINDOWS = (3, 10)  # prices of a company in a window, and seconds
STREAM, E = "http://streams.org/stocks.trdf", "http://example.org/stocks#"
PREFIXES = f"PREFIX : <{E}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
POINT = "{ { ?company :hasCount ?n } EQUALS { ?company :hasSum ?sum } }"
PRICE, BETWEEN = "{ ?company :hasStockPrice ?price }", "{ ?company :hasStockPrice ?between }"
BEGIN = f"REGISTER RULE begin AS CONSTRUCT {{ ?company :hasCount 1 ; :hasSum ?price }} WHERE {PRICE}"

Averages = Mapping[tuple[str, int], float]  # by company and time


class Kept:
    """A sink that keeps all rows, as they come into this process."""

    def __init__(self) -> None:
        self.tables: list[pa.Table] = []

    def begin(self) -> None: ...

    def rewind(self, position: Position) -> None:
        self.tables.clear()

    def deliver(self, batch: Batch) -> None:
        self.tables.append(batch.rows)

    def close(self) -> None: ...

    @property
    def rows(self) -> int:
        return sum(table.num_rows for table in self.tables)

    @property
    def averages(self) -> Averages:
        """At the end of what the rules say, and at the instants of a window."""
        found = {}
        for table in self.tables:
            columns = ("company", "ends" if "ends" in table.column_names else "time", "average")
            for company, time, value in zip(*(table.column(name).to_pylist() for name in columns), strict=True):
                found[company, time] = round(float(decode(value).value), 9)
        return found


# The stream


def stream(prices: int, folder: Path) -> str:
    """The file, generated if it is not there: companies take turns, and all have the time of their second."""
    path = folder / f"stocks-{prices}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(_table(prices), path)
    return str(path)


def _table(prices: int) -> pa.Table:
    numbers = np.arange(prices)
    companies = pa.array([f"<{E}company{i}>" for i in range(COMPANIES)]).take(numbers % COMPANIES)
    values = pa.array([encode(Literal(i)) for i in range(1, 501)])
    paid = values.take(np.random.default_rng(6).integers(0, len(values), prices))
    times = pa.array(START + numbers // COMPANIES * SECOND)
    return pa.table([companies, pa.repeat(f"<{E}hasStockPrice>", prices), paid, times], names=["s", "p", "o", "ts"])


# The queries. By rules there is an answer where a window is full.


def duration(length: float) -> str:
    return f'"PT{length:g}S"^^xsd:duration'


def going_on(condition: str) -> str:
    return f"""REGISTER RULE next AS CONSTRUCT {{ ?company :hasCount ?count ; :hasSum ?total }} WHERE {{
      SELECT ?company (?n + 1 AS ?count) (?sum + ?price AS ?total) WHERE {{
        {POINT} SEQ NOT {BETWEEN} SEQ {PRICE} FILTER ({condition}) }} }}"""


def by_time(length: int) -> tuple[str, ...]:
    """What lies between a price that is too old and the newest, where the chain itself is young enough."""
    old = f"getDURATION() >= {duration(length)} && getDURATION() < {duration(length + 1)}"
    read = f"""SELECT ?company (?sum / ?n AS ?average) WHERE {{
      {PRICE} SEQ NOT {BETWEEN} SEQ {POINT} FILTER ({old}) }}"""
    return BEGIN, going_on(f"getDURATION() < {duration(length)}"), read


def by_count(number: int) -> tuple[str, ...]:
    """The chain that has so many prices. The bound on its duration tells how long to remember it."""
    young = f"getDURATION() < {duration(number)}"
    read = f"""SELECT ?company (?sum / ?n AS ?average) WHERE {{
      {POINT} FILTER (?n = {number} && {young}) }}"""
    return BEGIN, going_on(f"?n < {number} && {young}"), read


def in_one(window: str) -> tuple[str, ...]:
    return (
        f"""SELECT ?company (AVG(?price) AS ?average) FROM STREAM <{STREAM}> {window}
      WHERE {PRICE} GROUP BY ?company""",
    )


@dataclass(frozen=True, slots=True)
class Case:
    """The same average by rules and in one query."""

    name: str
    rules: Sequence[str]
    sugar: Sequence[str]


def cases() -> list[Case]:
    times = [Case(f"{n} s", by_time(n), in_one(f"[RANGE {n}s STEP 1s]")) for n in WINDOWS]
    counts = [Case(f"{n} prices", by_count(n), in_one(f"[TRIPLES {n * COMPANIES} STEP {COMPANIES}]")) for n in WINDOWS]
    return times + counts


# Measuring


def answers(spark: SparkSession, path: str, texts: Sequence[str]) -> Kept:
    """Those of the last query."""
    sink = Kept()
    with penstock.Engine(spark=spark) as engine:
        engine.stream(STREAM, path)
        for text in texts[:-1]:
            engine.register(PREFIXES + text, sink=lambda _: None)
        engine.register(PREFIXES + texts[-1], sink=sink)
        engine.run()
    return sink


def check(case: Case, by_rules: Averages, in_one: Averages, prices: int) -> None:
    """By rules there is nothing before a window is full, and else the same."""
    wrong = [key for key, average in by_rules.items() if in_one.get(key) != average]
    expected = prices - WINDOWS[-1] * COMPANIES
    if wrong or len(by_rules) < expected:
        raise AssertionError(f"{case.name}: {len(by_rules)} of {expected} averages, {len(wrong)} of them wrong")


def measured(spark: SparkSession, case: Case, prices: int, runs: int) -> list[tuple[str, ...]]:
    few, many = stream(prices, DATA), stream(prices * MORE, DATA)
    ways = {
        "by rules": (case.rules, few, prices),
        "in one query": (case.sugar, few, prices),
        "in one query, more prices": (case.sugar, many, prices * MORE),
    }
    found = {name: answers(spark, path, texts) for name, (texts, path, _) in ways.items()}
    check(case, found["by rules"].averages, found["in one query"].averages, prices)
    turns = [{n: seconds(lambda w=way: answers(spark, w[1], w[0])) for n, way in ways.items()} for _ in range(runs)]  # type: ignore[misc]
    rates = {n: [size / turn[n] for turn in turns] for n, (_, _, size) in ways.items()}
    base = rates["by rules"]
    return [
        (
            f"{case.name}, {name}",
            f"{size:,}",
            f"{found[name].rows:,}",
            f"{size / statistics.median(rates[name]):.2f}",
            f"{statistics.median(rates[name]):,.0f}",
            f"{statistics.median(a / b for a, b in zip(rates[name], base, strict=True)):.1f}",
        )
        for name, (_, _, size) in ways.items()
    ]


def alone(case: Case, prices: int, runs: int) -> list[tuple[str, ...]]:
    """The rule engine in this process: with its evaluator of simple expressions, and with pyoxigraph alone."""
    ways = {"rule engine": fast_evaluator, "rule engine, all by pyoxigraph": lambda expr, places: None}
    times: dict[str, list[float]] = {way: [] for way in ways}
    columns = _table(prices).to_pydict()
    elements = [Element(ts, ts, s, p, o) for s, p, o, ts in zip(*columns.values(), strict=True)]
    rows: dict[str, int] = {}
    for way in [*ways] * runs:
        with patch.object(expressions, "fast_evaluator", ways[way]):
            rules = [Rule(f"rule{i}", translate(PREFIXES + text)) for i, text in enumerate(case.rules[:-1])]
            machine = Machine(rules)
            begun = perf_counter()
            rows[way] = len(list(machine.run(elements)))
            times[way].append(perf_counter() - begun)
    slowest = statistics.median(times["rule engine, all by pyoxigraph"])
    return [
        (
            f"{case.name}, {way}",
            f"{prices:,}",
            f"{rows[way]:,}",
            f"{statistics.median(taken):.2f}",
            f"{prices / statistics.median(taken):,.0f}",
            f"{slowest / statistics.median(taken):.1f}",
        )
        for way, taken in times.items()
    ]


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    prices, runs, rows = effort.of(PRICES, 50 * COMPANIES), effort.runs(RUNS), []
    for case in cases():
        console.print(f"measuring: average of {case.name}", style="dim")
        rows += measured(spark, case, prices, runs) + alone(case, prices, runs)
    title = (
        f"sliding average of the prices of {COMPANIES} companies, median of {runs} runs; the rule engine is compared "
        "with itself, all expressions evaluated by pyoxigraph"
    )
    return Section(title, ("window", "events", "rows", "s", "events a second", "times rules"), rows)

"""`python -m benchmarks.run pushes`: the C-SPARQL paper's Figure 7: what it gains to push filters to their sources.

The paper's query sums up what Swiss brokers trade. Its two filters stand above the join, or where the static and the
streaming data come from: as in the paper the static part is a relation that is made once, with its filter or without.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.common import DOCS, Effort, seconds
from benchmarks.plot import Line, svg
from benchmarks.report import Section
from penstock.algebra.build import translate
from penstock.model.span import Span
from penstock.optimise import ALL_RULES
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.store.store import SparkStore
from penstock.spark.views.background_tables import BackgroundTables
from penstock.stream.log.stream_log import StreamLog
from penstock.stream.registry import due_instants

B, X, MARKET = (
    "http://brokerscentral.org/accounts#",
    "http://stockexchange.org/exchanges#",
    "http://stockexchange.org/m",
)
DAY, RUNS = 86_400_000_000, 4
WINDOWS, BROKERS = (
    (10_000, 50_000, 200_000),
    (10_000, 100_000, 500_000),
)  # transactions, two elements each; and the others
SWISS, LARGE = 20, 5  # every so-manieth broker, and every so-manieth amount
RULES = [rule.name for rule in ALL_RULES if rule.name != "push_filter"]
STATIC, STREAM = "?broker b:is_from ?country", "?broker x:does ?tx . ?tx x:with ?amount"
OF_STATIC, OF_STREAM = "FILTER (?country = 'CH')", "FILTER (?amount >= 10)"
MODES = {
    "no push": f"{STATIC} . {STREAM} {OF_STATIC} {OF_STREAM}",
    "static push": f"{{ {STATIC} {OF_STATIC} }} {STREAM} {OF_STREAM}",
    "stream push": f"{STATIC} . {{ {STREAM} {OF_STREAM} }} {OF_STATIC}",
    "both": f"{{ {STATIC} {OF_STATIC} }} {{ {STREAM} {OF_STREAM} }}",
}


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    with TemporaryDirectory(prefix="penstock-") as folder:
        sizes = [(effort.of(w), effort.of(BROKERS[1])) for w in WINDOWS]
        sizes += [(effort.of(WINDOWS[1]), effort.of(b)) for b in BROKERS if b != BROKERS[1]]
        taken = {size: measured(spark, size, Path(folder), effort, console) for size in sizes}
    rows = [
        [f"{w:,} transactions, {b:,} brokers", *(f"{t[mode]:.2f}" for mode in MODES)] for (w, b), t in taken.items()
    ]
    if effort.scale == 1:
        _draw(taken)
    title = "C-SPARQL, Figure 7: seconds to answer one window, with filters pushed to their sources or not"
    return Section(title, ["window and background", *MODES], rows, (), ("pushes.svg", "pushes-background.svg"))


def measured(
    spark: SparkSession, size: tuple[int, int], folder: Path, effort: Effort, console: Console
) -> dict[str, float]:
    transactions, brokers = size
    store, log = SparkStore(spark=spark), StreamLog(folder / f"log-{transactions}-{brokers}")
    store.load(str(_brokers(brokers, folder)))
    log.append(MARKET, "bench", 0, _market(transactions, brokers))
    background, span = BackgroundTables(store.private_session, store), Span(0, DAY)
    plans = {mode: ContinuousQuery(translate(_query(mode)), background, rules=RULES) for mode in MODES}
    times: dict[str, list[float]] = {mode: [] for mode in MODES}
    rows = set()
    for _ in range(1 + effort.runs(RUNS)):  # the first makes the static relation
        for mode, plan in plans.items():
            streams = due_instants.visible_segments(plan, span, {MARKET: log.segments(MARKET)}, lambda _: 0)
            times[mode].append(seconds(lambda plan=plan, streams=streams: rows.add(_answer(plan, streams, span))))  # type: ignore[misc]
    assert len(rows) == 1, "the answers differ"
    found = {mode: statistics.median(each[1:]) for mode, each in times.items()}
    console.print(f"{size}: { ({mode: round(t, 2) for mode, t in found.items()}) }", style="dim")
    return found


def _answer(plan: ContinuousQuery, streams: object, span: Span) -> int:
    return int(plan.evaluate(Evaluation(streams, span)).collect().num_rows)  # type: ignore[arg-type]


def _query(mode: str) -> str:
    return f"""PREFIX b: <{B}> PREFIX x: <{X}> SELECT DISTINCT ?broker ?total
    FROM STREAM <{MARKET}> [RANGE 24h TUMBLING] WHERE {{ {MODES[mode]} }}
    AGGREGATE {{ (?total, SUM(?amount), ?broker) }}"""


def _brokers(count: int, folder: Path) -> Path:
    path, numbers = folder / f"brokers-{count}.parquet", np.arange(count)
    countries = pa.array(['"CH"', *(f'"C{i}"' for i in range(1, SWISS))]).take(numbers % SWISS)
    pq.write_table(_table(_iris("broker", numbers), f"<{B}is_from>", countries), path)
    return path


def _market(count: int, brokers: int) -> pa.Table:
    """Each broker as often as any other, at times spread over a day."""
    rng, numbers = np.random.default_rng(7), np.arange(count)
    deals, amounts = _iris("tx", numbers), pa.array([str(n) for n in range(1, 2 * LARGE + 1)])
    integer = '"^^<http://www.w3.org/2001/XMLSchema#integer>'
    values = pa.array([f'"{n}{integer}' for n in amounts.take(rng.integers(0, 2 * LARGE, count)).to_pylist()])
    does = _table(_iris("broker", rng.integers(0, brokers, count)), f"<{X}does>", deals)
    worth = _table(deals, f"<{X}with>", values)
    both = pa.concat_tables([does, worth])
    times = np.concatenate([np.linspace(1, DAY, count)] * 2).astype(np.int64)
    return both.append_column("ts", pa.array(times)).sort_by("ts")


def _table(subjects: pa.Array[Any], predicate: str, objects: pa.Array[Any]) -> pa.Table:
    return pa.table([subjects, pa.array([predicate] * len(subjects)), objects], names=["s", "p", "o"])


def _iris(kind: str, numbers: np.ndarray) -> pa.Array[Any]:
    return pa.array([f"<{MARKET}/{kind}{i}>" for i in numbers])


def _draw(taken: dict[tuple[int, int], dict[str, float]]) -> None:
    """By the size of the window, and by that of the background, as the two halves of the figure."""
    for name, half, across in (("pushes", 0, "transactions in the window"), ("pushes-background", 1, "brokers")):
        others = (WINDOWS, BROKERS)[1 - half][1]
        sizes = sorted(size for size in taken if size[1 - half] == others)
        lines = [Line(mode, [(float(size[half]), taken[size][mode]) for size in sizes]) for mode in MODES]
        picture = svg(lines, "Filters pushed to their sources", across, "seconds")
        (DOCS / f"{name}.svg").write_text(picture, encoding="utf-8")

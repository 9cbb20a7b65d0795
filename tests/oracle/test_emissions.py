"""What is reported as it comes and goes says the same as the whole answers, and those are what plain SPARQL gives.

Generated queries on generated streams, with windows of all languages. After every instant, all that the ISTREAM has
said less all that the DSTREAM has said, and the intervals that hold then, are the answer that pyoxigraph gives on the
snapshot. The instants are cut into jobs anyhow; what one job leaves open goes on in the next.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given

from penstock.algebra.build import translate
from penstock.algebra.ops import REPORTS, Construct, Query, Registration
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.options import Emit
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.session import private
from penstock.spark.views.background_tables import BackgroundTables
from tests.oracle.strategies import Generated
from tests.oracle.streams import WINDOWS, Streamed, streamed_cases
from tests.oracle.test_snapshots import check, explained, spans, written
from tests.support.plan_under_test import continuous_query
from tests.support.sampling import sampled

pytestmark = pytest.mark.usefixtures("plan")

Rows = dict[int, Counter[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def session(spark: Any) -> Any:
    return private(spark)


@given(case=streamed_cases("past", "leaving", "moving", "now", "all"))
@sampled(8)
def test_windows_of_other_languages(
    case: tuple[Streamed, Generated], session: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check(*case, session, tmp_path_factory.mktemp("stream"))


@given(case=streamed_cases(*WINDOWS))
@sampled(5)
def test_every_output_says_the_same(
    case: tuple[Streamed, Generated], session: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    streamed, generated = case
    planned = translate(generated.text)
    assume(not makes_names(planned) and generated.limit is None and not generated.offset and not generated.reduced)
    every_output_says_the_same(streamed, generated, session, tmp_path_factory.mktemp("stream"))


def every_output_says_the_same(streamed: Streamed, generated: Generated, session: Any, folder: Path) -> None:
    planned, background = translate(generated.text), background_of(streamed, session)
    said = {emit: rows_of(streamed, planned, emit, background, folder / emit) for emit in REPORTS}
    held: Counter[tuple[Any, ...]] = Counter()
    for moment in streamed.moments():
        held += said["istream"].get(moment, Counter())
        gone = said["dstream"].get(moment, Counter())
        assert held >= gone, f"at {moment} more went than was there\n{explained(streamed, generated)}"
        held -= gone
        told = holding(said["intervals"], moment)
        whole = said["rstream"].get(moment, Counter())
        assert held == whole, f"istream and dstream at {moment}: {held}, not {whole}\n{explained(streamed, generated)}"
        assert told == whole, f"intervals at {moment}: {told}, not {whole}\n{explained(streamed, generated)}"
    assert set(said["istream"]) | set(said["dstream"]) <= set(streamed.moments())


def makes_names(query: Query) -> bool:
    """Whether rows are unlike those of any other evaluation: new blank nodes, random numbers."""
    text = str(query).upper()
    internal = isinstance(query.form, Construct) and ".b" in str(query.form)
    return internal or any(word in text for word in ("'BNODE'", "'UUID'", "'STRUUID'", "'RAND'", "'NOW'"))


def background_of(streamed: Streamed, session: Any) -> BackgroundTables:
    store = OxigraphStore()
    store.load(streamed.background)
    return BackgroundTables(session, store)


def rows_of(streamed: Streamed, planned: Query, emit: Emit, background: BackgroundTables, folder: Path) -> Rows:
    """What is reported at each instant; of intervals the rows begin with their bounds, under the instant 0."""
    query = replace(planned, streams=streamed.windows, registration=Registration("q", streamed.every))
    continuous = continuous_query(query, background, duplicates=streamed.duplicates, emit=emit)
    folder.mkdir()
    streams = {iri.value: written(e, folder / iri.value[-1], streamed) for iri, e in streamed.elements.items()}
    found: Rows = {}
    before = None
    for number, span in enumerate(spans(streamed, continuous.schedule.last_instant(streamed.last))):
        evaluated = continuous.evaluate(Evaluation(streams, span, before))
        if emit != "rstream":
            before = str(folder / f"{number}.parquet")
            if number % 2 == 0:
                evaluated.collect()  # then what is open has been fetched with the rest, else Spark keeps it
            evaluated.write_open(before)
        take(found, evaluated.collect().to_pylist())
    if before is not None and emit == "intervals":
        take(found, [{"time": None, **row} for row in opened(background.session, before)])
    continuous.close()
    return found


def opened(session: Any, path: str) -> list[dict[str, Any]]:
    rows = session.read.parquet(path).toArrow().to_pylist()
    return [{name: cell for name, cell in row.items() if name != ".until"} for row in rows]


def take(found: Rows, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        time, real = row.pop("time"), row.pop(".row", True)
        row.pop(".order", None)
        since = row.pop(".since", None)
        if real:
            key = time if since is None else 0
            cells = tuple(sorted((name, cell) for name, cell in row.items() if cell is not None))
            found.setdefault(key, Counter())[cells if since is None else (since, time, *cells)] += 1


def holding(intervals: Rows, moment: int) -> Counter[tuple[Any, ...]]:
    held: Counter[tuple[Any, ...]] = Counter()
    for (since, until, *cells), count in intervals.get(0, Counter()).items():
        if since <= moment and (until is None or moment < until):
            held[tuple(cells)] += count
    return held

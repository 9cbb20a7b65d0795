"""Generated queries of events evaluated by Spark, from Parquet files, as an example says."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.expressions import Var
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.model.term_encoding import decode, encode
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.views.background_tables import BackgroundTables
from tests.oracle import events_texts as texts
from tests.oracle.events_cases import Case, Cut, for_spark, grouped
from tests.support.event_reference import Element, World
from tests.support.plan_under_test import continuous_query, spans_in_sample, stated_rows
from tests.support.quads import quad_of

Bag = Counter[Any]


def query(case: Case) -> ops.Query:
    """What Spark is asked: a plan, or what a text becomes."""
    plan = for_spark(case.plan)
    if case.cut.said and case.variables and texts.sayable(plan):
        return translate(texts.select(plan, case.variables, case.world.streams))
    return ops.Query(ops.Select(), grouped(plan), case.variables, streams=case.windows, emit=case.emit)


def asked(case: Case, session: Any) -> ContinuousQuery:
    store = OxigraphStore()
    store.load([quad_of(triple) for triple in case.world.background])
    known = BackgroundTables(session, store)
    return continuous_query(query(case), known, duplicates=case.duplicates, rules=case.cut.rules)


def delivered(case: Case, session: Any, folder: Path) -> Bag:
    """The answers with their intervals, as `tests.support.event_reference.delivered` has them."""
    found: Bag = Counter()
    for row in _rows(asked(case, session), case, folder):
        starts, ends = row.pop(".since"), row.pop("time")
        found[solution(row), starts, ends] += 1
    return found


def told(case: Case, session: Any, folder: Path) -> dict[int, Bag]:
    """What is said at each instant that has an answer, be it empty."""
    found: dict[int, Bag] = defaultdict(Counter)
    for row in _rows(asked(case, session), case, folder):
        at, real = found[row.pop("time")], row.pop(".row")
        if real:
            at[solution(row)] += 1
    return dict(found)


def solution(row: dict[str, Any]) -> frozenset[Any]:
    cells = ((name, cell) for name, cell in row.items() if cell is not None and not name.startswith("."))
    return frozenset((Var(name), decode(cell)) for name, cell in cells)


def _rows(continuous: ContinuousQuery, case: Case, folder: Path) -> Iterator[dict[str, Any]]:
    streams = {name.value: written(case.world, name, case.cut, folder) for name in case.world.streams}
    last = continuous.schedule.last_instant(max((e.end for e in case.world.elements), default=0))
    before = None
    for number, span in enumerate(spans(last, spans_in_sample(case.cut.spans))):
        evaluated = continuous.evaluate(Evaluation(streams, span, before))
        yield from evaluated.collect().to_pylist()
        if continuous.emit not in ("events", "rstream"):
            before = str(folder / f"{number}.open.parquet")
            evaluated.write_open(before)
    continuous.close()


def spans(last: int, count: int) -> Iterator[Span]:
    cuts = [-1, *(last * i // count for i in range(1, count)), last]
    return (Span(after, through) for after, through in pairwise(cuts) if after < through)


def written(world: World, name: NamedNode, cut: Cut, folder: Path) -> StreamFiles:
    elements = world.of(name)
    size = max(1, -(-len(elements) // cut.files))
    parts = [elements[i : i + size] for i in range(0, len(elements), size)]
    paths = tuple(str(folder / f"{name.value[-1]}{i:06}.parquet") for i in range(len(parts)))
    for path, part in zip(paths, parts, strict=True):
        pq.write_table(_table(part, cut.points), path)
    predicates = frozenset(encode(e.triple[1]) for e in elements) if cut.known else None
    return StreamFiles(paths, predicates, rows=stated_rows(cut.rows or len(elements), len(elements)))


def _table(elements: tuple[Element, ...], points: bool) -> pa.Table:
    """A point may have a start, which is its end."""
    terms = [pa.array([encode(e.triple[i]) for e in elements], pa.string()) for i in range(3)]
    starts = [e.start if points or e.start < e.end else None for e in elements]
    times = [pa.array([e.end for e in elements], pa.int64()), pa.array(starts, pa.int64())]
    return pa.table([*terms, *times], names=["s", "p", "o", "ts", "start"])

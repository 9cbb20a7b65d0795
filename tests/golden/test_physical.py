"""Physical plans in `physical/<choice>.test`: `case NAME`, a logical plan, `----`, and its physical plan or `same`.

A case may end its first line with `-CHOICE`, which is switched off then. There is no JVM and no data, only sizes:

| window | predicates | elements | visible |
| --- | --- | --- | --- |
| the stream, in the default graph | :few 10, :a and :b half a million each, of 300 keys | a million | for 10s |
| :w, the same as a named window | | | |
| :t, a named window | :a, :b | a million | at one instant each |
| :small, a named window | :c 5, :d 95 | 100, which the driver has | for 10s |

The background has :p (a view of 3 rows) and :q (of a million rows). Files of sequences read events without windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from pyoxigraph import NamedNode

from penstock import log
from penstock.algebra.ops import Op, Query, Select, StreamWindow
from penstock.algebra.sse import read, write
from penstock.algebra.sse.sexpr import layout, parse
from penstock.algebra.windows import TimeWindow
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.operators.operators import compile_op
from penstock.compile.physical import physical_plan
from penstock.compile.relation import INSTANT, Relation
from penstock.compile.sql import Table
from penstock.compile.views import packed_view
from penstock.compile.views.view_types import MaterialisedView, ViewRequest
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model.span import Span
from penstock.optimise import PHYSICAL_CHOICES, PredicateCounts, enabled
from penstock.tuning import DEFAULT
from tests.support.golden import golden_cases
from tests.support.physical import on_windows

FOLDER = Path(__file__).with_name("physical")
NS, SECOND = "http://example.org/", 1_000_000
MANY, VIEW_ROWS = 1_000_000, {"p": 3, "q": 1_000_000}
FOR_THE_QUERY = frozenset(("delta_reports", "sliced_plan", "window_union"))  # see test_whole_queries.py


def iri(name: str) -> str:
    return f"<{NS}{name}>"


COUNTS = PredicateCounts(
    float(MANY),
    {
        f"{NS}few": (10.0, 10.0, 10.0),
        f"{NS}a": (5e5, 300.0, 5e4),
        f"{NS}b": (5e5, 300.0, 5e4),
    },
)
FEW = pa.table(
    {
        "s": [iri(f"x{i}") for i in range(100)],
        "p": [iri("c")] * 5 + [iri("d")] * 95,
        "o": [iri(f"y{i % 20}") for i in range(100)],
    }
)
SOURCE = StreamWindow(NamedNode(f"{NS}stream"), TimeWindow(10 * SECOND, 5 * SECOND))
STREAM = WindowRelation(
    SOURCE,
    sql.view("s"),
    frozenset(map(iri, ("few", "a", "b"))),
    rows=MANY,
    lasts=10 * SECOND,
    counts=lambda: COUNTS,
    upper_bound=lambda predicate: 10 if predicate == iri("few") else MANY // 2,
)
NAMED = replace(STREAM, source=replace(SOURCE, name=NamedNode(f"{NS}w")))
TUMBLING = replace(STREAM, source=replace(SOURCE, name=NamedNode(f"{NS}t")), when=(INSTANT,))
SMALL = replace(
    STREAM,
    source=replace(SOURCE, name=NamedNode(f"{NS}small")),
    predicates=frozenset(map(iri, "cd")),
    rows=100,
    upper_bound=lambda predicate: None,
    elements=lambda: FEW,
)
EVENTS = replace(STREAM, when=(), paths=("events.parquet",), lasts=None)


def view(request: ViewRequest) -> MaterialisedView:
    """The view of a pattern with one predicate: subjects x0, x1, … and objects x50, x51, …."""
    assert request.reads is not None
    (predicate,) = request.reads
    rows, relation = VIEW_ROWS[predicate[-1]], request.compile()
    table = Relation(sql.Select(map(sql.name, relation.vars), Table("view")), relation.vars, relation.certain)
    return MaterialisedView(table, rows, packed)


@cache
def packed() -> packed_view.DictionaryEncodedRows:
    rows = range(1_000)
    return packed_view.dictionary_encoded(
        pa.table({"x": [iri(f"x{i}") for i in rows], "z": [iri(f"x{i + 50}") for i in rows]})
    )


def context(choice: str) -> Context:
    events = choice.startswith("sequence_")
    windows = (EVENTS,) if events else (STREAM, NAMED, TUMBLING, SMALL)
    if choice in ("view_lookup", "semijoin_reduction"):
        windows = (SMALL,)
    found = on_windows(
        *windows,
        span=Span(0, 20_000 * SECOND),
        background=frozenset(map(iri, "pq")),
        occurrence_times=events,
        tuning=replace(DEFAULT, broadcast_view_rows=100_000),
    )
    assert found.plan.streaming is not None
    found.plan.streaming = replace(found.plan.streaming, static_view=view)
    found.plan.cores = 2
    return found


@dataclass(frozen=True)
class Case:
    choice: str
    name: str
    logical: Op
    physical: str


def cases() -> Iterator[Case]:
    for choice, name, before, after in golden_cases(FOLDER):
        plan = read(before)
        expected = write(plan) if after is None else layout(parse(after))
        yield Case(choice, name, plan, " ".join(expected.split()))


CASES = list(cases())


def planned(case: Case, rules: list[str] | None) -> str:
    plan = physical_plan(Query(Select(), case.logical), context(case.choice), enabled(rules), compile_op)
    return " ".join(write(plan.query.pattern).split())


@pytest.mark.parametrize("case", CASES, ids=[f"{case.choice}: {case.name}" for case in CASES])
def test_physical_plan(case: Case) -> None:
    _, _, left_out = case.name.partition(" -")
    assert planned(case, [f"-{left_out}"] if left_out else None) == case.physical


@pytest.mark.parametrize("choice", sorted(PHYSICAL_CHOICES.keys() - FOR_THE_QUERY))
def test_every_choice_has_a_case_that_makes_it_and_one_that_does_not(choice: str) -> None:
    own = [case for case in CASES if case.choice == choice and " -" not in case.name]
    made = {planned(case, None) != planned(case, [f"-{choice}"]) for case in own}
    assert made == {True, False}


def test_a_look_up_of_too_many_rows_is_a_fallback_that_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "penstock")
    case = next(case for case in CASES if (case.choice, case.name) == ("view_lookup", "few terms are asked for"))
    surroundings = context("view_lookup")
    surroundings.plan.tuning = replace(DEFAULT, lookup_share=1e-6)
    with log.about("cars"):
        plan = physical_plan(Query(Select(), case.logical), surroundings, enabled(None), compile_op)
    assert "viewlookup" not in write(plan.query.pattern)
    assert caplog.messages == ["cars: view_lookup is not used: 5 of 1,000,000 rows were asked for"]

"""Generated queries with some of their constants changed: as a family they answer what each answers alone.

The queries, streams, windows and backgrounds are those of the other tests here. Which constants a member has is drawn
from those of the query that are of the same kind. What is reported, and which rule is off, is part of each example.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyoxigraph import Literal

from penstock.algebra.build import translate
from penstock.algebra.expressions import Term
from penstock.algebra.ops import REPORTS, Query, Registration, Slice
from penstock.algebra.template import Constants, filled, template
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.optimise.walk import nodes
from penstock.spark.session import arrow_functions
from penstock.spark.session.session import private
from penstock.spark.views.background_tables import BackgroundTables
from tests.oracle import events_runs
from tests.oracle.events_cases import Case, events_case, first, leaves
from tests.oracle.strategies import DATA_BYTES, QUERY_BYTES, Generated
from tests.oracle.streams import STREAM_BYTES as SB
from tests.oracle.streams import WINDOWS, Streamed, streamed_case
from tests.oracle.test_emissions import makes_names
from tests.oracle.test_snapshots import NAMES, explained, spans, written
from tests.support.evaluated_families import Setting
from tests.support.plan_under_test import as_one_example, continuous_query, spans_in_sample
from tests.support.quads import quad_of
from tests.support.sampling import sampled
from tests.support.tape import Tape

pytestmark = pytest.mark.usefixtures("plan")

FAMILY_BYTES = 80
OUTSIDE = frozenset(("time", ".km", ".row", ".order"))
SIZE = DATA_BYTES + QUERY_BYTES + SB
Folder = Callable[[], Path]


@pytest.fixture(scope="module")
def session(spark: Any) -> Any:
    """With the functions for patterns that are no constants of the plan."""
    ours = private(spark)
    arrow_functions.register(ours)
    return ours


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """As many new folders as there are examples."""
    return lambda: tmp_path_factory.mktemp("family")


def members(query: Query, draw: Tape) -> list[Query]:
    """The query, and some that differ from it in constants."""
    made = template(query)
    assert made is not None
    kinds: dict[Any, list[Term]] = defaultdict(list)
    for constant in made.constants:
        kinds[_kind(constant)].append(constant)

    def another() -> Constants:
        return tuple(draw.pick(kinds[_kind(c)]) if draw.chance(2) else c for c in made.constants)

    rows = [made.constants, *(another() for _ in range(draw.count(1, 2)))]
    queries = (filled(made.query, dict(zip(made.parameters, row, strict=True))) for row in rows)
    return [replace(q, registration=query.registration) for q in queries]


def _kind(term: Term) -> object:
    return term.datatype if isinstance(term, Literal) else type(term)


def test_members_differ() -> None:
    """And may be equal."""
    query = translate("PREFIX : <http://e/> SELECT ?x FROM STREAM :s [NOW] { ?x :p :a, :b, 1, 2 FILTER (?x != :c) }")
    found = members(query, Tape(bytes([1, 1, 1, 1, 2])))
    assert found[0] == found[2] == query != found[1]
    assert len(found) == 3
    assert len({made.query for q in found if (made := template(q)) is not None}) == 1


@given(tape=st.binary(min_size=SIZE + FAMILY_BYTES, max_size=SIZE + FAMILY_BYTES))
@sampled(4)
def test_queries_of_streams(tape: bytes, session: Any, folder: Folder) -> None:
    streamed, generated = streamed_case(tape[:SIZE], tuple(WINDOWS))
    planned = translate(generated.text)
    chosen = any(isinstance(op, Slice) for op in nodes(planned.pattern)) or generated.reduced
    assume(not makes_names(planned) and not chosen)
    draw = Tape(tape[SIZE:])
    emit = draw.pick(REPORTS)
    query = replace(planned, streams=streamed.windows, registration=Registration("q", streamed.every))
    check_streamed(streamed, generated, members(query, draw), emit, session, folder())


def check_streamed(
    streamed: Streamed, generated: Generated, queries: list[Query], emit: str, session: Any, folder: Path
) -> None:
    store = OxigraphStore()
    store.load(streamed.background)
    known = BackgroundTables(session, store)
    streams = {iri.value: written(e, folder / iri.value[-1], streamed) for iri, e in streamed.elements.items()}
    rules = [f"-{NAMES[streamed.last % len(NAMES)]}"]
    options = {"duplicates": streamed.duplicates, "emit": emit, "rules": rules}
    few = replace(streamed, spans=1 if emit == "rstream" else 2)
    cut = list(spans(few, continuous_query(queries[0], known).schedule.last_instant(streamed.last)))
    check(Setting(known, streams, cut, folder, options, OUTSIDE), queries, f"{emit}\n{explained(streamed, generated)}")


def check(setting: Setting, queries: list[Query], explanation: str) -> None:
    with as_one_example(queries[0]):
        found = setting.together(queries)
        for number, query in enumerate(queries):
            expected = setting.alone(query)
            assert found[number] == expected, f"member {number} of {len(queries)}, {query.pattern}\n{explanation}"


def has_constants(case: Case) -> bool:
    made = template(events_runs.query(case))
    return made is not None and bool(made.constants) and 2 <= leaves(case.plan) <= 4


@given(case=first(events_case, has_constants), tape=st.binary(min_size=FAMILY_BYTES, max_size=FAMILY_BYTES))
@sampled(4)
def test_queries_of_events(case: Case, tape: bytes, session: Any, folder: Folder) -> None:
    here, queries = folder(), members(events_runs.query(case), Tape(tape))
    store = OxigraphStore()
    store.load([quad_of(triple) for triple in case.world.background])
    known = BackgroundTables(session, store)
    streams = {name.value: events_runs.written(case.world, name, case.cut, here) for name in case.world.streams}
    count = spans_in_sample(case.cut.spans)
    cut = list(events_runs.spans(max((e.end for e in case.world.elements), default=0), count))
    options = {"duplicates": case.duplicates, "rules": case.cut.rules}
    check(Setting(known, streams, cut, here, options), queries, str(case.world))

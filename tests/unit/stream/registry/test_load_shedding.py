"""Load shedding: the factor, the instants that are left, and the warnings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.schedule import is_periodic, schedule, stretched
from penstock.algebra.template import Constants
from penstock.algebra.windows import TimeWindow
from penstock.compile.parameter_table import ParameterTable
from penstock.errors import PenstockWarning, QueryError
from penstock.model.span import Span
from penstock.model.stretches import Stretch
from penstock.options import Overload
from penstock.stream.evaluation.rounds import Rounds
from penstock.stream.registry import due_instants
from penstock.stream.registry.catalogue import Catalogue, entry_of
from penstock.stream.registry.due_instants import CompiledQuery
from penstock.stream.registry.load_shedding import check
from penstock.stream.registry.metadata_store import MetadataStore, QueryRecord
from penstock.stream.registry.registered_query import RegisteredQuery
from tests.support.runtime import FakeInputs, FakePlan, ListSink, register, segment, windowed

S = "http://e/s"
TEXT = f"SELECT ?n FROM STREAM <{S}> [RANGE 20ms STEP 10ms] WHERE {{ ?n ?p ?o }}"
DERIVES = f"""REGISTER STREAM d COMPUTED EVERY 10ms AS CONSTRUCT {{ ?n ?p ?o }}
FROM STREAM <{S}> [RANGE 20ms STEP 5ms] {{ ?n ?p ?o }}"""
MS = 1000


@pytest.mark.parametrize(
    ("factor", "waiting", "expected"),
    [
        (1, 0, 1),  # nothing is due, which says nothing
        (1, 1, 1),
        (1, 4, 1),  # a few may wait
        (1, 5, 2),
        (2, 5, 4),  # twice as far apart, and still it does not keep up
        (4, 400, 8),
        (4, 4, 4),
        (4, 2, 4),
        (4, 1, 2),  # it keeps up
        (2, 1, 1),
        (2, 0, 2),
    ],
)
def test_the_factor_of_a_round(factor: int, waiting: int, expected: int) -> None:
    assert due_instants.coarsen(factor, waiting) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[RANGE 20ms STEP 10ms]", True),
        ("[RANGE 20ms TUMBLING]", True),
        ("[TRIPLES 10]", False),
        ("[NOW]", False),
    ],
)
def test_only_multiples_of_a_step_can_be_stretched(text: str, expected: bool) -> None:
    found = translate(f"SELECT * FROM STREAM <{S}> {text} {{ ?s ?p ?o }}")
    assert is_periodic(found) is expected
    check(found, "catch-up")
    if not expected:
        with pytest.raises(QueryError, match=r"needs a fixed evaluation period.*\n.*COMPUTED EVERY"):
            check(found, "stretch")
        computed = translate(f"REGISTER QUERY q COMPUTED EVERY 1s AS SELECT * FROM STREAM <{S}> {text} {{ ?s ?p ?o }}")
        check(computed, "stretch")


def test_unknown_overload_is_an_error() -> None:
    with pytest.raises(ValueError, match="overload is 'catch-up' or 'stretch', not 'shed'"):
        check(translate(TEXT), "shed")


@given(st.lists(st.integers(1, 12), min_size=1, max_size=3), st.integers(-50, 50), st.integers(0, 100))
def test_instants_are_counted_once(steps: list[int], after: int, length: int) -> None:
    windows = tuple(ops.StreamWindow(NamedNode(S), TimeWindow(20, step)) for step in steps)
    query = ops.Query(ops.Select(), ops.Bgp(()), streams=windows)
    within = range(after + 1, after + length + 1)
    expected = [t for t in within if any(t % step == 0 for step in steps)]
    assert schedule(query).count(after, after + length) == len(expected)
    fewer = [t for t in within if t % (3 * min(steps)) == 0]
    assert schedule(stretched(query, 3)).count(after, after + length) == len(fewer)
    assert set(fewer) <= set(expected)


def test_load_shedding_stretches_computed_every() -> None:
    assert stretched(windowed(S, every=7), 4).registration == ops.Registration("q", 28)
    assert stretched(query := windowed(S), 1) is query


class Planner:
    """Plans that have the steps of their queries."""

    def plan(self, task: RegisteredQuery, factor: int = 1) -> CompiledQuery:
        return self.compiled(stretched(task.query, factor), task.entry)

    def compiled(self, query: ops.Query, entry: QueryRecord) -> CompiledQuery:
        step = schedule(query).steps[0]
        return FakePlan(step=step, range=20 * MS, graph=isinstance(query.form, ops.Construct))

    def members(self, numbers: Sequence[int], rows: Sequence[Constants]) -> ParameterTable:
        raise AssertionError("there is one query")

    def release(self, plan: CompiledQuery) -> None: ...

    def slice_job(self) -> None:
        """Return none: a fake plan has no slices."""


class Engine:
    """One query, over a stream that always has elements."""

    def __init__(self, folder: Path | None, text: str = TEXT, overload: Overload = "stretch") -> None:
        self.sink = ListSink()
        self.inputs = FakeInputs({S: [segment(0, 10**9)]}, {S: 0})
        self.catalogue = Catalogue(MetadataStore(folder), Planner())
        entry = entry_of("q", text, None, "keep", None, self.sink, overload)
        self.task = register(self.catalogue, entry, translate(text), self.sink, [S], 0)
        self.rounds = Rounds(self.inputs, self.inputs.watermarks, self.catalogue.groups)

    def round(self, end: int) -> list[int]:
        """The instants that a round answers when streams are complete so far, in milliseconds."""
        before = len(self.sink.times)
        self.inputs.ends[S] = end * MS
        self.rounds.live()
        assert self.task.error is None
        return [time // MS for time in self.sink.times[before:]]


@pytest.mark.parametrize("text", [TEXT, DERIVES])
@pytest.mark.filterwarnings("ignore::penstock.errors.PenstockWarning")
def test_time_is_stretched_while_it_does_not_keep_up_and_shrinks_again(text: str) -> None:
    """Derived streams, which are answered alone, are stretched like any other."""
    engine = Engine(None, text)
    assert engine.round(45) == [10, 20, 30, 40]
    assert engine.round(95) == [60, 80]  # five wait: every other one
    assert engine.round(195) == [120, 160]  # five of those wait (100, 120 …): every fourth
    assert engine.round(235) == [200, 220]  # one of these waits: every other one again
    reached = engine.task.group.reached
    assert (reached.stretched, reached.skipped) == (2, 23 - 10)
    assert engine.round(239) == []
    assert engine.round(245) == [240]
    assert engine.round(265) == [250, 260]
    assert engine.task.group.reached.stretched == 1


@pytest.mark.filterwarnings("ignore::penstock.errors.PenstockWarning")
def test_it_is_remembered(tmp_path: Path) -> None:
    assert Engine(tmp_path).round(95) == [20, 40, 60, 80]
    again = Catalogue(MetadataStore(tmp_path), Planner())["q"]
    assert (again.entry.overload, again.group.reached.stretched, again.group.reached.skipped) == ("stretch", 2, 5)


def test_instants_at_which_windows_are_empty_are_no_load() -> None:
    engine, far = Engine(None), 10**5
    stretches = Stretch(0, 5 * MS, 2), Stretch(far * MS, far * MS, 1)
    engine.inputs.held[S] = [replace(segment(0, far * MS, 3), stretches=stretches)]
    engine.task.group.pass_over(Span(0, 100 * MS))
    assert engine.round(far)[-1] == far
    assert (engine.task.group.reached.stretched, engine.task.group.reached.skipped) == (1, 0)


def test_no_instant_is_skipped_by_default() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine = Engine(None, overload="catch-up")
        assert engine.round(1000) == list(range(10, 1001, 10))
    assert engine.task.group.reached.skipped == 0


def test_bounded_run_sheds_no_load() -> None:
    engine = Engine(None)
    engine.inputs.held[S] = [segment(1, 200 * MS)]
    engine.rounds.bounded()
    assert [time // MS for time in engine.sink.times] == list(range(10, 201, 10))


def test_change_of_the_factor_is_warned_of_once() -> None:
    engine = Engine(None)
    told = []
    for end in (95, 99, 115, 139, 160):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            engine.round(end)
        told += [str(one.message) for one in caught if issubclass(one.category, PenstockWarning)]
    assert told == [
        "q: evaluation is 0:00:00.095000 behind, 9 instants wait; it is at one of 2 instants from now on",
        "q: evaluation keeps up; it is at every instant from now on",
    ]

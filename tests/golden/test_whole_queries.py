"""Physical choices for whole queries in `whole_queries/<choice>.test`: `case NAME`, a query, `----`, and the choice.

A case may end its first line with `-CHOICE`, which is switched off then. Comments of the query are options: `# emit
istream`, `# elements 1000000`. There is no JVM and no data. The elements of all streams have the
predicates :at and :near; the background has two triples with :in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from penstock.algebra.build import translate
from penstock.compile import sql
from penstock.compile.context import Plan, Tables
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.optimise import PHYSICAL_CHOICES
from penstock.options import Emit
from penstock.spark.query.context_builder import ContextBuilder
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.query.query_traits import traits_of
from penstock.spark.query.slice_target import SliceTarget
from penstock.spark.views.background_tables import BackgroundTables
from tests.golden.test_physical import FOR_THE_QUERY
from tests.support.golden import golden_cases
from tests.support.physical import never
from tests.support.planning_session import planning_session

pytestmark = pytest.mark.filterwarnings("ignore::penstock.errors.PenstockWarning")
PREFIX, SPAN = "PREFIX : <http://e/> ", Span(0, 40_000_000)
PREDICATES = frozenset(("<http://e/at>", "<http://e/near>"))
ROOMS = b"<http://e/r1> <http://e/in> <http://e/g> .\n<http://e/r2> <http://e/in> <http://e/g> .\n"


@dataclass(frozen=True)
class Case:
    choice: str
    name: str
    text: str
    expected: str

    def option(self, name: str) -> str | None:
        found = re.search(rf"^# {name} (\S+)$", self.text, re.MULTILINE)
        return None if found is None else found[1]

    @property
    def emit(self) -> Emit | None:
        return cast(Emit | None, self.option("emit"))

    @property
    def streams(self) -> dict[str, StreamFiles]:
        rows = int(self.option("elements") or 1_000)
        names = re.findall(r"STREAM :(\w)", self.text)
        return {f"http://e/{name}": StreamFiles((f"{name}.parquet",), PREDICATES, rows=rows) for name in names}


CASES = [
    Case(choice, name, text, expected or "")
    for choice, name, text, expected in golden_cases(Path(__file__).with_name("whole_queries"))
]


def background() -> BackgroundTables:
    store = OxigraphStore()
    store.load(ROOMS, format="nt")
    return BackgroundTables(planning_session(), store)


def engine(case: Case, rules: list[str] | None) -> str:
    query = ContinuousQuery(translate(PREFIX + case.text), background(), emit=case.emit, rules=rules)
    return query.engine_for(Evaluation(case.streams, SPAN))


def report(case: Case, rules: list[str] | None) -> str:
    query = ContinuousQuery(translate(PREFIX + case.text), background(), emit=case.emit, rules=rules)
    return query.report or "the answer at each instant"


def windows(case: Case, rules: list[str] | None) -> str:
    """How many relations the default graph has."""
    query = translate(PREFIX + case.text)
    traits, tables, target = traits_of(query, "keep", case.emit, rules, None), background(), SliceTarget()
    builder = ContextBuilder(traits, tables, target, case)
    contents = builder.contents(case.streams, SPAN)
    plan = Plan(Tables(sql.Table("d"), sql.Table("n"), frozenset()), never, None, "", store=target.store)
    builder.context(query, contents, SPAN, plan)
    assert plan.streaming is not None
    return f"{len(contents)} windows as {len(plan.streaming.default)}"


CHOICES: dict[str, Callable[[Case, list[str] | None], str]] = {
    "sliced_plan": engine,
    "delta_reports": report,
    "window_union": windows,
}


@pytest.mark.parametrize("case", CASES, ids=[f"{case.choice}: {case.name}" for case in CASES])
def test_choice_for_the_query(case: Case) -> None:
    _, _, left_out = case.name.partition(" -")
    assert CHOICES[case.choice](case, [f"-{left_out}"] if left_out else None) == " ".join(case.expected.split())


@pytest.mark.parametrize("choice", sorted(FOR_THE_QUERY))
def test_every_choice_has_a_case_that_makes_it_and_one_that_does_not(choice: str) -> None:
    own = [case for case in CASES if case.choice == choice and " -" not in case.name]
    described = CHOICES[choice]
    is_made = {_name(described(case, None)) != _name(described(case, [f"-{choice}"])) for case in own}
    assert is_made == {True, False}


def _name(description: str) -> str:
    """The choice without its reason."""
    return description.partition(":")[0]


def test_every_choice_for_the_query_is_covered() -> None:
    assert CHOICES.keys() == FOR_THE_QUERY
    assert PHYSICAL_CHOICES.keys() >= FOR_THE_QUERY

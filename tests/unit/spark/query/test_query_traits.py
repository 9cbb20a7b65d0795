"""The traits of a continuous query: its report, and the choices for the whole query, each switched off by its name."""

from __future__ import annotations

import pytest

from penstock.algebra.build import translate
from penstock.model.span import Span
from penstock.options import Emit
from penstock.spark.query.query_traits import traits_of

PREFIX = "PREFIX : <http://e/> "
BLOCK = PREFIX + "SELECT * { STREAM :s [RANGE 3s] { ?x :p ?y } }"
GROUPED = PREFIX + "SELECT ?x (COUNT(*) AS ?n) { STREAM :s [RANGE 3s] { ?x :p ?y } } GROUP BY ?x"


@pytest.mark.parametrize(
    ("text", "emit", "rules", "by_deltas"),
    [
        (BLOCK, "istream", None, True),
        (BLOCK, "dstream", None, True),
        (BLOCK, "istream", ["-delta_reports"], False),
        (BLOCK, "rstream", None, False),
        (BLOCK, "intervals", None, False),
        (GROUPED, "istream", None, False),
    ],
)
def test_reports_from_deltas(text: str, emit: Emit, rules: list[str] | None, by_deltas: bool) -> None:
    traits = traits_of(translate(text), "keep", emit, rules, None)
    assert traits.by_deltas is by_deltas
    assert traits.carries is (emit != "rstream" and not by_deltas)


@pytest.mark.parametrize(("rules", "read"), [(None, Span(9, 20)), (["-delta_reports"], Span(10, 20))])
def test_deltas_also_read_the_elements_that_leave_at_the_first_instant(rules: list[str] | None, read: Span) -> None:
    assert traits_of(translate(BLOCK), "keep", "istream", rules, None).read_span(Span(10, 20)) == read


@pytest.mark.parametrize("choice", ["sliced_plan", "window_union", "delta_reports"])
def test_choices_for_the_whole_query_are_switched_off_by_name(choice: str) -> None:
    assert choice in traits_of(translate(BLOCK), "keep", None, None, None).choices
    assert choice not in traits_of(translate(BLOCK), "keep", None, [f"-{choice}"], None).choices

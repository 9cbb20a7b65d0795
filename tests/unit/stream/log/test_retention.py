"""Retention of elements for event queries without a bound of their own, and the warnings about it."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from penstock import Engine, PenstockWarning, cli
from penstock.algebra.build import translate
from penstock.algebra.retention_bounds import unbounded
from penstock.options import Emit
from penstock.recursive_rules.analysis.rule import Rule
from penstock.recursive_rules.machine import Element, Machine
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.tuning import DEFAULT

S = "http://e/s"
PREFIXES = "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
AFTER = PREFIXES + "SELECT * FROM STREAM :s { { ?x :a ?a } SEQ { ?x :b ?b } }"
WITHIN = AFTER.replace("?b } }", '?b } FILTER (getDURATION() < "PT5S"^^xsd:duration) }')
AVERAGE = (
    PREFIXES + "SELECT (AVG(?a) AS ?mean) FROM STREAM :s { ?x :a ?a FILTER (getDURATION() < 'PT1S'^^xsd:duration) }"
)
FILTER = 'FILTER (getDURATION() < "PT1H"^^xsd:duration) in the group around it would help, or another duration'
KEPT = "and elements are kept for PT30S (retention): answers that need older ones may be missing or differ"
SECOND = 1_000_000


def horizon(text: str, retention: int | None, emit: Emit | None = None) -> int | None:
    """The retention bound at 100 seconds, in seconds; None: nothing may be dropped. Spark is not touched."""
    nobody = cast(Any, SimpleNamespace(session=None, tuning=DEFAULT))
    found = ContinuousQuery(translate(text), nobody, emit=emit, retention=retention).schedule.horizon(100 * SECOND, S)
    assert found is not None
    return None if found < -(10**15) else round(found / SECOND)


@pytest.mark.parametrize(
    ("text", "retention", "expected"),
    [
        (AFTER, None, None),
        (AFTER, 30, 70),
        (WITHIN, None, 95),
        (WITHIN, 30, 95),  # it has a bound of its own, which is exact
        (AVERAGE, None, None),
        (AVERAGE, 30, 70),
        (PREFIXES + "SELECT * { STREAM :s [ALL] { ?x :a ?a } }", 30, None),  # who says ALL means it
    ],
)
def test_retention_bound_of_event_queries(text: str, retention: int | None, expected: int | None) -> None:
    assert horizon(text, None if retention is None else retention * SECOND) == expected


def test_patterns_with_and_without_a_bound() -> None:
    """The longest of all: an element is kept for the one that needs it longest."""
    text = (
        PREFIXES
        + """SELECT * FROM STREAM :s
    { { { ?x :a ?a } SEQ { ?x :b ?b } FILTER (getDURATION() <= "PT1M"^^xsd:duration) } MINUS { ?x :c ?c } }"""
    )
    assert [horizon(text, seconds * SECOND) for seconds in (30, 80)] == [40, 20]


def test_machine_keeps_unbounded_rows_for_the_retention_after_their_end() -> None:
    """In a thousand steps the memories are pruned now and then; rows younger than the retention stay."""
    rule = Rule("r", translate(PREFIXES + "CONSTRUCT { ?x :a ?b } { { ?x :a ?a } SEQ { ?x :b ?b } }"))
    sizes = {}
    for retention in (None, 100):
        machine = Machine([rule], retention=retention)
        for end in range(5_000):
            machine.feed([Element(0, end, f"<x{end}>", "<http://e/a>", '"1"')])
        sizes[retention] = len(machine.save())
        young = machine.feed([Element(5_000, 5_000, "<x4950>", "<http://e/b>", '"2"')])
        assert [(made.start, made.end) for made in young] == [(0, 5_000)]
    assert sizes[100] < sizes[None] / 2


def test_warning_names_unbounded_patterns_and_the_filter_that_bounds_them() -> None:
    """Once by the function, and from Python and the command line by a warning."""
    assert unbounded(translate(WITHIN), 30 * SECOND) == ()
    (said,) = unbounded(translate(AFTER), 30 * SECOND)
    assert said == f"{{ ?x <http://e/a> ?a }} has no bound in time, {KEPT}; {FILTER}"


@pytest.mark.parametrize(("options", "said"), [({}, "time; FILTER"), ({"retention": "PT30S"}, f"time, {KEPT}; FILTER")])
def test_registration_warns_of_unbounded_patterns(options: dict[str, Any], said: str) -> None:
    with Engine(**options) as engine, pytest.warns(PenstockWarning) as caught:
        engine.register(AFTER)
    assert said in str(caught[0].message)
    assert caught[0].filename == __file__


def test_bounded_query_is_registered_without_a_warning() -> None:
    with Engine(retention="1h") as engine, warnings.catch_warnings():
        warnings.simplefilter("error")
        engine.register(WITHIN)


@pytest.mark.parametrize(
    ("options", "said"), [([], "time; FILTER"), (["--set", "retention=PT30S"], f"time, {KEPT}; FILTER")]
)
def test_command_line_prints_the_warning_of_retention(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "run", lambda self: None)
    (tmp_path / "after.rq").write_text(AFTER)
    (tmp_path / "s.nq").touch()
    found = CliRunner().invoke(cli.app, ["run", str(tmp_path / "after.rq"), "-s", f"{S}={tmp_path}/s.nq", *options])
    assert found.exit_code == 0
    assert found.stderr.startswith(f"{tmp_path}/after.rq: warning: {{ ?x ")
    assert said in found.stderr


def test_invalid_retention_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='retention: "long" is not a duration'):
        Engine(retention="long")
    (tmp_path / "a.rq").write_text("ASK {}")
    wrong = CliRunner().invoke(cli.app, ["run", str(tmp_path / "a.rq"), "--set", "retention=long"])
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith('--set: retention: "long" is not a duration')


def test_without_a_stream_a_query_of_events_has_no_answers() -> None:
    """It is no query on the background, though it has the same words."""
    with Engine() as engine:
        engine.load(b"<http://e/x> <http://e/a> 1 .", format="ttl")
        query = engine.register(WITHIN.replace("FROM STREAM :s", ""))
        engine.run()
        assert list(query.answers()) == []

"""Answers as Python objects, for people and as data frames."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, parse

import penstock.answer as answer_module
from penstock.answer import Answer, Row
from penstock.io.results.cells import cell, clip, width
from penstock.io.results.values import value
from tests.support.terms import XSD, answers, terms, unhurried

A, P = NamedNode("http://e/a"), NamedNode("http://e/p")
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


def typed(form: str, name: str) -> Literal:
    return Literal(form, datatype=NamedNode(XSD + name))


CITY = Answer.solutions(
    ["gate", "cars", "note"],
    [
        {"gate": NamedNode("http://e/gate1"), "cars": Literal(7), "note": Literal("busy")},
        {"gate": NamedNode("http://xmlns.com/foaf/0.1/Person"), "cars": Literal(1200)},
        {"gate": BlankNode("g"), "note": Literal("満員\n😀", language="ja")},
    ],
)


def test_members_by_kind() -> None:
    assert (CITY.kind, CITY.boolean, CITY.triples) == ("solutions", None, None)
    assert CITY.variables == ("gate", "cars", "note")
    assert "note" not in CITY.rows[1]
    ask = Answer.ask(False)
    assert (ask.kind, ask.variables, ask.rows, ask.boolean, ask.triples) == ("boolean", (), [], False, None)
    graph = Answer.graph(iter([Triple(A, P, A), Triple(A, P, P), Triple(A, P, A)]))
    assert (graph.kind, graph.rows, graph.boolean) == ("graph", [], None)
    assert graph.triples == [Triple(A, P, A), Triple(A, P, P)]
    assert Answer.graph([]).triples == []


def test_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        CITY.boolean = True  # type: ignore[misc]


def test_length_iteration_truth() -> None:
    graph = Answer.graph([Triple(A, P, A)])
    assert (len(CITY), list(CITY)) == (3, CITY.rows)
    assert (len(graph), list(graph)) == (1, [Triple(A, P, A)])
    assert CITY
    assert graph
    assert Answer.ask(True)
    assert not Answer.ask(False)
    assert not Answer.solutions(["x"], [])
    assert Answer.solutions([], [{}])


def test_repr_is_short() -> None:
    assert repr(CITY) == "<Answer: 3 rows of ?gate ?cars ?note>"
    assert repr(Answer.graph([Triple(A, P, A)])) == "<Answer: 1 triple>"
    assert repr(Answer.ask(True)) == "<Answer: true>"
    assert repr(Answer.solutions([], [{}])) == "<Answer: 1 row of no variables>"


def test_repr_says_when() -> None:
    first, second = (datetime(2009, 7, 20, 8, minute, tzinfo=UTC) for minute in (1, 2))
    assert repr(Answer(boolean=True, time=first)) == "<Answer at 2009-07-20T08:01:00Z: true>"
    ended = Answer(boolean=True, time=second, valid_from=first, valid_to=second)
    assert repr(ended) == "<Answer from 2009-07-20T08:01:00Z to 2009-07-20T08:02:00Z: true>"
    assert repr(Answer(boolean=True, valid_from=first)) == "<Answer since 2009-07-20T08:01:00Z: true>"


# For people


def test_table() -> None:
    assert str(CITY).splitlines() == [
        "┌──────────────────┬──────┬───────────────┐",
        "│ gate             │ cars │ note          │",
        "├──────────────────┼──────┼───────────────┤",
        '│ <http://e/gate1> │    7 │ "busy"        │',
        "│ foaf:Person      │ 1200 │               │",
        '│ _:g              │      │ "満員\\n😀"@ja │',
        "└──────────────────┴──────┴───────────────┘",
    ]


def test_table_without_rows_or_variables() -> None:
    assert str(Answer.solutions(["x"], [])).splitlines() == ["┌───┐", "│ x │", "├───┤", "└───┘"]
    assert str(Answer.solutions([], [{}, {}])) == "2 rows of no variables"


def test_ask_prints_a_word() -> None:
    assert str(Answer.ask(True)) == "true"
    assert str(Answer.ask(False)) == "false"


def test_graph_prints_turtle() -> None:
    graph = Answer.graph([Triple(A, RDF_TYPE, NamedNode("http://xmlns.com/foaf/0.1/Person")), Triple(A, P, Literal(5))])
    assert graph.triples is not None
    assert "a foaf:Person" in str(graph)
    assert "@prefix owl" not in str(graph)
    assert {quad.triple for quad in parse(str(graph).encode(), RdfFormat.TURTLE)} == set(graph.triples)


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (RDF_TYPE, "rdf:type"),
        (NamedNode("http://xmlns.com/foaf/0.1/a/b"), "<http://xmlns.com/foaf/0.1/a/b>"),
        (NamedNode("http://xmlns.com/foaf/0.1/"), "<http://xmlns.com/foaf/0.1/>"),
        (Literal("x", language="en"), '"x"@en'),
        (typed("P1D", "duration"), '"P1D"^^xsd:duration'),
        (typed("2020-01-01T00:00:00Z", "dateTime"), "2020-01-01T00:00:00Z"),
        (typed("true", "boolean"), "true"),
        (Literal("\x1b[31m\u202e"), '"\\u001B[31m\\u202E"'),
        (None, ""),
    ],
)
def test_cells(term: Any, expected: str) -> None:
    assert cell(term) == expected


def test_widths() -> None:
    assert [width(text) for text in ("abc", "漢字", "e\u0301", "😀", "שלום")] == [3, 4, 1, 2, 4]
    assert clip("abcdef", 6) == "abcdef"
    assert clip("abcdefg", 6) == "abcde…"
    assert clip("漢字漢字", 6) == "漢字…"


@unhurried
@given(answers())
def test_every_line_of_a_table_is_equally_wide(answer: Answer) -> None:
    lines = str(answer).split("\n")
    assert len(lines) == len(answer) + 4
    assert len(set(map(width, lines))) == 1


class _Tags(HTMLParser):
    """Collects the tags and the text that a browser would see."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_escaped() -> None:
    nasty = '<script>alert("x")</script>'
    page = _Tags(Answer.solutions(["x"], [{"x": Literal(nasty)}])._repr_html_())
    assert set(page.tags) == {"table", "thead", "tbody", "tr", "th", "td", "p"}
    assert nasty in page.text
    assert _Tags(Answer.graph([Triple(A, P, Literal(nasty))])._repr_html_()).tags == ["pre"]
    long = _Tags(Answer.solutions(["x"], [{"x": Literal(nasty * 20)}])._repr_html_())
    assert "script" not in long.tags


def test_html_shows_the_first_rows_and_counts_all() -> None:
    page = _Tags(Answer.solutions(["n"], [{"n": Literal(number)} for number in range(1000)])._repr_html_())
    assert page.tags.count("tr") == 201
    assert page.text.endswith("first 200 of 1,000 rows of ?n")
    assert _Tags(Answer.ask(True)._repr_html_()).text == "true"


# As Python values


@pytest.mark.parametrize(
    ("form", "name", "expected"),
    [
        ("+05", "integer", 5),
        ("9" * 30, "integer", int("9" * 30)),
        ("9" * 5000, "integer", "9" * 5000),
        ("7", "unsignedByte", 7),
        ("1_000", "integer", "1_000"),
        ("٣", "integer", "٣"),
        ("1.50", "decimal", Decimal("1.50")),
        ("1e3", "decimal", "1e3"),
        ("1e3", "double", 1000.0),
        ("-INF", "double", float("-inf")),
        ("infinity", "double", "infinity"),
        ("1", "boolean", True),
        ("yes", "boolean", "yes"),
        ("2020-02-29", "date", date(2020, 2, 29)),
        ("2020-02-29Z", "date", "2020-02-29Z"),
        ("2021-02-29", "date", "2021-02-29"),
        ("2020-01-02T03:04:05.5Z", "dateTime", datetime(2020, 1, 2, 3, 4, 5, 500_000, UTC)),
        ("2020-01-02T03:04:05+02:00", "dateTime", datetime(2020, 1, 2, 3, 4, 5, 0, timezone(timedelta(hours=2)))),
        ("2020-01-02T03:04:05", "dateTime", datetime(2020, 1, 2, 3, 4, 5)),
        ("12020-01-02T03:04:05", "dateTime", "12020-01-02T03:04:05"),
        ("20200102T030405", "dateTime", "20200102T030405"),
        ("P1D", "duration", "P1D"),
    ],
)
def test_values(form: str, name: str, expected: object) -> None:
    found = value(typed(form, name))
    assert found == expected
    assert type(found) is type(expected)


@unhurried
@given(terms)
def test_every_term_has_a_value(term: Any) -> None:
    assert isinstance(value(term), bool | int | Decimal | float | date | str)


def test_pandas() -> None:
    rows: list[Row] = [
        {"i": Literal(1), "d": typed("1.5", "decimal"), "when": typed("2020-01-01T00:00:00Z", "dateTime"), "x": A},
        {"i": Literal(2), "d": typed("2", "decimal"), "when": typed("2020-01-02T00:00:00Z", "dateTime")},
    ]
    frame = Answer.solutions(["i", "d", "when", "x", "free"], rows).to_pandas()
    assert list(frame.columns) == ["i", "d", "when", "x", "free"]
    assert [str(frame[name].dtype) for name in ("i", "d")] == ["int64", "float64"]
    assert frame["when"].max() == datetime(2020, 1, 2, tzinfo=UTC)
    assert frame["x"].tolist() == ["http://e/a", None]
    assert frame["free"].tolist() == [None, None]
    assert frame["d"].mean() == 1.75


def test_pandas_keeps_none_and_exact_integers() -> None:
    large = 2**70 + 1
    frame = Answer.solutions(["n"], [{"n": Literal(large)}, {}, {"n": Literal(3)}]).to_pandas()
    assert frame["n"].tolist() == [large, None, 3]


def test_pandas_with_terms() -> None:
    frame = CITY.to_pandas(terms=True)
    assert frame["cars"].tolist() == [Literal(7), Literal(1200), None]
    assert frame["gate"][2] == BlankNode("g")


def test_pandas_of_nothing() -> None:
    frame = Answer.solutions(["a", "b"], []).to_pandas()
    assert (list(frame.columns), len(frame)) == (["a", "b"], 0)
    assert len(Answer.solutions([], [{}, {}]).to_pandas()) == 2


@pytest.mark.parametrize(
    ("terms", "kind", "values"),
    [
        ([Literal(1), None, Literal(3)], pyarrow.int64(), [1, None, 3]),
        ([typed("1.5", "decimal"), typed("-20.25", "decimal")], None, [Decimal("1.50"), Decimal("-20.25")]),
        ([typed("1", "double"), typed("NaN", "float")], pyarrow.float64(), None),
        ([typed("1", "boolean")], pyarrow.bool_(), [True]),
        ([typed("2020-01-01", "date")], pyarrow.date32(), [date(2020, 1, 1)]),
        ([typed("2020-01-01T00:00:00", "dateTime")], pyarrow.timestamp("us"), [datetime(2020, 1, 1)]),
        ([Literal(1), typed("1.5", "decimal")], pyarrow.string(), ["1", "1.5"]),
        ([Literal(1), typed("x", "integer")], pyarrow.string(), ["1", "x"]),
        ([Literal(2**70)], pyarrow.string(), [str(2**70)]),
        ([A, BlankNode("b"), Literal("x")], pyarrow.string(), ["http://e/a", "_:b", "x"]),
        ([None], pyarrow.string(), [None]),
    ],
)
def test_arrow(terms: list[Any], kind: pyarrow.DataType | None, values: list[Any] | None) -> None:
    rows = [{} if term is None else {"x": term} for term in terms]
    column = Answer.solutions(["x"], rows).to_arrow()["x"]
    if kind is not None:
        assert column.type == kind
    if values is not None:
        assert column.to_pylist() == values


def test_arrow_instants_of_several_zones_are_one_column() -> None:
    forms = ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00+02:00"]
    column = Answer.solutions(["t"], [{"t": typed(form, "dateTime")} for form in forms]).to_arrow()["t"]
    instants = [moment.astimezone(UTC) for moment in column.to_pylist() if moment]
    assert instants == [datetime(2020, 1, 1, tzinfo=UTC), datetime(2019, 12, 31, 22, tzinfo=UTC)]


def test_arrow_does_not_mix_instants_and_local_times() -> None:
    forms = ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00"]
    column = Answer.solutions(["t"], [{"t": typed(form, "dateTime")} for form in forms]).to_arrow()["t"]
    assert column.to_pylist() == forms


@unhurried
@given(answers())
def test_frames_hold_every_row(answer: Answer) -> None:
    assert len(answer.to_pandas()) == answer.to_arrow().num_rows == len(answer)


def test_nothing_heavy_is_imported() -> None:
    """In a fresh Python, with the package's own `__init__` (which may bring in the engine) left out."""
    code = (
        "import sys, types; sys.modules['penstock'] = package = types.ModuleType('penstock'); "
        f"package.__path__ = [{str(Path(answer_module.__file__).parent)!r}]; "
        "import penstock.answer, penstock.knowledge.oxigraph; "
        "print(*{'pyspark', 'pandas', 'pyarrow', 'httpx'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""

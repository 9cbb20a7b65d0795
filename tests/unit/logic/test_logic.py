"""Logic tests as files: reading, comparing, and judging, with an engine that only pretends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from penstock import logic
from penstock.answer import Answer
from penstock.errors import PenstockError, QueryError, TextPlace
from penstock.logic import compare, times
from penstock.logic.model import Cells, Kind
from penstock.logic.terms import read_cells
from tests.support.documents import blocks, pages_with

EX = "http://example.org/"
A, B, G, V = (NamedNode(EX + name) for name in "abgv")
SECOND = 1_000_000

FILE = """\
# cars
prefix t: <http://e/t#>
options duplicates=merge lateness=10s

stream <http://s/gates>
  0:30    :a t:sees :b     # a comment of Turtle's
  # nobody
  1:00:01 :a t:sees :b , 5 .
  1:00:02 :g { :a t:sees :b . :b t:sees 5 }  # in a graph
  1:00:02 .. 1:00:03  :a t:sees 6
background graph <http://g/>
  :a :v 1 .
background
  :a :v 2 .

query cars
  SELECT ?x ?n FROM STREAM <http://s/gates> [RANGE 1m TUMBLING]

  WHERE { ?x t:sees ?n }
expect 1:00
  :a "b c"@en
  -  _:x

expect 2:00 empty
expect cars 3:00 nothing
query
  REGISTER STREAM Second AS ASK {}
expect Second 1970-01-02T00:00:00Z true
expect cars error "no such stream"
final
"""


def test_a_file_with_everything() -> None:
    test = logic.read(FILE)
    stream, plain = test.streams[0], "http://e/t#sees"
    assert stream.iri == "http://s/gates"
    assert stream.elements == (
        ((30 * SECOND,), Triple(A, NamedNode(plain), B)),
        ((3601 * SECOND,), Triple(A, NamedNode(plain), B)),
        ((3601 * SECOND,), Triple(A, NamedNode(plain), Literal(5))),
        ((3602 * SECOND,), Quad(A, NamedNode(plain), B, G)),
        ((3602 * SECOND,), Quad(B, NamedNode(plain), Literal(5), G)),
        ((3602 * SECOND, 3603 * SECOND), Triple(A, NamedNode(plain), Literal(6))),
    )
    assert [block.graph for block in test.background] == ["http://g/", None]
    assert test.options == {"duplicates": "merge", "lateness": "10s"}
    assert [query.name for query in test.queries] == ["cars", None]
    assert test.final
    assert [(one.query, one.time, one.kind) for one in test.expectations] == [
        (0, 60 * SECOND, Kind.rows),
        (0, 120 * SECOND, Kind.rows),
        (0, 180 * SECOND, Kind.nothing),
        (1, 86400 * SECOND, Kind.boolean),
        (0, None, Kind.error),
    ]
    assert test.expectations[0].rows == ((A, Literal("b c", language="en")), (None, BlankNode("x")))
    assert test.expectations[-1].text == "no such stream"


def test_a_query_keeps_its_lines() -> None:
    lines = logic.read(FILE).queries[0].text.splitlines()
    assert lines[FILE.splitlines().index("  WHERE { ?x t:sees ?n }")] == "  WHERE { ?x t:sees ?n }"
    assert "PREFIX t: <http://e/t#>" in lines[FILE.splitlines().index("query cars")]


QUERY = "query\n  ASK {}\nexpect true\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: there is no query"),
        ("query\n  ASK {}\n", "line 1: there is no expectation"),
        ("  ASK {}\n", "line 1: this line belongs to no block"),
        ("expect 1:00\n", "line 1: an expect block has to follow its query"),
        ("qery\n" + QUERY, "line 1: qery is none of .*: did you mean query?"),
        ("prefix t <x>\n" + QUERY, "line 1: write a prefix as"),
        ("stream\n" + QUERY, "line 1: which stream?"),
        ("stream nobody:s\n" + QUERY, "line 1: .*nobody"),
        ("stream :s\n  soon :a :b :c\n" + QUERY, "line 2: soon is no time"),
        ("stream :s\n  1:00 :a :b\n" + QUERY, "line 2: "),
        ("stream :s\n  1:00 .. :a :b :c\n" + QUERY, "line 2: :a is no time"),
        ("stream :s\n  1:00 ..\n" + QUERY, "line 2: write an element with a duration as: 1:00 .. 2:00"),
        (
            "stream :s\n  1:00 .. 0:59 :a :b :c\n" + QUERY,
            "line 2: an element does not end before it begins: 1:00 .. 0:59",
        ),
        ("stream :s\n  1:00 :g { :a :b }\n" + QUERY, "line 2: "),
        ("options merge\n" + QUERY, "line 1: write options as"),
        (QUERY + "expect other 1:00\n", "line 4: other is neither a time nor a query"),
        (QUERY + "expect 1:00 sometimes\n", "line 4: sometimes is none of"),
        (QUERY + "expect 1:00\n  nobody:x\n", "line 5: "),
        (QUERY + "expect 1:00 nothing\n  :x\n", "line 4: after nothing there are no rows"),
        (QUERY + "expect .. 1:00\n  :x\n", "line 4: write an interval as: expect 1:00 .. 2:00"),
        (QUERY + "expect 1:00..2:00\n  :x\n", "line 4: write an interval as: expect 1:00 .. 2:00"),
        (QUERY + "expect 1:00 .. soon\n  :x\n", "line 4: soon is none of"),
        (QUERY + "expect 1:00 .. 0:59\n  :x\n", "line 4: an interval does not end before it begins: 1:00 .. 0:59"),
        (QUERY + "expect 1:00 .. 2:00 empty\n", "line 4: 1:00 .. 2:00: an interval has rows, or is true"),
        (QUERY + "expect 1:00 .. false\n", "line 4: 1:00 ..: an interval has rows, or is true"),
    ],
)
def test_syntax_errors_have_a_line_number(text: str, message: str) -> None:
    with pytest.raises(PenstockError, match=f"^cars.rsp, {message.replace('?', '[?]')}"):
        logic.read(text, "cars.rsp")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PenstockError, match="the test cannot be read: No such file"):
        logic.read_file(tmp_path / "absent.rsp")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0:30", 30_000_000),
        ("1:02:03", 3_723_000_000),
        ("90", 90_000_000),
        ("0:00.25", 250_000),
        ("30:00:00", 108_000_000_000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T23:59:59.5Z", -500_000),
        ("2009-07-20T22:48:52", 1_248_130_132_000_000),
    ],
)
def test_times(text: str, expected: int) -> None:
    assert times.read_time(text) == expected


@given(st.integers(-(10**14), 4 * 10**15))
def test_times_are_read_as_written(time: int) -> None:
    assert times.read_time(times.write_time(time)) == time


def rows(text: str) -> list[Cells]:
    return [read_cells(line, {"": EX, "xsd": "http://www.w3.org/2001/XMLSchema#"}) for line in text.split("|")]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (":a 1|:b 2", ":b 2|:a 1", True),
        (":a 1|:a 1", ":a 1", False),
        (":a 1|:a 1|:b 1", ":a 1|:b 1|:b 1", False),
        ("1.50", "1.5", True),
        ("1", "1.0", False),
        ("'01'^^xsd:integer", "1", True),
        ("1e0", "1.0000000000001e0", True),
        ("'NaN'^^xsd:double", "'NaN'^^xsd:double", True),
        ("'x'@en", "'x'", False),
        ("- 1", "1 -", False),
        ("- 1", "- 1", True),
        ("_:x _:y|_:y _:x", "_:b _:a|_:a _:b", True),
        ("_:x _:x", "_:a _:b", False),
        ("_:x _:y", "_:a _:a", False),
        ("_:x 1|_:x 2", "_:a 1|_:b 2", False),
        ("_:x 1|_:y 1|_:x 2", "_:a 1|_:b 1|_:b 2", True),
        ("_:x", ":a", False),
        (":a 1", ":a", False),
    ],
)
def test_rows_that_are_equal(left: str, right: str, expected: bool) -> None:
    assert compare.same_rows(rows(left), rows(right)) is expected
    assert compare.same_rows(rows(right), rows(left)) is expected


def test_ordered_answers_are_compared_in_order() -> None:
    assert compare.same_rows(rows("1|2"), rows("1|2"), ordered=True)
    assert not compare.same_rows(rows("1|2"), rows("2|1"), ordered=True)


class PretendingEngine:
    """Gives answers that were put in, and keeps what it was told."""

    def __init__(self, *answers: Answer, error: PenstockError | None = None, at_run: bool = False) -> None:
        self.answers, self.error, self.at_run = answers, error, at_run
        self.streams: dict[str, str] = {}
        self.options: list[dict[str, Any]] = []
        self.loaded: list[str | None] = []

    def load(self, source: bytes, graph: str | None, format: str) -> None:
        self.loaded.append(graph)

    def stream(self, iri: str, source: str, **options: Any) -> None:
        self.streams[iri] = Path(source).read_text("utf-8")
        self.options.append(options)

    def register(self, text: str, **options: Any) -> Any:
        self.options.append(options)
        if self.error and not self.at_run:
            raise self.error
        return SimpleNamespace(answers=lambda: iter(self.answers))

    def run(self) -> None:
        if self.error and self.at_run:
            raise self.error


def at(seconds: int, answer: Answer) -> Answer:
    return replace(answer, time=datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))


def between(start: int, end: int | None, answer: Answer) -> Answer:
    opened = at(start, answer).time
    closed = None if end is None else at(end, answer).time
    return replace(answer, time=closed, valid_from=opened, valid_to=closed)


def judged(expectations: str, *answers: Any, query: str = "SELECT ?x {}", **options: Any) -> list[str]:
    test = logic.read(f"query\n  {query}\n{expectations}")
    return [str(mismatch) for mismatch in logic.run(test, PretendingEngine(*answers, **options))]  # type: ignore[arg-type]


ONE = Answer.solutions(["x"], [{"x": Literal(1)}])
BOTH = Answer.solutions(["x"], [{"x": Literal(2)}, {"x": Literal(1)}])


@pytest.mark.parametrize(
    ("expectations", "answers"),
    [
        ("expect 1:00\n  1\nfinal", [at(60, ONE)]),
        ("expect 1:00\n  1\n  2", [at(60, BOTH)]),
        ("expect 1:00 empty", [at(60, Answer.solutions(["x"], []))]),
        ("expect 1:00 nothing", [at(120, ONE)]),
        ("expect 1:00 true", [at(60, Answer.ask(True))]),
        ("expect 1:00\n  :a :v :b .", [at(60, Answer.graph([Triple(A, V, B)]))]),
        ("expect 1:00 .. 2:00\n  1\nfinal", [between(60, 120, ONE)]),
        ("expect 1:00 ..\n  1\nexpect 1:00 .. 2:00\n  1\n  2\nfinal", [between(60, 120, BOTH), between(60, None, ONE)]),
        ("expect 1:00 .. true", [between(60, None, Answer.ask(True))]),
        ("expect 1:00 .. 2:00 nothing\nexpect 1:00 .. nothing", [between(60, 130, ONE)]),
    ],
)
def test_expectations_that_hold(expectations: str, answers: Sequence[Any]) -> None:
    assert judged(expectations, *answers) == []


@pytest.mark.parametrize(
    ("expectations", "answers", "message"),
    [
        ("expect 1:00\n  2", [at(60, ONE)], "line 3: 1:00: another answer than expected\nexpected:\n"),
        ("expect 1:00\n  1", [at(90, ONE)], "line 3: 1:00: there is no answer; answers came at 1:30"),
        ("expect 1:00\n  1", [], "line 3: 1:00: there is no answer; answers came at no instant at all"),
        ("expect 1:00 nothing", [at(60, ONE)], "line 3: 1:00: expected no answer, got"),
        ("expect 1:00 true", [at(60, Answer.ask(False))], "line 3: 1:00: expected true, got"),
        ("expect 1:00\n  1", [at(60, Answer.ask(False))], "line 3: 1:00: expected rows, and the answer is false"),
        ("expect 1:00\n  1\nfinal", [at(60, ONE), at(120, BOTH)], "line 1: 2:00: not expected, and came:"),
        (
            "expect 1:00 .. 2:00\n  1",
            [between(60, None, ONE), between(0, 120, ONE)],
            "line 3: 1:00 .. 2:00: there is no answer; answers came at 1:00 .., 0:00 .. 2:00",
        ),
        ("expect 2:00\n  1", [between(60, 120, ONE)], "line 3: 2:00: there is no answer; answers came at 1:00 .. 2:00"),
        ("expect 1:00 ..\n  1", [at(60, ONE)], "line 3: 1:00 ..: there is no answer; answers came at 1:00"),
        ("expect 1:00 ..\n  2", [between(60, None, ONE)], "line 3: 1:00 ..: another answer than expected\n"),
        (
            "expect 1:00 .. 2:00\n  1\nfinal",
            [between(60, 120, ONE), between(60, None, ONE)],
            "line 1: 1:00 ..: not expected, and came:",
        ),
        ('expect error "step"', [], 'line 3: expected the error "step", and the query ran'),
        ('expect warning "stream"', [], 'line 3: expected the warning "stream", got none'),
    ],
)
def test_expectations_that_do_not_hold(expectations: str, answers: Sequence[Any], message: str) -> None:
    (said,) = judged(expectations, *answers)
    assert said.startswith(message)


def test_order_by_makes_the_order_count() -> None:
    (said,) = judged("expect 1:00\n  1\n  2", at(60, BOTH), query="SELECT ?x { ?x :v ?y } ORDER BY ?x")
    assert "in this order" in said


@pytest.mark.parametrize(
    ("windows", "options"),
    [("FROM STREAM :s WINDOW ELEMS 3", ""), ("FROM STREAM :s [RANGE 1m TUMBLING]", "options emit=dstream\n")],
)
def test_deltas_and_intervals_are_compared_without_order(windows: str, options: str) -> None:
    query = f"SELECT ?x {windows} {{ ?x :v ?y }} ORDER BY ?x"
    assert judged(f"expect 1:00\n  1\n  2\n{options}", at(60, BOTH), query=query) == []


def test_an_expectation_may_name_a_query_by_its_output_stream() -> None:
    test = logic.read("query\n  ASK {}\nquery\n  REGISTER ISTREAM :out AS ASK {}\nquery\n  ASK {}\nexpect :out true\n")
    assert test.expectations[0].query == 1


@pytest.mark.parametrize("at_run", [False, True])
def test_an_error_is_expected_or_not(at_run: bool) -> None:
    error = QueryError("the step is zero")
    assert judged('expect error "step is zero"', error=error, at_run=at_run) == []
    assert judged('expect error "range"', error=error, at_run=at_run) == [
        'line 3: expected the error "range", got\nthe step is zero'
    ]
    assert judged("expect 1:00\n  1", error=error, at_run=at_run) == ["line 1: the step is zero"]
    placed = QueryError("what is this", place=TextPlace(2, 3, "SELECT ?x {}"))
    assert judged("expect 1:00\n  1", error=placed, at_run=at_run) == ["line 2: column 3: what is this"]


def test_streams_and_options_reach_the_engine() -> None:
    engine = PretendingEngine()
    logic.run(logic.read(FILE), engine)  # type: ignore[arg-type]
    (lines,) = engine.streams.values()
    assert lines.splitlines()[0] == (
        f'<{EX}a> <http://e/t#sees> <{EX}b> "1970-01-01T00:00:30Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .'
    )
    assert engine.options[0] == {"lateness": "10s"}
    assert engine.options[1] == {"name": "cars", "duplicates": "merge"}
    assert engine.loaded == ["http://g/", None]


def test_an_unknown_option_is_an_error() -> None:
    with pytest.raises(PenstockError, match="no such option: speed"):
        judged("expect 1:00\n  1\noptions speed=fast")


def test_the_documented_examples_are_tests() -> None:
    examples = [text for page in pages_with("rsp") for text in blocks(page, "rsp")]
    assert len(examples) >= 3
    assert all(logic.read(text).queries[0].line > 0 for text in examples)

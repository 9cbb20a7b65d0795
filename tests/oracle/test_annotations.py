"""AGGREGATE and GROUP BY where elements are occurrences: against the algebra evaluated as its definitions read.

pyoxigraph knows neither AGGREGATE nor two triples that are equal, so the reference evaluator answers on the snapshots,
given as bags.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Triple

from penstock.algebra.build import translate
from penstock.answer import Answer
from penstock.spark.session.session import private
from tests.oracle.data import PREFIXES
from tests.oracle.repeated_triples import REPEATED_BYTES, repeated
from tests.oracle.strategies import Generated
from tests.oracle.streams import Streamed
from tests.oracle.test_snapshots import evaluated, explained
from tests.support import reference
from tests.support.compare import cell
from tests.support.sampling import sampled
from tests.support.tape import Tape

pytestmark = pytest.mark.usefixtures("plan")

PATTERNS = (
    "{ ?a :i ?n . ?b :i ?n }",
    "{ ?a :p ?b . ?b :i ?n }",
    "{ ?a :p ?b OPTIONAL { ?b :i ?n } }",
    "{ ?a :i ?n OPTIONAL { ?a :p ?b } }",
    "{ { ?a :i ?n } UNION { ?b :i ?n } UNION { ?a :q ?b } }",
    "{ ?a ?c ?b OPTIONAL { ?a :i ?n FILTER(?n > 0) } }",
    "{ ?a :p ?b . ?a :p ?b OPTIONAL { ?b :q ?c } OPTIONAL { ?a :i ?n } }",
    "{ ?a :p ?b MINUS { ?b :q ?a } OPTIONAL { ?a :i ?n } }",
)
FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX")


@pytest.fixture(scope="module")
def session(spark: Any) -> Any:
    return private(spark)


def cases() -> st.SearchStrategy[tuple[Streamed, str]]:
    size = REPEATED_BYTES + 50
    return st.binary(min_size=size, max_size=size).map(case)


def case(tape: bytes) -> tuple[Streamed, str]:
    draw = Tape(tape[:50])
    return repeated(Tape(tape[50:]), draw.pick((1, 1, 2))), draw.pick((annotated, annotated, grouped))(draw)


def annotated(draw: Tape) -> str:
    made = {f"?v{number}": aggregate(draw) for number in range(draw.count(1, 3))}
    annotations = " ".join(f"({name}, {how}, {{{keys(draw)}}})" for name, how in made.items())
    names = " ".join(made)
    select = draw.pick((f"?a ?b ?n {names}", f"DISTINCT ?a {names}", "DISTINCT ?v0"))
    return f"{PREFIXES}SELECT {select} WHERE {draw.pick(PATTERNS)} AGGREGATE {{ {annotations}{condition(draw, made)} }}"


def condition(draw: Tape, made: dict[str, str]) -> str:
    """A filter on what was made. The reference knows integers alone, so none on averages."""
    known = [name for name, how in made.items() if not how.startswith("AVG")]
    if not known or not draw.chance(3):
        return ""
    return f" FILTER({draw.pick(known)} {draw.pick(('>', '<', '='))} {draw.count(0, 3)})"


def grouped(draw: Tape) -> str:
    by = draw.pick(("?a", "?b", "?a ?b", ""))
    made = " ".join(f"({aggregate(draw)} AS ?v{number})" for number in range(draw.count(1, 3)))
    return f"{PREFIXES}SELECT {by} {made} WHERE {draw.pick(PATTERNS)} {f'GROUP BY {by}' if by else ''}"


def aggregate(draw: Tape) -> str:
    name, distinct = draw.pick(FUNCTIONS), draw.pick(("", "", "DISTINCT "))
    return f"{name}({distinct}{draw.pick(('?a', '?b', '*', '?n')) if name == 'COUNT' else '?n'})"


def keys(draw: Tape) -> str:
    return ", ".join(draw.some(("?a", "?b", "?n"), 0, 2))


@given(case=cases())
@sampled(10)
def test_every_element_counts(case: tuple[Streamed, str], session: Any, tmp_path_factory: Any) -> None:
    streamed, text = case
    query = Generated(text, text)
    answers = evaluated(streamed, query, session, tmp_path_factory.mktemp("stream"))
    assert sorted(answers) == streamed.instants(), explained(streamed, query)
    for instant, answer in answers.items():
        assert found(answer) == expected(text, content(streamed, instant)), (
            f"at {instant}\n{explained(streamed, query)}"
        )


def content(streamed: Streamed, instant: int) -> list[Triple]:
    """All that is visible, with what is there more than once."""
    windows = (e.triple for window in streamed.windows for e in streamed.visible(window, instant))
    return [*(quad.triple for quad in streamed.background), *windows]


def expected(text: str, bag: list[Triple]) -> Counter[Any]:
    active = [(t.subject, t.predicate, t.object) for t in bag]
    solutions = reference.answers(translate(text).pattern, cast(Any, active), {})
    return Counter({frozenset((v.name, cell(t)) for v, t in row): count for row, count in solutions.items()})


def found(answer: Answer) -> Counter[Any]:
    return Counter(frozenset((name, cell(term)) for name, term in row.items()) for row in answer.rows)

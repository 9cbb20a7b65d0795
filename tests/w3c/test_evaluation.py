"""The W3C SPARQL 1.1 query evaluation tests, each on a fresh engine whose triples are a DataFrame."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pyoxigraph import QueryResultsFormat

import penstock
from tests.support.compare import Bag, Blank, cell, explain_difference, graph, same_bag, solutions
from tests.w3c.expected import Expected, csv_cells, parse_results, read_expected
from tests.w3c.known_failures import KNOWN_FAILURES
from tests.w3c.manifest import ABSENT, W3CTest, entries_of, path_of

FOLDERS = (
    "aggregates",
    "bind",
    "bindings",
    "cast",
    "construct",
    "csv-tsv-res",
    "exists",
    "functions",
    "grouping",
    "json-res",
    "negation",
    "project-expression",
    "property-path",
    "subquery",
)
TESTS = entries_of(FOLDERS, ("QueryEvaluationTest", "CSVResultFormatTest"))

# Keys that are plain variables after the last brace: then the sequence of their values does not depend on ties.
ORDER_BY = re.compile(r"\bORDER\s+BY\s+((?:(?:ASC|DESC)\s*\(\s*[?$]\w+\s*\)\s*|[?$]\w+\s*)+)", re.IGNORECASE)


def parameters() -> list[Any]:
    def marks(test: W3CTest) -> list[pytest.MarkDecorator]:
        reason = KNOWN_FAILURES.get(test.iri)
        return [pytest.mark.xfail(reason=reason, strict=True)] if reason else []

    return [pytest.param(test, id=test.id, marks=marks(test)) for test in TESTS]


def test_at_most_three_known_failures_and_all_of_them_exist() -> None:
    assert len(KNOWN_FAILURES) <= 3
    assert ABSENT or KNOWN_FAILURES.keys() <= {test.iri for test in TESTS}


@pytest.mark.skipif(ABSENT is not None, reason=str(ABSENT))
def test_the_suite_is_whole() -> None:
    """A manifest read wrongly would make tests vanish in silence."""
    assert len(TESTS) == 235


@pytest.mark.skipif(ABSENT is not None, reason=str(ABSENT))
@pytest.mark.parametrize("test", parameters())
def test_evaluation(test: W3CTest, spark: Any) -> None:
    assert test.result is not None
    text = path_of(test.query).read_text("utf-8")
    answer = ask(test, text, spark)
    if test.result.endswith(".csv"):
        check_csv(answer.to_csv(), path_of(test.result).read_text("utf-8"))
        return
    expected = read_expected(test.result)
    if expected.triples is not None:
        check_bag(graph(answer.triples), graph(expected.triples))
    elif expected.boolean is not None:
        assert answer.boolean is expected.boolean
    else:
        check_solutions(Expected(tuple(answer.variables), list(answer.rows)), expected, order_keys(text))
    check_round_trip(answer, test.result, expected)


def ask(test: W3CTest, text: str, spark: Any) -> Any:
    with penstock.Engine(background="spark", spark=spark) as engine:
        for file in test.data:
            engine.load(path_of(file), base=file)
        for file in test.graph_data:
            engine.load(path_of(file), graph=file, base=file)
        return engine.query(text, base=test.query)


def check_bag(actual: Bag, expected: Bag) -> None:
    assert same_bag(actual, expected), explain_difference(actual, expected)


def check_solutions(actual: Expected, expected: Expected, keys: tuple[str, ...]) -> None:
    assert set(actual.variables) == set(expected.variables)
    names = expected.variables
    check_bag(solutions(names, actual.rows), solutions(names, expected.rows))
    keys = tuple(key for key in keys if key in names)
    assert key_sequence(actual, keys) == key_sequence(expected, keys)


def key_sequence(answer: Expected, keys: tuple[str, ...]) -> list[tuple[object, ...]]:
    """The values of the order keys, row by row; blank nodes have no order among themselves."""
    cells = ([cell(row.get(key)) for key in keys] for row in answer.rows)
    return [tuple("blank" if isinstance(item, Blank) else item for item in row) for row in cells]


def check_csv(actual: str, expected: str) -> None:
    """CSV forgets datatypes, so the cells are compared as written."""
    (header, rows), (expected_header, expected_rows) = csv_cells(actual), csv_cells(expected)
    assert header == expected_header
    check_bag(solutions(header, rows), solutions(header, expected_rows))


def check_round_trip(answer: Any, result: str, expected: Expected) -> None:
    """Where the test is about a result format, what Penstock writes in that format has to say the same."""
    writers = {".tsv": (QueryResultsFormat.TSV, "to_tsv"), ".srj": (QueryResultsFormat.JSON, "to_json")}
    for suffix, (format, method) in writers.items():
        if result.endswith(suffix):
            written = parse_results(getattr(answer, method)(), format)
            assert written.boolean == expected.boolean
            check_solutions(written, expected, ())


def order_keys(text: str) -> tuple[str, ...]:
    """The plain variables by which a query orders its answer (not a sub-query its own)."""
    match = ORDER_BY.search(text, text.rfind("}") + 1)
    return tuple(re.findall(r"[?$](\w+)", match.group(1))) if match else ()

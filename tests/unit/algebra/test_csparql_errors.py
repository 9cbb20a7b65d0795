"""What is wrong with a C-SPARQL query, in one sentence with a place and, where there is one, a way out."""

from __future__ import annotations

import pytest

from penstock.algebra.build import translate
from penstock.errors import QueryError

STEP_OR_TUMBLING = "write [RANGE … STEP …] or [RANGE … TUMBLING]"
FIRST = "FROM STREAM <http://e/s> [RANGE 10m STEP 1m] "
UNIT = "expected a unit of time (ms, s, m, h or d)"
INDEPENDENT = "AGGREGATE clauses are independent of each other: a sub-SELECT can aggregate what they compute"
ARGUMENT = "write it as SUM(?x); only COUNT can do without, and then counts rows"
NOT_SPARQL = "this word is not part of SPARQL"


def error_of(query: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        translate(query)
    return caught.value


def test_a_message_as_people_see_it() -> None:
    assert str(error_of("SELECT *\nFROM STREAM <http://e/> [RANGE 10m SLIDE 1m]\n{}")) == (
        "line 2, column 25: SLIDE cannot stand here\n"
        "  FROM STREAM <http://e/> [RANGE 10m SLIDE 1m]\n"
        "                          ^^^^^^^^^^^^^^^^^^^^\n"
        "hint: write [RANGE … STEP …] or [RANGE … TUMBLING]"
    )


@pytest.mark.parametrize(
    ("window", "marked", "reason", "hint"),
    [
        ("[RANGE 0s STEP 1s]", "0s", "a window of length 0 holds nothing", None),
        ("[RANGE 0 s TUMBLING]", "0 s", "a window of length 0 holds nothing", None),
        ("[RANGE 5m STEP 0m]", "0m", "a window with step 0 never moves", None),
        ("[TRIPLES 0]", "0", "a window of 0 triples holds nothing", None),
        ("[TRIPLES 5 STEP 0]", "0", "a window with step 0 never moves", None),
        ("[RANGE 99999999d STEP 1s]", "99999999d", "this is longer than 10000 years", None),
        ("[TRIPLES 9999999999999999]", "9999999999999999", "this number is too large", None),
        ("[RANGE 10m]", "[RANGE 10m]", "this window has no STEP", STEP_OR_TUMBLING),
        ("[RANGE 10m SLIDE 1m]", "[RANGE 10m SLIDE 1m]", "SLIDE cannot stand here", STEP_OR_TUMBLING),
        ("[RANGE 10m TUMBLNG]", "TUMBLNG", NOT_SPARQL, "did you mean TUMBLING?"),
        ("[RNAGE 10m TUMBLING]", "RNAGE", NOT_SPARQL, "did you mean RANGE?"),
        ("[RANGE 10m SETP 1m]", "SETP", NOT_SPARQL, "did you mean STEP?"),
        ("[TRIPELS 10]", "TRIPELS", NOT_SPARQL, "did you mean TRIPLES?"),
        ("[RANGE 10 STEP 5s]", "10", "10 has no unit of time", "write 10s or 10ms, for instance"),
        ("[RANGE 10s STEP 5]", "5", "5 has no unit of time", "write 5s or 5ms, for instance"),
        ("[RANGE 10 mintes STEP 5s]", "mintes", "mintes is no unit of time", "did you mean minutes?"),
        ("[RANGE 2 fortnights TUMBLING]", "fortnights", "fortnights is no unit of time", UNIT),
        ("[RANGE 1.5m TUMBLING]", "1.5", "1.5 cannot stand here", "expected a whole number or TRIPLES"),
        ("[TRIPLES 10m]", "m", "m cannot stand here", "expected ], STEP or TUMBLING"),
        ("RANGE 10m", "RANGE", "RANGE cannot stand here", "a stream needs a window, as in [RANGE 10m STEP 1m]"),
    ],
)  # fmt: skip
def test_windows(window: str, marked: str, reason: str, hint: str | None) -> None:
    before = "ASK FROM STREAM <http://e/s> "
    error = error_of(f"{before}{window} {{}}")
    assert (error.reason, error.hint) == (reason, hint)
    assert error.column is not None
    assert window[error.column - 1 - len(before) :].startswith(marked)


@pytest.mark.parametrize(
    ("query", "marked", "reason", "hint"),
    [
        (f"ASK {FIRST} FROM STREAM <http://e/s> [TRIPLES 5] {{}}", "<http://e/s> [T",
         "this stream has another window already",
         "name the windows, as in FROM NAMED WINDOW <w> ON <s> […], or use one window for both"),
        ("REGSITER QUERY q AS ASK {}", "REGSITER", NOT_SPARQL, "did you mean REGISTER?"),
        ("REGISTER QUREY q AS ASK {}", "QUREY", NOT_SPARQL, "did you mean QUERY?"),
        ("REGISTER QUERY q COMPUTD EVERY 1s AS ASK {}", "COMPUTD", NOT_SPARQL, "did you mean COMPUTED?"),
        ("REGISTER QUERY q COMPUTED EVERY 0s AS ASK {}", "0s", "a query cannot be computed every 0", None),
        ("REGISTER QUERY q COMPUTED EVERY 5 AS ASK {}", "AS", "AS cannot stand here", UNIT),
        ("REGISTER QUERY two words AS ASK {}", "words", NOT_SPARQL, "expected AS or COMPUTED"),
        ("REGISTER STREAM <s> AS DESCRIBE <http://e/>", "<s>",
         "<s> is a relative IRI, and the query has no base",
         "add a line such as  BASE <http://example.org/>  or give a base with the query"),
        ("REGISTER QUERY no:q AS ASK {}", "no:q", "the prefix no: is not declared",
         "declare it before the query, as in  PREFIX no: <http://example.org/>"),
        ("ASK FROM STRAEM <http://e/s> [TRIPLES 5] {}", "STRAEM", NOT_SPARQL, "did you mean STREAM?"),
        ("ASK FROM STREAM [TRIPLES 5] {}", "[", "[ cannot stand here", "expected a name or an IRI"),
    ],
)  # fmt: skip
def test_streams_and_registration(query: str, marked: str, reason: str, hint: str | None) -> None:
    error = error_of(query)
    assert (error.reason, error.hint, error.line) == (reason, hint, 1)
    assert error.column is not None
    assert query[error.column - 1 :].startswith(marked)


@pytest.mark.parametrize(
    ("clauses", "marked", "reason", "hint"),
    [
        ("AGGREGATE { (?n, SUM, ?s) }", "SUM", "SUM needs a variable to aggregate", ARGUMENT),
        ("AGGREGATE { (?n, SUM(?x), ?s) }", "?x", "WHERE does not bind ?x",
         "AGGREGATE groups and aggregates what WHERE binds"),
        ("AGGREGATE { (?n, COUNT, {?s, ?value}) }", "?value", "WHERE does not bind ?value", "did you mean ?valu?"),
        ("AGGREGATE { (?s, COUNT, {}) }", "?s", "?s is already bound, so AGGREGATE cannot bind it",
         "use a new variable"),
        ("AGGREGATE { (?n, COUNT, {}) (?n, COUNT, ?s) }", "?n, COUNT, ?s",
         "?n is already bound, so AGGREGATE cannot bind it", "use a new variable"),
        ("AGGREGATE { (?n, COUNT, {}) } AGGREGATE { (?m, SUM(?n), {}) }", "?n)", "WHERE does not bind ?n",
         INDEPENDENT),
        ("AGGREGATE { (?n, COUNT, {?m}) } AGGREGATE { (?m, COUNT, {}) }", "?m", "WHERE does not bind ?m",
         INDEPENDENT),
        ("AGGREGATE { (?n, COUNT, {}) FILTER(SUM(?s) > 1) }", "SUM",
         "SUM is an aggregate, which FILTER cannot compute", "use HAVING after GROUP BY, or a sub-SELECT"),
        ("AGGREGATE { (?n, MAX(COUNT(?s)), {}) }", "COUNT", "COUNT stands inside MAX", "use a sub-SELECT"),
        ("AGGREGATE { (?n, SAMPLE(?s), {}) }", "SAMPLE", "SAMPLE cannot stand here",
         "expected AVG, COUNT, MAX, MIN or SUM"),
        ("AGGREGATE { (?n, CUONT, {}) }", "CUONT", NOT_SPARQL, "did you mean COUNT?"),
        ("AGGREGAT { (?n, COUNT, {}) }", "AGGREGAT ", NOT_SPARQL, "did you mean AGGREGATE?"),
        ("AGGREGATE { (?n, COUNT, {?s ?valu}) }", "?valu", "?valu cannot stand here", "expected , or }"),
    ],
)  # fmt: skip
def test_aggregate(clauses: str, marked: str, reason: str, hint: str | None) -> None:
    before = "SELECT ?s WHERE { ?s ?p ?valu } "
    error = error_of(before + clauses)
    assert (error.reason, error.hint) == (reason, hint)
    assert error.column is not None
    assert clauses[error.column - 1 - len(before) :].startswith(marked)


def test_select_cannot_bind_what_aggregate_has_bound() -> None:
    error = error_of("SELECT (1 AS ?n) { ?s ?p ?o } AGGREGATE { (?n, COUNT, ?s) }")
    assert error.reason == "?n is already in scope, so AS cannot bind it again"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("ASK { ?s ?p ?o FILTER(timestamp(1) > 1) }", "TIMESTAMP takes a variable"),
        ("ASK { ?s ?p ?o FILTER(timestamp(?s, 1) > 1) }", "the stream that TIMESTAMP takes is an IRI or a variable"),
        ("ASK { ?s ?p ?o FILTER(timestamp()) }", "TIMESTAMP takes 1 or 2 arguments, not 0"),
        ("SELECT (timestamp(?s) AS ?t) { ?s ?p ?o } GROUP BY ?s", "a group has no timestamp of its own"),
        ("SELECT ?s { ?s ?p ?o } GROUP BY ?s ORDER BY (timestamp(?s) + 1)", "a group has no timestamp of its own"),
        ("ASK { ?s ?p ?o } GROUP BY ?s HAVING (timestamp(?s) > 1)", "a group has no timestamp of its own"),
        ("ASK { ?s ?p ?o FILTER(timestmp(?s)) }", "there is no function timestmp"),
        ("SELECT sum(?a + 1) { ?s ?p ?a }", "SUM cannot stand here"),
    ],
)
def test_functions(query: str, reason: str) -> None:
    assert error_of(query).reason == reason

"""EP-SPARQL: what its words mean, where they may stand, and what is wrong where they may not."""

from __future__ import annotations

import warnings

import pytest
from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.expressions import Var
from penstock.algebra.sse import read, write
from penstock.algebra.sse.query import read_query, write_query
from penstock.algebra.windows import SlideWindow
from penstock.errors import PenstockWarning, QueryError
from penstock.optimise import Uniform, optimise
from penstock.translate import LANGUAGES, CannotSay, translated
from tests.support.event_reference import Element, World, rows

PREFIX = "PREFIX : <http://example.org/> "
NS = "http://example.org/"
A, B, C, D = (f"{{ ?x :{letter} ?{letter} }}" for letter in "abcd")
a, b, c, d = (f"(bgp (?x :{letter} ?{letter}))" for letter in "abcd")


def pattern(where: str) -> str:
    """The plan of WHERE alone."""
    found = translate(f"{PREFIX} ASK {{ {where} }}").pattern
    return write(found)


@pytest.mark.parametrize(
    ("where", "plan"),
    [
        (f"{A} SEQ {B}", f"(seq {a} {b})"),
        (f"{A} EQUALS {B}", f"(equals {a} {b})"),
        (f"{A} OPTIONALSEQ {B}", f"(optionalseq {a} {b})"),
        (f"{A} EQUALSOPTIONAL {B}", f"(equalsoptional {a} {b})"),
        (f"{A} seq {B} Equals {C} optionalSEQ {D}", f"(optionalseq (equals (seq {a} {b}) {c}) {d})"),
        (f"{A} UNION {B} SEQ {C}", f"(seq (union {a} {b}) {c})"),
        (f"{A} SEQ {B} UNION {C}", f"(union (seq {a} {b}) {c})"),
        (f"{A} SEQ {{ {B} UNION {C} }}", f"(seq {a} (union {b} {c}))"),
        (f"{A} SEQ {{ {B} SEQ {C} }}", f"(seq {a} (seq {b} {c}))"),
        (f"?x :d ?d . {A} SEQ {B} . ?x :c ?c", f"(join (join {d} (seq {a} {b})) {c})"),
        (f"{A} SEQ {B} OPTIONAL {C} MINUS {D}", f"(minus (leftjoin (seq {a} {b}) {c}) {d})"),
        (f"{A} SEQ {B} FILTER (?a > ?b)", f"(filter (> ?a ?b) (seq {a} {b}))"),
        (f"{A} SEQ {B} BIND (getSTARTTIME() AS ?s)", f"(extend ((?s (getstarttime))) (seq {a} {b}))"),
        ("{ ?x :a ?a FILTER (?a > 1) } SEQ { ?x :b ?b }", f"(seq (filter (> ?a 1) {a}) {b})"),
        ("{ ?x :a ?a FILTER (?a > ?b) } OPTIONALSEQ { ?x :b ?b FILTER (?b > 1) }",
         f"(optionalseq {a} (filter (> ?b 1) {b}) (> ?a ?b))"),
        ("{ ?x :a ?a FILTER (?a > 1) } EQUALSOPTIONAL { ?x :b ?b FILTER (?a > ?b) }",
         f"(equalsoptional (filter (> ?a 1) {a}) {b} (> ?a ?b))"),
        ("{ ?x :a ?a FILTER (?a > 1) } SEQ { ?x :b ?b } OPTIONALSEQ { ?x :c ?c }",
         f"(optionalseq (seq (filter (> ?a 1) {a}) {b}) {c})"),
        ("{ ?x :a ?a FILTER (getENDTIME() < NOW()) }", f"(filter (< (getendtime) (now)) {a})"),
        ("?x :a ?a FILTER EXISTS { ?x :b ?b FILTER (GETDURATION() < ?b) }",
         f"(filter (exists (filter (< (getduration) ?b) {b})) {a})"),
        (f"{{ SELECT ?x {{ {A} SEQ {B} }} GROUP BY ?x HAVING (getDURATION() < ?x) }}",
         f"(project (?x) (filter (< (getduration) ?x) (group (?x) () (seq {a} {b}))))"),
    ],
)  # fmt: skip
def test_patterns(where: str, plan: str) -> None:
    assert pattern(where) == write(read(plan))


def test_names_may_be_words_of_the_language() -> None:
    text = """PREFIX seq: <http://e/seq#> PREFIX : <http://e/>
        REGISTER QUERY equals AS SELECT ?seq ?rule FROM STREAM seq
        { ?seq seq:equals ?rule ; :optionalseq :seq , seq:not . }"""
    query = translate(text)
    assert query.registration == ops.Registration("equals")
    assert query.streams == (ops.StreamWindow(NamedNode("urn:penstock:stream:seq"), SlideWindow(None)),)
    assert query.variables == (Var("seq"), Var("rule"))


# SELECT without brackets


@pytest.mark.parametrize(
    ("select", "same"),
    [
        ("?n AS ?a + 1", "(?a + 1 AS ?n)"),
        ("?n AS ?a + 1 ?m AS ?b * 2 ?x", "(?a + 1 AS ?n) (?b * 2 AS ?m) ?x"),
        ("?n AS ?a + 1, ?m AS -?b", "(?a + 1 AS ?n) (-?b AS ?m)"),
        ("?a / ?b AS ?n", "(?a / ?b AS ?n)"),
        ("?x ?a + ?b * 2 AS ?n ?b", "?x (?a + ?b * 2 AS ?n) ?b"),
        ("?a * 2 - ?b AS ?n", "(?a * 2 - ?b AS ?n)"),
        ("?a -1 AS ?n", "(?a -1 AS ?n)"),
        ("?a AS ?n", "(?a AS ?n)"),
        ("?n AS ?a", "(?a AS ?n)"),
        ("?n AS getDURATION()", "(getDURATION() AS ?n)"),
        ("DISTINCT ?n AS ?a + 1 (?b AS ?m)", "DISTINCT (?a + 1 AS ?n) (?b AS ?m)"),
    ],
)
def test_select_without_brackets(select: str, same: str) -> None:
    where = "{ ?x :a ?a ; :b ?b }"
    assert translate(f"{PREFIX} SELECT {select} {where}") == translate(f"{PREFIX} SELECT {same} {where}")
    inner = [translate(f"{PREFIX} ASK {{ {{ SELECT {items} {where} }} }}") for items in (select, same)]
    assert inner[0] == inner[1]


# NOT between two SEQ


def test_not_in_between() -> None:
    between = "(extend ((?.not0 true)) (bgp (?x :c ?c)))"
    plan = f"""(project (?a ?b ?x) (filter (! (bound ?.not0))
        (equalsoptional (seq {a} {b}) (seq (seq {a} {between}) {b}))))"""
    assert pattern(f"{A} SEQ NOT {C} SEQ {B}") == write(read(plan))


def test_variables_inside_not_are_not_visible() -> None:
    query = translate(f"{PREFIX} SELECT * {{ {A} SEQ NOT {C} SEQ {B} BIND (1 AS ?c) }}")
    assert [var.name for var in query.variables] == ["x", "a", "b", "c"]


def test_a_filter_inside_not_may_read_outer_variables() -> None:
    where = f"{A} SEQ NOT {{ ?x :c ?c FILTER (?c > ?a) FILTER (?c < 9) FILTER (getDURATION() < ?c) }} SEQ {B}"
    between = "(extend ((?.not0 true)) (filter (&& (< ?c 9) (< (getduration) ?c)) (bgp (?x :c ?c))))"
    plan = f"""(project (?a ?b ?x) (filter (! (bound ?.not0))
        (equalsoptional (seq {a} {b}) (seq (seq {a} {between}) {b}) (> ?c ?a))))"""
    assert pattern(where) == write(read(plan))


@pytest.mark.parametrize(
    ("where", "times", "found"),
    [
        (f"{A} SEQ NOT {C} SEQ {B}", {"a": 1, "b": 5}, 1),
        (f"{A} SEQ NOT {C} SEQ {B}", {"a": 1, "b": 5, "c": 3}, 0),
        (f"{A} SEQ NOT {C} SEQ {B}", {"a": 1, "b": 5, "c": 1}, 1),
        (f"{A} SEQ NOT {C} SEQ {B}", {"a": 1, "b": 5, "c": 5}, 1),
        (f"{A} SEQ NOT {C} SEQ {B}", {"a": 2, "b": 5, "c": 1}, 1),
        (f"{A} SEQ NOT {C} SEQ {B} SEQ {D}", {"a": 1, "b": 5, "c": 6, "d": 7}, 1),
        (f"{A} SEQ {B} SEQ NOT {C} SEQ {D}", {"a": 1, "b": 5, "c": 6, "d": 7}, 0),
        (f"{A} SEQ {B} SEQ NOT {C} SEQ {D}", {"a": 1, "b": 5, "c": 3, "d": 7}, 1),
        (f"{A} SEQ NOT {C} SEQ {B} SEQ NOT {C} SEQ {D}", {"a": 1, "b": 5, "c": 3, "d": 7}, 0),
    ],
)
def test_not_means_that_nothing_is_in_between(where: str, times: dict[str, int], found: int) -> None:
    x = NamedNode(f"{NS}x")
    elements = tuple(Element((x, NamedNode(f"{NS}{name}"), Literal(1)), time, time) for name, time in times.items())
    query = translate(f"{PREFIX} ASK {{ {where} }}")
    assert len(rows(query.pattern, World(elements))) == found
    assert len(rows(optimise(query, Uniform()).query.pattern, World(elements))) == found


# Queries of events, and rules


@pytest.mark.parametrize(
    ("query", "emit"),
    [
        (f"ASK {{ {A} SEQ {B} }}", "events"),
        ("ASK { ?x :a ?a FILTER (getDURATION() > ?a) }", "events"),
        ("ASK FROM STREAM :s { ?x :a ?a }", "events"),
        ("ASK FROM NAMED STREAM :s { GRAPH :s { ?x :a ?a } }", "events"),
        ("REGISTER RULE r AS CONSTRUCT { ?x :b ?a } { ?x :a ?a }", "events"),
        ("ASK { ?x :a ?a }", None),
        (f"ASK FROM STREAM :s [RANGE 10s STEP 1s] {{ {A} SEQ {B} }}", None),
        (f"ASK FROM STREAM :s WINDOW RANGE 10 S SLIDE {{ {A} SEQ {B} }}", "intervals"),
        (f"ASK {{ STREAM :s [NOW] {{ {A} SEQ {B} }} }}", "istream"),
        (f"REGISTER DSTREAM :o AS ASK FROM NAMED WINDOW :w ON :s [NOW] {{ WINDOW :w {{ {A} SEQ {B} }} }}", "dstream"),
        (f"ASK FROM STREAM :s {{ {A} SEQ {B} WINDOW ELEMS 9 }}", "intervals"),
    ],
)
def test_which_queries_are_of_events(query: str, emit: str | None) -> None:
    assert translate(PREFIX + query).emit == emit


def test_streams_without_windows_stay_visible() -> None:
    found = translate(f"{PREFIX} ASK FROM STREAM :s FROM NAMED STREAM :t {{ {A} }}").streams
    assert found == (
        ops.StreamWindow(NamedNode(f"{NS}s"), SlideWindow(None)),
        ops.StreamWindow(NamedNode(f"{NS}t"), SlideWindow(None), named=True),
    )
    assert translate(f"{PREFIX} ASK {{ {A} SEQ {B} }}").streams == ()


@pytest.mark.parametrize(
    ("query", "registration"),
    [
        (f"CONSTRUCT {{ ?x :c ?a }} {{ {A} SEQ {B} }}", ops.Registration(None, None, ops.RULES)),
        (f"REGISTER RULE r AS CONSTRUCT {{ ?x :c ?a }} {{ {A} SEQ {B} }}", ops.Registration("r", None, ops.RULES)),
        (f"REGISTER RULE r AS CONSTRUCT {{ ?x :c ?a }} {A}", ops.Registration("r", None, ops.RULES)),
        (f"REGISTER QUERY r AS CONSTRUCT {{ ?x :c ?a }} {{ {A} SEQ {B} }}", ops.Registration("r", None, ops.RULES)),
        (f"REGISTER STREAM :r AS CONSTRUCT {{ ?x :c ?a }} {{ {A} SEQ {B} }}",
         ops.Registration(f"{NS}r", None, NamedNode(f"{NS}r"))),
        (f"REGISTER QUERY r AS SELECT * {{ {A} SEQ {B} }}", ops.Registration("r")),
        (f"CONSTRUCT {{ ?x :c ?a }} {A}", None),
    ],
)  # fmt: skip
def test_rules(query: str, registration: ops.Registration | None) -> None:
    assert translate(PREFIX + query).registration == registration


def test_whole_queries_can_be_written_and_read() -> None:
    query = translate(f"{PREFIX} REGISTER RULE r AS CONSTRUCT {{ ?x :c ?a }} FROM STREAM :s {{ {A} SEQ {B} }}")
    assert read_query(write_query(query)) == query


# Errors and doubts

BETWEEN = "NOT stands between two events, as in {…} SEQ NOT {…} SEQ {…}"
SO_FAR = f"{BETWEEN}; for absence so far, write FILTER NOT EXISTS {{…}}"
ONCE = "an event query delivers each solution once, when it is complete"
WINDOWS = "FROM STREAM :s [NOW]"


@pytest.mark.parametrize(
    ("query", "marked", "reason", "hint"),
    [
        (f"ASK {{ NOT {A} SEQ {B} }}", "NOT", "NOT cannot stand first", SO_FAR),
        (f"ASK {{ NOT {A} }}", "NOT", "NOT cannot stand first", SO_FAR),
        (f"ASK {{ {A} SEQ NOT {B} }}", "NOT", "NOT cannot stand last: a later event may still match it",
         SO_FAR),
        (f"ASK {A} SEQ NOT {B} FILTER (?a > 1)", "NOT",
         "NOT cannot stand last: a later event may still match it", SO_FAR),
        (f"ASK {{ {A} SEQ NOT {B} SEQ NOT {C} SEQ {D} }}", f"NOT {C}", "NOT cannot stand after another NOT",
         "NOT { {…} UNION {…} } is neither of them, and NOT { {…} SEQ {…} } not one after the other"),
        (f"ASK {{ {A} UNION NOT {B} SEQ {C} }}", "NOT", "NOT cannot stand after UNION", BETWEEN),
        (f"ASK {{ {A} SEQ NOT {B} EQUALS {C} }}", "EQUALS", "EQUALS cannot stand after NOT {…}", BETWEEN),
        (f"ASK {{ {A} SEQ ?x :b ?b }}", "?x :b", "?x cannot stand here", "expected NOT or {"),
        (f"ASK {{ SEQ {B} }}", "SEQ", "SEQ cannot stand here", None),
        (f"ASK {{ {A} SQE {B} }}", "SQE", "this word is not part of SPARQL", "did you mean SEQ?"),
        (f"ASK {{ {A} SEQ {B} FILTER (getDURATION(?x) < 3) }}", "getDURATION",
         "getDURATION takes no arguments, not 1", None),
        (f"ASK {{ {A} SEQ {B} FILTER (getDURTION() < 3) }}", "getDURTION",
         "there is no function getDURTION", "did you mean getDURATION?"),
        ("ASK { ?x :a ?a FILTER (getENDTIME < 3) }", "<", "< cannot stand here", "expected ("),
        (f"REGISTER RULE r AS SELECT * {A}", "r AS", "a rule has to be a CONSTRUCT query",
         "write REGISTER QUERY"),
        (f"REGISTER RULE r AS CONSTRUCT {{ ?x :b 1 }} {WINDOWS} {A}", "r AS",
         "a rule cannot read windows", "REGISTER STREAM derives a stream from windows"),
        (f"REGISTER ISTREAM r AS ASK {{ {A} SEQ {B} }}", "r AS", f"{ONCE}, and has no ISTREAM",
         "write REGISTER QUERY, or give the streams windows"),
        (f"REGISTER QUERY r COMPUTED EVERY 5s AS ASK {{ {A} SEQ {B} }}", "5s",
         f"{ONCE}, and not at times of its own", "leave out COMPUTED EVERY"),
        (f"SELECT ?a AS ?b {{ {A} SEQ {B} }}", "?a", "?a is already in scope, so AS cannot bind it again", None),
        (f"SELECT ?n AS ?a ?n AS ?b {{ {A} SEQ {B} }}", "?n AS ?b", "?n is projected twice",
         "give one of them another name"),
    ],
)  # fmt: skip
def test_errors(query: str, marked: str, reason: str, hint: str | None) -> None:
    with pytest.raises(QueryError) as caught:
        translate(PREFIX + query)
    error = caught.value
    assert (error.reason, error.hint) == (reason, hint)
    assert error.column is not None
    assert query[error.column - 1 - len(PREFIX) :].startswith(marked)


NEVER = "line 1: {} never has a solution here, as data that comes from no stream has no time"


@pytest.mark.parametrize(
    ("query", "said", "caret"),
    [
        (f"ASK {{ {A} SEQ {{ VALUES ?x {{ 1 }} }} }}", NEVER.format("SEQ"),
         "                       ^"),
        (f"ASK FROM STREAM :s {{ {{ GRAPH :g {A} }} EQUALS {B} }}", NEVER.format("EQUALS"),
         "                     ^"),
        (f"ASK FROM NAMED STREAM :s {{ {{ GRAPH :s {A} }} EQUALS {B} }}", None, ""),
        (f"ASK {{ {{ GRAPH :g {A} }} EQUALS {B} }}", None, ""),
        (f"ASK {{ {A} UNION {{ VALUES ?x {{ 1 }} }} SEQ {B} }}", None, ""),
        ("SELECT (?aa + 1 AS ?n) { ?x :a ?aaa }", "line 1: ?aa is never bound; did you mean ?aaa?",
         "        ^^^"),
        ("SELECT (?aa + 1 AS ?n) (?n + 1 AS ?n2) { ?x :a ?aa }", None, ""),
        ("SELECT (?key + 1 AS ?n) { ?x :a ?keys } GROUP BY (?keys * 2 AS ?key)", None, ""),
    ],
)  # fmt: skip
def test_doubts(query: str, said: str | None, caret: str) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        translate(PREFIX + query)
    expected = [f"{said}\n  {PREFIX}{query}\n  {' ' * len(PREFIX)}{caret}"] if said else []
    assert [str(each.message) for each in found if each.category is PenstockWarning] == expected


# Other languages


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"ASK FROM STREAM :s [RANGE 9s STEP 1s] {{ {A} UNION {C} SEQ {B} }}", "SEQ asks when its operands occurred"),
        ("ASK FROM STREAM :s [RANGE 9s STEP 1s] { ?x :a ?a FILTER (getENDTIME() < NOW()) }",
         "getENDTIME() asks when something occurred"),
        ("ASK FROM STREAM :s { ?x :a ?a }",
         "its streams have no windows, and each solution is delivered once, when it is complete"),
    ],
)  # fmt: skip
def test_event_queries_do_not_translate_to_other_languages(language: str, query: str, reason: str) -> None:
    with pytest.raises(CannotSay) as caught:
        translated(PREFIX + query, language)
    assert str(caught.value).endswith(f"has no equivalent: {reason}")

"""C-SPARQL to algebra: windows, registration, AGGREGATE, timestamps."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.expressions import Var
from penstock.algebra.sse import read, write
from penstock.algebra.windows import CountWindow, TimeWindow, Window
from penstock.errors import PenstockWarning

PREFIX = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
S = NamedNode("http://example.org/s")
SECOND = 1_000_000
MINUTE = 60 * SECOND
WINDOW = "[RANGE 10m STEP 1m]"


@pytest.fixture(autouse=True)
def no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", PenstockWarning)
        yield


def query(text: str) -> ops.Query:
    return translate(PREFIX + text)


def plan_is(text: str, plan: str) -> None:
    assert write(query(text).pattern) == write(read(plan))


# Windows


def window(text: str) -> Window:
    (stream,) = query(f"ASK FROM STREAM :s [{text}] {{}}").streams
    assert (stream.iri, stream.named) == (S, False)
    return stream.window


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("RANGE 10m STEP 1m", TimeWindow(10 * MINUTE, MINUTE)),
        ("range 10 M step 1 M", TimeWindow(10 * MINUTE, MINUTE)),
        ("RANGE 3m STEP 10s", TimeWindow(3 * MINUTE, 10 * SECOND)),
        ("RANGE 1s STEP 1s", TimeWindow(SECOND, SECOND)),
        ("RANGE 1500ms STEP 500 ms", TimeWindow(1_500_000, 500_000)),
        ("RANGE 24 hours TUMBLING", TimeWindow(24 * 60 * MINUTE, 24 * 60 * MINUTE)),
        ("RANGE 24h tumbling", TimeWindow(24 * 60 * MINUTE, 24 * 60 * MINUTE)),
        ("RANGE # how long\n 1d TUMBLING", TimeWindow(24 * 60 * MINUTE, 24 * 60 * MINUTE)),
        ("RANGE TRIPLES 100", CountWindow(100, 1)),
        ("TRIPLES 100", CountWindow(100, 1)),
        ("TRIPLES 100 STEP 10", CountWindow(100, 10)),
        ("RANGE TRIPLES 100 STEP 100", CountWindow(100, 100)),
        ("triples 100 tumbling", CountWindow(100, 100)),
    ],
)
def test_windows(text: str, meant: Window) -> None:
    assert window(text) == meant


UNITS = {
    1_000: "ms msec msecs millisecond milliseconds",
    SECOND: "s sec secs second seconds",
    MINUTE: "m min mins minute minutes",
    60 * MINUTE: "h hour hours",
    24 * 60 * MINUTE: "d day days",
}


@pytest.mark.parametrize(("size", "unit"), [(size, unit) for size, units in UNITS.items() for unit in units.split()])
def test_units_glued_or_apart_in_any_case(size: int, unit: str) -> None:
    for written in (f"2{unit}", f"2 {unit.upper()}", f"2\n{unit.capitalize()}"):
        assert window(f"RANGE {written} TUMBLING") == TimeWindow(2 * size, 2 * size)


def test_streams_beside_graphs_each_with_its_window() -> None:
    made = query(f"ASK FROM :g FROM STREAM :s {WINDOW} FROM NAMED :h FROM NAMED STREAM :t [TRIPLES 5] {{}}")
    assert made.dataset == ops.Dataset((NamedNode("http://example.org/g"),), (NamedNode("http://example.org/h"),))
    assert made.streams == (
        ops.StreamWindow(S, TimeWindow(10 * MINUTE, MINUTE)),
        ops.StreamWindow(NamedNode("http://example.org/t"), CountWindow(5), named=True),
    )


def test_streams_alone_leave_the_dataset_as_it_is() -> None:
    assert query(f"ASK FROM STREAM :s {WINDOW} {{}}").dataset is None


def test_dataset_clauses_before_the_form_are_merged_with_those_after_it() -> None:
    early = f"FROM :g FROM STREAM :s {WINDOW} "
    late = f"FROM :h FROM STREAM <http://example.org/t> {WINDOW} "
    for form in ("SELECT * {0} {{}}", "CONSTRUCT {{}} {0} {{}}", "CONSTRUCT {0} WHERE {{}}", "ASK {0} {{}}"):
        made, together = query(early + form.format(late)), query(form.format(early + late))
        assert (made.dataset, made.streams) == (together.dataset, together.streams)
        assert len(made.streams) == 2


def test_a_stream_given_twice_with_one_window_counts_once_and_is_named_only_if_always_so() -> None:
    named, plain = f"FROM NAMED STREAM :s {WINDOW}", f"FROM STREAM :s {WINDOW}"
    for clauses, is_named in ((named + plain, False), (plain + named, False), (named + named, True)):
        assert query(f"ASK {clauses} {{}}").streams == (ops.StreamWindow(S, TimeWindow(10 * MINUTE, MINUTE), is_named),)


@pytest.mark.parametrize("name", ["Cars", "cars-per-gate", "select", "stream", "count", "2nd_line", "a", "Größe"])
def test_a_bare_stream_name_is_one_iri_for_writers_and_readers(name: str) -> None:
    iri = NamedNode(f"urn:penstock:stream:{name}")
    derived = query(f"REGISTER STREAM {name} AS CONSTRUCT WHERE {{}}").registration
    assert derived == ops.Registration(name, None, iri)
    for named in ("", "NAMED "):
        (stream,) = query(f"ASK FROM {named}STREAM {name} {WINDOW} {{}}").streams
        assert stream.iri == iri


# Registration


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("REGISTER QUERY q AS ASK {}", ops.Registration("q")),
        ("register query q computed every 5m as ASK {}", ops.Registration("q", 5 * MINUTE)),
        ("REGISTER QUERY :s COMPUTED EVERY 1 hour AS ASK {}", ops.Registration(S.value, 60 * MINUTE)),
        ("REGISTER QUERY <http://e/q> AS SELECT * {}", ops.Registration("http://e/q")),
        ("REGISTER QUERY q AS CONSTRUCT WHERE {}", ops.Registration("q")),
        ("REGISTER STREAM :s AS CONSTRUCT WHERE {}", ops.Registration(S.value, None, S)),
        ("REGISTER STREAM <http://example.org/s> AS DESCRIBE :a", ops.Registration(S.value, None, S)),
        ("REGISTER STREAM query COMPUTED EVERY 10s AS DESCRIBE * {}",
         ops.Registration("query", 10 * SECOND, NamedNode("urn:penstock:stream:query"))),
    ],
)  # fmt: skip
def test_registration(text: str, meant: ops.Registration) -> None:
    assert query(text).registration == meant


def test_a_query_without_register_has_no_registration() -> None:
    assert query("ASK {}").registration is None


@pytest.mark.parametrize(
    "text",
    [
        "BASE <http://example.org/> PREFIX e: <> REGISTER STREAM {} AS CONSTRUCT {{ e:x e:y <z> }} WHERE {{}}",
        "REGISTER STREAM {} AS BASE <http://example.org/> PREFIX e: <> CONSTRUCT {{ e:x e:y <z> }} WHERE {{}}",
        "BASE <http://example.org/> REGISTER STREAM {} AS PREFIX e: <> CONSTRUCT {{ e:x e:y <z> }} WHERE {{}}",
    ],
)
def test_prefixes_and_base_before_or_after_register_hold_for_its_name_too(text: str) -> None:
    x, y, z = (NamedNode(f"http://example.org/{name}") for name in "xyz")
    for name in ("e:s", "<s>", "<http://example.org/s>"):
        made = translate(text.format(name))
        assert made.registration == ops.Registration(S.value, None, S)
        assert made.form == ops.Construct((ops.TriplePattern(x, y, z),))


@pytest.mark.parametrize(("form", "word"), [("SELECT ?s { ?s ?p ?o }", "SELECT"), ("ASK {}", "ASK")])
def test_a_stream_without_triples_is_no_stream_and_a_warning_says_so(form: str, word: str) -> None:
    with pytest.warns(PenstockWarning) as caught:
        made = query(f"REGISTER STREAM Turning AS {form}")
    assert made.registration == ops.Registration("Turning")
    assert [str(warning.message) for warning in caught] == [
        f"Turning derives no stream: {word} gives no triples, so its answers are only delivered\n"
        f"  {PREFIX}REGISTER STREAM Turning AS {form}\n"
        f"  {' ' * len(PREFIX)}                ^^^^^^^"
    ]


# AGGREGATE

ROWS = "(bgp (?g :p ?x))"
WHERE = "{ ?g :p ?x }"


@pytest.mark.parametrize(
    ("clause", "aggregate"),
    [
        ("(?n, COUNT, {?g})", "(?n (count)) (?g)"),
        ("(?n, count, ?g)", "(?n (count)) (?g)"),
        ("(?n, COUNT(), {?g, ?x})", "(?n (count)) (?g ?x)"),
        ("(?n, COUNT(*), {})", "(?n (count)) ()"),
        ("(?n, COUNT(?x), {?g, ?g})", "(?n (count ?x)) (?g)"),
        ("(?n, COUNT(DISTINCT ?x), {?g})", "(?n (count distinct ?x)) (?g)"),
        ("(?n, SUM(?x), ?g)", "(?n (sum ?x)) (?g)"),
        ("(?n, AVG(?x), {})", "(?n (avg ?x)) ()"),
        ("(?n, MIN(?x), {?g})", "(?n (min ?x)) (?g)"),
        ("(?n, MAX(timestamp(?x)), {?g})", "(?n (max (timestamp ?x))) (?g)"),
    ],
)
def test_aggregate(clause: str, aggregate: str) -> None:
    plan_is(f"ASK {WHERE} AGGREGATE {{ {clause} }}", f"(annotate {aggregate} {ROWS})")


TWO = f"(annotate (?m (max ?x)) () (annotate (?n (count)) (?g) {ROWS}))"


def test_several_clauses_and_several_in_one_clause_with_all_filters_above_them() -> None:
    filtered = f"(filter (&& (> ?n 1) (< ?m ?n)) {TWO})"
    apart = "AGGREGATE { (?n, COUNT, ?g) FILTER(?n > 1) } AGGREGATE { (?m, MAX(?x), {}) FILTER(?m < ?n) }"
    together = "AGGREGATE { (?n, COUNT, ?g) (?m, MAX(?x), {}) FILTER(?n > 1) FILTER(?m < ?n) }"
    between = "AGGREGATE { (?n, COUNT, ?g) FILTER(?n > 1) (?m, MAX(?x), {}) FILTER(?m < ?n) }"
    for clauses in (apart, together, between):
        plan_is(f"ASK {WHERE} {clauses}", filtered)


def test_before_after_and_around_the_solution_modifiers() -> None:
    n, m, order = "AGGREGATE { (?n, COUNT, ?g) }", "AGGREGATE { (?m, MAX(?x), {}) }", "ORDER BY ?n LIMIT 2"
    for tail in (f"{n} {m} {order}", f"{order} {n} {m}", f"{n} {order} {m}"):
        plan_is(f"SELECT ?g {WHERE} {tail}", f"(slice 0 2 (project (?g) (order (?n) {TWO})))")
    plan_is(f"ASK {WHERE} LIMIT 2 {n} VALUES ?g {{ 1 }}",
            f"(slice 0 2 (join (annotate (?n (count)) (?g) {ROWS}) (table (vars ?g) (row (?g 1)))))")  # fmt: skip


def test_select_all_has_the_new_variables_after_those_of_where() -> None:
    made = query(f"SELECT * {WHERE} AGGREGATE {{ (?n, COUNT, ?g) (?a, COUNT, ?x) }}")
    assert made.variables == tuple(map(Var, ["g", "x", "n", "a"]))


def test_group_by_sees_the_variables_of_aggregate() -> None:
    plan_is(
        f"SELECT ?n (COUNT(*) AS ?groups) {WHERE} AGGREGATE {{ (?n, COUNT, ?g) }} GROUP BY ?n",
        f"(project (?n ?groups) (extend ((?groups ?.a0)) (group (?n) ((?.a0 (count))) "
        f"(annotate (?n (count)) (?g) {ROWS}))))",
    )


def test_in_a_sub_select() -> None:
    plan_is(
        f"ASK {{ {{ SELECT * {WHERE} AGGREGATE {{ (?n, COUNT, ?g) }} }} FILTER(?n > 1) }}",
        f"(filter (> ?n 1) (project (?g ?x ?n) (annotate (?n (count)) (?g) {ROWS})))",
    )


@pytest.mark.parametrize("form", ["CONSTRUCT { ?g :has ?n } WHERE", "DESCRIBE ?g", "ASK", "SELECT (?n + 1 AS ?m)"])
def test_with_every_form(form: str) -> None:
    assert f"(annotate (?n (count)) (?g) {ROWS})" in write(
        query(f"{form} {WHERE} AGGREGATE {{ (?n, COUNT, ?g) }}").pattern
    )


def test_a_projected_variable_that_differs_from_a_bound_one_only_in_case_is_unbound_with_a_warning() -> None:
    with pytest.warns(PenstockWarning) as caught:
        made = query(f"SELECT ?g\n?Tot {WHERE} AGGREGATE {{ (?tot, SUM(?x), ?g) }}")
    assert made.variables == (Var("g"), Var("Tot"))
    assert [str(warning.message) for warning in caught] == [
        "line 2: ?Tot is never bound; did you mean ?tot?\n  ?Tot { ?g :p ?x } AGGREGATE { (?tot, SUM(?x), ?g) }\n  ^^^^"
    ]


# Projection


def test_projected_variables_may_be_separated_by_commas() -> None:
    assert query("SELECT ?a, ?b ?c, (1 AS ?d) { ?a ?b ?c }").variables == tuple(map(Var, "abcd"))


def test_an_aggregate_without_a_name_gets_one() -> None:
    plan_is(
        f"SELECT ?g count(?x) {WHERE} GROUP BY ?g",
        f"(project (?g ?count_x) (extend ((?count_x ?.a0)) (group (?g) ((?.a0 (count ?x))) {ROWS})))",
    )


# Timestamps


def test_timestamp() -> None:
    plan_is(
        f"ASK {{ GRAPH ?s {WHERE} FILTER(timestamp(?x) > TIMESTAMP(?g, ?s) && timestamp(?x, :s) < timestamp(?g)) }}",
        f"(filter (&& (> (timestamp ?x) (timestamp ?g ?s)) (< (timestamp ?x :s) (timestamp ?g))) (graph ?s {ROWS}))",
    )


def test_timestamps_of_a_group_are_aggregated() -> None:
    plan_is(
        f"SELECT ?g (MAX(timestamp(?x)) AS ?last) {WHERE} GROUP BY ?g",
        f"(project (?g ?last) (extend ((?last ?.a0)) (group (?g) ((?.a0 (max (timestamp ?x)))) {ROWS})))",
    )

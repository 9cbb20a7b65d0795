"""Families for `test_query_family.py`: a query with places for constants, and the constants of each member.

{S} stands for a stream with a window, and {E} for one without.
"""

from __future__ import annotations

from collections.abc import Sequence

Family = tuple[str, Sequence[tuple[str, ...]]]

PREFIXES = "PREFIX : <http://e/>\n"
STREAM = "FROM STREAM <http://e/s> [RANGE 4s STEP 2s]"


def texts(family: Family) -> list[str]:
    query, rows = family
    clauses = {"S": f"{STREAM} WHERE", "E": "FROM STREAM <http://e/s> WHERE"}
    return [PREFIXES + query.format(*row, **clauses) for row in rows]


PEOPLE = [(":ann",), (":bob",), (":dan",)]  # the last is never seen

QUERIES: dict[str, Family] = {
    "a constant in the stream": ("SELECT ?r {S} {{ {0} :at ?r }}", PEOPLE),
    "one in the background": ("SELECT ?r {S} {{ ?p :at ?r . ?p :name {0} }}", [('"Ann"',), ('"Cem"',), ('"Zoe"',)]),
    "two": (
        "SELECT ?p {S} {{ ?p :at {1} . {0} :knows ?p }}",
        [(":ann", ":hall"), (":ann", ":roof"), (":bob", ":roof")],
    ),
    "two in the stream": ("SELECT ?r {S} {{ {0} :at ?r . {1} :at ?r }}", [(":ann", ":cem"), (":ann", ":bob")]),
    "no variable is left": ("SELECT * {S} {{ {0} :at :roof }}", PEOPLE),
    "as subject and object": ("SELECT ?p {S} {{ ?p :at ?r . {0} :floor {1} }}", [(":roof", "9"), (":roof", "1")]),
    "a filter": ("SELECT ?p ?f {S} {{ ?p :at ?r . ?r :floor ?f FILTER (?f > {0}) }}", [("0",), ("5",), ("9",)]),
    "of another type": (
        "SELECT ?p ?f {S} {{ ?p :at ?r . ?r :floor ?f FILTER (?f = {0}) }}",
        [("1",), ("9.0",), ('"9"',)],
    ),
    "bound": ("SELECT ?p ?x {S} {{ ?p :at :hall BIND ({0} AS ?x) }}", [("1",), (":a",)]),
    "optional": ("SELECT ?p ?k {S} {{ ?p :at ?r OPTIONAL {{ {0} :knows ?p . ?p :name ?k }} }}", PEOPLE),
    "optional with condition": (
        "SELECT ?p ?f {S} {{ ?p :at ?r OPTIONAL {{ ?r :floor ?f FILTER (?f < {0} && ?p != {1}) }} }}",
        [("5", ":ann"), ("10", ":cem")],
    ),
    "optional in the stream": ("SELECT ?p ?q {S} {{ ?p :at ?r OPTIONAL {{ {0} :at ?r BIND({0} AS ?q) }} }}", PEOPLE),
    "minus": ("SELECT ?p {S} {{ ?p :at ?r MINUS {{ {0} :at ?r }} }}", PEOPLE),
    "minus of nothing shared": ("SELECT ?p {S} {{ ?p :at {0} MINUS {{ :ann :at {0} }} }}", [(":roof",), (":hall",)]),
    "exists": ("SELECT ?p {S} {{ ?p :at ?r FILTER EXISTS {{ {0} :at ?r }} }}", PEOPLE),
    "not exists": ("SELECT ?p {S} {{ ?p :at ?r FILTER NOT EXISTS {{ {0} :knows ?p }} }}", PEOPLE),
    "exists that is substituted": (
        "SELECT ?p {S} {{ ?p :at ?r . ?r :floor ?f FILTER NOT EXISTS {{ ?q :at ?x FILTER (?f > {0} && ?q = {1}) }} }}",
        [("5", ":ann"), ("5", ":bob"), ("0", ":cem")],
    ),
    "exists as a value": ("SELECT ?p ?e {S} {{ ?p :at ?r BIND(EXISTS {{ {0} :knows ?p }} AS ?e) }}", PEOPLE),
    "union": ("SELECT ?x {S} {{ {{ {0} :at ?x }} UNION {{ ?x :at :roof }} }}", PEOPLE),
    "union of filters": ("SELECT ?p {S} {{ {{ ?p :at :hall FILTER(?p = {0}) }} UNION {{ ?p :at :roof }} }}", PEOPLE),
    "count by key": ("SELECT ?r (COUNT(?p) AS ?n) {S} {{ ?p :at ?r . {0} :knows ?p }} GROUP BY ?r", PEOPLE),
    "count of all": ("SELECT (COUNT(*) AS ?n) {S} {{ {0} :at ?r }}", PEOPLE),
    "count, the constant elsewhere": ("SELECT (COUNT(*) AS ?n) ({0} AS ?x) {S} {{ ?p :at :roof }}", PEOPLE),
    "sum and having": (
        "SELECT ?p (SUM(?f + {0}) AS ?n) {S} {{ ?p :at ?r . ?r :floor ?f }} GROUP BY ?p HAVING (SUM(?f) > {1})",
        [("1", "5"), ("2", "0"), ("1", "100")],
    ),
    "distinct": ("SELECT DISTINCT ?r {S} {{ ?p :at ?r FILTER (?p != {0}) }}", PEOPLE),
    "order and limit": (
        "SELECT ?p ?r {S} {{ ?p :at ?r FILTER (?p != {0}) }} ORDER BY DESC(?p) ?r LIMIT 2",
        PEOPLE,
    ),
    "order by the constant": ("SELECT ?p ?r {S} {{ ?p :at ?r }} ORDER BY (?p = {0}) ?p ?r LIMIT 1", PEOPLE),
    "offset for all": ("SELECT ?r {S} {{ {0} :at ?r }} ORDER BY ?r OFFSET 1", PEOPLE),
    "sub-select": ("SELECT ?p ?n {S} {{ ?p :at ?r {{ SELECT (COUNT(*) AS ?n) {{ {0} :knows ?o }} }} }}", PEOPLE),
    "sub-select with limit": (
        "SELECT ?o {S} {{ ?p :at :roof {{ SELECT ?o {{ {0} :knows ?o }} ORDER BY ?o LIMIT 1 }} }}",
        PEOPLE,
    ),
    "ask": ("ASK {S} {{ {0} :at :roof }}", PEOPLE),
    "construct": ("CONSTRUCT {{ ?p :near {0} }} {S} {{ ?p :at ?r . {1} :at ?r }}", [(":ann", ":ann"), ("3", ":cem")]),
    "construct, constants in the template alone": ("CONSTRUCT {{ {0} :saw ?p }} {S} {{ ?p :at :roof }}", PEOPLE),
    "construct of nothing": ("CONSTRUCT {{ }} {S} {{ {0} :at ?r }}", PEOPLE),
    "equal members": ("SELECT ?r {S} {{ {0} :at ?r }}", [(":ann",), (":ann",)]),
    "one of them twice": ("SELECT ?r {S} {{ {0} :at ?r }}", [(":ann",), (":ann",), (":cem",)]),
    "one member": ("SELECT ?r {S} {{ {0} :at ?r }}", [(":ann",)]),
    "values": ("SELECT ?p {S} {{ VALUES ?p {{ :ann :bob }} ?p :at {0} }}", [(":hall",), (":roof",)]),
    "a path": (
        "SELECT ?p {S} {{ {0} :knows+ ?p . ?p :at {1} }}".replace("{0}", ":ann", 1).replace("{1}", "{0}"),
        [(":hall",), (":roof",)],
    ),
}

LANGUAGES: dict[str, Family] = {
    "aggregate beside rows": (
        "SELECT ?p ?n {S} {{ ?p :at ?r FILTER(?p != {0}) }} AGGREGATE {{ (?n, COUNT, {{?r}}) }}",
        PEOPLE,
    ),
    "a graph": ("SELECT ?g ?r {S} {{ GRAPH ?g {{ {0} :at ?r }} }}", PEOPLE),
    "timestamp": ("SELECT ?r ?t {S} {{ {0} :at ?r BIND (timestamp(?r) AS ?t) }}", PEOPLE),
    "cqels": (
        "SELECT ?n FROM NAMED <http://e/s> [NOW] AS ?now FROM NAMED <http://e/s> [RANGE 4 seconds] AS ?four "
        "WHERE {{ GRAPH ?now {{ {0} :at ?r }} GRAPH ?four {{ ?p :at ?r }} ?p :name ?n }}",
        PEOPLE,
    ),
    "cqels blocks": (
        "SELECT ?p WHERE {{ STREAM <http://e/s> [RANGE 3s] {{ ?p :at {0} }} {1} :knows ?p }}",
        [(":hall", ":ann"), (":roof", ":ann")],
    ),
    "rspql": (
        "REGISTER ISTREAM <http://e/out> AS SELECT ?p FROM NAMED WINDOW :w ON <http://e/s> [RANGE PT4S STEP PT2S] "
        "WHERE {{ WINDOW :w {{ ?p :at {0} }} }}",
        [(":hall",), (":roof",)],
    ),
    "counting": (
        "SELECT ?p FROM STREAM <http://e/s> [RANGE TRIPLES 3] WHERE {{ ?p :at {0} }}",
        [(":hall",), (":roof",)],
    ),
    "streaming sparql": (
        "SELECT ?p FROM STREAM <http://e/s> WINDOW RANGE 3 SECOND SLIDE WHERE {{ ?p :at {0} }}",
        [(":hall",), (":roof",)],
    ),
    "events": (
        "SELECT ?p {E} {{ {{ ?p :at {0} }} SEQ {{ ?p :at {1} }} "
        'FILTER (getDURATION() < "PT3S"^^<http://www.w3.org/2001/XMLSchema#duration>) }}',
        [(":hall", ":roof"), (":roof", ":roof"), (":roof", ":cellar")],
    ),
    "events without": (
        "SELECT ?p {E} {{ {{ ?p :at {0} }} SEQ NOT {{ ?q :at {1} }} SEQ {{ ?p :at {2} }} }}",
        [(":hall", ":cellar", ":roof"), (":roof", ":hall", ":roof"), (":roof", ":attic", ":cellar")],
    ),
    "optional events": (
        "SELECT ?p ?q {E} {{ {{ ?q :at {0} }} OPTIONALSEQ {{ ?p :at {1} }} }}",
        [(":hall", ":roof"), (":roof", ":cellar"), (":attic", ":roof")],
    ),
    "events in windows": (
        "SELECT ?p FROM STREAM <http://e/s> [RANGE 6s STEP 2s] WHERE {{ {{ ?p :at {0} }} SEQ {{ ?p :at {1} }} }}",
        [(":hall", ":roof"), (":roof", ":roof"), (":roof", ":cellar")],
    ),
}

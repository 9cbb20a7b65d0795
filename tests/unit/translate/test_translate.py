"""Queries said in another language: the same algebra, or one with the same answers, or a reason why not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode
from typer.testing import CliRunner

from penstock import cli
from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.translate import CannotSay, translated
from tests.support.plans import Triples, from_tape, triples
from tests.support.reference import answers
from tests.support.tape import Tape
from tests.unit.algebra.test_stream_papers import PREFIXES, PRINTED

PREFIX = "PREFIX : <http://example.org/> "
S = NamedNode("http://example.org/s")

# Fragments of WHERE, which may all stand in one group. %s is where a block starts and what closes it is a brace.
PATTERNS = [
    "?x :p ?y .",
    "?x :p [ :q ?y ] .",
    "?y :q 1 , 2 . ?x ?p ?z .",
    "?x (:p|^:q) ?y .",
    "?x !(:p) ?y .",
    "OPTIONAL { ?x :q ?z FILTER(?z = ?y || ! bound(?x)) }",
    "{ ?x :p 1 } UNION { ?x :q ?y . ?y :p ?z }",
    "MINUS { ?x :q ?y }",
    "FILTER EXISTS { ?x :q ?z }",
    "FILTER NOT EXISTS { ?y :p ?x FILTER(?x != ?z) }",
    "FILTER(?y IN (1, 2, :a) || ?z > 1)",
    "BIND(COALESCE(?y + 1, ?x) AS ?v%d)",
    "VALUES (?x ?y) { (:a 1) (:b UNDEF) }",
    "{ SELECT ?x (COUNT(DISTINCT ?y) AS ?n%d) { ?x :p ?y } GROUP BY ?x HAVING (COUNT(?y) > 0) }",
    "{ SELECT DISTINCT ?y { ?x :p ?y OPTIONAL { ?x :q ?z } } ORDER BY DESC(?z) ?y }",
]
TIME = ["[RANGE 10m STEP 1m]", "[RANGE 90s TUMBLING]", "[TRIPLES 5]", "[RANGE TRIPLES 6 STEP 2]"]
ALSO_CQELS = [*TIME, "[RANGE 3s SLIDE 1s]", "[RANGE 3s]", "[NOW]", "[ALL]"]
HEADS = ["SELECT *", "SELECT DISTINCT ?x ?y", "ASK", "SELECT ?x (MAX(?y) AS ?top)", "DESCRIBE ?x"]


@pytest.fixture(autouse=True)
def no_doubts() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def head(tape: Tape) -> tuple[str, str]:
    chosen = tape.pick(HEADS)
    return chosen, " GROUP BY ?x" if "MAX" in chosen else ""


def patterns(tape: Tape, number: int = 0) -> str:
    chosen = [tape.pick(PATTERNS) for _ in range(tape.count(1, 3))]
    return " ".join(text.replace("%d", f"{number}{i}") for i, text in enumerate(chosen))


def c_sparql(tape: Tape) -> str:
    start, end = head(tape)
    return f"{PREFIX}{start} FROM STREAM :s {tape.pick(TIME)} WHERE {{ {patterns(tape)} }}{end}"


def blocks(tape: Tape, windows: list[str] = ALSO_CQELS) -> str:
    start, end = head(tape)
    made = [
        tape.pick((f"STREAM :s {tape.pick(windows)}", f"STREAM :t {tape.pick(windows)}", "GRAPH ?w", "GRAPH :g", ""))
        + f" {{ {patterns(tape, i)} }}"
        for i in range(tape.count(1, 3))
    ]
    return f"{PREFIX}{start} FROM NAMED :s {tape.pick(windows)} AS ?w WHERE {{ {' '.join(made)} }}{end}"


def named_alike(query: ops.Query, emit: bool = True) -> ops.Query:
    """With windows numbered as they are read, equal ones being one, and then those that nothing reads."""
    by_name = {s.name: (s.iri, s.window) for s in query.streams if s.name is not None}
    numbers: dict[object, NamedNode] = {}

    def renamed(node: Any) -> Any:
        if isinstance(node, ops.InWindow) and isinstance(node.name, NamedNode):
            name = numbers.setdefault(by_name[node.name], NamedNode(f"urn:{len(numbers)}"))
            return ops.InWindow(name, renamed(node.pattern))
        if isinstance(node, tuple):
            return tuple(map(renamed, node))
        if hasattr(node, "__dataclass_fields__"):
            return replace(node, **{f: renamed(getattr(node, f)) for f in node.__dataclass_fields__})
        return node

    pattern = renamed(query.pattern)
    for read in sorted(set(by_name.values()) - set(numbers), key=str):
        numbers[read] = NamedNode("urn:unread")
    named = tuple(ops.StreamWindow(*read, name=name) for read, name in numbers.items())  # type: ignore[misc]
    own = tuple(s for s in query.streams if s.name is None)
    said = (query.emit or "rstream") if emit else None
    return replace(query, pattern=pattern, streams=own + named, emit=said, registration=None)


@settings(max_examples=150, deadline=None)
@given(from_tape(c_sparql, 60))
def test_c_sparql_as_itself(text: str) -> None:
    assert translate(translated(text, "csparql")) == translate(text)


@settings(max_examples=150, deadline=None)
@given(from_tape(blocks, 80))
def test_blocks_as_blocks(text: str) -> None:
    meant = named_alike(translate(text))
    again = translated(text, "cqels")
    assert named_alike(translate(again)) == meant
    try:
        third = translated(text, "rspql", merged=True)
    except CannotSay as error:
        assert "SLIDE" in text or "would make a stream" in str(error)  # noqa: PT017
        return
    assert named_alike(translate(third)) == meant
    assert named_alike(translate(translated(third, "cqels", merged=True))) == meant


@settings(max_examples=200, deadline=None)
@given(from_tape(c_sparql, 60), from_tape(lambda tape: (triples(tape), triples(tape)), 40))
def test_c_sparql_as_blocks_has_the_same_answers(text: str, graphs: tuple[Triples, Triples]) -> None:
    """A triple comes from the background or from the window."""
    assume("DESCRIBE" not in text and " IN " not in text)
    background, window = graphs[0], graphs[1] - graphs[0]
    meant = answers(translate(text).pattern, background | window, {})
    for language in ("rspql", "cqels"):
        made = translate(translated(text, language, merged=True))
        (stream,) = made.streams
        assert (stream.iri, stream.window) == (S, translate(text).streams[0].window)
        assert stream.name is not None
        found = answers(made.pattern, background, {stream.name: window})
        assert found == meant or (bool(found) == bool(meant) and "ASK" in text)
        assert (made.emit or "rstream", made.variables) == ("rstream", translate(text).variables)


@pytest.mark.parametrize("name", [name for name in PRINTED if name.startswith("Q")])
def test_the_queries_of_a_paper_in_other_words(name: str) -> None:
    text = PREFIXES + PRINTED[name][0]
    for language in ("cqels", "rspql"):
        again = translated(text, language, merged=True)
        assert named_alike(translate(again)) == named_alike(translate(text))


@settings(max_examples=150, deadline=None)
@given(from_tape(c_sparql, 60), from_tape(triples, 40))
def test_without_a_background_blocks_say_it_shorter(text: str, window: Triples) -> None:
    assume("DESCRIBE" not in text and " IN " not in text)
    meant = answers(translate(text).pattern, window, {})
    for language in ("rspql", "cqels"):
        again = translated(text, language, merged=True, background=False)
        made = translate(again)
        (stream,) = made.streams
        assert stream.name is not None
        found = answers(made.pattern, frozenset(), {stream.name: window})
        assert found == meant or (bool(found) == bool(meant) and "ASK" in text)
        back = translate(translated(again, "csparql", merged=True, background=False))
        assert answers(back.pattern, frozenset(), {S: window}) == found
        assert [(s.iri, s.window) for s in back.streams] == [(stream.iri, stream.window)]


# What is written


def test_the_translated_text_as_printed() -> None:
    text = PREFIX + "SELECT ?x (COUNT(*) AS ?n) { STREAM :s [RANGE 10s] { ?x :p ?y FILTER(?y > 5.5) } } GROUP BY ?x"
    assert translated(text, "rspql", merged=True) == (
        "PREFIX : <http://example.org/>\n"
        "REGISTER ISTREAM answers AS\n"
        "SELECT ?x (COUNT(*) AS ?n)\n"
        "FROM NAMED WINDOW <urn:penstock:window:1> ON :s [RANGE 10s]\n"
        "WHERE {\n"
        "  WINDOW <urn:penstock:window:1> {\n"
        "    ?x :p ?y .\n"
        "    FILTER (?y > 5.5)\n"
        "  }\n"
        "}\n"
        "GROUP BY ?x\n"
    )


@pytest.mark.parametrize(
    ("text", "to", "line"),
    [
        ("REGISTER QUERY q COMPUTED EVERY 5s AS ASK { ?x :p ?y }", "csparql", "REGISTER QUERY q COMPUTED EVERY 5s AS"),
        ("REGISTER STREAM :o AS CONSTRUCT { ?x :q ?y } { ?x :p ?y }", "csparql", "REGISTER STREAM :o AS"),
        ("REGISTER STREAM :o AS CONSTRUCT { ?x :q ?y } { ?x :p ?y }", "rspql", "REGISTER RSTREAM :o AS"),
        ("REGISTER QUERY q AS ASK { ?x :p ?y }", "cqels", "REGISTER RSTREAM q AS"),
        ("REGISTER ISTREAM q AS ASK { ?x :p ?y }", "cqels", "REGISTER STREAM q AS"),
        ("REGISTER DSTREAM q AS ASK { ?x :p ?y }", "csparql", "REGISTER DSTREAM q AS"),
        ("ASK { STREAM :s [RANGE 3s STEP 1s] { ?x :p ?y } GRAPH :g { ?x :q ?y } }", "csparql",
         "FROM NAMED STREAM :s [RANGE 3s STEP 1s]"),
        ("ASK { STREAM :s [TRIPLES 3] { ?x :p ?y } GRAPH :g { ?x :q ?y } }", "csparql", "FROM NAMED :g"),
        ("BASE <http://e/> ASK { ?x <p> ?y FILTER(IRI('a') = ?x) }", "csparql", "BASE <http://e/>"),
        ("ASK FROM NAMED WINDOW :w ON :s [FROM NOW-3s TO NOW-1s STEP 1s] { WINDOW :w { ?x :p ?y } }", "rspql",
         "FROM NAMED WINDOW :w ON :s [FROM NOW-3s TO NOW-1s STEP 1s]"),
        ("ASK FROM NAMED :g { STREAM :s [NOW] { ?x :p ?y } GRAPH :g { ?x :q ?y } }", "cqels", "FROM NAMED :g"),
        ("ASK FROM :g FROM NAMED :h { STREAM :s [NOW] { ?x :p ?y } ?x :q ?z }", "rspql", "FROM NAMED :h"),
    ],
)  # fmt: skip
def test_lines(text: str, to: str, line: str) -> None:
    assert line in translated(PREFIX + text, to, merged=True).splitlines()


def test_from_named_of_cqels_hides_nothing_and_is_left_out_elsewhere() -> None:
    text = PREFIX + "ASK FROM NAMED :g { STREAM :s [NOW] { ?x :p ?y } ?x :q ?z GRAPH :h { ?x :q ?y } }"
    assert "FROM NAMED :g" not in translated(text, "rspql", merged=True)


ALONE = "a block reads a window without the background's default graph (--no-background assumes that it is empty)"


@pytest.mark.parametrize(
    ("text", "to", "reason"),
    [
        ("ASK FROM STREAM :s WINDOW RANGE 5 SLIDE { ?x :p ?y }", "cqels",
         "CQELS has no equivalent: its output is solutions with their validity intervals, each once"),
        ("REGISTER RSTREAM q AS ASK FROM STREAM :s WINDOW RANGE 5 SLIDE 2 { ?x :p ?y }", "rspql",
         "RSP-QL has no equivalent: elements enter its window at their own time and leave by whole slides"),
        ("REGISTER RSTREAM q AS ASK FROM STREAM :s WINDOW RANGE 5 SLIDE { ?x :p ?y }", "csparql",
         "C-SPARQL has no equivalent: elements enter its window at their own time, and not at steps"),
        ("REGISTER RSTREAM q AS ASK FROM STREAM :s [NOW] { ?x :p ?y WINDOW ELEMS 3 }", "csparql",
         "C-SPARQL has no equivalent: a group has a window of its own"),
        ("ASK FROM NAMED WINDOW :w ON :s [FROM NOW-3s TO NOW-1s STEP 1s] { WINDOW :w { ?x :p ?y } }", "cqels",
         "CQELS has no equivalent: its window lies in the past"),
        ("ASK FROM NAMED WINDOW :w ON :s [NOW] { WINDOW ?w { ?x :p ?y } }", "cqels",
         "CQELS has no equivalent: WINDOW ?w reads each window in turn"),
        ("ASK { STREAM :s [TRIPLES 3] { ?x :p ?y } }", "csparql", f"C-SPARQL has no equivalent: {ALONE}"),
        ("ASK { STREAM :s [TRIPLES 3] { ?x :p ?y } GRAPH :g { ?x :p ?y } ?x :q ?z }", "csparql",
         f"C-SPARQL has no equivalent: {ALONE}"),
        ("ASK { STREAM :s [TRIPLES 3] { ?x :p ?y } STREAM :s [TRIPLES 4] { ?x :p ?y } GRAPH :g {} }", "csparql",
         "C-SPARQL has no equivalent: <http://example.org/s> has two windows"),
        ("ASK { STREAM :s [TRIPLES 3] { ?x :p ?y } GRAPH ?g { ?x :q ?z } }", "csparql",
         "C-SPARQL has no equivalent: GRAPH ?g would read streams as well as graphs"),
        ("ASK { STREAM :s [TRIPLES 3] { GRAPH :g { ?x :p ?y } } }", "csparql",
         "C-SPARQL has no equivalent: a block asks for the graphs in which the elements of a window came"),
        ("ASK FROM STREAM :s [TRIPLES 3] { GRAPH ?g { ?x :p ?y } }", "rspql",
         "RSP-QL has no equivalent: GRAPH ?g reads streams as well as graphs"),
        ("ASK FROM NAMED :g FROM STREAM :s [TRIPLES 3] { ?x :p ?y GRAPH :g { ?x :q ?y } }", "cqels",
         "CQELS has no equivalent: its default graph is empty, and FROM NAMED does not empty it there"),
        ("ASK FROM STREAM :s [TRIPLES 3] { ?x :p+ ?y }", "cqels",
         "CQELS has no equivalent: its paths may use triples of several windows, or of windows and the background"),
        ("ASK FROM STREAM :s [TRIPLES 3] { ?x :p ?y FILTER(timestamp(?x) > 1) }", "cqels",
         "CQELS has no equivalent: it asks for timestamps"),
        ("ASK FROM STREAM :s [TRIPLES 3] { ?x :p ?y } AGGREGATE { (?n, COUNT, {?x}) }", "rspql",
         "RSP-QL has no equivalent: it has an AGGREGATE clause, which adds to solutions without grouping them"),
        ("REGISTER QUERY q AS CONSTRUCT { ?x :q ?y } { STREAM :s [NOW] { ?x :p ?y } }", "rspql",
         "RSP-QL has no equivalent: its triples are only delivered, and REGISTER ISTREAM would make a stream of them"),
    ],
)  # fmt: skip
def test_a_query_without_equivalent_in_the_language_is_an_error(text: str, to: str, reason: str) -> None:
    with pytest.raises(CannotSay) as caught:
        translated(PREFIX + text, to, merged=True)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("SELECT ?x { STREAM :s [NOW] { ?x :p ?y } }", True),
        ("SELECT DISTINCT ?x { STREAM :s [NOW] { ?x :p ?y } }", False),
        ("ASK { STREAM :s [NOW] { ?x :p ?y } }", False),
        ("SELECT DISTINCT (COUNT(?x) AS ?n) { STREAM :s [NOW] { ?x :p ?y } }", True),
        ("SELECT DISTINCT (COUNT(DISTINCT ?x) AS ?n) (MAX(?y) AS ?m) { STREAM :s [NOW] { ?x :p ?y } }", False),
        ("SELECT DISTINCT ?x { { SELECT ?x { STREAM :s [NOW] { ?x :p ?y } } LIMIT 2 } }", True),
    ],
)
def test_duplicates_are_checked_only_where_they_change_answers(where: str, told: bool) -> None:
    if told:
        with pytest.raises(CannotSay, match="count twice, but once in RSP-QL"):
            translated(PREFIX + where, "rspql")
        named = translated(PREFIX + where, "rspql", merged=True)
        with pytest.raises(CannotSay, match="count once, but twice there"):
            translated(named, "cqels")
    else:
        named = translated(PREFIX + where, "rspql")
        assert named_alike(translate(translated(named, "cqels"))) == named_alike(translate(PREFIX + where))


# The command line


def run(*arguments: str, stdin: str) -> Any:
    return CliRunner().invoke(cli.app, ["translate", *arguments], input=stdin)


def test_on_the_command_line() -> None:
    said = run("-", "--to", "rspql", stdin="ASK { STREAM <http://e/s> [NOW] { ?s ?p ?o } }")
    assert (said.exit_code, said.stdout.splitlines()[:2]) == (0, ["REGISTER ISTREAM answers AS", "ASK"])
    not_said = run("-", "--to", "rspql", stdin="SELECT * { STREAM <http://e/s> [NOW] { ?s ?p ?o } }")
    assert (not_said.exit_code, not_said.stdout) == (1, "")
    assert "RSP-QL has no equivalent: duplicate triples of a window" in not_said.stderr
    merged = run("-", "--to", "rspql", "--merged", stdin="SELECT * { STREAM <http://e/s> [NOW] { ?s ?p ?o } }")
    assert merged.exit_code == 0
    wrong = run("-", "--to", "cqels", stdin="ASK { STREAM <http://e/s> [NWO] { ?s ?p ?o } }")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "did you mean NOW?" in wrong.stderr
    assert run("-", "--to", "sql", stdin="ASK {}").exit_code == 2


def test_help_has_examples() -> None:
    assert "penstock translate cars.rq --to rspql\n" in run("--help", stdin="").stdout


@given(st.text(max_size=20))
@settings(max_examples=50, deadline=None)
def test_any_string(value: str) -> None:
    quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    text = f'ASK {{ ?x <http://e/p> "{quoted}" }}'
    if "\\u" not in text.lower():
        assert translate(translated(text, "csparql")) == translate(text)

"""Messages for queries that do not parse: the place, the caret, the suggestion."""

from __future__ import annotations

import pytest

from penstock.errors import QueryError, RefusedError
from penstock.syntax import parse
from penstock.syntax.suggest import WELL_KNOWN, nearest, prefix_hint

NAME_IT = "put it in brackets and name it: (COUNT(…) AS ?name)"
LONG1 = "a string over several lines stands between ''' and '''"
LONG2 = 'a string over several lines stands between """ and """'
CLOSE_IRI = "an IRI ends with >; other characters are written as %20 and the like"
A_TERM = "expected (, [, a blank node, a literal, a variable or an IRI"


def error_of(query: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        parse(query)
    return caught.value


def test_a_misspelt_keyword() -> None:
    error = error_of("SELECT * WHERE {\n  ?s ?p ?o .\n\tFLTER(?o > 1)\n}")
    assert str(error) == (
        "line 3, column 2: this word is not part of SPARQL\n   FLTER(?o > 1)\n   ^^^^^\nhint: did you mean FILTER?"
    )
    assert (error.line, error.column, error.hint) == (3, 2, "did you mean FILTER?")


def test_a_well_known_prefix_that_is_not_declared() -> None:
    assert str(error_of("SELECT * { ?s foaf:name ?o }")) == (
        "line 1, column 15: the prefix foaf: is not declared\n"
        "  SELECT * { ?s foaf:name ?o }\n"
        "                ^^^^^^^^^\n"
        "hint: add the line  PREFIX foaf: <http://xmlns.com/foaf/0.1/>"
    )


def test_a_brace_that_is_never_closed() -> None:
    assert str(error_of("SELECT *\nWHERE { ?s ?p ?o . { ?a ?b ?c }\n")) == (
        "line 2, column 7: this { is never closed\n  WHERE { ?s ?p ?o . { ?a ?b ?c }\n        ^"
    )


def test_an_unknown_function() -> None:
    assert str(error_of("ASK { FILTER(STRLENN(?o) > 1) }")) == (
        "line 1, column 14: there is no function STRLENN\n"
        "  ASK { FILTER(STRLENN(?o) > 1) }\n"
        "               ^^^^^^^\n"
        "hint: did you mean STRLEN?"
    )


def test_the_caret_is_below_the_text_as_written() -> None:
    assert str(error_of(r"ASK { ?s ?p '\u00e9\u00e9' FLTER }")) == (
        "line 1, column 28: this word is not part of SPARQL\n"
        r"  ASK { ?s ?p '\u00e9\u00e9' FLTER }"
        "\n                             ^^^^^\n"
        "hint: did you mean FILTER?"
    )


@pytest.mark.parametrize(
    ("query", "place", "reason", "hint"),
    [
        ("SELCT * {}", (1, 1), "this word is not part of SPARQL", "did you mean SELECT?"),
        ("SELECT ?s WERE {}", (1, 11), "this word is not part of SPARQL", "did you mean WHERE?"),
        ("SELECT * { OPTINAL {} }", (1, 12), "this word is not part of SPARQL", "did you mean OPTIONAL?"),
        ("PREFX : <a:> ASK {}", (1, 1), "this word is not part of SPARQL", "did you mean PREFIX?"),
        ("ASK {} ORDR BY ?x", (1, 8), "this word is not part of SPARQL", "did you mean ORDER?"),
        ("ASK {} LIMIT x", (1, 14), "this word is not part of SPARQL", "expected a whole number"),
        ("SELECT ?s {} GROUP ?s", (1, 20), "?s cannot stand here", "expected BY"),
        ("SELECT COUNT(*) {}", (1, 8), "COUNT cannot stand here", NAME_IT),
        ("SELECT (?x + ?y) {}", (1, 16), ") cannot stand here", "an expression needs a name here: (… AS ?name)"),
        ("ASK { ?s ?p }", (1, 13), "} cannot stand here", A_TERM),
        ("SELECT", (1, 7), "the query ends too early", "expected (, *, a variable, DISTINCT or REDUCED"),
        ("ASK {} LIMIT # none\n", (1, 13), "the query ends too early", "expected a whole number"),
        ("ASK { ?s ?p (1 2 }", (1, 13), "this ( is never closed", None),
        ("ASK { FILTER(?x }", (1, 13), "this ( is never closed", None),
        ("ASK { ?s ?p [ :p 1 }", (1, 13), "this [ is never closed", None),
        ("ASK { } }", (1, 9), "this } closes nothing", None),
        ("ASK { ?s ?p 'abc }", (1, 13), "this string is never closed", LONG1),
        ('ASK { ?s ?p "abc\n" }', (1, 13), "this string is never closed", LONG2),
        ("ASK { ?s ?p '''abc\n }", (1, 13), "this string is never closed", None),
        (r"ASK { ?s ?p 'a\dc' }", (1, 15), r"\d is not an escape of SPARQL", r"a backslash itself is written \\"),
        ("ASK { ?s <http://e/ ?o }", (1, 20), "an IRI cannot contain a space", CLOSE_IRI),
        ("ASK { ?s <http://e\n ?o }", (1, 10), "this IRI is never closed", "an IRI ends with >"),
        ("ASK { FILTER(?a & ?b) }", (1, 17), "the character & cannot stand here", "did you mean &&?"),
        (r"ASK { ?s ?p '\uD800' }", (1, 14), r"\uD800 is not a Unicode character", None),
        (r"ASK { ?s ?p '\U00110000' }", (1, 14), r"\U00110000 is not a Unicode character", None),
        ("ASK { FILTER qqq(?a) }", (1, 14), "there is no function qqq", None),
        ("ASK { FILTER(cout(?a)) }", (1, 14), "there is no function cout", "did you mean COUNT?"),
    ],
)
def test_messages(query: str, place: tuple[int, int], reason: str, hint: str | None) -> None:
    error = error_of(query)
    assert ((error.line, error.column), error.reason, error.hint) == (place, reason, hint)


@pytest.mark.parametrize("text", ["", "  \n", "# only a comment"])
def test_an_empty_query(text: str) -> None:
    assert str(error_of(text)) == "the query is empty"


def test_half_of_a_surrogate_pair_is_an_error_not_a_crash() -> None:
    assert error_of("ASK { ?s ?p '\ud83d' }").column == 14


@pytest.mark.parametrize("word", ["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "With"])
def test_updates_are_refused(word: str) -> None:
    with pytest.raises(RefusedError) as caught:
        parse(f"PREFIX : <http://e/>\n{word} DATA {{ :a :b :c }}")
    assert (caught.value.line, caught.value.column) == (2, 1)
    refused = f"{word.upper()} is SPARQL Update, which Penstock does not support: it answers queries"
    assert caught.value.reason == refused


def test_update_words_elsewhere_are_ordinary_mistakes() -> None:
    error = error_of("ASK { INSERT }")
    assert not isinstance(error, RefusedError)
    assert error.reason == "this word is not part of SPARQL"


# Suggestions


@pytest.mark.parametrize(
    ("prefix", "declared", "hint"),
    [
        ("xsd", ["xs"], "add the line  PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>"),
        ("exx", ["ex", "other"], "did you mean ex: ?"),
        ("sossa", [], "did you mean sosa: ? Then add the line  PREFIX sosa: <http://www.w3.org/ns/sosa/>"),
        ("zzz", ["ex"], "declare it before the query, as in  PREFIX zzz: <http://example.org/>"),
        ("", [], "declare it before the query, as in  PREFIX : <http://example.org/>"),
    ],
)
def test_prefix_hints(prefix: str, declared: list[str], hint: str) -> None:
    assert prefix_hint(prefix, declared) == hint


def test_nearest_ignores_case_and_far_words() -> None:
    assert nearest("substring", ["SUBSTR", "STR"]) == "SUBSTR"
    assert nearest("qqq", ["SUBSTR", "STR"]) is None


def test_well_known_prefixes_are_namespaces() -> None:
    assert len(WELL_KNOWN) >= 40
    assert [iri for iri in WELL_KNOWN.values() if not iri.endswith(("/", "#", "/namespace"))] == []

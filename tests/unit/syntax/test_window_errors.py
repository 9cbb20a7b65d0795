"""What is wrong with the windows of Streaming SPARQL, CQELS and RSP-QL, with a place and a way out."""

from __future__ import annotations

import pytest

from penstock.algebra.build import translate
from penstock.errors import QueryError

PREFIX = "PREFIX : <http://example.org/> "
NOT_SPARQL = "this word is not part of SPARQL"
NEEDS = "a stream needs a window, as in [RANGE 10m STEP 1m]"
ADD = "add one, as in [RANGE 10m STEP 1m] or WINDOW RANGE 10 MINUTE SLIDE"
UNSEEN = "the window is shorter than its slide, so some elements would never be seen"
SLIDES = "write a smaller SLIDE, or STEP to sample the stream"
ISO = "durations are written as in PT10S, PT1M30S, P1DT12H, or 10s"
EARLIER = "the earlier time comes first, as in [FROM NOW-2h TO NOW-1h STEP 10m]"
DECLARE = "declare it, as in FROM NAMED WINDOW {} ON <stream> [RANGE PT10S STEP PT2S]"
WHERE = "{ ?x :p ?y }"

Case = tuple[str, str, str, str | None]  # query, where the caret stands, reason, hint

STREAMING: list[Case] = [
    (f"ASK FROM STREAM :s WINDOW RANGE 3 MINUTE WHERE {WHERE}", "WHERE", "WHERE cannot stand here",
     "expected FIXED or SLIDE"),
    (f"ASK FROM STREAM :s WINDOW RANGE 3 S SLDE {WHERE}", "SLDE", NOT_SPARQL, "did you mean SLIDE?"),
    (f"ASK FROM STREAM :s WINDOW 3 S {WHERE}", "3", "3 cannot stand here", "expected ELEMS or RANGE"),
    (f"ASK FROM STREAM :s WINDOW RANGE 3 decades SLIDE {WHERE}", "decades", "decades is no unit of time",
     "expected a unit of time (ms, s, m, h or d)"),
    (f"ASK FROM STREAM :s WINDOW RANGE 3 weks SLIDE {WHERE}", "weks", "weks is no unit of time",
     "did you mean weeks?"),
    (f"ASK FROM STREAM :s WINDOW RANGE 1 S SLIDE 2 S {WHERE}", "WINDOW RANGE 1 S SLIDE 2 S", UNSEEN, SLIDES),
    (f"ASK FROM STREAM :s WINDOW RANGE 0 SLIDE {WHERE}", "0", "a window of length 0 holds nothing", None),
    (f"ASK FROM STREAM :s WINDOW RANGE 0 FIXED {WHERE}", "0", "a window of length 0 holds nothing", None),
    (f"ASK FROM STREAM :s WINDOW RANGE 5 SLIDE 0 {WHERE}", "0", "a window with slide 0 never moves", None),
    (f"ASK FROM STREAM :s WINDOW ELEMS 0 {WHERE}", "0", "a window of 0 triples holds nothing", None),
    (f"ASK FROM STREAM :s RANGE 3s SLIDE {WHERE}", "RANGE", "RANGE cannot stand here", NEEDS),
    (f"ASK FROM STREAM :t [NOW] FROM STREAM :s {WHERE}", ":s", "a stream needs a window, and there is none in WHERE",
     ADD),
    ("ASK FROM STREAM :s { STREAM :t [NOW] {} }", ":s", "a stream needs a window, and there is none in WHERE", ADD),
    ("ASK FROM STREAM :s { ?x :p ?y OPTIONAL { ?x :q ?z WINDOW ELEMS 3 } }", ":s",
     "a stream needs a window, and some patterns of WHERE stand in no group with a window", ADD),
    ("ASK FROM STREAM :s { { ?x :p ?y WINDOW ELEMS 3 } GRAPH :s { ?x :q ?z } }", ":s",
     "a stream needs a window, and some patterns of WHERE stand in no group with a window", ADD),
    ("ASK { ?x :p ?y WINDOW ELEMS 3 }", "WINDOW ELEMS 3", "there is no stream whose window this could override",
     "name the stream before WHERE, as in FROM STREAM <s>"),
    ("ASK { STREAM :s [NOW] { ?x :p ?y WINDOW ELEMS 3 } }", "WINDOW ELEMS 3",
     "this group reads a window of its own already",
     "a window at the end of a group overrides those of FROM STREAM alone"),
    ("ASK FROM STREAM :s [NOW] { ?x :p ?y WINDOW ELEMS 3 ?x :q ?z }", "?x :q", "?x cannot stand here", "expected }"),
    ("ASK FROM STREAM :s [NOW] { ?x :p ?y WINDOW ELEMS 3 WINDOW ELEMS 4 }", "WINDOW ELEMS 4",
     "WINDOW cannot stand here", "expected }"),
]  # fmt: skip

CQELS: list[Case] = [
    ("ASK FROM NAMED :s [RANGE 3s] WHERE { GRAPH ?w { ?x :p ?y } }", "WHERE", "WHERE cannot stand here",
     "a window needs a name here, as in FROM NAMED <stream> [RANGE 10s] AS ?w"),
    ("ASK FROM NAMED :s [RANGE 3s] AS :w {}", ":w", ":w cannot stand here", "expected a variable"),
    ("ASK FROM NAMED :s [RANGE 3s] AS w {}", "w", NOT_SPARQL, "expected a variable"),
    ("ASK FROM NAMED :s [RANGE 3] AS ?w {}", "3", "3 has no unit of time", "write 3s or 3ms, for instance"),
    ("ASK FROM NAMED :s [RANGE 3s] AS ?w FROM NAMED :t [NOW] AS ?w {}", "?w {}", "?w names a window already",
     "give each window a variable of its own"),
    ("SELECT ?w FROM NAMED :s [NOW] AS ?w { GRAPH ?w { ?x :p ?y } }", "?w FROM",
     "?w names a window, so it cannot stand here",
     "its patterns stand in GRAPH ?w { … }; other variables need another name"),
    ("ASK FROM NAMED :s [NOW] AS ?w { GRAPH ?w { ?x :p ?w } }", "?w } }", "?w names a window, so it cannot stand here",
     "its patterns stand in GRAPH ?w { … }; other variables need another name"),
    ("ASK FROM NAMED :s [RANGE 3s AS ?w {}", "AS", "AS cannot stand here", "expected ], SLIDE, STEP or TUMBLING"),
    ("ASK { STREAM :s { ?x :p ?y } }", "{ ?x", "{ cannot stand here", NEEDS),
    ("ASK { STREAM [NOW] { ?x :p ?y } }", "[", "[ cannot stand here", "expected a name or an IRI"),
    ("ASK { STREAM :s [RANGE 3s SLIDE 4s] { ?x :p ?y } }", "[RANGE", UNSEEN, SLIDES),
    ("ASK { STREAM :s [RANGE 3 SLIDE 1s] { ?x :p ?y } }", "3", "3 has no unit of time",
     "write 3s or 3ms, for instance"),
    ("ASK { STREAM :s [NOW 3s] { ?x :p ?y } }", "3s", "3 cannot stand here", "expected ]"),
    ("ASK { STREAM :s [RANGE 3s] ?x :p ?y }", "?x", "?x cannot stand here", "expected {"),
    ("SELECT ?l max(count(?x)) { ?x :p ?l }", "count", "COUNT has no groups to be computed over", "add GROUP BY"),
    ("SELECT ?l max(count(?x)) min(count(?x)) { ?x :p ?l } GROUP BY ?l", "count(?x)) {",
     "only one aggregate of aggregates can stand here", "use a sub-SELECT"),
    ("SELECT ?l sum(count(?x)) { ?x :p ?l } GROUP BY ?l", "sum", "SUM cannot stand here", "use a sub-SELECT"),
    ("SELECT ?l (max(count(?x)) AS ?m) { ?x :p ?l } GROUP BY ?l", "count", "COUNT stands inside MAX",
     "use a sub-SELECT"),
    ("SELECT ?x (max(?l) AS ?m) { ?x :p ?l } GROUP BY ?l", "?x (",
     "?x is projected, but neither grouped nor aggregated",
     "add ?x to GROUP BY, or aggregate it, as in (SAMPLE(?x) AS ?any_x)"),
    ("ASK { { ?x :p ?l } GROUP BY ?l }", "?l }", "GROUP BY cannot stand here",
     "it belongs to a SELECT: put it after the closing } of its WHERE"),
    ("ASK { { SELECT ?x { ?x :p ?l } GROUP BY ?x } GROUP BY ?x }", "?x }", "GROUP BY cannot stand here",
     "it belongs to a SELECT: put it after the closing } of its WHERE"),
]  # fmt: skip

RSPQL: list[Case] = [
    ("ASK FROM NAMED WINDOW :w [NOW] {}", "[", "[ cannot stand here", "expected ON"),
    ("ASK FROM NAMED WINDOW :w ON :s {}", "{", "{ cannot stand here", NEEDS),
    ("ASK FROM NAMED WINDOW ON :s [NOW] {}", "ON", "ON cannot stand here", "expected an IRI"),
    ("ASK FROM WINDOW :w ON :s [NOW] {}", "WINDOW", "WINDOW cannot stand here", "expected an IRI, NAMED or STREAM"),
    ("ASK FROM NAMED WINDOW :win ON :s [NOW] { WINDOW :wim {} }", ":wim",
     "the window <http://example.org/wim> is not declared", "did you mean <http://example.org/win>?"),
    ("ASK FROM NAMED WINDOW :win ON :s [NOW] { WINDOW :s {} }", ":s {}",
     "the window <http://example.org/s> is not declared", "did you mean <http://example.org/win>?"),
    ("ASK FROM NAMED WINDOW :win ON :s [NOW] { WINDOW :other {} }", ":other",
     "the window <http://example.org/other> is not declared", DECLARE.format("<http://example.org/other>")),
    ("ASK { WINDOW ?w {} }", "?w", "there is no window that ?w could be", DECLARE.format("<w>")),
    ("ASK FROM NAMED WINDOW :w ON :s [NOW] FROM NAMED WINDOW :w ON :t [ALL] {}", ":w ON :t",
     "there is a window of this name already", "give each window its own name"),
    ("ASK FROM NAMED WINDOW :w ON :s [RANGE P1M TUMBLING] {}", "P1M",
     "P1M is no window: years and months differ in length", "write days, as in P30D"),
    ("ASK FROM NAMED WINDOW :w ON :s [RANGE PT1X TUMBLING] {}", "PT1X", "PT1X is no duration", ISO),
    ("ASK FROM NAMED WINDOW :w ON :s [RANGE PT TUMBLING] {}", "PT", "PT is no duration", ISO),
    ("ASK FROM NAMED WINDOW :w ON :s [RANGE P1DT TUMBLING] {}", "P1DT", "P1DT is no duration", ISO),
    ("ASK FROM NAMED WINDOW :w ON :s [RANGE PT0S TUMBLING] {}", "PT0S", "a window of length 0 holds nothing", None),
    ("ASK FROM NAMED WINDOW :w ON :s [RANGE PT9999999999999999S] {}", "PT9", "this number is too large", None),
    ("ASK FROM NAMED WINDOW :w ON :s [RANGE P9999999D] {}", "P9", "this is longer than 10000 years", None),
    ("ASK FROM NAMED WINDOW :w ON :s [FROM NOW-1h TO NOW-2h STEP 1m] {}", "[FROM",
     "this window ends before it starts", EARLIER),
    ("ASK FROM NAMED WINDOW :w ON :s [FROM NOW TO NOW STEP 1m] {}", "[FROM", "a window of length 0 holds nothing",
     EARLIER),
    ("ASK FROM NAMED WINDOW :w ON :s [FROM NOW-1h STEP 1m] {}", "STEP", "STEP cannot stand here", "expected TO"),
    ("ASK FROM NAMED WINDOW :w ON :s [FROM NOW+1h TO NOW STEP 1m] {}", "+1", "+1 cannot stand here",
     "expected - or TO"),
    ("REGISTER RSTREM :o AS ASK {}", "RSTREM", NOT_SPARQL, "did you mean RSTREAM?"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "marked", "reason", "hint"), STREAMING + CQELS + RSPQL)
def test_errors(query: str, marked: str, reason: str, hint: str | None) -> None:
    with pytest.raises(QueryError) as caught:
        translate(PREFIX + query)
    error = caught.value
    assert (error.reason, error.hint) == (reason, hint)
    assert error.column is not None
    assert query[error.column - 1 - len(PREFIX) :].startswith(marked)

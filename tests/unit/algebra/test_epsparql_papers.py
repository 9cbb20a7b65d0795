"""Queries 1 to 7 of EP-SPARQL's paper as printed, with prefixes and with > for < in (3), as its text means it."""

from __future__ import annotations

import warnings

import pytest

from penstock.algebra.build import translate
from penstock.algebra.sse.query import read_query, write_query
from penstock.errors import PenstockWarning, RefusedError

PREFIXES = "PREFIX : <http://example.org/>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
POINT = "(bgp (?point :hasCount ?prevcount) (?point :hasSum ?prevsum))"
PRICE, BETWEEN = "(bgp (:ACME :hasStockPrice ?price))", "(bgp (:ACME :hasStockPrice ?inbetween))"

PRINTED = {
    "1": (
        """
SELECT ?company WHERE
{ ?company :hasStockPrice ?price1 } SEQ { ?company :hasStockPrice ?price2 } SEQ { ?company :hasStockPrice ?price3 }
FILTER ( ?price2 < ?price1 * 0.7 && ?price3 > ?price1 * 1.05
&& getDURATION( ) < "P30D"^^xsd:duration )
""",
        """(select (?company) (emit events) (project (?company)
            (filter (&& (&& (< ?price2 (* ?price1 0.7)) (> ?price3 (* ?price1 1.05)))
                        (< (getduration) "P30D"^^xsd:duration))
              (seq (seq (bgp (?company :hasStockPrice ?price1)) (bgp (?company :hasStockPrice ?price2)))
                   (bgp (?company :hasStockPrice ?price3))))))""",
    ),
    "2": (
        """
SELECT ?company ?ratingagency WHERE
{ ?company :downratedby ?ratingagency}
OPTIONALSEQ {
{ ?company :hasStockPrice ?price1 }
SEQ { ?company :hasStockPrice ?price2 }}
FILTER ( ?price2 < ?price1 * 0.5 )
""",
        """(select (?company ?ratingagency) (emit events) (project (?company ?ratingagency)
            (filter (< ?price2 (* ?price1 0.5))
              (optionalseq (bgp (?company :downratedby ?ratingagency))
                (seq (bgp (?company :hasStockPrice ?price1)) (bgp (?company :hasStockPrice ?price2)))))))""",
    ),
    "3": (
        """
SELECT ?company WHERE
{ ?company :hasStockprice ?price1 }
SEQ { { ?company :hasAcquired ?othercompany }
OPTIONALSEQ { ?company :hasStockPrice ?price2 } }
FILTER ( ?price2 > ?price1 * 1.5 && !BOUND(?othercompany ) && getDURATION( ) < "P15D"^^xsd:duration )
""",
        """(select (?company) (emit events) (project (?company)
            (filter (&& (&& (> ?price2 (* ?price1 1.5)) (! (bound ?othercompany)))
                        (< (getduration) "P15D"^^xsd:duration))
              (seq (bgp (?company :hasStockprice ?price1))
                (optionalseq (bgp (?company :hasAcquired ?othercompany))
                             (bgp (?company :hasStockPrice ?price2)))))))""",
    ),
    "4": (
        """
CONSTRUCT ?company :downratedby ?ratingagency WHERE
{ ?rating1 :rater ?ratingagency ; :rated ?company ; :score ?score1 }
SEQ { ?rating2 :rater ?ratingagency ; :rated ?company ; :score ?score2 }
FILTER ( ?score2 < ?score1 )
""",
        """(construct ((?company :downratedby ?ratingagency)) (register _ (output <urn:penstock:rules>)) (emit events)
            (filter (< ?score2 ?score1)
              (seq (bgp (?rating1 :rater ?ratingagency) (?rating1 :rated ?company) (?rating1 :score ?score1))
                   (bgp (?rating2 :rater ?ratingagency) (?rating2 :rated ?company) (?rating2 :score ?score2)))))""",
    ),
    "5": (
        """
CONSTRUCT _:aaa :hasCount ?count . _:aaa :hasSum ?sum .
{ SELECT ?count AS ?prevcount + 1 ?sum AS ?prevsum + ?price
WHERE
{{ ?point :hasCount ?prevcount .
?point :hasSum ?prevsum
. }
SEQ { :ACME :hasStockPrice ?price . }}
EQUALSOPTIONAL
{{ ?point :hasCount ?prevcount .
?point :hasSum ?prevsum
. }
SEQ { :ACME :hasStockPrice ?inbetween . } SEQ { :ACME :hasStockPrice ?price . }}
FILTER ( !BOUND(?inbetween ) && getDURATION( ) < "P10D"^^xsd:duration )}
""",
        f"""(construct ((?.b0 :hasCount ?count) (?.b0 :hasSum ?sum)) (register _ (output <urn:penstock:rules>))
            (emit events)
            (project (?count ?sum) (extend ((?count (+ ?prevcount 1)) (?sum (+ ?prevsum ?price)))
              (filter (&& (! (bound ?inbetween)) (< (getduration) "P10D"^^xsd:duration))
                (equalsoptional (seq {POINT} {PRICE}) (seq (seq {POINT} {BETWEEN}) {PRICE}))))))""",
    ),
    "6": (
        """
SELECT ?sum / ?count AS ?average WHERE {{ :ACME :hasStockPrice ?price . }
SEQ { ?point :hasCount ?prevcount .
?point :hasSum ?prevsum . }}
EQUALSOPTIONAL
{{ :ACME :hasStockPrice ?price . }
SEQ { :ACME :hasStockPrice ?inbetween . } SEQ { ?point :hasCount ?prevcount .
?point :hasSum ?prevsum . }}
FILTER ( !BOUND(?inbetween ) && getDURATION( ) > "P10D"^^xsd:duration )
""",
        f"""(select (?average) (emit events) (project (?average) (extend ((?average (/ ?sum ?count)))
              (filter (&& (! (bound ?inbetween)) (> (getduration) "P10D"^^xsd:duration))
                (equalsoptional (seq {PRICE} {POINT}) (seq (seq {PRICE} {BETWEEN}) {POINT}))))))""",
    ),
}


@pytest.mark.parametrize("number", PRINTED)
def test_printed(number: str) -> None:
    text, plan = PRINTED[number]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = translate(PREFIXES + text)
    expected = read_query(plan.replace("^^xsd:duration", "^^<http://www.w3.org/2001/XMLSchema#duration>"))
    assert write_query(found) == write_query(expected)


@pytest.mark.parametrize("number", ["1", "2", "3", "4", "5"])
def test_no_doubts(number: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        translate(PREFIXES + PRINTED[number][0])


def test_query_6_warns_of_its_unbound_variables() -> None:
    with pytest.warns(PenstockWarning) as found:
        translate(PREFIXES + PRINTED["6"][0])
    assert [str(warning.message) for warning in found] == [
        "line 4: ?sum is never bound; did you mean ?prevsum?\n"
        "  SELECT ?sum / ?count AS ?average WHERE {{ :ACME :hasStockPrice ?price . }\n"
        "         ^^^^",
        "line 4: ?count is never bound; did you mean ?prevcount?\n"
        "  SELECT ?sum / ?count AS ?average WHERE {{ :ACME :hasStockPrice ?price . }\n"
        "                ^^^^^^",
    ]


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("SELECT ?x ?y WHERE ?x ?x ?x . SEQOPTIONAL ?y ?y ?y .", "SEQOPTIONAL"),
        ("SELECT ?x ?y WHERE { ?x ?x ?x } SEQOPTIONAL { ?y ?y ?y }", "SEQOPTIONAL"),
        ("SELECT ?x ?y { { ?x ?x ?x } seqOptional { ?y ?y ?y } }", "seqOptional"),
        ("SELECT ?x ?y { { ?x ?x ?x } SEQ OPTIONAL { ?y ?y ?y } }", "OPTIONAL"),
    ],
)
def test_7_is_refused(query: str, marked: str) -> None:
    with pytest.raises(RefusedError) as caught:
        translate(query)
    error = caught.value
    assert error.reason == "SEQOPTIONAL is not supported: a later event would retract an answer"
    assert error.hint is not None
    assert "OPTIONALSEQ" in error.hint
    assert error.column is not None
    assert query[error.column - 1 :].startswith(marked)

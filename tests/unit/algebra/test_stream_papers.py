"""Every query printed in the papers of Streaming SPARQL and CQELS, as printed (with the prefixes they leave out)."""

from __future__ import annotations

import pytest

from penstock.algebra.build import translate
from penstock.algebra.sse.query import read_query, write_query

NAMESPACES = {
    "": "http://example.org/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "loc": "http://deri.org/loc#",
    "my": "http://my.org/",
    "wtur": "http://iec.org/61400-25/root/ln-classes/WTUR#",
}
PREFIXES = "".join(f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in NAMESPACES.items())
LOCATIONS = "<http://deri.org/locstreams>"

LS30 = f"(stream {LOCATIONS} (range 30s slide 1us) (as <urn:penstock:window:ls30>))"
LSNOW = f"(stream {LOCATIONS} (range 1us slide 1us) (as <urn:penstock:window:lsnow>))"
NAME_OF_PLACE = "(graph <http://deri.org/localization/> (bgp (?loc loc:name ?locName)))"
BOTH_AT = """(join (inwindow <urn:penstock:window:lsnow> (bgp (?person1 loc:at ?loc)))
    (inwindow <urn:penstock:window:ls30> (bgp (?person2 loc:at ?loc))))"""

PRINTED = {
    "Listing 1.1": (
        """
PREFIX wtur: <http://iec.org/61400-25/root/ln-classes/WTUR#>
SELECT ?x ?y ?z
FROM STREAM <http://iec.org/61400-25/root/td.rdf>
WINDOW RANGE 30 MINUTE SLIDE
WHERE { ?x wtur:StrCnt ?y .
OPTIONAL { ?x wtur:StopCnt ?z .
WINDOW ELEMS 1500 } }
""",
        """(select (?x ?y ?z)
            (stream <http://iec.org/61400-25/root/td.rdf> (range 30m slide 1m))
            (stream <http://iec.org/61400-25/root/td.rdf> (triples 1500 step 1) (tag 1))
            (emit intervals)
            (project (?x ?y ?z)
              (leftjoin (bgp (?x wtur:StrCnt ?y)) (windowoverride 1 (bgp (?x wtur:StopCnt ?z))))))""",
    ),
    "Listing 1.2": (
        """
SELECT ?w ?x ?y ?z
FROM <http://src.net/graph.rdf>
WHERE { ?w my:name ?x } UNION { ?y my:power ?z }
""",
        """(select (?w ?x ?y ?z) (from <http://src.net/graph.rdf>) (named)
            (project (?w ?x ?y ?z) (union (bgp (?w my:name ?x)) (bgp (?y my:power ?z)))))""",
    ),
    "Listing 1.3": (
        """
SELECT ?w ?x ?y ?z
FROM STREAM <http://src.net/graph.rdf> WINDOW RANGE 1000 SLIDE
WHERE { ?w my:name ?x } UNION { ?y my:power ?z }
""",
        """(select (?w ?x ?y ?z) (stream <http://src.net/graph.rdf> (range 1s slide 1ms)) (emit intervals)
            (project (?w ?x ?y ?z) (union (bgp (?w my:name ?x)) (bgp (?y my:power ?z)))))""",
    ),
    "Q1": (
        """
SELECT ?name ?locName
FROM NAMED <http://deri.org/locstreams> [RANGE 30 seconds] as ?ls30
WHERE {
  GRAPH ?ls30 {?person loc:at ?loc}.
  GRAPH <http://deri.org/localization/>{?loc loc:name ?locName}
  ?person foaf:name ?name.
}
""",
        f"""(select (?name ?locName) {LS30} (emit istream) (project (?name ?locName)
            (join (join (inwindow <urn:penstock:window:ls30> (bgp (?person loc:at ?loc))) {NAME_OF_PLACE})
                  (bgp (?person foaf:name ?name)))))""",
    ),
    "Q2": (
        """
SELECT ?author1Name ?author2Name ?locName
FROM NAMED <http://deri.org/locstreams> [NOW] as ?lsnow
FROM NAMED <http://deri.org/locstreams> [RANGE 30 seconds] as ?ls30
WHERE {
  GRAPH ?lsnow {?person1 loc:at ?loc}.
  GRAPH ?ls30 {?person2 loc:at ?loc}.
  GRAPH <http://deri.org/localization/>{?loc loc:name ?locName}
  ?person1 dc:creator ?paper.?person2 dc:creator ?paper.?person1 foaf:name ?author1Name.?person2 foaf:name ?author2Name.
}
""",
        f"""(select (?author1Name ?author2Name ?locName) {LSNOW} {LS30} (emit istream)
            (project (?author1Name ?author2Name ?locName) (join (join {BOTH_AT} {NAME_OF_PLACE})
              (bgp (?person1 dc:creator ?paper) (?person2 dc:creator ?paper)
                   (?person1 foaf:name ?author1Name) (?person2 foaf:name ?author2Name)))))""",
    ),
    "Q3": (
        """
SELECT ?author1Name ?author2Name ?locName
FROM NAMED <http://deri.org/locstreams> [NOW] as ?lsnow
FROM NAMED <http://deri.org/locstreams> [RANGE 30 seconds] as ?ls30
WHERE {
  GRAPH ?lsnow {?person1 loc:at ?loc}.
  GRAPH ?ls30 {?person2 loc:at ?loc}.
  GRAPH <http://deri.org/localization/>{?loc loc:name ?locName}
  ?p1 dc:creator ?person1 .?p2 dc:creator ?person2
  {
    {?p1 dcterms:references ?p2} UNION {?p2 dcterms:references ?p1}
  }
  ?person1 foaf:name ?author1Name.?person2 foaf:name ?author2Name.
}
""",
        f"""(select (?author1Name ?author2Name ?locName) {LSNOW} {LS30} (emit istream)
            (project (?author1Name ?author2Name ?locName) (join (join (join (join {BOTH_AT} {NAME_OF_PLACE})
              (bgp (?p1 dc:creator ?person1) (?p2 dc:creator ?person2)))
              (union (bgp (?p1 dcterms:references ?p2)) (bgp (?p2 dcterms:references ?p1))))
              (bgp (?person1 foaf:name ?author1Name) (?person2 foaf:name ?author2Name)))))""",
    ),
    "Q4": (
        """
SELECT ?person1 ?person2 max(?numPub)
FROM NAMED <http://deri.org/locstreams> [NOW] as ?lsnow
FROM NAMED <http://deri.org/locstreams> [RANGE 30 seconds] as ?ls30
WHERE {
  GRAPH ?lsnow {?person1 loc:at ?loc}.
  GRAPH ?ls30 {?person2 loc:at ?loc}.
  { SELECT ?person1 ?person2 (count(?p2) AS ?numPub)
    WHERE {
      ?p1 dc:creator ?person1 .?p2 dc:creator ?person2. ?p1 dcterms:references ?p2
    }
  }
  GROUP BY ?person1 ?person2
}
GROUP BY ?person2
""",
        f"""(select (?person1 ?person2 ?max_numPub) {LSNOW} {LS30} (emit istream)
            (project (?person1 ?person2 ?max_numPub) (extend ((?max_numPub ?.a2))
              (group (?person2 ?person1) ((?.a2 (max ?numPub)))
                (filter (= ?numPub ?.m1) (annotate (?.m1 (max ?numPub)) (?person2)
                  (join {BOTH_AT}
                    (project (?person1 ?person2 ?numPub) (extend ((?numPub ?.a0))
                      (group (?person1 ?person2) ((?.a0 (count ?p2)))
                        (bgp (?p1 dc:creator ?person1) (?p2 dc:creator ?person2)
                             (?p1 dcterms:references ?p2)))))))))))) """,
    ),
    "Q1'": (
        """
SELECT ?name ?locName
FROM NAMED <http://deri.org/locstreams> [RANGE 30 seconds] as ?ls30
WHERE {
  GRAPH ?ls30 {?person loc:at ?loc}.
  GRAPH <http://deri.org/localization/> {?loc loc:name ?locName}
  ?person foaf:name "$Author Name$".
}
""",
        f"""(select (?name ?locName) {LS30} (emit istream) (project (?name ?locName)
            (join (join (inwindow <urn:penstock:window:ls30> (bgp (?person loc:at ?loc))) {NAME_OF_PLACE})
                  (bgp (?person foaf:name "$Author Name$")))))""",
    ),
    "Q2'": (
        """
SELECT ?citedAuthorName
FROM NAMED <http://deri.org/locstreams> [NOW] as ?lsnow
FROM NAMED <http://deri.org/locstreams> [RANGE 30 seconds] as ?ls30
WHERE {
  GRAPH ?lsnow {<:anAuthor> loc:at ?loc}.
  GRAPH ?ls30 {?citedAuthor loc:at ?loc}.
  ?citedAuthor foaf:name ?citedAuthorName.
  ?p1 dc:creator ?anAuthor. ?anAuthor foaf:name "$Author Name$". ?p2 dc:creator ?citedAuthor.
  ?p1 dcterms:references ?p2.
}
""",
        f"""(select (?citedAuthorName) {LSNOW} {LS30} (emit istream) (project (?citedAuthorName)
            (join (join (inwindow <urn:penstock:window:lsnow> (bgp (:anAuthor loc:at ?loc)))
                        (inwindow <urn:penstock:window:ls30> (bgp (?citedAuthor loc:at ?loc))))
              (bgp (?citedAuthor foaf:name ?citedAuthorName) (?p1 dc:creator ?anAuthor)
                   (?anAuthor foaf:name "$Author Name$") (?p2 dc:creator ?citedAuthor)
                   (?p1 dcterms:references ?p2)))))""",
    ),
    "Q3'": (
        """
SELECT ?interestedAuthorName ?locName
FROM NAMED <http://deri.org/locstreams> [NOW] as ?lsnow
FROM NAMED <http://deri.org/locstreams> [RANGE 30 seconds] as ?ls30
WHERE {
  GRAPH ?lsnow {?person1 loc:at ?loc}.
  GRAPH ?ls30 {?person2 loc:at ?loc}.
  GRAPH <http://deri.org/localization/>{?loc loc:name ?locName}
  ?anAuthor foaf:name "$Author Name$".
  ?interestedAuthor foaf:name ?interestedAuthorName.
  {
    {?p1 dcterms:references ?p2. ?p1 dc:creator ?anAuthor. ?p2 dc:creator ?interestedAuthor}
  UNION
  {?p dc:creator ?anAuthor. ?p dc:creator ?interestedAuthor}
}
}
""",
        f"""(select (?interestedAuthorName ?locName) {LSNOW} {LS30} (emit istream)
            (project (?interestedAuthorName ?locName) (join (join (join {BOTH_AT} {NAME_OF_PLACE})
              (bgp (?anAuthor foaf:name "$Author Name$") (?interestedAuthor foaf:name ?interestedAuthorName)))
              (union
                (bgp (?p1 dcterms:references ?p2) (?p1 dc:creator ?anAuthor) (?p2 dc:creator ?interestedAuthor))
                (bgp (?p dc:creator ?anAuthor) (?p dc:creator ?interestedAuthor))))))""",
    ),
    "Q4'": (
        """
SELECT ?locName max(count(?citedAuthor))
FROM NAMED <http://deri.org/locstreams> [RANGE 15 seconds] as ?ls15
WHERE {
  GRAPH ?ls15 {?citedAuthor loc:at ?loc}.
  GRAPH <http://deri.org/localization/>{?loc loc:name ?locName}
  ?p1 dc:creator ?anAuthor. ?anAuthor foaf:name "$Author Name$". ?p2 dc:creator ?citedAuthor.
  ?p1 dcterms:references ?p2.
}
GROUP BY ?loc
""",
        f"""(select (?locName ?max_count_citedAuthor)
            (stream {LOCATIONS} (range 15s slide 1us) (as <urn:penstock:window:ls15>)) (emit istream)
            (project (?locName ?max_count_citedAuthor)
              (filter (= ?.a0 ?max_count_citedAuthor) (annotate (?max_count_citedAuthor (max ?.a0)) ()
                (group (?loc ?locName) ((?.a0 (count ?citedAuthor)))
                  (join (join (inwindow <urn:penstock:window:ls15> (bgp (?citedAuthor loc:at ?loc))) {NAME_OF_PLACE})
                    (bgp (?p1 dc:creator ?anAuthor) (?anAuthor foaf:name "$Author Name$")
                         (?p2 dc:creator ?citedAuthor) (?p1 dcterms:references ?p2))))))))""",
    ),
}


def with_full_names(plan: str) -> str:
    """The s-expression with the prefixes of the text resolved."""
    for prefix, iri in NAMESPACES.items():
        if prefix:
            plan = " ".join(_full(word, prefix, iri) for word in plan.split())
    return plan


def _full(word: str, prefix: str, iri: str) -> str:
    start = word.find(f"{prefix}:")
    if start < 0 or word[:start].strip("(") or "<" in word or '"' in word:
        return word
    end = len(word.rstrip(")"))
    return f"{word[:start]}<{iri}{word[start + len(prefix) + 1 : end]}>{word[end:]}"


@pytest.mark.parametrize("name", PRINTED)
def test_printed(name: str) -> None:
    text, plan = PRINTED[name]
    assert write_query(translate(PREFIXES + text)) == write_query(read_query(with_full_names(plan)))

"""Every query printed in the two papers of C-SPARQL, as printed (with the prefixes that they leave out)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import pytest
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.expressions import Var
from penstock.algebra.sse import read, write
from penstock.algebra.windows import UNITS, TimeWindow
from penstock.errors import PenstockWarning

MINUTE, HOUR = UNITS["m"], UNITS["h"]
CITY = "PREFIX c: <http://linkedurbandata.org/city#>\nPREFIX t: <http://linkedurbandata.org/traffic#>\n"
GATES, CAMERAS = "http://streams.org/citytollgates.trdf", "http://streams.org/citycameras.trdf"
MARKET, BROKERS = "http://stockexchange.org/market.trdf", "http://brokerscentral.org/brokers.rdf"
GLUE = "http://c-sparql.cefriel.it/sdow-demo/"
SELECT = ops.Select()


@dataclass(frozen=True)
class Printed:
    """A query; `plan` writes c: t: b: x: sioc: … for the namespaces of the text."""

    name: str
    text: str
    plan: str
    variables: str = ""
    streams: tuple[tuple[str, int, int], ...] = ()
    every: int | None = None
    graph: str | None = None
    form: ops.Form = SELECT
    warning: str | None = None


QUERIES = [
    Printed(
        "sensors per street",
        """
PREFIX c: <http://linkedurbandata.org/city#>

SELECT DISTINCT ?street ?total-sensor
WHERE { ?sensor c:placedIn ?street . }
AGGREGATE { ( ?total-sensor, COUNT, {?street} )
            FILTER (?total-sensor > 5) }
""",
        """(distinct (project (?street ?total-sensor) (filter (> ?total-sensor 5)
            (annotate (?total-sensor (count)) (?street) (bgp (?sensor c:placedIn ?street))))))""",
        "street total-sensor",
    ),
    Printed(
        "passages per gate",
        """
PREFIX t: <http://linkedurbandata.org/traffic#>

SELECT DISTINCT ?tollgate ?passages
FROM STREAM <http://streams.org/citytollgates.trdf>
[RANGE 10m STEP 1m]
WHERE { ?tollgate t:registers ?car . }
AGGREGATE { (?passages, COUNT, {?tollgate}) }
""",
        """(distinct (project (?tollgate ?passages)
            (annotate (?passages (count)) (?tollgate) (bgp (?tollgate t:registers ?car)))))""",
        "tollgate passages",
        ((GATES, 10 * MINUTE, MINUTE),),
    ),
    Printed(
        "CarsEnteringCityCenterPerDistrict",
        CITY
        + """
REGISTER QUERY CarsEnteringCityCenterPerDistrict
COMPUTED EVERY 5m AS

SELECT DISTINCT ?district ?passages
FROM STREAM <http://streams.org/citytollgates.trdf>
[RANGE 30m STEP 5m]
WHERE { ?tollgate t:registers ?car .
        ?tollgate c:placedIn ?street .
        ?district c:contains ?street . }
AGGREGATE {(?passages, COUNT, {?district})}
""",
        """(distinct (project (?district ?passages) (annotate (?passages (count)) (?district)
            (bgp (?tollgate t:registers ?car) (?tollgate c:placedIn ?street) (?district c:contains ?street)))))""",
        "district passages",
        ((GATES, 30 * MINUTE, 5 * MINUTE),),
        every=5 * MINUTE,
    ),
    Printed(
        "CarsEnteringCityCenterPerDistrict",
        CITY
        + """
REGISTER STREAM CarsEnteringCityCenterPerDistrict
COMPUTED EVERY 5m AS

CONSTRUCT {?district t:has-entering-cars ?passages}
FROM STREAM <http://streams.org/citytollgates.trdf>
[RANGE 30m STEP 5m]
WHERE { ?tollgate t:registers ?car .
        ?district c:contains ?street .
        ?tollgate c:placedIn ?street . }
AGGREGATE {(?passages,
            COUNT, {?district, ?tollgate, ?car})}
""",
        """(annotate (?passages (count)) (?district ?tollgate ?car)
            (bgp (?tollgate t:registers ?car) (?district c:contains ?street) (?tollgate c:placedIn ?street)))""",
        streams=((GATES, 30 * MINUTE, 5 * MINUTE),),
        every=5 * MINUTE,
        form=ops.Construct(
            (
                ops.TriplePattern(
                    Var("district"), NamedNode("http://linkedurbandata.org/traffic#has-entering-cars"), Var("passages")
                ),
            )
        ),
    ),
    Printed(
        "FullStreets",
        CITY
        + """
REGISTER QUERY FullStreets AS

SELECT ?street ?passages
FROM STREAM <http://streams.org/citytollgates.trdf>
[RANGE 5m TUMBLING]
FROM STREAM <http://streams.org/citycameras.trdf>
[RANGE 5m TUMBLING]
WHERE {
  ?street c:hasCapacity ?capacity .
  {
    GRAPH <http://streams.org/citytollgates.trdf> {
      ?tollgate t:registers ?car .
      ?tollgate c:placedIn ?street .
    }
  }
  UNION
  {
    GRAPH <http://streams.org/citycameras.trdf> {
      ?camera t:registers ?car .
      ?camera c:placedAt ?light .
      ?light c:crossing ?street .
    }
  }
}
AGGREGATE { ( ?passages, COUNT, {?street} )
            FILTER ( ?passages > (0.8 * ?capacity)) }
""",
        """(project (?street ?passages) (filter (> ?passages (* 0.8 ?capacity))
            (annotate (?passages (count)) (?street) (join (bgp (?street c:hasCapacity ?capacity)) (union
                (graph <http://streams.org/citytollgates.trdf>
                    (bgp (?tollgate t:registers ?car) (?tollgate c:placedIn ?street)))
                (graph <http://streams.org/citycameras.trdf>
                    (bgp (?camera t:registers ?car) (?camera c:placedAt ?light) (?light c:crossing ?street))))))))""",
        "street passages",
        ((GATES, 5 * MINUTE, 5 * MINUTE), (CAMERAS, 5 * MINUTE, 5 * MINUTE)),
    ),
    Printed(
        "AllCarsTurningFromPalmIntoOak",
        CITY
        + """
REGISTER STREAM AllCarsTurningFromPalmIntoOak
COMPUTED EVERY 1m AS

SELECT DISTINCT ?car1
FROM STREAM <http://streams.org/citycameras.trdf>
[RANGE 5m STEP 1m]
WHERE {
  ?camera1 c:monitors c:Oak-Avenue .
  ?camera2 c:monitors c:Palm-Street .
  ?camera1 c:placedAt ?tr_light .
  ?camera2 c:placedAt ?tr_light .
  ?camera1 t:registers ?car1 .
  ?camera2 t:registers ?car2 .
  FILTER ( timestamp(?car1)>timestamp(?car2)
    && ?car1 = ?car2 ) }
""",
        """(distinct (project (?car1) (filter (&& (> (timestamp ?car1) (timestamp ?car2)) (= ?car1 ?car2))
            (bgp (?camera1 c:monitors c:Oak-Avenue) (?camera2 c:monitors c:Palm-Street)
                (?camera1 c:placedAt ?tr_light) (?camera2 c:placedAt ?tr_light)
                (?camera1 t:registers ?car1) (?camera2 t:registers ?car2)))))""",
        "car1",
        ((CAMERAS, 5 * MINUTE, MINUTE),),
        every=MINUTE,
        warning="AllCarsTurningFromPalmIntoOak derives no stream",
    ),
    Printed(
        "TotalAmountPerDayAndBroker",
        """
REGISTER QUERY TotalAmountPerDayAndBroker AS

PREFIX b: <http://brokerscentral.org/accounts#>
PREFIX x: <http://stockexchange.org/exchanges#>

SELECT DISTINCT ?broker ?total
FROM <http://brokerscentral.org/brokers.rdf>
FROM STREAM <http://stockexchange.org/market.trdf>
[RANGE 24h TUMBLING]
WHERE {
  ?broker b:is_from ?country .
  ?broker x:does ?tx .
  ?tx x:with ?amount .
  FILTER (?country = 'CH' && ?amount >= 10)
}
AGGREGATE { (?total, SUM(?amount), ?broker) }
""",
        """(distinct (project (?broker ?total) (annotate (?total (sum ?amount)) (?broker)
            (filter (&& (= ?country "CH") (>= ?amount 10))
                (bgp (?broker b:is_from ?country) (?broker x:does ?tx) (?tx x:with ?amount))))))""",
        "broker total",
        ((MARKET, 24 * HOUR, 24 * HOUR),),
        graph=BROKERS,
    ),
    Printed(
        "the static part of it",
        """
PREFIX b: <http://brokerscentral.org/accounts#>

SELECT DISTINCT ?broker ?country
FROM <http://brokerscentral.org/brokers.rdf>
WHERE { ?broker b:is_from ?country }
""",
        "(distinct (project (?broker ?country) (bgp (?broker b:is_from ?country))))",
        "broker country",
        graph=BROKERS,
    ),
    Printed(
        "SellerMarketMovementsPerDay",
        """
REGISTER QUERY SellerMarketMovementsPerDay AS

PREFIX x: <http://stockexchanges.org/exchanges#>

FROM <http://brokerscentral.org/brokers.rdf>
FROM STREAM <http://stockexchange.org/market.trdf>
[RANGE 24 hours TUMBLING]

SELECT DISTINCT ?seller, ?market, ?Tot
WHERE {
  GRAPH ?market {
    ?Transaction x:seller ?seller .
    ?Transaction x:with ?amount .
  }
}
AGGREGATE { (?tot, SUM(?amount), {?seller, ?market}) }
""",
        """(distinct (project (?seller ?market ?Tot) (annotate (?tot (sum ?amount)) (?seller ?market)
            (graph ?market (bgp (?Transaction xs:seller ?seller) (?Transaction xs:with ?amount))))))""",
        "seller market Tot",
        ((MARKET, 24 * HOUR, 24 * HOUR),),
        graph=BROKERS,
        warning="line 10: ?Tot is never bound; did you mean ?tot?",
    ),
    Printed(
        "WhatHaveMyCloseFriendsBeenVisitingInTheLastHour",
        """
REGISTER QUERY WhatHaveMyCloseFriendsBeenVisitingInTheLastHour AS
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX sioc: <http://rdfs.org/sioc/ns#>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX glue: <http://c-sparql.cefriel.it/sdow-demo/>
SELECT DISTINCT ?friend ?topic
FROM <http://c-sparql.cefriel.it/sdow-demo/glueusers.rdf>
FROM STREAM <http://c-sparql.cefriel.it/sdow-demo/interactions.trdf>
  [ RANGE 60m STEP 5m ]
WHERE {
  glue:id1 foaf:knows ?friend .
  ?post   sioc:has_creator ?friend .
  ?post   rdf:type sioc:Post .
  ?post   sioc:topic ?topic .
}
""",
        """(distinct (project (?friend ?topic) (bgp (glue:id1 foaf:knows ?friend) (?post sioc:has_creator ?friend)
            (?post a sioc:Post) (?post sioc:topic ?topic))))""",
        "friend topic",
        ((f"{GLUE}interactions.trdf", 60 * MINUTE, 5 * MINUTE),),
        graph=f"{GLUE}glueusers.rdf",
    ),
    *(
        Printed(
            name,
            f"""
REGISTER QUERY {name} AS
PREFIX sioc: <http://rdfs.org/sioc/ns#>
SELECT DISTINCT ?topic ?number
FROM STREAM <http://c-sparql.cefriel.it/sdow-demo/{stream}>
[ {window} ]
WHERE {{ ?post sioc:topic ?topic . }}
AGGREGATE {{(?number , COUNT , {{?topic }})}}
""",
            """(distinct (project (?topic ?number)
                (annotate (?number (count)) (?topic) (bgp (?post sioc:topic ?topic)))))""",
            "topic number",
            ((GLUE + stream, range_, step),),
        )
        for name, stream, window, range_, step in (
            (
                "TopTopicsGlueUsersAreInterestedIn",
                "glueinteractions.trdf",
                "RANGE 30m STEP 10m",
                30 * MINUTE,
                10 * MINUTE,
            ),
            (
                "CountHowManyGlueUsersAreInterestedInEachTopic",
                "interactions.trdf",
                "RANGE 3m STEP 10s",
                3 * MINUTE,
                10 * UNITS["s"],
            ),
        )
    ),
    Printed(
        "the same on stored data",
        """
PREFIX sioc: <http://rdfs.org/sioc/ns#>
PREFIX dcterms: <http://purl.org/dc/terms/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?topic count(?topic)
WHERE {
  ?post sioc:topic ?topic .
  ?post dcterms:created ?date .
  FILTER (?date > "2009-07-20T22:47:00Z"^^xsd:dateTime
    && ?date < "2009-07-20T22:50:00Z"^^xsd:dateTime ) }
GROUP BY ?topic
""",
        """(project (?topic ?count_topic) (extend ((?count_topic ?.a0)) (group (?topic) ((?.a0 (count ?topic)))
            (filter (&& (> ?date "2009-07-20T22:47:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>)
                        (< ?date "2009-07-20T22:50:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>))
                (bgp (?post sioc:topic ?topic) (?post dcterms:created ?date))))))""",
        "topic count_topic",
    ),
]

NAMESPACES = {
    "c": "http://linkedurbandata.org/city#",
    "t": "http://linkedurbandata.org/traffic#",
    "b": "http://brokerscentral.org/accounts#",
    "x": "http://stockexchange.org/exchanges#",
    "xs": "http://stockexchanges.org/exchanges#",
    "sioc": "http://rdfs.org/sioc/ns#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "glue": GLUE,
    "dcterms": "http://purl.org/dc/terms/",
}


def expanded(plan: str) -> str:
    """The plan with IRIs for its prefixed names."""
    words = plan.replace("(", " ( ").replace(")", " ) ").split()
    names = (word.partition(":") for word in words)
    return " ".join(f"<{NAMESPACES[p]}{local}>" if p in NAMESPACES else f"{p}{c}{local}" for p, c, local in names)


def translated(text: str) -> tuple[ops.Query, list[str]]:
    """The query, and what it was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PenstockWarning)
        made = translate(text)
    return made, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("printed", QUERIES, ids=lambda printed: printed.name)
def test_runs_as_printed(printed: Printed) -> None:
    made, warned = translated(printed.text)
    assert write(made.pattern) == write(read(expanded(printed.plan)))
    assert made.variables == tuple(map(Var, printed.variables.split()))
    assert made.form == printed.form
    windows = [ops.StreamWindow(NamedNode(iri), TimeWindow(size, step)) for iri, size, step in printed.streams]
    assert made.streams == tuple(windows)
    assert made.dataset == (None if printed.graph is None else ops.Dataset((NamedNode(printed.graph),), ()))
    assert [text.startswith(str(printed.warning)) for text in warned] == [True] * (printed.warning is not None)


@pytest.mark.parametrize("printed", [p for p in QUERIES if "REGISTER" in p.text], ids=lambda printed: printed.name)
def test_is_registered_under_its_name(printed: Printed) -> None:
    made, _ = translated(printed.text)
    derives = isinstance(printed.form, ops.Construct)
    output = NamedNode(f"urn:penstock:stream:{printed.name}") if derives else None
    assert made.registration == ops.Registration(printed.name, printed.every, output)

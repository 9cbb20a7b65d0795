"""Authors, papers and citations in the shape of DBLP, and a conference where some of the authors walk about.

Most authors wrote little and a few wrote much (a power law), a paper has two or three authors who often wrote together,
and citations are rare: there are far fewer of them than papers, and they go to the papers that many cite.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

D = "http://dblp.l3s.de/d2r/resource/"
DC, DCTERMS, FOAF = "http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/", "http://xmlns.com/foaf/0.1/"
LOC, PLACES, STREAM = "http://deri.org/loc#", "http://deri.org/localization/", "http://deri.org/locstreams"
RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
PAPERS, ROOMS, GUESTS = 1_000_000, 40, 10_000
AUTHORS_EACH, CITATIONS = 2.4, 0.15  # of a paper, on average
PREFIXES = f"PREFIX dc: <{DC}> PREFIX dcterms: <{DCTERMS}> PREFIX foaf: <{FOAF}> PREFIX loc: <{LOC}>"
SECOND, START = 1_000_000, 1_277_000_000_000_000

Pairs = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Dblp:
    """The numbers of papers and authors: who wrote what, and what cites what."""

    papers: int
    authors: int
    wrote: Pairs  # paper, author
    cites: Pairs  # paper, paper


def dblp(papers: int) -> Dblp:
    """Authors are numbered by how much they write, so that those with small numbers are the busy ones."""
    rng, authors = np.random.default_rng(2010), papers * 2 // 3
    count = 1 + rng.poisson(AUTHORS_EACH - 1, papers)
    paper = np.repeat(np.arange(papers), count)
    first = _often(rng, papers, authors)
    near = first[paper] + rng.geometric(0.2, len(paper)) - 1  # friends have numbers close by
    wrote = np.unique(np.stack([paper, near % authors], axis=1), axis=0)
    citing = rng.integers(0, papers, int(papers * CITATIONS))
    cites = np.unique(np.stack([citing, _often(rng, len(citing), papers)], axis=1), axis=0)
    return Dblp(papers, authors, (wrote[:, 0], wrote[:, 1]), (cites[:, 0], cites[:, 1]))


def _often(rng: np.random.Generator, how_many: int, of: int) -> np.ndarray:
    """Small numbers far more often than large ones."""
    return np.floor(of * rng.random(how_many) ** 2).astype(np.int64)


def background(known: Dblp, path: Path) -> int:
    """Write the triples, and say how many there are. Rooms are in a graph of their own."""
    papers, authors = np.arange(known.papers), np.arange(known.authors)
    paper, author = _names("publications/conf/p", known.papers), _names("authors/a", known.authors)
    names = pa.array([f'"Author {i}"' for i in authors])
    titles = pa.array([f'"On the matter of {i}"' for i in papers])
    years = pa.array([f'"{1970 + i % 41}"^^<http://www.w3.org/2001/XMLSchema#gYear>' for i in range(41)])
    venues, kinds = _names("series/v", 2_000), pa.array([f"<{FOAF}Agent>", f"<{FOAF}Document>"])
    none = np.zeros
    tables = [
        _triples(author, authors, f"<{FOAF}name>", names, authors),
        _triples(paper, known.wrote[0], f"<{DC}creator>", author, known.wrote[1]),
        _triples(paper, known.cites[0], f"<{DCTERMS}references>", paper, known.cites[1]),
        _triples(paper, papers, f"<{DC}title>", titles, papers),
        _triples(paper, papers, f"<{DCTERMS}issued>", years, papers % 41),
        _triples(paper, papers, f"<{DCTERMS}isPartOf>", venues, papers % 2_000),
        _triples(paper, papers, RDF_TYPE, kinds, none(known.papers, int) + 1),
        _triples(author, authors, RDF_TYPE, kinds, none(known.authors, int)),
        _triples(rooms(), np.arange(ROOMS), f"<{LOC}name>", room_names(), np.arange(ROOMS), f"<{PLACES}>"),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = pa.concat_tables(tables)
    pq.write_table(whole, path, row_group_size=500_000)
    return int(whole.num_rows)


def _names(kind: str, how_many: int) -> pa.Array[Any]:
    return pa.array([f"<{D}{kind}{i}>" for i in range(how_many)])


def author(number: int) -> str:
    return f"<{D}authors/a{number}>"


def rooms() -> pa.Array[Any]:
    return pa.array([f"<{PLACES}room{i}>" for i in range(ROOMS)])


def room_names() -> pa.Array[Any]:
    return pa.array([f'"Room {i}"' for i in range(ROOMS)])


def _triples(
    subjects: pa.Array[Any],
    s: np.ndarray,
    predicate: str,
    objects: pa.Array[Any],
    o: np.ndarray,
    graph: str | None = None,
) -> pa.Table:
    predicates = pa.array([predicate]).take(np.zeros(len(s), np.int8))
    graphs = pa.nulls(len(s), pa.string()) if graph is None else pa.array([graph] * len(s))
    columns = [graphs, subjects.take(s), predicates, objects.take(o)]
    return pa.table(columns, names=["g", "s", "p", "o"])


def guests(known: Dblp, how_many: int = GUESTS) -> np.ndarray:
    """Who is at the conference: mostly the busy ones, so that they know each other."""
    rng = np.random.default_rng(24)
    return rng.choice(min(known.authors, 5 * how_many), min(known.authors, how_many), replace=False)


def seen(second: int, rate: int, present: np.ndarray) -> pa.Table:
    """One second of the tracking: tags of guests, who mostly stay where they are."""
    rng = np.random.default_rng(second)
    who = rng.integers(0, len(present), rate)
    room = (who * 7 + second // 60 + (rng.random(rate) < 0.1) * rng.integers(0, ROOMS, rate)) % ROOMS
    times = START + second * SECOND + np.sort(rng.integers(0, SECOND, rate))
    people = pa.array([author(int(number)) for number in present[who]])
    at = pa.array([f"<{LOC}at>"] * rate)
    return pa.table([people, at, rooms().take(room), pa.array(times)], names=["s", "p", "o", "ts"])


def queries(stream: str = STREAM) -> dict[str, str]:
    """The four queries of the CQELS paper. In Q3 and Q4 citations stand between the two authors, and not after them: in
    the order of the text, which is one of the things that are measured, all authors would be paired with all."""
    ls30 = f"FROM NAMED <{stream}> [RANGE 30 seconds] as ?ls30"
    both = f"FROM NAMED <{stream}> [NOW] as ?lsnow {ls30}"
    meet = "GRAPH ?lsnow {?person1 loc:at ?loc}. GRAPH ?ls30 {?person2 loc:at ?loc}."
    place = f"GRAPH <{PLACES}> {{?loc loc:name ?locName}}"
    names = "?person1 foaf:name ?author1Name. ?person2 foaf:name ?author2Name."
    either = "{ {?p1 dcterms:references ?p2} UNION {?p2 dcterms:references ?p1} }"
    counted = """{ SELECT ?person1 ?person2 (count(?p2) AS ?numPub)
      WHERE { ?p1 dc:creator ?person1. ?p1 dcterms:references ?p2. ?p2 dc:creator ?person2 }
      GROUP BY ?person1 ?person2 }"""
    shown = "SELECT ?author1Name ?author2Name ?locName"
    return {
        "Q1": f"{PREFIXES} SELECT ?name ?locName {ls30} WHERE {{ GRAPH ?ls30 {{?person loc:at ?loc}}. {place} "
        "?person foaf:name ?name. }",
        "Q2": f"{PREFIXES} {shown} {both} WHERE {{ {meet} {place} "
        f"?paper dc:creator ?person1. ?paper dc:creator ?person2. {names} }}",
        "Q3": f"{PREFIXES} {shown} {both} WHERE {{ {meet} {place} "
        f"?p1 dc:creator ?person1. {either} ?p2 dc:creator ?person2. {names} }}",
        "Q4": f"{PREFIXES} SELECT ?person1 ?person2 max(?numPub) {both} WHERE {{ {meet} {counted} }} GROUP BY ?person2",
    }

"""Suggestions for misspelt words and missing prefixes."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import takewhile

__all__ = ["WELL_KNOWN", "did_you_mean", "nearest", "one_edit_away", "prefix_hint"]

WELL_KNOWN: dict[str, str] = {
    "as": "https://www.w3.org/ns/activitystreams#",
    "bibo": "http://purl.org/ontology/bibo/",
    "cc": "http://creativecommons.org/ns#",
    "csvw": "http://www.w3.org/ns/csvw#",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "dbr": "http://dbpedia.org/resource/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcmitype": "http://purl.org/dc/dcmitype/",
    "dcterms": "http://purl.org/dc/terms/",
    "doap": "http://usefulinc.com/ns/doap#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "fn": "http://www.w3.org/2005/xpath-functions#",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "geof": "http://www.opengis.net/def/function/geosparql/",
    "ical": "http://www.w3.org/2002/12/cal/icaltzd#",
    "ldp": "http://www.w3.org/ns/ldp#",
    "locn": "http://www.w3.org/ns/locn#",
    "odrl": "http://www.w3.org/ns/odrl/2/",
    "org": "http://www.w3.org/ns/org#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "prov": "http://www.w3.org/ns/prov#",
    "qb": "http://purl.org/linked-data/cube#",
    "quantitykind": "http://qudt.org/vocab/quantitykind/",
    "qudt": "http://qudt.org/schema/qudt/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "saref": "https://saref.etsi.org/core/",
    "schema": "http://schema.org/",
    "sd": "http://www.w3.org/ns/sparql-service-description#",
    "sf": "http://www.opengis.net/ont/sf#",
    "sh": "http://www.w3.org/ns/shacl#",
    "sioc": "http://rdfs.org/sioc/ns#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "time": "http://www.w3.org/2006/time#",
    "unit": "http://qudt.org/vocab/unit/",
    "vann": "http://purl.org/vocab/vann/",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "void": "http://rdfs.org/ns/void#",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "wgs84": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "xml": "http://www.w3.org/XML/1998/namespace",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate most similar to the word, ignoring case; None if none is similar."""
    folded = {candidate.lower(): candidate for candidate in candidates}
    matches = get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    return folded[matches[0]] if matches else None


def did_you_mean(word: str, *choices: Iterable[str]) -> str | None:
    """A question, with the nearest word of the first choice that has a near one."""
    suggestion = next((near for candidates in choices if (near := nearest(word, candidates))), None)
    return f"did you mean {suggestion}?" if suggestion else None


def prefix_hint(prefix: str, declared: Iterable[str]) -> str:
    """The line to add for a well-known prefix, else the declared one that it resembles, else what is missing."""
    if prefix in WELL_KNOWN:
        return f"add the line  PREFIX {prefix}: <{WELL_KNOWN[prefix]}>"
    near = nearest(prefix, [name for name in declared if name])
    if near is not None:
        return f"did you mean {near}: ?"
    known = nearest(prefix, WELL_KNOWN)
    if known is not None:
        return f"did you mean {known}: ? Then add the line  PREFIX {known}: <{WELL_KNOWN[known]}>"
    return f"declare it before the query, as in  PREFIX {prefix}: <http://example.org/>"


def one_edit_away(word: str, other: str) -> bool:
    """Whether the words differ by one letter (too many, too few, another, or two exchanged) or in case only.

    Digits tell names apart on purpose, as in gate1 and gate2.
    """
    if word.lower() == other.lower():
        return word != other
    start = _shared(word, other)
    left, right = word[start:], other[start:]
    end = _shared(left[::-1], right[::-1])
    left, right = left[: len(left) - end], right[: len(right) - end]
    exchanged = len(left) == 2 and left == right[::-1]
    return (exchanged or max(len(left), len(right)) == 1) and not (left + right).isdigit()


def _shared(word: str, other: str) -> int:
    """The length of what both words start with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False)))

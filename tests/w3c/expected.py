"""What a W3C test expects: its result file, whatever its format, as variables and rows, a truth value or a graph."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import Any

from pyoxigraph import (
    BlankNode,
    Literal,
    Quad,
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    Store,
    Triple,
    parse,
    parse_query_results,
)

from tests.w3c.manifest import path_of, rows_of

RESULTS = {".srx": QueryResultsFormat.XML, ".srj": QueryResultsFormat.JSON, ".tsv": QueryResultsFormat.TSV}
GRAPHS = {".ttl": RdfFormat.TURTLE, ".rdf": RdfFormat.RDF_XML, ".nt": RdfFormat.N_TRIPLES}

_PREFIX = "PREFIX rs: <http://www.w3.org/2001/sw/DataAccess/tests/result-set#> "
_VARIABLES = _PREFIX + "SELECT ?name WHERE { ?set rs:resultVariable ?name }"
_BINDINGS = _PREFIX + (
    "SELECT ?solution ?name ?value ?index WHERE { ?set rs:solution ?solution OPTIONAL { ?solution rs:index ?index } "
    "OPTIONAL { ?solution rs:binding [ rs:variable ?name ; rs:value ?value ] } } ORDER BY ?index"
)


@dataclass(frozen=True, slots=True)
class Expected:
    """Exactly one of `boolean`, `triples` and `variables` with `rows` is meant."""

    variables: tuple[str, ...] = ()
    rows: list[dict[str, Any]] = field(default_factory=list)
    boolean: bool | None = None
    triples: list[Triple] | None = None


def read_expected(result: str) -> Expected:
    """The expected answer in the file with this IRI."""
    path = path_of(result)
    if path.suffix in RESULTS:
        return parse_results(path.read_bytes(), RESULTS[path.suffix])
    quads = parse(path=str(path), format=GRAPHS[path.suffix], base_iri=result)
    triples = [quad.triple for quad in quads]
    return _result_set(triples) or Expected(triples=triples)


def parse_results(text: bytes | str, format: QueryResultsFormat) -> Expected:
    """Results in one of the W3C formats, also those that Penstock wrote itself."""
    match parse_query_results(text, format=format):
        case QueryBoolean() as answer:
            return Expected(boolean=bool(answer))
        case QuerySolutions() as answer:
            names = tuple(variable.value for variable in answer.variables)
            return Expected(names, [{n: row[n] for n in names if row[n] is not None} for row in answer])
    raise AssertionError("a result file holds a boolean or solutions")


def _result_set(triples: list[Triple]) -> Expected | None:
    """Results written down with the `rs:` vocabulary; None if the graph is simply the expected graph."""
    store = Store()
    store.extend(Quad(t.subject, t.predicate, t.object) for t in triples)
    names = tuple(sorted(row["name"].value for row in rows_of(store, _VARIABLES)))
    rows: dict[Any, dict[str, Any]] = {}
    for row in rows_of(store, _BINDINGS):
        bindings = rows.setdefault(row["solution"], {})
        if row["name"] is not None:
            bindings[row["name"].value] = row["value"]
    return Expected(names, list(rows.values())) if names or rows else None


def csv_cells(text: str) -> tuple[list[str], list[dict[str, Any]]]:
    """A CSV result as its header and rows; a cell is text, except that `_:x` is a blank node."""
    header, *lines = list(csv.reader(io.StringIO(text)))
    return header, [dict(zip(header, map(_csv_term, line or [""]), strict=True)) for line in lines]


def _csv_term(text: str) -> Any:
    return BlankNode(text[2:]) if text.startswith("_:") else Literal(text)

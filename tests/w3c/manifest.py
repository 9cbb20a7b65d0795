"""The manifests of the W3C SPARQL 1.1 tests, as a list of tests.

The suite is not part of this repository: it is looked for beside it, in `../shared/w3c/sparql11`, or where the
environment variable `PENSTOCK_W3C` says. Without it these tests are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyoxigraph import NamedNode, QuerySolution, QuerySolutions, RdfFormat, Store, parse

SUITE = Path(os.environ.get("PENSTOCK_W3C") or Path(__file__).parents[3] / "shared" / "w3c" / "sparql11").resolve()
ABSENT = None if SUITE.is_dir() else f"the W3C SPARQL 1.1 tests are not at {SUITE}"

_TESTS = """
PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
PREFIX qt: <http://www.w3.org/2001/sw/DataAccess/tests/test-query#>
SELECT ?test ?type ?query ?result WHERE {
  ?test a ?type ; mf:action ?action .
  OPTIONAL { ?action qt:query ?asked }
  OPTIONAL { ?test mf:result ?result }
  BIND(COALESCE(?asked, ?action) AS ?query)
}"""
_DATA = """
PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
PREFIX qt: <http://www.w3.org/2001/sw/DataAccess/tests/test-query#>
SELECT ?file WHERE {{ <{test}> mf:action/qt:{kind} ?file }}"""


@dataclass(frozen=True, slots=True)
class W3CTest:
    """One entry of a manifest; files are IRIs, so that they can be bases and graph names as well."""

    iri: str
    type: str
    folder: str
    query: str
    result: str | None
    data: tuple[str, ...]
    graph_data: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"{self.folder}/{self.iri.partition('#')[2]}"


def path_of(iri: str) -> Path:
    """The file that a `file:` IRI names."""
    return Path(unquote(urlsplit(iri).path))


def entries_of(folders: tuple[str, ...], types: tuple[str, ...]) -> list[W3CTest]:
    """The tests of these types (local names in the `mf:` namespace); none where the suite is absent."""
    if ABSENT:
        return []
    return [test for folder in folders for test in _read(folder) if test.type in types]


def rows_of(store: Store, query: str) -> list[QuerySolution]:
    """The solutions of a SELECT query."""
    answer = store.query(query)
    assert isinstance(answer, QuerySolutions)
    return list(answer)


def _read(folder: str) -> Iterator[W3CTest]:
    manifest = SUITE / folder / "manifest.ttl"
    store = Store()
    store.extend(parse(path=str(manifest), format=RdfFormat.TURTLE, base_iri=manifest.as_uri()))
    for row in sorted(rows_of(store, _TESTS), key=lambda row: str(row["test"])):
        iri = row["test"].value
        yield W3CTest(
            iri=iri,
            type=row["type"].value.partition("#")[2],
            folder=folder,
            query=row["query"].value if isinstance(row["query"], NamedNode) else "",
            result=row["result"].value if isinstance(row["result"], NamedNode) else None,
            data=_files(store, iri, "data"),
            graph_data=_files(store, iri, "graphData"),
        )


def _files(store: Store, test: str, kind: str) -> tuple[str, ...]:
    rows = rows_of(store, _DATA.format(test=test, kind=kind))
    return tuple(sorted(row["file"].value for row in rows if isinstance(row["file"], NamedNode)))

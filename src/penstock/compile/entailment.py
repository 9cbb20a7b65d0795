"""Triples with all that follows from them, as SELECTs: the ontology is joined with them, and nothing is stored.

A few classes or properties are constants of the text; many are a view that is broadcast. What follows from a triple is
there once for each triple that it follows from, with the other columns of that triple.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa
from pyoxigraph import NamedNode, Triple

from penstock.algebra.expressions import PatternTerm, Term, Var
from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.model.term_encoding import decode, encode
from penstock.reasoning import Ontology, Way, ways
from penstock.reasoning.ontology import OBJECT, SUBJECT, TEXT
from penstock.reasoning.vocabulary import TYPE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW = 40  # pairs that are written into the text
_MADE = "ARRAY<STRUCT<x: STRING, q: STRING, y: STRING>>"
_STRUCT = pa.list_(pa.struct([(name, pa.string()) for name in "xqy"]))
_MARKS: dict[Term, str] = {SUBJECT: "S", OBJECT: "O", TEXT: "O"}
_numbers = count()

Wanted = tuple[PatternTerm | None, PatternTerm | None]  # the predicate and the object of a pattern; None: any
Parts = tuple[str, str, str, str, str]  # what s, p and o are, what is joined, and the condition


class EntailmentRewriter:
    """An ontology in a session, where its larger tables are views."""

    def __init__(self, ontology: Ontology, session: SparkSession) -> None:
        self.ontology = ontology
        self._session = session
        self._views: list[str] = []
        self._known: dict[tuple[Wanted, frozenset[str] | None], list[Parts]] = {}
        self._arrays: tuple[str, str] | None = None

    def triples(self, source: str, wanted: Wanted = (None, None), known: frozenset[str] | None = None) -> str:
        """The SELECT `source`, which has columns s, p, o and any others, with what follows.

        Only triples that fit what is wanted need be there. `known` are the encoded predicates that occur.
        """
        if not self.ontology.is_plain:
            return self._by_arrays(source)
        parts = self._parts(wanted, known)
        return " UNION ALL ".join(_select(source, part) for part in parts) or f"SELECT * FROM ({source}) WHERE false"

    def predicates(self, known: frozenset[str] | None) -> frozenset[str] | None:
        """The encoded predicates of all that follows from triples with such predicates."""
        if known is None:
            return None
        return frozenset(map(encode, self.ontology.predicates_from(_iris(known))))

    def view(self, triples: Iterable[Triple]) -> str:
        """The name of a view of these triples."""
        cells = [(encode(t.subject), encode(t.predicate), encode(t.object)) for t in triples]  # type: ignore[arg-type]
        return self._publish("spo", cells)

    def close(self) -> None:
        for view in self._views:
            self._session.catalog.dropTempView(view)
        self._views.clear()
        self._known.clear()
        self._arrays = None

    def _parts(self, wanted: Wanted, known: frozenset[str] | None) -> list[Parts]:
        if (wanted, known) not in self._known:
            predicate, object = (None if isinstance(term, Var) else term for term in wanted)
            iris = None if known is None else _iris(known)
            found = ways(self.ontology, predicate, object, iris)  # type: ignore[arg-type]
            self._known[wanted, known] = [self._way(way) for way in found]
        return self._known[wanted, known]

    def _way(self, way: Way) -> Parts:
        if way.key is None:
            return "e.s", "e.p", "e.o", "", "true"
        found, joined, condition = self._looked_up(way)
        conditions = [condition, *_conditions(way)]
        if way.made == "p":
            return "e.s", found, "e.o", joined, sql.all_of(conditions)
        return f"e.{way.subject}", term_columns.constant(TYPE), found, joined, sql.all_of(conditions)

    def _looked_up(self, way: Way) -> tuple[str, str, str]:
        """What is found, what has to be joined for it, and the condition."""
        targets = {encode(found) for _, found in way.pairs}
        rows = sorted((encode(key), encode(found)) for key, found in way.pairs)
        found = sql.text(targets.pop()) if len(targets) == 1 else "w.v"
        if len(rows) <= FEW and found != "w.v":
            return found, "", f"e.{way.key} IN ({sql.texts(key for key, _ in rows)})"
        table = _inline(rows) if len(rows) <= FEW else self._publish("kv", rows)
        return found, f"JOIN {table} w ON e.{way.key} = w.k", "true"

    def _publish(self, columns: str, rows: Sequence[tuple[str, ...]]) -> str:
        cells = zip(*rows, strict=True) if rows else [()] * len(columns)
        return self._publish_table(pa.table([pa.array(cell, pa.string()) for cell in cells], names=list(columns)))

    def _publish_table(self, table: pa.Table) -> str:
        self._views.append(f"penstock_entailed_{next(_numbers)}")
        self._session.createDataFrame(table).createOrReplaceTempView(self._views[-1])
        return self._views[-1]

    # Ontologies that say more of rdf:type: two ways may lead to one triple, so all of a triple's are made at once

    def _by_arrays(self, source: str) -> str:
        if self._arrays is None:
            self._arrays = self._publish_made()
        by_predicate, by_class = self._arrays
        itself = "array(named_struct('x', 'S', 'q', e.p, 'y', 'O'))"
        made = f"concat(coalesce(a.made, {itself}), coalesce(b.made, CAST(array() AS {_MADE})))"
        filled = f"transform({made}, m -> named_struct('s', {_read('m.x')}, 'p', m.q, 'o', {_read('m.y')}))"
        typing = sql.texts(map(encode, sorted(self.ontology.typing, key=str)))
        return (
            f"SELECT /*+ BROADCAST(a), BROADCAST(b) */ e.* EXCEPT (s, p, o), inline(array_distinct({filled})) "
            f"FROM ({source}) e LEFT JOIN {by_predicate} a ON e.p = a.p AND {term_columns.is_literal('e.o')} = a.text "
            f"LEFT JOIN {by_class} b ON e.o = b.o AND e.p IN ({typing})"
        )

    def _publish_made(self) -> tuple[str, str]:
        ontology = self.ontology
        predicates = sorted({p for p in ontology.active if isinstance(p, NamedNode)} | {TYPE}, key=str)
        made = [
            (encode(p), text, _cells(ontology.template(p, literal=text))) for p in predicates for text in (False, True)
        ]
        of_class = [(encode(c), _cells(ontology.of_class(c))) for c in ontology.superclasses]
        by_predicate = [pa.array(column) for column in list(zip(*made, strict=True))[:2]]
        arrays = pa.array([cells for *_, cells in made], _STRUCT)
        classes = pa.array([c for c, _ in of_class], pa.string())
        return (
            self._publish_table(pa.table([*by_predicate, arrays], names=["p", "text", "made"])),
            self._publish_table(pa.table([classes, pa.array([m for _, m in of_class], _STRUCT)], names=["o", "made"])),
        )


def _select(source: str, part: Parts) -> str:
    s, p, o, joined, condition = part
    hint = "/*+ BROADCAST(w) */ " if joined else ""
    return (
        f"SELECT {hint}e.* EXCEPT (s, p, o), {s} AS s, {p} AS p, {o} AS o FROM ({source}) e {joined} WHERE {condition}"
    )


def _conditions(way: Way) -> Iterator[str]:
    if way.among is not None:
        yield f"e.p IN ({sql.texts(sorted(map(encode, way.among)))})"
    if way.subject == "o":
        yield f"NOT {term_columns.is_literal('e.o')}"
    if way.apart:
        yield "e.s <> e.o"


def _inline(rows: Sequence[tuple[str, str]]) -> str:
    return f"(SELECT * FROM VALUES {', '.join(f'({sql.texts(row)})' for row in rows)} AS t(k, v))"


def _iris(known: Iterable[str]) -> frozenset[NamedNode]:
    return frozenset(iri for iri in map(decode, known) if isinstance(iri, NamedNode))


def _cells(templates: Iterable[Triple]) -> list[dict[str, str]]:
    return [{"x": _mark(t.subject), "q": encode(t.predicate), "y": _mark(t.object)} for t in templates]


def _mark(term: Term | Triple) -> str:
    return _MARKS.get(term) or encode(term)  # type: ignore[arg-type]


def _read(mark: str) -> str:
    return f"CASE {mark} WHEN 'S' THEN e.s WHEN 'O' THEN e.o ELSE {mark} END"

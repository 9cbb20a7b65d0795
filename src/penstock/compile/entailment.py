"""Entailment by query rewriting: SELECTs of triples with the triples that they entail, joined with the ontology.

Nothing is stored. A few classes or properties are constants of the text; many are a view that is broadcast. An entailed
triple occurs once for each triple that entails it, with the other columns of that triple.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import pyarrow as pa
from pyoxigraph import NamedNode, Triple

from penstock.algebra.expressions import PatternTerm, Term, Var
from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.sql import Derived, Expr, From, Join, Query, Select, Table
from penstock.compile.table_catalog import TableCatalog
from penstock.model.term_encoding import decode, encode, encode_triple
from penstock.reasoning import Ontology, Way, ways
from penstock.reasoning.ontology import OBJECT, SUBJECT, TEXT
from penstock.reasoning.vocabulary import TYPE
from penstock.tuning import DEFAULT, Tuning

_MADE = "ARRAY<STRUCT<x: STRING, q: STRING, y: STRING>>"
_STRUCT = pa.list_(pa.struct([(name, pa.string()) for name in "xqy"]))
_MARKS: dict[Term, str] = {SUBJECT: "S", OBJECT: "O", TEXT: "O"}
_numbers = count()

Wanted = tuple[PatternTerm | None, PatternTerm | None]  # the predicate and the object of a pattern; None: any


@dataclass(frozen=True, slots=True)
class _Parts:
    """One derivation of triples: the expressions of s, p and o, the table of pairs that is joined, and the
    condition."""

    s: Expr
    p: Expr
    o: Expr
    pairs: From | None
    on: Expr
    condition: Expr


def _e(column: str) -> Expr:
    """Return a column of the triple that entails another one."""
    return sql.column("e", column)


class EntailmentRewriter:
    """The entailment rules of an ontology as SQL; larger tables of the ontology are in a catalogue."""

    def __init__(self, ontology: Ontology, catalog: TableCatalog, tuning: Tuning = DEFAULT) -> None:
        self.ontology = ontology
        self._most_inline = tuning.entailment_pairs
        self._catalog = catalog
        self._views: list[str] = []
        self._known: dict[tuple[Wanted, frozenset[str] | None], list[_Parts]] = {}
        self._arrays: tuple[str, str] | None = None

    def triples(self, source: Query, wanted: Wanted = (None, None), known: frozenset[str] | None = None) -> Query:
        """Return the SELECT `source`, which has columns s, p, o and any others, with the entailed triples.

        Triples that do not match `wanted` may be missing. `known` has the encoded predicates that occur.
        """
        if not self.ontology.is_plain:
            return self._by_arrays(source)
        parts = self._parts(wanted, known)
        selects = [_select(source, part) for part in parts]
        return sql.union_all(selects) if selects else Select([sql.STAR], source, sql.FALSE)

    def predicates(self, known: frozenset[str] | None) -> frozenset[str] | None:
        """Return the encoded predicates of all triples that triples with such predicates entail."""
        if known is None:
            return None
        return frozenset(map(encode, self.ontology.predicates_from(_iris(known))))

    def view(self, triples: Iterable[Triple]) -> str:
        """Return the name of a view of the given triples."""
        return self._publish("spo", list(map(encode_triple, triples)))

    def close(self) -> None:
        self._catalog.drop(*self._views)
        self._views.clear()
        self._known.clear()
        self._arrays = None

    def _parts(self, wanted: Wanted, known: frozenset[str] | None) -> list[_Parts]:
        if (wanted, known) not in self._known:
            predicate, object = (None if isinstance(term, Var) else term for term in wanted)
            iris = None if known is None else _iris(known)
            derivations = ways(self.ontology, predicate, object, iris)  # type: ignore[arg-type]
            self._known[wanted, known] = [self._way(way) for way in derivations]
        return self._known[wanted, known]

    def _way(self, way: Way) -> _Parts:
        if way.key is None:
            return _Parts(_e("s"), _e("p"), _e("o"), None, sql.TRUE, sql.TRUE)
        looked_up, pairs, conditions = self._looked_up(way, way.key)
        on = _e(way.key).eq(sql.column("w", "k"))
        condition = sql.all_of([*conditions, *_conditions(way)])
        if way.made == "p":
            return _Parts(_e("s"), looked_up, _e("o"), pairs, on, condition)
        return _Parts(_e(way.subject), term_columns.constant(TYPE), looked_up, pairs, on, condition)

    def _looked_up(self, way: Way, key: str) -> tuple[Expr, From | None, list[Expr]]:
        """Return the entailed term, the pairs to join for it, and the conditions."""
        targets = {encode(target) for _, target in way.pairs}
        rows = sorted((encode(key), encode(target)) for key, target in way.pairs)
        few, one = len(rows) <= self._most_inline, len(targets) == 1
        target = sql.text(targets.pop()) if one else sql.column("w", "v")
        if few and one:
            return target, None, [_e(key).among(sql.texts(key for key, _ in rows))]
        return target, _inline(rows) if few else Table(self._publish("kv", rows), "w"), []

    def _publish(self, columns: str, rows: Sequence[tuple[str, ...]]) -> str:
        cells = zip(*rows, strict=True) if rows else [()] * len(columns)
        return self._publish_table(pa.table([pa.array(cell, pa.string()) for cell in cells], names=list(columns)))

    def _publish_table(self, table: pa.Table) -> str:
        self._views.append(f"penstock_entailed_{next(_numbers)}")
        self._catalog.put(self._views[-1], table)
        return self._views[-1]

    # With further axioms on rdf:type two derivations may give one triple, so all types of a triple are computed at once

    def _by_arrays(self, source: Query) -> Query:
        if self._arrays is None:
            self._arrays = self._publish_made()
        by_predicate, by_class = self._arrays
        m = sql.Parameter("m")
        itself = sql.array(sql.struct(x=sql.text("S"), q=_e("p"), y=sql.text("O")))
        none = sql.array().cast(_MADE)
        entailed = sql.call(
            "concat", sql.coalesce(sql.column("a", "made"), itself), sql.coalesce(sql.column("b", "made"), none)
        )
        triple = sql.struct(s=_read(sql.Field(m, "x")), p=sql.Field(m, "q"), o=_read(sql.Field(m, "y")))
        filled = sql.call(
            "inline", sql.call("array_distinct", sql.call("transform", entailed, sql.Lambda(("m",), triple)))
        )
        typing = sql.texts(map(encode, sorted(self.ontology.typing, key=str)))
        same = _e("p").eq(sql.column("a", "p")) & term_columns.is_literal(_e("o")).eq(sql.column("a", "text"))
        joined = Join(Derived(source, "e"), Table(by_predicate, "a"), same, "LEFT JOIN")
        joined = Join(
            joined, Table(by_class, "b"), _e("o").eq(sql.column("b", "o")) & _e("p").among(typing), "LEFT JOIN"
        )
        return Select([_OTHERS, filled], joined, hints=[("BROADCAST", ("a",)), ("BROADCAST", ("b",))])

    def _publish_made(self) -> tuple[str, str]:
        ontology = self.ontology
        predicates = sorted({p for p in ontology.active if isinstance(p, NamedNode)} | {TYPE}, key=str)
        templates = [
            (encode(p), text, _cells(ontology.template(p, literal=text))) for p in predicates for text in (False, True)
        ]
        of_class = [(encode(c), _cells(ontology.of_class(c))) for c in ontology.superclasses]
        by_predicate = [pa.array(column) for column in list(zip(*templates, strict=True))[:2]]
        arrays = pa.array([cells for *_, cells in templates], _STRUCT)
        classes = pa.array([c for c, _ in of_class], pa.string())
        return (
            self._publish_table(pa.table([*by_predicate, arrays], names=["p", "text", "made"])),
            self._publish_table(pa.table([classes, pa.array([m for _, m in of_class], _STRUCT)], names=["o", "made"])),
        )


_OTHERS = sql.Star("e", ("s", "p", "o"))


def _select(source: Query, part: _Parts) -> Query:
    items = [_OTHERS, sql.alias(part.s, "s"), sql.alias(part.p, "p"), sql.alias(part.o, "o")]
    elements = Derived(source, "e")
    if part.pairs is None:
        return Select(items, elements, part.condition)
    return Select(items, Join(elements, part.pairs, part.on), part.condition, hints=[("BROADCAST", ("w",))])


def _conditions(way: Way) -> Iterator[Expr]:
    if way.among is not None:
        yield _e("p").among(sql.texts(sorted(map(encode, way.among))))
    if way.subject == "o":
        yield ~term_columns.is_literal(_e("o"))
    if way.apart:
        yield _e("s").ne(_e("o"))


def _inline(rows: Sequence[tuple[str, str]]) -> From:
    return sql.Values([tuple(sql.texts(row)) for row in rows], ("k", "v"), "w")


def _iris(known: Iterable[str]) -> frozenset[NamedNode]:
    return frozenset(iri for iri in map(decode, known) if isinstance(iri, NamedNode))


def _cells(templates: Iterable[Triple]) -> list[dict[str, str]]:
    return [{"x": _mark(t.subject), "q": encode(t.predicate), "y": _mark(t.object)} for t in templates]


def _mark(term: Term | Triple) -> str:
    return _MARKS.get(term) or encode(term)  # type: ignore[arg-type]


def _read(mark: Expr) -> Expr:
    return sql.case((mark.eq(sql.text("S")), _e("s")), (mark.eq(sql.text("O")), _e("o")), otherwise=mark)

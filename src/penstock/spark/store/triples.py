"""The triples of the Spark store: loaded data as tables that SQL reads, with statistics for the optimiser."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import DefaultGraph, NamedNode, Quad
from pyspark.sql import DataFrame, SparkSession

from penstock.algebra.ops import Dataset
from penstock.compile import sql
from penstock.compile.context import Tables
from penstock.compile.sql import Derived, Query, Select, Table
from penstock.errors import LoadError
from penstock.io.formats import Source, graph_name, read
from penstock.model.term_encoding import decode, encode, encode_triple
from penstock.optimise import PredicateCounts
from penstock.spark.session.catalog import catalog
from penstock.tuning import Tuning

DEFAULT = ""  # the graph column of triples in the default graph
COLUMNS = ("g", "s", "p", "o")
_SCHEMA = pa.schema([(c, pa.string()) for c in COLUMNS])
_G, *_SPO = (sql.name(c) for c in COLUMNS)
_numbers = count()


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the data: its triples in the default graph (s, p, o) and its quads in named graphs (g, s, p, o)."""

    default: DataFrame | None
    named: DataFrame | None


class Triples:
    """Quads that the driver parsed, as one Arrow table without duplicates; and Parquet files, read where they lie."""

    def __init__(self, session: SparkSession, tuning: Tuning) -> None:
        self._session, self.tuning = session, tuning
        self._parsed = _SCHEMA.empty_table()
        self._files: list[_Part] = []
        self._graphs: set[str] = set()
        number = next(_numbers)
        self._default, self._named = f"penstock_default_{number}", f"penstock_named_{number}"
        self._kept: DataFrame | None = None
        self._frames: tuple[DataFrame, DataFrame] | None = None
        self._published = False
        self._touched: list[frozenset[str] | None] = []

    @property
    def version(self) -> int:
        """The number of additions so far."""
        return len(self._touched)

    def touched(self, since: int) -> frozenset[str] | None:
        """Return the IRIs of the predicates that were added since that version; None if any may have been."""
        return union(self._touched[since:])

    def differing(self, other: Triples) -> frozenset[str]:
        """Return the IRIs of the predicates of triples that only one of the two has. Both were parsed by the driver."""
        sides = ((self._parsed, other._parsed), (other._parsed, self._parsed))
        return _predicates(pa.concat_tables([one.join(two, [*COLUMNS], join_type="left anti") for one, two in sides]))

    def add(self, source: Source, graph: str | NamedNode | None, base: str | None, format: str | None) -> int:
        return self.add_quads(read(source, graph, base, format), graph)

    def add_quads(self, quads: Iterable[Quad], graph: str | NamedNode | None = None) -> int:
        added = _table(quads)
        self._parsed = _distinct(pa.concat_tables([self._parsed, added]))
        self._graphs |= {name for name in pc.unique(added["g"]).to_pylist() if name}
        if graph is not None:
            self._graphs.add(encode(graph_name(graph)))
        self._changed(_predicates(added))
        return int(added.num_rows)

    def add_graphs(self, graphs: Iterable[NamedNode]) -> None:
        """Make these graphs exist, even if they are empty."""
        self._graphs |= set(map(encode, graphs))

    def add_parquet(self, path: Path, graph: str | NamedNode | None) -> int:
        frame = self._session.read.parquet(str(path))
        if missing := [c for c in ("s", "p", "o") if c not in frame.columns]:
            raise LoadError(f"{path}: a Parquet file of triples has columns s, p, o; {', '.join(missing)} missing")
        rows = frame.count()  # before any change, since a damaged file fails at this line
        most = self.tuning.known_predicates
        predicates = frame.select("p").distinct().limit(most + 1).toArrow()
        self._add_file(frame, DEFAULT if graph is None else encode(graph_name(graph)))
        self._changed(None if predicates.num_rows > most else _predicates(predicates))
        return rows

    def _add_file(self, frame: DataFrame, target: str) -> None:
        """Add a Parquet file. Without a column g the file is one graph, and its rows are not read."""
        triples = ("s", "p", "o")
        if "g" in frame.columns:
            quads = frame.selectExpr(_as_graph(sql.coalesce(_G, sql.text(target))), *triples)
            self._graphs |= {row.g for row in quads.select("g").distinct().collect()} - {DEFAULT}
            self._files.append(_parted(quads))
        elif target == DEFAULT:
            self._files.append(_Part(frame.select(*triples), None))
        else:
            self._files.append(_Part(None, frame.selectExpr(_as_graph(sql.text(target)), *triples)))
            self._graphs.add(target)

    @property
    def graph_names(self) -> frozenset[NamedNode]:
        return frozenset(decode(g) for g in self._graphs)  # type: ignore[misc]

    def tables(self, dataset: Dataset | None) -> Tables:
        """Return the tables of a query: the store's own graphs, or those that FROM and FROM NAMED choose."""
        self._publish()
        if dataset is None or dataset.adds:
            return Tables(Table(self._default), Table(self._named), frozenset(self._graphs))
        merged, named = (_among(map(encode, graphs)) for graphs in (dataset.default, dataset.named))
        return Tables(
            Derived(Select(_SPO, Table(self._named), merged, distinct=True)),
            Derived(Select([sql.STAR], Table(self._named), named)),
            frozenset(map(encode, dataset.named)),
        )

    @property
    def known_rows(self) -> int | None:
        """The number of triples; None if some are in files, which are not counted."""
        return None if self._files else int(self._parsed.num_rows)

    @cached_property
    def statistics(self) -> PredicateCounts:
        """Per predicate: triples, distinct subjects, distinct objects. Counted when first read."""
        rows = _count_here(self._parsed) if not self._files else self._count_by_spark()
        counts = {p[1:-1]: (float(n), float(s), float(o)) for p, n, s, o in rows}
        return PredicateCounts(sum(n for n, _, _ in counts.values()), counts)

    def clear(self) -> None:
        self._parsed, self._files = _SCHEMA.empty_table(), []
        catalog(self._session).drop(self._default, self._named)
        self._forget()

    def all_quads(self) -> Query:
        """Return the SELECT of all quads; g is empty in the default graph."""
        self._publish()
        default = Select([sql.alias(sql.text(DEFAULT), "g"), *_SPO], Table(self._default))
        return sql.union_all([default, Select([_G, *_SPO], Table(self._named))])

    def _count_by_spark(self) -> list[tuple[str, int, int, int]]:
        s, p, o = _SPO
        counts = {"n": sql.call("count", 1)} | {c.name: sql.call("approx_count_distinct", c) for c in (s, o)}
        items = [p, *(sql.alias(count, name) for name, count in counts.items())]
        most = [sql.Order(sql.name("n"), descending=True)]
        query = Select(items, self.all_quads(), group=[p], order=most, limit=self.tuning.known_predicates)
        return [(row.p, row.n, row.s, row.o) for row in catalog(self._session).rows(query).collect()]

    def _publish(self) -> None:
        """Define the two tables, again after each change."""
        if self._published:
            return
        tables, files = catalog(self._session), bool(self._files)
        default, named = (partial(_of_graphs, self._parsed, is_default) for is_default in (True, False))
        tables.define(self._default, lambda: self._parts()[0], None if files else default)
        tables.define(self._named, lambda: self._parts()[1], None if files else named)
        self._published = True

    def _parts(self) -> tuple[DataFrame, DataFrame]:
        """Return the triples of the default graph, and the quads of named graphs."""
        if self._frames is None:
            here = [self._frame()] if self._parsed.num_rows or not self._files else []
            parts = [*self._files, *map(_parted, here)]
            empty = self._session.createDataFrame(_SCHEMA.empty_table())
            default = _union([p.default for p in parts], empty.select("s", "p", "o"))
            self._frames = default, _union([p.named for p in parts], empty)
        return self._frames

    def _frame(self) -> DataFrame:
        frame = self._session.createDataFrame(self._parsed)
        if self._parsed.num_rows >= self.tuning.cached_triples:
            self._kept = frame.persist()
        return frame

    def _changed(self, predicates: frozenset[str] | None) -> None:
        self._touched.append(predicates)
        self._forget()
        self.__dict__.pop("statistics", None)

    def _forget(self) -> None:
        if self._kept is not None:
            self._kept.unpersist()
        self._kept, self._frames, self._published = None, None, False


def _of_graphs(quads: pa.Table, default: bool) -> pa.Table:
    """Return the triples of the default graph, or the quads of all other graphs."""
    in_default = pc.equal(quads.column("g"), pa.scalar(DEFAULT))
    if default:
        return quads.filter(in_default).select(["s", "p", "o"])
    return quads.filter(pc.invert(in_default))


def _as_graph(graph: sql.Expr) -> str:
    return sql.write_expression(sql.alias(graph, "g"))


def _among(graphs: Iterable[str]) -> sql.Expr:
    return _G.among(sql.texts(graphs) or [sql.NULL])


def _parted(quads: DataFrame) -> _Part:
    in_default, in_named = (sql.write_expression(test(sql.text(DEFAULT))) for test in (_G.eq, _G.ne))
    return _Part(quads.where(in_default).select("s", "p", "o"), quads.where(in_named))


def _union(frames: list[DataFrame | None], empty: DataFrame) -> DataFrame:
    """Return the union of the frames as a set. A single frame is one already; only several may overlap."""
    given = [f for f in frames if f is not None]
    if len(given) < 2:
        return given[0] if given else empty
    return reduce(DataFrame.unionByName, given).distinct()


def _table(quads: Iterable[Quad]) -> pa.Table:
    rows = [(_graph(quad), *encode_triple(quad)) for quad in quads]
    columns = zip(*rows, strict=True) if rows else [[], [], [], []]
    return pa.table([pa.array(list(c), pa.string()) for c in columns], schema=_SCHEMA)


def _graph(quad: Quad) -> str:
    return DEFAULT if isinstance(quad.graph_name, DefaultGraph) else encode(quad.graph_name)


def _distinct(table: pa.Table) -> pa.Table:
    return table.group_by(list(COLUMNS)).aggregate([]).select(list(COLUMNS))


def _predicates(table: pa.Table) -> frozenset[str]:
    return frozenset(str(predicate)[1:-1] for predicate in pc.unique(table.column("p")).to_pylist())


def union(sets: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """Return the union of sets of predicates; None stands for all predicates."""
    all_sets = list(sets)
    return None if None in all_sets else frozenset[str]().union(*(each for each in all_sets if each is not None))


def _count_here(table: pa.Table) -> list[tuple[str, int, int, int]]:
    counted = table.group_by("p").aggregate([([], "count_all"), ("s", "count_distinct"), ("o", "count_distinct")])
    names = ("p", "count_all", "s_count_distinct", "o_count_distinct")
    return list(zip(*(counted[name].to_pylist() for name in names), strict=True))

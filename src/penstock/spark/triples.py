"""The triples of the Spark store: what was loaded, as tables that SQL can read, with statistics for the optimiser."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import DefaultGraph, NamedNode, Quad
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from penstock.algebra.ops import Dataset
from penstock.errors import LoadError
from penstock.io.formats import Source, graph_name, read
from penstock.optimise import PredicateCounts
from penstock.spark import sql
from penstock.spark.context import Tables
from penstock.spark.encoding import decode, encode

DEFAULT = ""  # the graph column of triples in the default graph
COLUMNS = ("g", "s", "p", "o")
_SCHEMA = pa.schema([(c, pa.string()) for c in COLUMNS])
_KEEP_FROM = 100_000  # rows from which Spark keeps them in its own columnar form
_PREDICATES = 10_000  # the most frequent ones are enough to order joins
_numbers = count()


class Triples:
    """Quads that were parsed here, kept as one Arrow table without duplicates, and Parquet files, read where they lie."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._parsed = _SCHEMA.empty_table()
        self._files: list[DataFrame] = []
        self._graphs: set[str] = set()
        self._view = f"penstock_quads_{next(_numbers)}"
        self._kept: DataFrame | None = None
        self.version = 0

    def add(self, source: Source, graph: str | NamedNode | None, base: str | None, format: str | None) -> int:
        added = _table(read(source, graph, base, format))
        self._parsed = _distinct(pa.concat_tables([self._parsed, added]))
        self._graphs |= set(pc.unique(added["g"]).to_pylist()) - {DEFAULT}
        if graph is not None:
            self._graphs.add(encode(graph_name(graph)))
        self._changed()
        return int(added.num_rows)

    def add_parquet(self, path: Path, graph: str | NamedNode | None) -> int:
        try:
            frame = self._session.read.parquet(str(path))
        except PySparkException as error:
            raise LoadError(f"{path}: {error.getMessage() or 'no Parquet file'}".splitlines()[0]) from None
        if missing := [c for c in ("s", "p", "o") if c not in frame.columns]:
            raise LoadError(f"{path}: a Parquet file of triples has columns s, p, o; {', '.join(missing)} missing")
        target = sql.text(DEFAULT if graph is None else encode(graph_name(graph)))
        g = f"coalesce(g, {target})" if "g" in frame.columns else target
        quads = frame.selectExpr(f"{g} AS g", "s", "p", "o")
        self._files.append(quads)
        self._graphs |= {row.g for row in quads.select("g").distinct().collect()} - {DEFAULT}
        self._changed()
        return quads.count()

    @property
    def graph_names(self) -> frozenset[NamedNode]:
        return frozenset(decode(g) for g in self._graphs)  # type: ignore[misc]

    def tables(self, dataset: Dataset | None) -> Tables:
        """What a query reads: the store's own graphs, or those that FROM and FROM NAMED choose."""
        self._publish()
        if dataset is None:
            default = f"(SELECT s, p, o FROM {self._view} WHERE g = '')"
            return Tables(default, f"(SELECT * FROM {self._view} WHERE g <> '')", frozenset(self._graphs))
        merged, named = (sql.texts(map(encode, graphs)) or "NULL" for graphs in (dataset.default, dataset.named))
        return Tables(
            f"(SELECT DISTINCT s, p, o FROM {self._view} WHERE g IN ({merged}))",
            f"(SELECT * FROM {self._view} WHERE g IN ({named}))",
            frozenset(map(encode, dataset.named)),
        )

    @cached_property
    def statistics(self) -> PredicateCounts:
        """Per predicate: triples, distinct subjects, distinct objects. Counted when first asked for."""
        rows = _count_here(self._parsed) if not self._files else self._count_by_spark()
        counts = {p[1:-1]: (float(n), float(s), float(o)) for p, n, s, o in rows}
        return PredicateCounts(sum(n for n, _, _ in counts.values()), counts)

    def clear(self) -> None:
        self._session.catalog.dropTempView(self._view)
        self._forget()

    def _count_by_spark(self) -> list[tuple[str, int, int, int]]:
        self._publish()
        text = (
            f"SELECT p, count(1) AS n, approx_count_distinct(s) AS s, approx_count_distinct(o) AS o FROM {self._view} "
            f"GROUP BY p ORDER BY n DESC LIMIT {_PREDICATES}"
        )
        return [(row.p, row.n, row.s, row.o) for row in self._session.sql(text).collect()]

    def _publish(self) -> None:
        """The view of all quads, made anew after each change. Only parts that may overlap need DISTINCT."""
        if self._kept is not None:
            return
        parts = [*self._files, *([self._frame()] if self._parsed.num_rows or not self._files else [])]
        frame = parts[0]
        for part in parts[1:]:
            frame = frame.unionByName(part)
        self._kept = frame.distinct() if len(parts) > 1 else frame
        self._kept.createOrReplaceTempView(self._view)

    def _frame(self) -> DataFrame:
        frame = self._session.createDataFrame(self._parsed)
        return frame.persist() if self._parsed.num_rows >= _KEEP_FROM else frame

    def _changed(self) -> None:
        self.version += 1
        self._forget()
        self.__dict__.pop("statistics", None)

    def _forget(self) -> None:
        if self._kept is not None:
            self._kept.unpersist()
        self._kept = None


def _table(quads: Iterable[Quad]) -> pa.Table:
    rows = [(_graph(q), encode(q.subject), encode(q.predicate), encode(q.object)) for q in quads]  # type: ignore[arg-type]
    columns = zip(*rows, strict=True) if rows else [[], [], [], []]
    return pa.table([pa.array(list(c), pa.string()) for c in columns], schema=_SCHEMA)


def _graph(quad: Quad) -> str:
    return DEFAULT if isinstance(quad.graph_name, DefaultGraph) else encode(quad.graph_name)


def _distinct(table: pa.Table) -> pa.Table:
    return table.group_by(list(COLUMNS)).aggregate([]).select(list(COLUMNS))


def _count_here(table: pa.Table) -> list[tuple[str, int, int, int]]:
    counted = table.group_by("p").aggregate([([], "count_all"), ("s", "count_distinct"), ("o", "count_distinct")])
    names = ("p", "count_all", "s_count_distinct", "o_count_distinct")
    return list(zip(*(counted[name].to_pylist() for name in names), strict=True))

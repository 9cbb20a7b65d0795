"""DuckDB as the engine of a plan: a text for all slices, with the span as variables, and the tables that it reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import pyarrow as pa

from penstock.compile import sql
from penstock.compile.kernels.slice_kernel import Program
from penstock.compile.relation import MEMBER
from penstock.compile.reports.rstream import ORDER
from penstock.compile.reports.validity import AT, REPORTED, SINCE, UNTIL
from penstock.compile.sql import DUCKDB, Query
from penstock.compile.windows.plan_span import VariableSpan
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.session.catalog import Catalog

__all__ = ["SliceTarget"]

_TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys((AT, SINCE, UNTIL, MEMBER), pa.int64()), ORDER: pa.int32(), REPORTED: pa.bool_()
}  # fmt: skip


class SliceTarget:
    """The names and temporary tables of one compilation. `scans` has the stream of each scan, and whether it is
    ordered. `refusals` has the reasons why slices cannot answer the query, found so far."""

    is_prepared = True

    def __init__(self) -> None:
        self.scans: dict[str, tuple[str, bool]] = {}
        self.published: dict[str, pa.Table] = {}
        self.refusals: list[str] = []
        self._steps: list[tuple[str, Query]] = []

    def span(self, span: Span) -> VariableSpan:
        return VariableSpan(span)

    def scan(self, stream: StreamFiles, iri: str, ordered: bool, times: tuple[Span, ...] | None) -> str:
        names = {scan: name for name, scan in self.scans.items()}
        name = names.get((iri, ordered), f"penstock_stream_{len(names)}")
        self.scans[name] = iri, ordered
        return name

    def change_instants(self, key: Hashable, make: Callable[[str], str]) -> str:
        return make("penstock_instants")

    def window_union(self, rows: Query) -> str:
        name = f"penstock_windows_{len(self._steps)}"
        self.store(rows, name)
        return name

    def store(self, rows: Query, name: str) -> None:
        """Make the rows a temporary table of every slice."""
        self._steps.append((name, rows))

    def publish(self, name: str, table: pa.Table) -> None:
        """Send a table along with the slices."""
        self.published[name] = table

    def materialise(self, rows: Query, name: str) -> int:
        """Refuse the query and return 0: only Spark computes rows while a plan is compiled, round by round until there
        are no new ones."""
        self.refusals.append("a closure is computed step by step")
        return 0

    def fetch(self, rows: Query, most: int) -> list[tuple[str, ...]]:
        """Refuse the query and return no rows: see `materialise`."""
        self.refusals.append("a closure is computed step by step")
        return []

    def program(self, query: Query, instants: Query | None) -> Program:
        """Return the text of a compiled query. What DuckDB lacks is a further refusal."""
        names = query.columns
        assert names is not None
        fields = [(f"c{i}", _type(name, i)) for i, name in enumerate(names)]
        functions: set[str] = set()

        def text(query: Query) -> str:
            written = sql.written(query, DUCKDB)
            functions.update(written.functions)
            if written.refusal is not None:
                self.refusals.append(written.refusal)
            return written.text

        steps = tuple((name, text(rows)) for name, rows in self._steps)
        ordered = frozenset(name for name, (_, ordered) in self.scans.items() if ordered)
        times = None if instants is None else text(instants)
        return Program(text(query), pa.schema(fields), steps, times, ordered, frozenset(functions))

    def tables(self, queries: tuple[Query, ...], catalog: Catalog, most: int) -> dict[str, pa.Table]:
        """Return the tables that the text reads beside its scans. Each slice reads them whole: a large one, or one that
        only Spark has, is a further refusal."""
        own = {*self.scans, *(name for name, _ in self._steps)}
        read = {name for query in (*queries, *(rows for _, rows in self._steps)) for name in sql.table_names(query)}
        tables = {}
        for name in sorted(read - own):
            table = self.published.get(name) if name in self.published else catalog.table(name)
            if table is None:
                self.refusals.append("it reads a table that is in Spark alone")
            elif table.num_rows > most:
                self.refusals.append(f"it reads a table of {table.num_rows:,} rows, and a slice {most:,} at most")
            else:
                tables[name] = table
        return tables


def _type(name: str, place: int) -> pa.DataType:
    """Return the type of a column: the first one is the time, whatever variables the query has."""
    return pa.int64() if place == 0 else _TYPES.get(name, pa.string())

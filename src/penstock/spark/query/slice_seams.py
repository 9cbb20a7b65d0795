"""Validity intervals of several slices, joined at the seams between the slices.

    slices     |-----------|-----------|-----------|
    rows       |  [--------|           |           |    open at the end of slice 1
               |           |[----------|           |    from the first instant of slice 2, where it is open again
               |           |           |[----)     |
    joined     |  [--------------------------)     |

A slice computes the state at its first instant from the elements of its windows, so slices need no operator state of
one another, and are evaluated at the same time. Only rows that touch a seam are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.compile import sql
from penstock.compile.kernels.slice_kernel import ROW, Kernel
from penstock.compile.relation import ALWAYS, FROM, TO
from penstock.compile.reports.validity import AT, SINCE, UNTIL, joined_intervals, reported_intervals
from penstock.compile.sql import DUCKDB
from penstock.model.span import Span
from penstock.spark.query.sliced_rows import SlicedRows
from penstock.spark.session.catalog import frame

__all__ = ["JoinedSlices"]

_SEAMS = "penstock_seams"


@dataclass(frozen=True, slots=True)
class JoinedSlices:
    """The intervals of a span that is evaluated in several slices. `columns` are those of a solution.

    Each slice returns the first instant that it has, if it has one, as a row that is marked. `kernel` is DuckDB in the
    driver. `final`: time ends with the span.
    """

    rows: SlicedRows
    slices: Sequence[Span]
    columns: Sequence[str]
    emit: str
    final: bool
    kernel: Kernel

    @property
    def frame(self) -> DataFrame:
        """The rows in Spark. The driver reads those at a seam, which are as many as the windows hold at these times."""
        rows = self.rows.frame.localCheckpoint()
        at, since, until = (F.col(sql.write_expression(sql.name(name))) for name in (AT, SINCE, UNTIL))
        earliest = [F.min(F.when((at > piece.after) & (at <= piece.through), at)) for piece in self.slices[1:]]
        firsts = [first for first in rows.agg(*earliest).collect()[0] if first is not None]
        row = F.col(sql.write_expression(sql.name(ROW)))
        touches = since.isin(firsts) | until.isNull()
        joined = self._join(rows.where(row & touches).drop(ROW).toArrow(), np.array(firsts, np.int64))
        return rows.where(row & ~touches).drop(ROW).unionByName(frame(self.rows.jobs.session, joined))

    def collect(self) -> pa.Table:
        """Return the rows in the driver."""
        rows = self.rows.collect()
        firsts = self._first_instants(rows.column(AT).to_numpy())
        rows = rows.filter(rows.column(ROW)).drop_columns([ROW])
        starts = pc.is_in(rows.column(SINCE), value_set=pa.array(firsts, pa.int64()))
        touches = pc.or_(starts, pc.is_null(rows.column(UNTIL)))
        return pa.concat_tables([rows.filter(pc.invert(touches)), self._join(rows.filter(touches), firsts)])

    def _first_instants(self, times: np.ndarray) -> np.ndarray:
        """Return the first instant of each slice but the first one, of slices that have an instant.

        No row of a slice has an earlier time.
        """
        ends = np.array([piece.through for piece in self.slices], np.int64)
        inside = times[(times > ends[0]) & (times <= ends[-1])]
        firsts = np.full(len(ends), ALWAYS, np.int64)
        np.minimum.at(firsts, np.searchsorted(ends, inside), inside)
        instants: np.ndarray = firsts[firsts < ALWAYS]
        return instants

    def _join(self, rows: pa.Table, firsts: np.ndarray) -> pa.Table:
        """Return the rows at seams as intervals of the span. A row that is open at the end of its slice lasts until the
        first instant after it, where an equal row continues it."""
        following = np.append(firsts, ALWAYS)[np.searchsorted(firsts, rows.column(SINCE).to_numpy(), side="right")]
        until = pc.if_else(pc.is_null(rows.column(UNTIL)), pa.array(following, pa.int64()), rows.column(UNTIL))
        read = rows.select(self.columns).append_column(FROM, rows.column(SINCE)).append_column(TO, until)
        span = Span(self.slices[0].after, self.slices[-1].through)
        intervals = joined_intervals(_SEAMS, self.columns, span.through)
        reported = sql.written(reported_intervals(self.emit, intervals, self.columns, span, self.final), DUCKDB)
        joined = self.kernel.rows(reported.text, reported.functions, {_SEAMS: read})
        return joined.rename_columns(rows.column_names).cast(rows.schema)

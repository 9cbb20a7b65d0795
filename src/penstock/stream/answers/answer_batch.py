"""Answer batches: the rows of an evaluation as answers, one for each instant.

The compiler's columns are `time`, the query's own, `.row` (false: a row that only says that the instant is to be
reported) and perhaps `.order`, or `.since` where a row tells an interval, whose end `time` then is. They are taken by
their place, since a query may well have a variable `?time`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet
from pyoxigraph import Triple

from penstock.algebra import ops
from penstock.answer import Answer, Row
from penstock.compile.relation import ALWAYS
from penstock.model.term_encoding import decode, encode
from penstock.stream.base.time_values import to_datetime

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["AnswerBatch", "AnswerSchema", "Frame", "Uncollected", "collect", "in_order", "order_rows", "single_answer"]

_KINDS: dict[type, str] = {
    ops.Select: "solutions", ops.Ask: "boolean", ops.Construct: "graph", ops.Describe: "graph",
}  # fmt: skip
_GRAPH = ("s", "p", "o")
_INSTANT = pa.timestamp("us", "UTC")


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The schema of a query's answers: kind, variables and names of the time columns."""

    query: str
    kind: str
    variables: tuple[str, ...] = ()
    bounds: tuple[str, str] = ("valid_from", "valid_to")  # what the bounds are of, where an answer has two

    @classmethod
    def of(cls, name: str, query: ops.Query, emit: str | None = None) -> AnswerSchema:
        bounds = ("starts", "ends") if emit in ("events", "rules") else ("valid_from", "valid_to")
        return cls(name, _KINDS[type(query.form)], tuple(variable.name for variable in query.variables), bounds)

    @property
    def columns(self) -> tuple[str, ...]:
        """The query's own columns."""
        return _GRAPH if self.kind == "graph" else self.variables

    def when(self, since: bool) -> tuple[str, ...]:
        """Names for the instant, or for the bounds of an interval, that none of the query's columns has."""
        wanted = self.bounds if since else ("time",)
        return tuple(f".{name}" if name in self.columns else name for name in wanted)


class Frame(Protocol):
    """The result of a plan: rows that Spark computes when they are collected or written."""

    @property
    def frame(self) -> DataFrame:
        """The rows of the answers."""

    def collect(self) -> pa.Table:
        """Run the Spark job: the rows, and one more for each instant at which there is none; of a family, at which
        no query has one."""

    def write_open(self, path: str) -> int:
        """Write the operator state after the span, and return how many solutions are open. Runs the Spark job, unless
        the rows are collected."""


class AnswerBatch:
    """The answers at some instants, collected from Spark: a `Batch` for sinks. `unsorted` are its arranged rows."""

    def __init__(self, shape: AnswerSchema, number: int, unsorted: pa.Table) -> None:
        self.shape = shape
        self.number = number
        self._unsorted = unsorted

    @cached_property
    def table(self) -> pa.Table:
        """All rows by instant; within one in the query's order, or sorted where it has none."""
        return in_order(self._unsorted)

    @property
    def query(self) -> str:
        """See `Batch.query`."""
        return self.shape.query

    @property
    def instants(self) -> int:
        """See `Batch.instants`."""
        return int(pc.count_distinct(self._unsorted.column("t")).as_py())

    @property
    def size(self) -> int:
        """See `Batch.size`."""
        return self._unsorted.num_rows

    @property
    def answers(self) -> Iterator[Answer]:
        """See `Batch.answers`."""
        term, table = lru_cache(1 << 16)(decode), self.table
        times = [table.column(name).to_numpy() for name in ("t", "since") if name in table.column_names]
        real_rows = table.column("row").to_numpy(zero_copy_only=False)
        names = _names(len(self.shape.columns))
        for start, end in pairwise(_bounds(times, table.num_rows)):
            part = table.slice(start, end - start)
            real = part if real_rows[start:end].all() else part.filter(part.column("row"))
            own = (real.column(name).to_pylist() for name in names)
            cells = [[None if cell is None else term(cell) for cell in column] for column in own]
            yield self._answer([int(column[start]) for column in times], real.num_rows, cells)

    @cached_property
    def rows(self) -> pa.Table:
        """See `Batch.rows`."""
        when = [name for name in ("since", "t") if name in self._unsorted.column_names]
        if self.shape.kind == "boolean":
            real = self.table.group_by([*when], use_threads=False).aggregate([("row", "any")])
            own = {"boolean": real.column("row_any")}
        else:
            real = _real(self._unsorted)
            read = _names(len(self.shape.columns))
            own = {column: real.column(name) for column, name in zip(self.shape.columns, read, strict=True)}
        names = self.shape.when("since" in when)
        times = {name: _instants(real.column(read)) for name, read in zip(names, when, strict=True)}
        return pa.table([*times.values(), *own.values()], names=[*times, *own])

    def write_parquet(self, folder: str) -> None:
        """See `Batch.write_parquet`."""
        _write(self.rows, Path(folder))

    def _answer(self, times: Sequence[int], count: int, cells: list[list[Any]]) -> Answer:
        """The answer at one instant, or of one interval (its end, and when it began), from the columns of its rows."""
        time, *began = map(_moment, times)
        answer = _answer(self.shape, count, cells, time)
        bounds: dict[str, Any] = dict(zip(self.shape.bounds, (*began, time), strict=True)) if began else {}
        return replace(answer, **bounds) if bounds else answer


class Uncollected:
    """The answers at some instants that are still with Spark: a `Batch` for a sink that lets Spark write its files.

    Any other use collects them, once. Spark's plan is let go of then.
    """

    def __init__(self, shape: AnswerSchema, number: int, frame: Frame) -> None:
        self.shape = shape
        self.number = number
        self._frame: Frame | None = frame

    @cached_property
    def _collected(self) -> AnswerBatch:
        assert self._frame is not None
        frame, self._frame = self._frame, None
        return collect(frame, self.shape, self.number)

    @property
    def query(self) -> str:
        """See `Batch.query`."""
        return self.shape.query

    @property
    def instants(self) -> int:
        """See `Batch.instants`."""
        return 0 if self._frame is not None else self._collected.instants

    @property
    def size(self) -> int:
        """See `Batch.size`."""
        return self._collected.size

    @property
    def answers(self) -> Iterator[Answer]:
        """See `Batch.answers`."""
        return self._collected.answers

    @property
    def rows(self) -> pa.Table:
        """See `Batch.rows`."""
        return self._collected.rows

    def write_parquet(self, folder: str) -> None:
        """See `Batch.write_parquet`."""
        if self._frame is None or self.shape.kind == "boolean":
            self._collected.write_parquet(folder)
        else:
            _written_by_spark(self._frame.frame, self.shape).write.mode("overwrite").parquet(folder)


def _bounds(times: Sequence[np.ndarray], count: int) -> list[int]:
    """Where answers begin in sorted rows, and the number of rows: an answer has one time, or one beginning and end."""
    changes = np.zeros(max(0, count - 1), bool)
    for column in times:
        changes |= column[1:] != column[:-1]
    return [0, *(np.flatnonzero(changes) + 1).tolist(), count] if count else []


def collect(frame: Frame, shape: AnswerSchema, number: int) -> AnswerBatch:
    """Run the Spark job, and return its answers as the batch of that number."""
    return AnswerBatch(shape, number, order_rows(frame.collect(), len(shape.columns)))


def _moment(time: int) -> datetime | None:
    return None if time == ALWAYS else to_datetime(time)


def _real(rows: pa.Table) -> pa.Table:
    """The rows without marks. Most answers have no mark, and are not copied."""
    return rows if pc.all(rows.column("row")).as_py() else rows.filter(rows.column("row"))


def _instants(times: Any) -> Any:
    always = pc.equal(times, pa.scalar(ALWAYS, pa.int64()))
    known = pc.if_else(always, pa.scalar(None, times.type), times) if pc.any(always).as_py() else times
    return known.cast(_INSTANT)


def order_rows(fetched: pa.Table, own: int) -> pa.Table:
    """Columns `t`, `c0`, `c1` and so on, perhaps `order`, and `row`: Arrow takes a dot in a name for a path."""
    names = _names(own)
    extra = [name for name in (".since", ".order", ".row") if name in fetched.column_names]
    places = [*range(own + 1), *(fetched.column_names.index(name) for name in extra)]
    return fetched.select(places).rename_columns(["t", *names, *(name.removeprefix(".") for name in extra)])


def in_order(rows: pa.Table, *first: str) -> pa.Table:
    """Arranged rows, sorted by the columns `first`, and then as answers are."""
    if rows.num_rows < 2:
        return rows
    names = (*first, "t", "since", "order", *_names(rows.num_columns))
    keys = [name for name in names if name in rows.column_names]
    return rows.take(pc.sort_indices(rows, [(key, "ascending") for key in keys]))


def _names(own: int) -> list[str]:
    return [f"c{number}" for number in range(own)]


def _answer(shape: AnswerSchema, count: int, cells: list[list[Any]], time: Any) -> Answer:
    if shape.kind == "boolean":
        return Answer(boolean=count > 0, time=time, query=shape.query)
    rows = zip(*cells, strict=True) if cells else iter([()] * count)
    if shape.kind == "graph":
        return Answer(triples=list(dict.fromkeys(Triple(*row) for row in rows)), time=time, query=shape.query)
    names = shape.variables
    bound: list[Row] = [{name: term for name, term in zip(names, row, strict=True) if term is not None} for row in rows]
    return Answer(names, bound, time=time, query=shape.query)


def _written_by_spark(frame: DataFrame, shape: AnswerSchema) -> DataFrame:
    """The columns of `AnswerBatch.rows`; the compiler puts the instant first, then the query's own."""
    renamed = frame.toDF(".t", *shape.columns, *frame.columns[1 + len(shape.columns) :])
    time_columns = [name for name in (".since", ".t") if name in renamed.columns]
    names = zip(shape.when(".since" in time_columns), time_columns, strict=True)
    times = [f"timestamp_micros(nullif(`{column}`, {ALWAYS})) AS `{name}`" for name, column in names]
    return renamed.selectExpr(*times, *(f"`{name}`" for name in shape.columns))


def _write(table: pa.Table, folder: Path) -> None:
    """Whole or not at all: a reader never sees half a file."""
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / ".new"
    parquet.write_table(table, new)
    new.replace(folder / "part-00000.parquet")


@dataclass(frozen=True)
class SingleAnswer:
    """The answer to a query without a stream, as a batch."""

    answer: Answer
    number: int = 0
    instants: int = 1
    size: int = 1

    @property
    def query(self) -> str:
        """See `Batch.query`."""
        return self.answer.query or ""

    @property
    def answers(self) -> Iterator[Answer]:
        return iter([self.answer])

    @property
    def rows(self) -> pa.Table:
        """See `Batch.rows`; there is no instant."""
        answer = self.answer
        if answer.boolean is not None:
            return pa.table({"boolean": [answer.boolean]})
        triples = answer.triples
        rows = answer.rows if triples is None else [{"s": t.subject, "p": t.predicate, "o": t.object} for t in triples]
        names = answer.variables if triples is None else _GRAPH
        cells = {name: [encode(row[name]) if name in row else None for row in rows] for name in names}  # type: ignore[arg-type]
        return pa.table({name: pa.array(column, pa.string()) for name, column in cells.items()})

    def write_parquet(self, folder: str) -> None:
        """See `Batch.write_parquet`."""
        _write(self.rows, Path(folder))


def single_answer(answer: Answer, name: str) -> SingleAnswer:
    """The one answer of the query with this name."""
    return SingleAnswer(Answer(answer.variables, answer.rows, answer.boolean, answer.triples, None, name))

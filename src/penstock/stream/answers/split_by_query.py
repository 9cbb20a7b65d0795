"""Splits the answers of a family by query: sorted once, then cut, so that a query without answers costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from penstock.answer import Answer
from penstock.model.term_encoding import decode
from penstock.stream.answers.answer_batch import AnswerBatch, AnswerSchema, in_order, order_rows
from penstock.tuning import DEFAULT

__all__ = ["AnswerSlice", "QueryAnswers", "split_by_query"]

_MEMBER = ".km"  # the column of the query's number


class Lists:
    """The columns of all rows as Python's lists: for many small answers that is much faster than one table each."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows
        self.term = lru_cache(1 << 16)(decode)

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        return {name: self._rows.column(name).to_pylist() for name in self._rows.column_names}


class AnswerSlice(NamedTuple):
    """The rows of a query, of how many instants they are, and where they begin in the lists of all, if there are."""

    number: int
    rows: pa.Table
    instants: int
    start: int
    lists: Lists | None


class QueryAnswers(AnswerBatch):
    """The answers of one query of a family: rows that are collected and sorted already."""

    def __init__(self, shape: AnswerSchema, number: int, cut: AnswerSlice) -> None:
        super().__init__(shape, number, cut.rows)
        self.table = cut.rows
        self._cut = cut

    @property
    def instants(self) -> int:
        """See `Batch.instants`."""
        return self._cut.instants

    @property
    def answers(self) -> Iterator[Answer]:
        """See `Batch.answers`."""
        return super().answers if self._cut.lists is None else self._listed(self._cut.lists)

    def _listed(self, lists: Lists) -> Iterator[Answer]:
        columns, term, start = lists.columns, lists.term, self._cut.start
        times = [columns[name] for name in ("t", "since") if name in columns]
        own = [columns[f"c{place}"] for place in range(len(self.shape.columns))]
        for moments, rows in groupby(range(start, start + self.table.num_rows), lambda i: [time[i] for time in times]):
            real = [i for i in rows if columns["row"][i]]
            cells = [[None if column[i] is None else term(column[i]) for i in real] for column in own]
            yield self._answer(moments, len(real), cells)


def split_by_query(fetched: pa.Table, columns: int, list_rows: int = DEFAULT.answer_rows) -> Iterator[AnswerSlice]:
    """The rows of each query that has some; a query has so many columns of its own."""
    rows = order_rows(fetched.drop_columns([_MEMBER]), columns).append_column("m", fetched.column(_MEMBER))
    if not rows.num_rows:
        return
    rows = in_order(rows, "m").combine_chunks()
    members, times = (rows.column(name).to_numpy() for name in ("m", "t"))
    first = np.append(True, members[1:] != members[:-1])
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], len(members))
    instants = np.add.reduceat(np.append(True, times[1:] != times[:-1]) | first, starts, dtype=np.int64)
    own = rows.drop_columns(["m"])
    lists = Lists(own) if rows.num_rows <= list_rows else None
    for number, start, end, count in np.stack([members[starts], starts, ends, instants], 1).tolist():
        yield AnswerSlice(number, own.slice(start, end - start), count, start, lists)

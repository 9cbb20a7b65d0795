"""Splits the answers of a family by query: grouped once, then cut, so that a query without answers costs nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.answer import Answer
from penstock.model.term_encoding import decode
from penstock.stream.answers.answer_batch import AnswerBatch, AnswerSchema, in_order, order_rows
from penstock.tuning import DEFAULT

__all__ = ["AnswerSlice", "QueryAnswers", "split_by_query"]

_MEMBER = ".km"  # the column of the query's number

Numbers: TypeAlias = npt.NDArray[np.int64]


class FamilyRows:
    """The rows of all queries of a family, one query after the other.

    `instants` are those at which every query has an answer, perhaps an empty one; None: only where it has rows.
    """

    def __init__(self, rows: pa.Table, instants: Numbers | None) -> None:
        self.rows, self.instants = rows, instants
        self.term = lru_cache(1 << 16)(decode)
        self._shown: tuple[AnswerSchema, pa.Table] | None = None

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The columns as Python's lists: for many small answers that is much faster than one table each."""
        return {name: self.rows.column(name).to_pylist() for name in self.rows.column_names}

    @cached_property
    def times(self) -> Numbers:
        return self.rows.column("t").to_numpy()

    def shown(self, shape: AnswerSchema) -> pa.Table:
        """The rows as sinks see them. All are real, and queries of a family have the same columns."""
        if self._shown is None or self._shown[0].variables != shape.variables:
            self._shown = shape, AnswerBatch(shape, 0, self.rows).rows.combine_chunks()
        return self._shown[1]


@dataclass(frozen=True, slots=True)
class AnswerSlice:
    """The rows of a query: where they are among those of its family, and whether they are few, and in order."""

    number: int
    family: FamilyRows
    start: int
    end: int
    listed: bool

    @property
    def rows(self) -> pa.Table:
        return self.family.rows.slice(self.start, self.end - self.start)


class QueryAnswers(AnswerBatch):
    """The answers of one query of a family, which are collected already."""

    def __init__(self, shape: AnswerSchema, number: int, cut: AnswerSlice) -> None:
        super().__init__(shape, number, cut.rows)
        self._cut = cut

    @cached_property
    def table(self) -> pa.Table:
        """See `AnswerBatch.table`."""
        missing = self._missing
        if not len(missing):
            return self._unsorted if self._cut.listed else in_order(self._unsorted)
        return in_order(pa.concat_tables([self._unsorted, _marks(missing, self._unsorted.schema)]))

    @cached_property
    def instants(self) -> int:
        """See `Batch.instants`."""
        every = self._cut.family.instants
        return len(self._own_instants) if every is None else len(every)

    @property
    def size(self) -> int:
        """See `Batch.size`."""
        return self._unsorted.num_rows + len(self._missing)

    @cached_property
    def rows(self) -> pa.Table:
        """See `Batch.rows`."""
        cut = self._cut
        if self.shape.kind == "boolean" or cut.listed:
            return super().rows
        return cut.family.shown(self.shape).slice(cut.start, cut.end - cut.start)

    @property
    def answers(self) -> Iterator[Answer]:
        """See `Batch.answers`."""
        return self._listed() if self._cut.listed else super().answers

    @cached_property
    def _own_instants(self) -> Numbers:
        return np.unique(self._cut.family.times[self._cut.start : self._cut.end])

    @cached_property
    def _missing(self) -> Numbers:
        """The instants with an answer that has no row."""
        every = self._cut.family.instants
        return np.array([], np.int64) if every is None else np.setdiff1d(every, self._own_instants, assume_unique=True)

    def _listed(self) -> Iterator[Answer]:
        columns, term = self._cut.family.columns, self._cut.family.term
        times = [columns[name] for name in ("t", "since") if name in columns]
        own = [columns[f"c{place}"] for place in range(len(self.shape.columns))]
        places = range(self._cut.start, self._cut.end)
        for moments, rows in groupby(places, lambda i: [time[i] for time in times]):
            real = [i for i in rows if columns["row"][i]]
            cells = [[None if column[i] is None else term(column[i]) for i in real] for column in own]
            yield self._answer(moments, len(real), cells)


def split_by_query(
    fetched: pa.Table, columns: int, members: Collection[int] | None = None, list_rows: int = DEFAULT.answer_rows
) -> Iterator[AnswerSlice]:
    """The rows of each query that has an answer; a query has so many columns of its own.

    With `members`, each of these queries has an answer at every instant of the rows.
    """
    if not fetched.num_rows:
        return
    instants = None if members is None else np.unique(fetched.column(0).to_numpy())
    if instants is not None and not pc.all(fetched.column(".row")).as_py():
        fetched = fetched.filter(fetched.column(".row"))
    rows = order_rows(fetched.drop_columns([_MEMBER]), columns).append_column("m", fetched.column(_MEMBER))
    if instants is None:
        yield from _cuts(rows, None, None, rows.num_rows <= list_rows)
    elif rows.num_rows + len(instants) * len(members or ()) <= list_rows:
        marked = pa.concat_tables([rows, _empty_answers(rows, instants, np.array(sorted(members or ()), np.int64))])
        yield from _cuts(marked, None, None, True)
    else:
        yield from _cuts(rows, instants, members, False)


def _cuts(
    rows: pa.Table, instants: Numbers | None, members: Collection[int] | None, listed: bool
) -> Iterator[AnswerSlice]:
    """The rows of each query; few ones are sorted, and many are only grouped."""
    numbers, ranks = _ranked(rows.column("m"))
    grouped = in_order(rows, "m") if listed else rows.combine_chunks().take(np.argsort(ranks, kind="stable"))
    family = FamilyRows(grouped.drop_columns(["m"]).combine_chunks(), instants)
    ends = np.cumsum(np.bincount(ranks, minlength=len(numbers))).tolist()
    for number, start, end in zip(numbers.tolist(), [0, *ends], ends, strict=False):
        yield AnswerSlice(number, family, start, end, listed)
    for number in set(members or ()).difference(numbers.tolist()):
        yield AnswerSlice(number, family, 0, 0, listed)


def _ranked(members: pa.ChunkedArray[Any]) -> tuple[Numbers, npt.NDArray[Any]]:
    """The numbers of queries in their order, and the place of each row's number among them.

    Small places make small integers, which are grouped in one pass.
    """
    encoded: Any = pc.dictionary_encode(members.combine_chunks())
    numbers = encoded.dictionary.to_numpy()
    order = np.argsort(numbers)
    places = np.empty(len(order), np.uint16 if len(order) < 1 << 16 else np.int64)
    places[order] = np.arange(len(order))
    return numbers[order], places[encoded.indices.to_numpy()]


def _empty_answers(rows: pa.Table, instants: Numbers, members: Numbers) -> pa.Table:
    """A row for each instant and query without one."""
    present = np.zeros((len(members), len(instants)), bool)
    ours = np.isin(rows.column("m").to_numpy(), members)
    places = [np.searchsorted(all, rows.column(c).to_numpy()[ours]) for all, c in ((members, "m"), (instants, "t"))]
    present[tuple(places)] = True
    query, instant = np.nonzero(~present)
    return _marks(instants[instant], rows.schema, m=members[query])


def _marks(instants: Numbers, schema: pa.Schema, **others: Numbers) -> pa.Table:
    """Rows that only say that their instants have an answer."""
    given = {"t": instants, "row": np.zeros(len(instants), bool), **others}
    cells = [pa.array(given[f.name], f.type) if f.name in given else pa.nulls(len(instants), f.type) for f in schema]
    return pa.table(cells, schema=schema)

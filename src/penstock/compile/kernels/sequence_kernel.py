"""The kernel of a sequence task: SEQ with a bounded duration over the elements of one piece of time, on whole columns.

Terms are numbers, their positions in a dictionary of the piece. Elements are sorted by their join key and then by their
start, so that the possible successors of a row are adjacent and two binary searches find them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.io.splits import parquet_file
from penstock.tuning import DEFAULT

__all__ = ["Chain", "Piece", "Step", "sequences"]

STARTS, ENDS = ".starts", ".ends"
_PLACES = ("s", "p", "o")
_TERM = pa.dictionary(pa.int32(), pa.string())
_READ = pa.schema({**dict.fromkeys(_PLACES, _TERM), "ts": pa.int64(), "start": pa.int64()})
_LARGEST = 1 << 62

Numbers: TypeAlias = "np.ndarray[Any, Any]"
Column: TypeAlias = Any  # an Arrow column


@dataclass(frozen=True, slots=True)
class Step:
    """A triple pattern with an encoded term or a variable in each place. No variable occurs twice."""

    terms: Mapping[str, str]
    vars: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps in their order; from the first start to the last end at most `within`."""

    steps: tuple[Step, ...]
    within: int
    paths: tuple[str, ...]
    pairs: int = DEFAULT.sequence_pairs  # made at once
    batch_rows: int = DEFAULT.sequence_batch_rows  # handed over at once
    largest_key: int = _LARGEST  # terms and distances in time together are below

    @property
    def vars(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(var for step in self.steps for var in step.vars.values()))


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the time axis: the elements that end in it; None: from the beginning."""

    after: int | None
    through: int


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows by column: a term number for each variable, and the occurrence times."""

    terms: Mapping[str, Numbers]
    starts: Numbers
    ends: Numbers

    def take(self, places: Numbers) -> Rows:
        terms = {var: column[places] for var, column in self.terms.items()}
        return Rows(terms, self.starts[places], self.ends[places])


def sequences(chain: Chain, _number: int, piece: Piece) -> Iterator[pa.RecordBatch]:
    """Return the chain's variables and the occurrence time of each row, as Arrow batches."""
    dictionary, steps = _matched(chain, piece)
    if steps:
        following = [_Following(step, len(dictionary), chain) for step in steps[1:]]
        for rows in _followed(steps[0], following):
            columns = [dictionary.take(pa.array(rows.terms[var])) for var in chain.vars]
            yield from _batches(chain, [*columns, pa.array(rows.starts), pa.array(rows.ends)])


def _batches(chain: Chain, columns: list[Column]) -> list[pa.RecordBatch]:
    table = pa.table(columns, names=[*chain.vars, STARTS, ENDS])
    return table.to_batches(max_chunksize=chain.batch_rows)


# Reading


def _matched(chain: Chain, piece: Piece) -> tuple[Column, list[Rows]]:
    """Return the dictionary of the piece, and the matches of each step; no steps if one has no match."""
    low = None if piece.after is None else piece.after - chain.within
    elements = pa.concat_tables([_read(path, low, piece.through) for path in chain.paths])
    dictionary, numbers = _numbered(elements)
    ends = elements.column("ts").to_numpy()
    starts = pc.coalesce(elements.column("start"), elements.column("ts")).to_numpy()
    steps = []
    for step in chain.steps:
        at = np.flatnonzero(_matches(step, dictionary, numbers))
        steps.append(Rows({v: numbers[place][at] for place, v in step.vars.items()}, starts[at], ends[at]))
    if piece.after is not None:  # earlier ends belong to another piece
        steps[-1] = steps[-1].take(np.flatnonzero(steps[-1].ends > piece.after))
    return dictionary, steps if all(len(step.ends) for step in steps) else []


def _read(path: str, low: int | None, high: int) -> pa.Table:
    with parquet_file(path, read_dictionary=list(_PLACES)) as file:
        names = [name for name in _READ.names if name in file.schema_arrow.names]
        groups = [i for i in range(file.num_row_groups) if _overlaps(file.metadata.row_group(i), low, high)]
        table = file.read_row_groups(groups, names)
    if "start" not in names:
        table = table.append_column("start", pa.nulls(table.num_rows, pa.int64()))
    times = table.column("ts").to_numpy()
    wanted = times <= high if low is None else (times <= high) & (times > low)
    return table.select(_READ.names).cast(_READ).filter(pa.array(wanted))


def _overlaps(group: Any, low: int | None, high: int) -> bool:
    """Whether a row group may have elements in the piece, by the statistics of Parquet."""
    columns = (group.column(i) for i in range(group.num_columns))
    times = next(column.statistics for column in columns if column.path_in_schema == "ts")
    if times is None or not times.has_min_max:
        return True
    return bool(times.min <= high and (low is None or times.max > low))


def _numbered(elements: pa.Table) -> tuple[Column, dict[str, Numbers]]:
    """Return one dictionary for the terms of all places, and each place as numbers in it."""
    elements = elements.unify_dictionaries().combine_chunks()
    columns = {place: _chunk(elements.column(place)) for place in _PLACES}
    together = pa.concat_arrays([column.dictionary for column in columns.values()]).dictionary_encode()
    ends = np.cumsum([len(column.dictionary) for column in columns.values()])
    parts = np.split(together.indices.to_numpy(), ends[:-1])
    known = zip(columns.items(), parts, strict=True)
    return together.dictionary, {place: part[column.indices.to_numpy()] for (place, column), part in known}


def _chunk(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def _matches(step: Step, dictionary: Column, numbers: Mapping[str, Numbers]) -> Numbers:
    matching: Numbers = np.ones(len(numbers["s"]), np.bool_)
    for place, term in step.terms.items():
        matching &= numbers[place] == pc.index(dictionary, term).as_py()  # -1 if the term does not occur
    return matching


# Following


class _Following:
    """The matches of the next step, sorted by join key and start."""

    def __init__(self, rows: Rows, terms: int, chain: Chain) -> None:
        self.rows, self._terms, self._chain = rows, terms, chain
        self._times = np.unique(rows.starts)
        self._lasting = bool((rows.starts != rows.ends).any())

    def after(self, rows: Rows) -> Iterator[Rows]:
        """Return each row joined with all its successors."""
        keys, own = self._keys(rows)
        if (keys[1:] < keys[:-1]).any():  # ascending searches stay close in memory
            order = np.argsort(keys)
            keys, rows = keys[order], rows.take(order)
        limits = rows.starts + self._chain.within
        later, room = self._clock(int(max(keys.max(), own.max())) + 1)
        own = own * room + later(self.rows.starts - 1)
        order = np.argsort(own)
        first = np.searchsorted(own[order], keys * room + later(rows.ends))
        last = np.searchsorted(own[order], keys * room + later(limits))
        for lefts, rights in _pairs(first, last, self._chain.pairs):
            rights = order[rights]
            if self._lasting:
                short = np.flatnonzero(self.rows.ends[rights] <= limits[lefts])
                lefts, rights = lefts[short], rights[short]
            yield _joined(rows.take(lefts), self.rows.take(rights))

    def _keys(self, rows: Rows) -> tuple[Numbers, Numbers]:
        """Return numbers for the join keys of the rows and of the successors."""
        shared = [var for var in self.rows.terms if var in rows.terms]
        keys, own = np.zeros(len(rows.ends), np.int64), np.zeros(len(self.rows.ends), np.int64)
        for var in shared:
            keys, own = keys * self._terms + rows.terms[var], own * self._terms + self.rows.terms[var]
            if len(shared) > 1:
                both = np.unique(np.concatenate([keys, own]), return_inverse=True)[1]
                keys, own = both[: len(keys)], both[len(keys) :]
        return keys, own

    def _clock(self, keys: int) -> tuple[Callable[[Numbers], Numbers], int]:
        """Return the position of the first start after a time, and the number of positions.

        A position is a distance in time, or a rank if that many keys leave no room for distances.
        """
        first, room = int(self._times[0]), int(self._times[-1] - self._times[0]) + 2
        if keys * room < self._chain.largest_key:
            return lambda times: np.clip(times - (first - 1), 0, room - 1), room
        return lambda times: np.searchsorted(self._times, times, "right"), len(self._times) + 1


def _pairs(first: Numbers, last: Numbers, most: int) -> Iterator[tuple[Numbers, Numbers]]:
    """Return all positions from first to last for each row, in portions."""
    counts = np.maximum(last - first, 0)
    total = np.cumsum(counts)
    begin = 0
    while begin < len(counts):
        done = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, done + most, "right")))
        some = counts[begin:end]
        lefts = np.repeat(np.arange(begin, end), some)
        if len(lefts):
            within = np.arange(len(lefts)) - np.repeat(total[begin:end] - done - some, some)
            yield lefts, first[lefts] + within
        begin = end


def _joined(left: Rows, right: Rows) -> Rows:
    return Rows({**right.terms, **left.terms}, left.starts, right.ends)


def _followed(rows: Rows, steps: Sequence[_Following]) -> Iterator[Rows]:
    if not steps:
        yield rows
    elif len(rows.ends):
        for longer in steps[0].after(rows):
            yield from _followed(longer, steps[1:])

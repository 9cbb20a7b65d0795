"""A sample of a stream: estimates of term frequencies from a few runs of rows that lie far apart in its Parquet files.

The estimates are for joins, so the number of distinct terms comes from the frequency with which two rows agree: it is
the number of equally frequent terms that would agree as often. Only rows of different runs are compared: terms that
recur after a moment and then never again, like the parts of one observation, join with few rows however long the stream
is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeAlias, TypeVar

import pyarrow as pa

from penstock.io.splits import parquet_file
from penstock.optimise import PredicateCounts
from penstock.tuning import DEFAULT, Tuning

__all__ = ["counts", "estimated"]

_COLUMNS = ["s", "p", "o"]

Run: TypeAlias = Sequence[tuple[str, str, str]]
Item = TypeVar("Item")


def counts(paths: Sequence[str], rows: int, tuning: Tuning = DEFAULT) -> PredicateCounts:
    """Estimate the statistics of these files; a file that cannot be read now has none."""
    try:
        return estimated(list(_runs(paths, tuning)), rows)
    except (OSError, pa.ArrowException):
        return PredicateCounts(rows, {})


def estimated(runs: Sequence[Run], rows: int) -> PredicateCounts:
    """Estimate the statistics of that many rows, from runs of them."""
    seen = sum(map(len, runs))
    counts: dict[str, tuple[float, float, float]] = {}
    for predicate in {p for run in runs for _, p, _ in run}:
        matching = [[(s, o) for s, p, o in run if p == predicate] for run in runs]
        total = rows * sum(map(len, matching)) / seen
        subjects, objects = ([Counter(pair[i] for pair in run) for run in matching] for i in (0, 1))
        counts[predicate[1:-1]] = (total, _distinct(subjects, total), _distinct(objects, total))
    return PredicateCounts(rows, counts)


def _distinct(runs: Sequence[Counter[str]], most: float) -> float:
    """Estimate the number of distinct terms from the frequency with which rows of different runs agree."""
    together: Counter[str] = Counter()
    for run in runs:
        together.update(run)
    pairs = together.total() ** 2 - sum(run.total() ** 2 for run in runs)
    agreeing = _squares(together) - sum(map(_squares, runs))
    return min(most, pairs / agreeing) if agreeing else most


def _squares(terms: Counter[str]) -> int:
    return sum(count * count for count in terms.values())


def _runs(paths: Sequence[str], tuning: Tuning) -> Iterator[Run]:
    """Return the beginnings of some row groups; where these are few, also some later rows."""
    runs, size = tuning.sample_runs, tuning.sample_run_rows
    files = [parquet_file(path, buffer_size=tuning.sample_buffer_bytes) for path in _spread(paths, runs)]
    groups = _spread([(file, group) for file in files for group in range(file.num_row_groups)], runs)
    for file, group in groups:
        each = -(-runs // len(groups))
        apart = max(1, min(tuning.sample_gap_rows, file.metadata.row_group(group).num_rows // each) // size)
        batches = file.iter_batches(size, [group], _COLUMNS)
        yield from map(_rows, islice(batches, 0, (each - 1) * apart + 1, apart))


def _rows(some: pa.RecordBatch) -> Run:
    return list(zip(*(some.column(name).to_pylist() for name in _COLUMNS), strict=True))


def _spread(items: Sequence[Item], most: int) -> Sequence[Item]:
    """Return at most so many items, evenly spaced."""
    return [items[len(items) * i // most] for i in range(most)] if len(items) > most else items

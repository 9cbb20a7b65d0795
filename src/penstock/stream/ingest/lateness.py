"""Elements that come too late: more than the allowed lateness behind an earlier one, or after time was moved on.

An element is late iff ts < (the greatest ts of all that arrived before it) − lateness, or the stream was advanced
beyond its time. The rule looks at single elements, so it does not matter how arrivals are cut into batches.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.stream.base.watermark import Position, late_before
from penstock.stream.ingest.load_task import LoadedFile

__all__ = ["after", "is_clean", "split_late"]


def split_late(table: pa.Table, position: Position) -> tuple[pa.Table, pa.Table]:
    """The elements that are in time and those that are late, if they arrive in this order where the stream stands."""
    late = _late(table.column("ts").to_numpy(), position)
    if not late.any():
        return table, table.slice(0, 0)
    mask = pa.array(late)
    return table.filter(pc.invert(mask)), table.filter(mask)


def after(position: Position, last: int) -> Position:
    """Where the stream stands when elements have arrived of which the greatest time is `last`."""
    return replace(position, newest=last if position.newest is None else max(position.newest, last))


def is_clean(part: LoadedFile, position: Position) -> bool:
    """Whether no element of a part can be late, by what its writer measured. No means that one has to look."""
    limit = late_before(position)
    return part.disorder <= position.lateness and (limit is None or part.first >= limit)


def _late(ts: npt.NDArray[np.int64], position: Position) -> npt.NDArray[np.bool_]:
    if not len(ts):
        return np.zeros(0, np.bool_)
    start = ts[0] if position.newest is None else position.newest
    earlier = np.maximum.accumulate(np.concatenate([[start], ts[:-1]]))
    late: npt.NDArray[np.bool_] = ts < earlier - position.lateness
    return late if position.advanced_to is None else late | (ts <= position.advanced_to)

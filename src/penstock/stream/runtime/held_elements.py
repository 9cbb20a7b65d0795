"""Reads the elements that a window holds at an instant, from the segments of the log."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyoxigraph import Triple

from penstock.algebra.windows import CountWindow, Window, floor
from penstock.io.columns import END, logged
from penstock.model.term_encoding import decode_triple, encode_triple
from penstock.stream.log.stream_log import Segment

__all__ = ["HeldElement", "held_elements", "in_window"]


@dataclass(frozen=True, slots=True)
class HeldElement:
    """An element of a stream that the log holds. `time` is the end of one that has a `start`, in microseconds."""

    triple: Triple
    time: int
    start: int | None = None


def held_elements(
    segments: Sequence[Segment], window: Window, instant: int, dropped: int, among: Collection[Triple] | None = None
) -> list[HeldElement]:
    """The elements that a window holds at an instant, by time: those `among` these triples, or all.

    `dropped` elements are no longer in the log."""
    tables = [_read(path) for part in segments for path in part.paths]
    if not tables:
        return []
    table = pa.concat_tables(tables)
    stamps = table.column("ts").to_numpy()
    seen = table.filter(pa.array(in_window(stamps, window, instant, dropped)))
    seen = seen if among is None else seen.filter(_may_be(seen, among))
    elements = [
        HeldElement(decode_triple(row["s"], row["p"], row["o"]), row["ts"], row["start"]) for row in seen.to_pylist()
    ]
    present = (element for element in elements if among is None or element.triple in among)
    return sorted(present, key=lambda element: element.time)


def _may_be(table: pa.Table, triples: Collection[Triple]) -> pa.Array[pa.BooleanScalar]:
    """Whether the terms of each element occur in the triples at all, on whole columns."""
    encoded = list(map(encode_triple, triples))
    subjects, objects = (pa.array([terms[place] for terms in encoded], pa.string()) for place in (0, 2))
    return pc.and_(pc.is_in(table.column("s"), subjects), pc.is_in(table.column("o"), objects))


def in_window(stamps: np.ndarray, window: Window, instant: int, dropped: int) -> np.ndarray:
    """Whether the window holds each of the elements, which have these times in the order of their arrival."""
    if not isinstance(window, CountWindow):
        enters, leaves = window.visible(stamps)  # type: ignore[arg-type]  # the arithmetic of one is that of all
        stays = np.ones(len(stamps), bool) if leaves is None else np.asarray(leaves) > instant
        return (np.asarray(enters) <= instant) & stays
    order = np.argsort(stamps, kind="stable")
    number = np.empty(len(stamps), np.int64)
    number[order] = np.arange(dropped + 1, dropped + len(stamps) + 1)
    last = floor(dropped + int((stamps <= instant).sum()), window.step)
    held: np.ndarray = (number <= last) & (number > last - window.size)
    return held


def _read(path: str) -> pa.Table:
    """The elements of a file with the columns of the log; Parquet that is not the log's may have an end."""
    table = pq.read_table(path)
    if END in table.column_names:
        table = table.rename_columns({"ts": "start", END: "ts"})
    for name in ("ts", "start"):
        if name in table.column_names and pa.types.is_timestamp(table.schema.field(name).type):
            place = table.column_names.index(name)
            times = pc.cast(table.column(name), pa.timestamp("us", "UTC")).cast(pa.int64())
            table = table.set_column(place, name, times)
    return logged(table)

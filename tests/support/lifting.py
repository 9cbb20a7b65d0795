"""Lifted tables as quads and as lines, for comparisons that do not depend on labels of blank nodes."""

from __future__ import annotations

import pyarrow as pa
from pyoxigraph import CanonicalizationAlgorithm, Dataset, DefaultGraph, Quad

from penstock.model.term_encoding import decode


def quads_of(table: pa.Table) -> list[Quad]:
    """The rows as quads, in order."""
    graphs = table.column("g").to_pylist() if "g" in table.column_names else [None] * table.num_rows
    columns = (table.column(name).to_pylist() for name in "spo")
    return [
        Quad(decode(s), decode(p), decode(o), DefaultGraph() if g is None else decode(g))  # type: ignore[arg-type]
        for s, p, o, g in zip(*columns, graphs, strict=True)
    ]


def comparable(quads: list[Quad]) -> tuple[int, list[str]]:
    """How many quads there are, and the different ones with canonical blank nodes."""
    dataset = Dataset(quads)
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return len(quads), sorted(map(str, dataset))


def lines_of(table: pa.Table) -> list[str]:
    """The rows as lines of N-Quads, in order."""
    return [f"{quad} ." for quad in quads_of(table)]

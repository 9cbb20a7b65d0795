"""Streams in which the same triple comes again and again: as elements these are many, in a plain dataset one."""

from __future__ import annotations

from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Quad, Triple

from tests.oracle.data import NS
from tests.oracle.streams import SECOND, STREAMS, Element, Streamed, one_window
from tests.support.tape import Tape

REPEATED_BYTES = 250
NODES = tuple(NamedNode(f"{NS}{name}") for name in "abc")
LINKS = tuple(NamedNode(f"{NS}{name}") for name in "pq")
NUMBER = NamedNode(f"{NS}i")


def repeated(draw: Tape, streams: int) -> Streamed:
    """So many streams, and a background that shares triples with them."""
    windows = tuple(replace(one_window(draw, iri), named=False) for iri in STREAMS[:streams])
    every = draw.pick((None, None, None, 3 * SECOND))
    elements = {window.iri: _elements(draw) for window in windows}
    background = [Quad(*_triple(draw)) for _ in range(draw.count(0, 4))]
    cut = draw.count(1, 3), draw.count(1, 3), draw.chance(2)
    return Streamed(list(dict.fromkeys(background)), elements, windows, every, "keep", *cut)


def _elements(draw: Tape) -> list[Element]:
    found = []
    for _ in range(draw.count(1, 12)):
        triple = _triple(draw)
        found += [Element(triple, draw.count(0, 30) * SECOND // 2) for _ in range(draw.pick((1, 1, 2, 3)))]
    return sorted(found, key=lambda element: element.time)


def _triple(draw: Tape) -> Triple:
    if draw.chance(3):
        return Triple(draw.pick(NODES), NUMBER, Literal(draw.count(0, 3)))
    return Triple(draw.pick(NODES), draw.pick(LINKS), draw.pick(NODES))

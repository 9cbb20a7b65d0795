"""The comparison that the W3C tests and the oracle stand on has to tell right from wrong itself."""

from __future__ import annotations

from typing import Any

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from tests.support.compare import XSD, same_bag, solutions

DECIMAL, DOUBLE, INTEGER = (NamedNode(XSD + name) for name in ("decimal", "double", "integer"))


def bag(*rows: tuple[Any, ...]) -> Any:
    names = [str(place) for place in range(max(map(len, rows), default=0))]
    return solutions(names, [dict(zip(names, row, strict=False)) for row in rows])


def b(label: str) -> BlankNode:
    return BlankNode(label)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (bag((b("x"),), (b("y"),)), bag((b("y"),), (b("z"),))),
        (bag((b("x"), b("y")), (b("y"), b("x"))), bag((b("1"), b("2")), (b("2"), b("1")))),
        (bag((b("x"), b("x"))), bag((b("q"), b("q")))),
        (bag((Literal("2", datatype=DECIMAL),)), bag((Literal("2.0", datatype=DECIMAL),))),
        (bag((Literal("0.30000000000000004", datatype=DOUBLE),)), bag((Literal("3.0E-1", datatype=DOUBLE),))),
        (bag((Literal("a", language="EN"),)), bag((Literal("a", language="en"),))),
    ],
)
def test_same(left: Any, right: Any) -> None:
    assert same_bag(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (bag((b("x"),), (b("x"),)), bag((b("x"),), (b("y"),))),
        (bag((b("x"), b("y"))), bag((b("x"), b("x")))),
        (bag((b("x"), b("y")), (b("y"), b("z"))), bag((b("x"), b("y")), (b("x"), b("z")))),
        (bag((Literal("2", datatype=DECIMAL),)), bag((Literal("2", datatype=INTEGER),))),
        (bag((Literal("2"),)), bag((Literal("2", datatype=INTEGER),))),
        (bag((Literal("a"),)), bag((Literal("a"),), (Literal("a"),))),
        (bag((Literal("a"), None)), bag((None, Literal("a")))),
    ],
)
def test_different(left: Any, right: Any) -> None:
    assert not same_bag(left, right)


def test_two_triangles_are_not_a_hexagon() -> None:
    """Every node looks alike to its neighbours here: only trying the pairs out can tell."""

    def ring(*labels: str) -> list[tuple[Any, ...]]:
        return [pair for x, y in zip(labels, labels[1:] + labels[:1], strict=True) for pair in ((b(x), b(y)),)]

    hexagon = bag(*ring(*"abcdef"))
    assert same_bag(hexagon, bag(*ring(*"pqrstu")))
    assert not same_bag(hexagon, bag(*ring(*"abc"), *ring(*"def")))

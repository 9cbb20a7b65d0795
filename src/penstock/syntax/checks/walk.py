"""All nodes of a query's tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from penstock.syntax.tree import Span

__all__ = ["nodes"]


def nodes(node: object, without: type | None = None) -> Iterator[object]:
    """The node and all nodes below it, those of expressions included; none of the class `without`, nor below those."""
    if without is not None and isinstance(node, without):
        return
    yield node
    if isinstance(node, tuple):
        for item in node:
            yield from nodes(item, without)
    elif is_dataclass(node) and not isinstance(node, Span):
        for field in fields(node):
            yield from nodes(getattr(node, field.name), without)

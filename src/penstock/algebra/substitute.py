"""Renaming variables in a pattern, as substitution into EXISTS needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from penstock.algebra.expressions import Var
from penstock.algebra.ops import Group, Op, Project

__all__ = ["rename"]

Node = TypeVar("Node")


def rename(node: Node, names: Mapping[Var, Var]) -> Node:
    """The node with variables replaced. One that a sub-SELECT or GROUP BY hides is another variable and stays.

    Fields that do not count for equality are handles of a physical operator, and hold no variables.
    """
    if isinstance(node, Var):
        return names.get(node, node)  # type: ignore[return-value]
    if isinstance(node, tuple):
        return tuple(rename(item, names) for item in node)  # type: ignore[return-value]
    if not is_dataclass(node):
        return node
    names = _seen_through(node, names)
    changes: dict[str, Any] = {f.name: rename(getattr(node, f.name), names) for f in fields(node) if f.compare}
    return replace(node, **changes)  # type: ignore[type-var]


def _seen_through(node: object, names: Mapping[Var, Var]) -> Mapping[Var, Var]:
    match node:
        case Project(vars, Op()):
            return {v: name for v, name in names.items() if v in vars}
        case Group(keys, _, Op()):
            return {v: name for v, name in names.items() if v in keys}
    return names

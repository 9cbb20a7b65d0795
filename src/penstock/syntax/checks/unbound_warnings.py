"""Warnings about variables of SELECT that nothing binds: an unbound variable is no error, and its column is empty."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.errors import PenstockWarning
from penstock.syntax import tree
from penstock.syntax.checks.walk import nodes
from penstock.syntax.scope import annotated, unaggregated, visible
from penstock.syntax.suggest import nearest

__all__ = ["unbound_warnings"]

_EMPTY = "its column stays empty, as no pattern, BIND, VALUES or AGGREGATE binds it"


def unbound_warnings(query: tree.Query) -> Iterator[PenstockWarning]:
    """The warnings about each SELECT; not about those in EXISTS, which may have their variables from around it."""
    if isinstance(query.form, tree.Select):
        yield from _unbound(query.form, query, query.text)
    for node in nodes(query, without=tree.Exists):
        if isinstance(node, tree.SubSelect):
            yield from _unbound(node.select, node, query.text)


def _bound(level: tree.Query | tree.SubSelect) -> set[str]:
    """The variables that SELECT may read."""
    aliases = [key.alias.name for key in level.modifiers.group_by if key.alias is not None]
    values = [variable.name for variable in level.values.variables] if level.values else []
    return {*visible(level.where), *annotated(level.modifiers), *aliases, *values}


def _filled_in(where: tree.Group) -> set[str]:
    """The local names of properties with a constant: `foaf:name "Ann"` may stand where `foaf:name ?name` has been, as
    in queries that are equal but for constants (Q1' of CQELS' paper)."""
    bound = set()
    for node in nodes(where):
        match node:
            case tree.Triple(_, tree.Iri(name), tree.Iri() | tree.Literal()):
                bound.add(re.split("[/#:]", name)[-1])
    return bound


def _unbound(select: tree.Select, level: tree.Query | tree.SubSelect, text: str) -> Iterator[PenstockWarning]:
    """Warnings about projected variables, and about those in expressions whose name is similar to a bound one."""
    bound = _bound(level)
    for item in select.items or ():
        for variable in unaggregated(item.expression or item.variable):
            if variable.name not in bound:
                near = nearest(variable.name, bound)
                if near is not None or item.expression is None:
                    yield from _never_bound(variable, near, level.where, text)
        bound = bound | {item.variable.name}


def _never_bound(variable: tree.Variable, near: str | None, where: tree.Group, text: str) -> Iterator[PenstockWarning]:
    if variable.name not in _filled_in(where):
        reason = f"?{variable.name} is never bound" + (f"; did you mean ?{near}?" if near else "")
        yield variable.span.warning(reason, text, None if near else _EMPTY)

"""The titles and lines of operator nodes, as tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.algebra import ops
from penstock.algebra.durations import in_one_unit
from penstock.algebra.expressions import Expr, Var
from penstock.algebra.ops import Op, Physical, logical_type
from penstock.algebra.scope import conjuncts
from penstock.explain.model import Node
from penstock.explain.notation import Notation, variables

__all__ = ["label", "of_result"]

_KINDS: dict[type[Op], tuple[str, str]] = {
    ops.Annotate: ("aggregation", "aggregation"),
    ops.Bgp: ("pattern", "graph pattern"),
    ops.Distinct: ("modifier", "distinct"),
    ops.Equals: ("equals", "EQUALS"),
    ops.EqualsOptional: ("equals optional", "EQUALSOPTIONAL"),
    ops.Extend: ("bind", "bind"),
    ops.Filter: ("filter", "filter"),
    ops.Graph: ("each graph", "for each graph"),
    ops.Group: ("group", "group"),
    ops.InWindow: ("each window", "for each window"),
    ops.Join: ("join", "join"),
    ops.StaticView: ("static_view", "materialised view of the background"),
    ops.LeftJoin: ("left join", "left join"),
    ops.Minus: ("minus", "minus"),
    ops.OptionalSeq: ("optional sequence", "OPTIONALSEQ"),
    ops.OrderBy: ("modifier", "order by"),
    ops.Path: ("path", "property path"),
    ops.Project: ("projection", "projection"),
    ops.Reduced: ("modifier", "reduced"),
    ops.Seq: ("sequence", "SEQ"),
    ops.Slice: ("modifier", "slice"),
    ops.Table: ("values", "inline values"),
    ops.Union: ("union", "union"),
}
"""The kind of node that an operator is, and how it is called."""

_ADDED = (ops.Annotate, ops.Filter, ops.Seq, ops.Equals, ops.OptionalSeq, ops.EqualsOptional, ops.InWindow)
"""The operators that the languages for streams add to SPARQL; the filter is one because the paper's Table 1 has it."""

_FORMS: dict[type, str] = {
    ops.Select: "SELECT", ops.Ask: "ASK", ops.Construct: "CONSTRUCT", ops.Describe: "DESCRIBE",
}  # fmt: skip

_SHOWN = 5  # rows of inline values


def label(op: Op, names: Notation) -> Node:
    """A node for the operator, without an id."""
    logical = logical_type(op)
    kind, title = _KINDS.get(logical, (logical.__name__.lower(), logical.__name__.lower()))
    lines = _LINES[logical](op, names) if logical in _LINES else []
    lines += [op.algorithm] if isinstance(op, Physical) else []
    return Node("", kind, title, tuple(lines), isinstance(op, _ADDED), of=op)


def of_result(query: ops.Query, names: Notation) -> Node:
    """The root node: the form of the answers, and when and how a continuous query reports them."""
    lines = [f"{names.term(term)}" for term in getattr(query.form, "terms", ())]
    lines += (names.triple(pattern) for pattern in getattr(query.form, "template", ()))
    registration = query.registration
    if registration is not None and registration.name is not None:
        lines.append(f"registered as {registration.name}")
    if registration is not None and registration.every is not None:
        lines.append(f"computed every {in_one_unit(registration.every)}")
    if registration is not None and registration.output is not None:
        lines.append(f"into the stream {names.iri(registration.output)}")
    continuous = bool(query.streams) or query.emit == "events"
    if continuous:
        lines.append(f"reported as {query.emit or 'rstream'}")
    return Node("", "result", _FORMS[type(query.form)], tuple(lines), added=continuous)


def _conditions(condition: Expr | None, names: Notation) -> list[str]:
    return [] if condition is None else [names.expression(part) for part in conjuncts(condition)]


def _optional(op: Any, names: Notation) -> list[str]:
    return _conditions(op.condition, names)


def _named(op: Any, names: Notation) -> list[str]:
    return [names.term(op.name)]


def _annotate(op: ops.Annotate, names: Notation) -> list[str]:
    return [f"{names.term(op.var)} = {names.expression(op.aggregate)}", *_by(op.keys)]


def _group(op: ops.Group, names: Notation) -> list[str]:
    return [*(f"{names.term(var)} = {names.expression(made)}" for var, made in op.aggregates), *_by(op.keys)]


def _by(keys: tuple[Var, ...]) -> list[str]:
    return [f"by {variables(keys)}"] if keys else ["of all"]


def _order(op: ops.OrderBy, names: Notation) -> list[str]:
    return [names.expression(key.expression) + (" descending" if key.descending else "") for key in op.conditions]


def _slice(op: ops.Slice, names: Notation) -> list[str]:
    return ([f"offset {op.offset}"] if op.offset else []) + ([] if op.limit is None else [f"limit {op.limit}"])


def _table(op: ops.Table, names: Notation) -> list[str]:
    rows = (" ".join("UNDEF" if cell is None else names.term(cell) for cell in row) for row in op.rows[:_SHOWN])
    return [variables(op.vars), *rows, *([f"… {len(op.rows)} rows"] if len(op.rows) > _SHOWN else [])]


_LINES: dict[type[Op], Callable[[Any, Notation], list[str]]] = {
    ops.Annotate: _annotate,
    ops.Bgp: lambda op, names: [names.triple(pattern) for pattern in op.patterns] or ["the empty one"],
    ops.EqualsOptional: _optional,
    ops.Extend: lambda op, names: [f"{names.term(op.var)} = {names.expression(op.expression)}"],
    ops.Filter: lambda op, names: _conditions(op.condition, names),
    ops.Graph: _named,
    ops.Group: _group,
    ops.InWindow: _named,
    ops.StaticView: lambda op, names: [f"for joins by {variables(op.keys)}"] if op.keys else [],
    ops.LeftJoin: _optional,
    ops.OptionalSeq: _optional,
    ops.OrderBy: _order,
    ops.Path: lambda op, names: [f"{names.term(op.subject)} {names.path(op.path)} {names.term(op.object)}"],
    ops.Project: lambda op, names: [variables(op.vars)],
    ops.Slice: _slice,
    ops.Table: _table,
}

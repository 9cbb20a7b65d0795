"""The compiler's recursion: each physical operator becomes a relation by the function that is registered for it.

A module registers a function with `@compiles(ops.X)`; `operators` imports all of them. Functions that several of these
modules need are here as well: the scope of an expression, and the columns that it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch
from typing import Any

from penstock.algebra import ops
from penstock.algebra.expressions import Expr, Var, walk
from penstock.algebra.known_types import counts
from penstock.algebra.scope import references
from penstock.compile import probe, sql
from penstock.compile.context import Context
from penstock.compile.expressions.expressions import Scope, asks_now, needs_row
from penstock.compile.expressions.functions.terms import UUID
from penstock.compile.relation import INSTANT, Relation, is_key, select

Compile = Callable[[Any, Context], Relation]


@singledispatch
def _compiled(op: ops.Op, context: Context) -> Relation:
    raise AssertionError(f"no operator of a pattern: {op}")


def compiles(kind: type[ops.Op]) -> Callable[[Compile], Compile]:
    """Register the decorated function for operators of this kind."""
    return lambda function: _compiled.register(kind, function)


def compile_op(op: ops.Op, context: Context) -> Relation:
    """Return the relation of a physical operator."""
    relation = _compiled(op, context)
    probe.compiled(op, relation)
    return replace(relation, counts=frozenset(var.name for var in counts(op)) - relation.keys)


def scope(relation: Relation, context: Context, marks: dict[Any, sql.Expr] | None = None) -> Scope:
    columns: dict[str, sql.Expr] = {v: sql.name(v) for v in relation.vars}
    return Scope(columns, context.plan.base, context.plan.now, _row(relation), marks or {}, relation.counts)


def _row(relation: Relation) -> sql.Expr | None:
    return None if relation.row is None else sql.name(relation.row)


def with_outer(relation: Relation, exprs: tuple[Expr, ...], context: Context) -> Relation:
    """Return the relation with the keys that the expressions read from outer solutions, and the instant for NOW()."""
    outer = {v.name for expr in exprs for v in references(expr) if is_key(v.name) and not v.parameter}
    outer |= {name for expr in exprs for name in _parameters(expr)}
    if context.plan.streaming is not None and any(asks_now(expr) for expr in exprs):
        outer.add(INSTANT)
    return context.expand(relation, frozenset(outer - set(relation.vars)) | relation.keys) if outer else relation


def _parameters(expr: Expr) -> frozenset[str]:
    """Return the parameters that an expression reads itself; the pattern of an EXISTS expands its own."""
    return frozenset(part.name for part in walk(expr) if isinstance(part, Var) and part.parameter)


def with_row(relation: Relation, exprs: tuple[Expr, ...], context: Context) -> Relation:
    """Return the relation with the row identifier that BNODE(…) needs, if the expressions call it."""
    return identified(relation, context) if any(map(needs_row, exprs)) else relation


def identified(relation: Relation, context: Context) -> Relation:
    """Return the relation with a column that is unique to each row."""
    if relation.row is not None:
        return relation
    row = context.plan.fresh(".row")
    items = [*map(sql.name, relation.columns), sql.alias(UUID, row)]
    return replace(relation, sql=select(items, relation.sql), row=row)

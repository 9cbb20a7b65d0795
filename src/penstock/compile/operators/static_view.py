"""SQL of static views: the rows of a materialised view, or the pattern itself where it is computed in place."""

from __future__ import annotations

from dataclasses import replace

from penstock.algebra import ops
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.operators import query_family
from penstock.compile.operators.compile_operator import compile_op, compiles
from penstock.compile.physical.nodes import ViewScan
from penstock.compile.relation import Relation, select


@compiles(ops.StaticView)
def _in_place(op: ops.StaticView, context: Context) -> Relation:
    return query_family.attached(compile_op(op.pattern, context.as_static()).plain(), context)


@compiles(ViewScan)
def _view_scan(op: ViewScan, context: Context) -> Relation:
    return query_family.attached(_renamed(op), context)


def _renamed(op: ViewScan) -> Relation:
    """Return the rows of the view under the names of its variables, which differ where an EXISTS substitutes them."""
    relation = op.relation
    names = {old: var.name for old, var in zip(relation.vars, op.vars, strict=True)}
    items = [sql.alias(sql.name(old), new) for old, new in names.items()]
    certain = frozenset(names[name] for name in relation.certain)
    return replace(relation, sql=select(items, relation.sql), vars=tuple(names.values()), certain=certain)

"""Relation-to-relation operators: one short function for each operator of the algebra.

Basic graph patterns, paths, complex events, OPTIONAL and static views are in their own modules, which register their
operators when they are imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Const, Expr, Var
from penstock.algebra.scope import conjuncts, references, visible
from penstock.compile import sql
from penstock.compile.context import Context, EachGraph, NamedGraph
from penstock.compile.expressions import term_order, timestamps
from penstock.compile.expressions.expressions import value
from penstock.compile.expressions.values import term
from penstock.compile.key_domain import Universe
from penstock.compile.operators import aggregation, bgp, exists, interval_operators, joins, modifiers, optional, paths
from penstock.compile.operators.compile_operator import compile_op, compiles, identified, scope, with_outer, with_row
from penstock.compile.operators.events import complex_events
from penstock.compile.operators.physical import static_view
from penstock.compile.operators.physical.join_algorithm import choose_join_algorithm
from penstock.compile.operators.physical.semijoin_reduction import Candidates, from_sibling, narrowed_by, projected
from penstock.compile.relation import (
    ENDS,
    KEY,
    STARTS,
    Ordering,
    Relation,
    is_key,
    is_stamp,
    is_time,
    select,
    shared_variables,
    table,
)
from penstock.compile.sql import Query, Select
from penstock.model import term_encoding

__all__ = ["compile_op", "identified"]

OTHERS = (complex_events, static_view, optional, paths, bgp)  # modules that register further operators


@compiles(ops.Table)
def _table(op: ops.Table, context: Context, known: Candidates) -> Relation:
    rows = [tuple(None if cell is None else term_encoding.encode(cell) for cell in row) for row in op.rows]
    return replace(context.bind_keys(table(tuple(v.name for v in op.vars), rows)), view_rows=len(rows))


@compiles(ops.Join)
def _join(op: ops.Join, context: Context, known: Candidates) -> Relation:
    """Return the join. A static view is compiled first: the terms of the rows that it looks up reduce the other
    side."""
    first, second = (op.right, op.left) if isinstance(op.right, ops.StaticView) else (op.left, op.right)
    one = compile_op(first, context, from_sibling(second, context, known))
    other = compile_op(second, context, narrowed_by(one, from_sibling(first, context, known)))
    left, right = joins.align_for_join(*((other, one) if first is op.right else (one, other)), context)
    hint = choose_join_algorithm(left, right, context.has_many_elements, context.plan.tuning)
    joined = joins.join(left, right, hint, context.span, tuning=context.plan.tuning)
    return replace(joined, looked_up_terms={**left.looked_up_terms, **right.looked_up_terms})


@compiles(ops.Union)
def _union(op: ops.Union, context: Context, known: Candidates) -> Relation:
    left, right = compile_op(op.left, context).plain(), compile_op(op.right, context).plain()
    keys = left.keys | right.keys
    return joins.union(context.expand(left, keys), context.expand(right, keys))


@compiles(ops.Minus)
def _minus(op: ops.Minus, context: Context, known: Candidates) -> Relation:
    left, right = interval_operators.align_sides(
        compile_op(op.left, context), compile_op(op.right, context).plain(), context
    )
    named = {v.name for v in visible(op.left) & visible(op.right)}
    common = [v for v in shared_variables(left, right) if v in named]
    return (
        interval_operators.semi_join(left, right, joins.excluding(left, right, common), anti=True) if common else left
    )


@compiles(ops.Filter)
def _filter(op: ops.Filter, context: Context, known: Candidates) -> Relation:
    below = replace(
        context, joined_by_filter=context.joined_by_filter or any(map(_is_equality, conjuncts(op.condition)))
    )
    relation = with_outer(compile_op(op.pattern, below), (op.condition,), context)
    return exists.filtered(with_row(relation, (op.condition,), context), op.condition, context)


def _is_equality(part: Expr) -> bool:
    return isinstance(part, Call) and part.name in ("=", "SAMETERM") and all(map(references, part.args))


@compiles(ops.Extend)
def _extend(op: ops.Extend, context: Context, known: Candidates) -> Relation:
    relation = with_outer(compile_op(op.pattern, context), (op.expression,), context)
    relation = with_row(relation, (op.expression,), context)
    marked, marks = exists.marked(relation, op.expression, context)
    var = _column_for(op.var, marked, context)
    bound = sql.alias(term(value(op.expression, scope(marked, context, marks))), var)
    items = [*map(sql.name, marked.vars), bound, *map(sql.name, marked.hidden)]
    certain = marked.certain | ({var} if _surely_bound(op.expression, relation) else set())
    result = replace(marked, sql=select(items, marked.sql), vars=(*marked.vars, var), certain=certain)
    return _bound_once(result, var, op.var, context)


def _column_for(var: Var, relation: Relation, context: Context) -> str:
    """Return the column for a new binding of a variable: its name, or a fresh one where a key has bound it already."""
    return var.name if var.name not in relation.vars else context.plan.fresh(".again")


def _bound_once(relation: Relation, column: str, var: Var, context: Context) -> Relation:
    """Return the relation with one binding of a variable; rows whose key and new binding differ are dropped."""
    if column == var.name:
        return context.bind_keys(relation)
    again = sql.name(column)
    kept = relation.where(again.is_null() | again.eq(sql.name(var.name)))
    vars = tuple(v for v in relation.vars if v != column)
    return replace(kept, sql=select(map(sql.name, vars + relation.hidden), kept.sql), vars=vars)


def _surely_bound(expr: Expr, relation: Relation) -> bool:
    return isinstance(expr, Const) or (isinstance(expr, Var) and expr.name in relation.certain)


@compiles(ops.Graph)
def _graph(op: ops.Graph, context: Context, known: Candidates) -> Relation:
    if not isinstance(op.name, Var):
        graph = term_encoding.encode(op.name)
        relation = compile_op(op.pattern, context.in_graph(NamedGraph(graph)))
        return relation if context.window or graph in context.plan.tables.graphs else relation.where(sql.FALSE)
    key = context.plan.fresh(KEY)
    names = Universe((key,), _graph_names(key, context), static=context.window is None)
    inner = context.with_universe(names).in_graph(EachGraph(key))
    relation = inner.expand(compile_op(op.pattern, inner), frozenset((key,)))
    return _name_graph(relation, key, op.name.name)


def _graph_names(key: str, context: Context) -> Query:
    if context.window is None:
        return table((key,), [(g,) for g in sorted(context.plan.tables.graphs)]).sql
    g = sql.name("g")
    parts = sql.union_all(Select([sql.alias(g, key)], c.sql, g.not_null()) for c in context.contents())
    return Select([sql.STAR], parts, distinct=True)


@compiles(ops.InWindow)
def _in_window(op: ops.InWindow, context: Context, known: Candidates) -> Relation:
    """Return the pattern's rows in a window; with a variable, in each named window."""
    if not isinstance(op.name, Var):
        return compile_op(op.pattern, context.in_window(term_encoding.encode(op.name)), known)
    streaming = context.plan.streaming
    names = [] if streaming is None else [c.name for c in streaming.contents if c.name is not None]
    parts = [_named_window(op.pattern, name, op.name.name, context) for name in names]
    keys = frozenset().union(*(part.keys for part in parts))
    return reduce(joins.union, (context.expand(part, keys) for part in parts))


def _named_window(pattern: ops.Op, name: str, var: str, context: Context) -> Relation:
    relation = compile_op(pattern, context.in_window(name)).plain()
    return joins.join(relation, table((var,), [(name,)]))


@compiles(ops.WindowOverride)
def _overridden(op: ops.WindowOverride, context: Context, known: Candidates) -> Relation:
    return compile_op(op.pattern, context.overridden(op.tag), known)


def _name_graph(relation: Relation, key: str, var: str) -> Relation:
    """Turn the key into the variable; where the pattern binds the variable too, both must be equal."""
    vars = tuple(v for v in relation.vars if v not in (key, var))
    items = [*map(sql.name, vars), sql.alias(sql.name(key), var), *map(sql.name, relation.hidden)]
    if var in relation.vars:
        relation = relation.where(sql.name(var).is_null() | sql.name(var).eq(sql.name(key)))
    source = select(items, relation.sql)
    return replace(relation, sql=source, vars=(*vars, var), certain=relation.certain - {key} | {var})


@compiles(ops.Project)
def _project(op: ops.Project, context: Context, known: Candidates) -> Relation:
    vars = tuple(v.name for v in op.vars if not v.parameter)
    inside = compile_op(op.pattern, context, projected(op.vars, known))
    relation = context.expand(inside, frozenset(filter(is_key, vars)))
    vars += tuple(sorted(relation.keys - set(vars))) + tuple(filter(_time_columns(op, context), relation.vars))
    items: list[sql.Expr] = [sql.name(v) if v in relation.vars else sql.alias(sql.NULL, v) for v in vars]
    source = select([*items, *map(sql.name, relation.hidden)], relation.sql)
    terms_left = {name: terms for name, terms in relation.looked_up_terms.items() if name in vars}
    return replace(relation, sql=source, vars=vars, certain=relation.certain & set(vars), looked_up_terms=terms_left)


def _time_columns(op: ops.Project, context: Context) -> Callable[[str], bool]:
    """Return the time columns that a projection keeps: validity, and timestamps of the projected variables."""
    streaming = context.plan.streaming
    asked = streaming is not None and timestamps.calls(op.pattern) < streaming.calls
    wanted = {v.name for v in op.vars} if asked else set()
    dropped = (STARTS, ENDS) if streaming is not None and op == streaming.outer_projection else ()
    return lambda v: is_time(v) and v not in dropped and (not is_stamp(v) or timestamps.variable(v) in wanted)


@compiles(ops.Distinct)
def _distinct(op: ops.Distinct, context: Context, known: Candidates) -> Relation:
    relation = compile_op(op.pattern, context)
    simple = relation.timed and not relation.order and not any(map(is_stamp, relation.vars))
    return interval_operators.distinct(relation.plain()) if simple else modifiers.distinct(context.pointwise(relation))


@compiles(ops.Reduced)
def _reduced(op: ops.Reduced, context: Context, known: Candidates) -> Relation:
    return compile_op(op.pattern, context)


@compiles(ops.OrderBy)
def _order_by(op: ops.OrderBy, context: Context, known: Candidates) -> Relation:
    """Add sort keys as hidden columns; the sort itself happens where the order is used, under LIMIT or at the end."""
    exprs = tuple(c.expression for c in op.conditions)
    relation = with_outer(compile_op(op.pattern, context), exprs, context)
    relation = with_row(relation, exprs, context)
    marked, marks = exists.marked_all(relation, exprs, context)
    around = scope(marked, context, marks)
    order = tuple(Ordering(context.plan.fresh(".order"), c.descending) for c in op.conditions)
    keys = (sql.alias(term_order.sort_key(value(e, around)), o.column) for e, o in zip(exprs, order, strict=True))
    source = select([*map(sql.name, marked.columns), *keys], marked.sql)
    return replace(marked, sql=source, order=order + marked.order)


@compiles(ops.Slice)
def _slice(op: ops.Slice, context: Context, known: Candidates) -> Relation:
    return modifiers.part(context.pointwise(compile_op(op.pattern, context)), op.offset, op.limit)


@compiles(ops.Group)
def _group(op: ops.Group, context: Context, known: Candidates) -> Relation:
    arguments = tuple(a.argument for _, a in op.aggregates if a.argument is not None)
    relation = with_outer(compile_op(op.pattern, context).plain(), arguments, context)
    relation = context.expand(relation, frozenset(k.name for k in op.keys if is_key(k.name)))
    relation = with_row(relation, arguments, context)
    marked, marks = exists.marked_all(relation, arguments, context)
    return aggregation.group(op, marked, scope(marked, context, marks), context)


@compiles(ops.Annotate)
def _annotate(op: ops.Annotate, context: Context, known: Candidates) -> Relation:
    arguments = () if op.aggregate.argument is None else (op.aggregate.argument,)
    relation = with_outer(context.pointwise(compile_op(op.pattern, context).plain()), arguments, context)
    relation = with_row(relation, arguments, context)
    marked, marks = exists.marked_all(relation, arguments, context)
    name = _column_for(op.var, marked, context)
    annotated = aggregation.annotate(replace(op, var=Var(name)), marked, scope(marked, context, marks))
    return _bound_once(annotated, name, op.var, context)

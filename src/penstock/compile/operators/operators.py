"""Operators of the algebra as relations: one short function each, in one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Const, Expr, Var, walk
from penstock.algebra.known_types import counts
from penstock.algebra.scope import conjuncts, references, visible
from penstock.compile import notes, sql
from penstock.compile.context import Context, EachGraph, NamedGraph, Universe
from penstock.compile.expressions import term_order, timestamps
from penstock.compile.expressions.expressions import Scope, asks_now, condition, needs_row, value
from penstock.compile.expressions.functions.terms import UUID
from penstock.compile.expressions.values import term
from penstock.compile.operators import aggregation, bgp, exists, interval_operators, joins, modifiers, paths
from penstock.compile.operators.events import complex_events
from penstock.compile.operators.physical.semijoin_reduction import (
    Candidates,
    any_term,
    from_sibling,
    narrowed_by,
    projected,
)
from penstock.compile.operators.physical.static_view import compile_static_view
from penstock.compile.relation import (
    ENDS,
    INSTANT,
    KEY,
    STARTS,
    Ordering,
    Relation,
    is_key,
    is_stamp,
    is_time,
    select,
    table,
)
from penstock.compile.sql import Query, Select
from penstock.model import term_encoding


def compile_op(op: ops.Op, context: Context, known: Candidates = any_term) -> Relation:
    """The relation of a pattern. Rows with other terms than those that are known of a variable may be left out: what
    the pattern is joined with has none of them."""
    shared = None if context.plan.shared is None else context.plan.shared(op, context)
    narrowed = isinstance(op, _NARROWED)
    relation = _OPERATORS[type(op)](op, context, *((known,) if narrowed else ())) if shared is None else shared
    notes.compiled(op, relation)
    counted = frozenset(var.name for var in counts(op)) - relation.keys
    return replace(relation, counts=counted, found=relation.found if narrowed else {})


def scope(relation: Relation, context: Context, marks: dict[Any, sql.Expr] | None = None) -> Scope:
    columns: dict[str, sql.Expr] = {v: sql.name(v) for v in relation.vars}
    return Scope(columns, context.plan.base, context.plan.now, _row(relation), marks or {}, relation.counts)


def _row(relation: Relation) -> sql.Expr | None:
    return None if relation.row is None else sql.name(relation.row)


def with_outer(relation: Relation, exprs: tuple[Expr, ...], context: Context) -> Relation:
    """The relation with the keys that the expressions read from the solutions around it, and NOW() from the instant."""
    outer = {v.name for expr in exprs for v in references(expr) if is_key(v.name) and not v.parameter}
    outer |= {name for expr in exprs for name in _parameters(expr)}
    if context.plan.streaming is not None and any(asks_now(expr) for expr in exprs):
        outer.add(INSTANT)
    return context.expand(relation, frozenset(outer - set(relation.vars)) | relation.keys) if outer else relation


def _parameters(expr: Expr) -> frozenset[str]:
    """The parameters that an expression reads itself; the pattern of an EXISTS finds its own."""
    return frozenset(part.name for part in walk(expr) if isinstance(part, Var) and part.parameter)


def _table(op: ops.Table, context: Context) -> Relation:
    rows = [tuple(None if cell is None else term_encoding.encode(cell) for cell in row) for row in op.rows]
    return replace(context.settle(table(tuple(v.name for v in op.vars), rows)), kept=len(rows))


def _join(op: ops.Join, context: Context, known: Candidates) -> Relation:
    """What is looked up on one side says what can be of use on the other, so parts that were answered come first."""
    first, second = (op.right, op.left) if isinstance(op.right, ops.StaticView) else (op.left, op.right)
    one = compile_op(first, context, from_sibling(second, context, known))
    other = compile_op(second, context, narrowed_by(one, from_sibling(first, context, known)))
    left, right = together(*((other, one) if first is op.right else (one, other)), context)
    joined = joins.join(left, right, joins.way(left, right, context.many), context.span)
    return replace(joined, found={**left.found, **right.found})


def together(left: Relation, right: Relation, context: Context) -> tuple[Relation, Relation]:
    """Both sides as a join takes them. An instant is compared with an interval only where variables narrow it down."""
    left, right = left.plain(), right.plain()
    if INSTANT in left.keys ^ right.keys and not joins.shared(left, right):
        return context.pointwise(left), context.pointwise(right)
    return left, right


Order = Callable[[Relation, Relation], list[sql.Expr]]


def _left_join(op: ops.LeftJoin, context: Context) -> Relation:
    return optional(op.left, op.right, op.condition, joins.so_far, context)


def optional(left_op: ops.Op, right_op: ops.Op, test: Expr | None, order: Order, context: Context) -> Relation:
    """What both make together where they are in order and the condition holds, and the left side where they do not."""
    left, right = apart(compile_op(left_op, context).plain(), compile_op(right_op, context).plain(), context)
    if test is None:
        return _optional(left, right, None, order)
    left = with_outer(left, (test,), context)
    if exists.found_in(test) or needs_row(test):
        return _optional_by_parts(left, right, test, order, context)
    on = condition(test, Scope(joins.merged(left, right), context.plan.base, context.plan.now))
    if on.calls_arrow:  # which Spark does not do in the condition of a join
        return _optional_by_parts(left, right, test, order, context)
    return _optional(left, right, on, order)


def apart(left: Relation, right: Relation, context: Context) -> tuple[Relation, Relation]:
    """Both sides of an operator that takes rows of the left one away: on intervals, or instant by instant."""
    complex_events.settled(left, right, context)
    left = context.expand(left, right.keys)
    if interval_operators.can(left, right):
        return left, right
    right = context.pointwise(right)
    return context.expand(left, right.keys), right


def _optional(left: Relation, right: Relation, condition: sql.Expr | None, order: Order) -> Relation:
    left, right, on = joins.on_condition(left, right, condition, order(left, right))
    return (
        interval_operators.optional(left, right, on)
        if interval_operators.can(left, right)
        else joins.left_join(left, right, on)
    )


def _optional_by_parts(left: Relation, right: Relation, test: Expr, order: Order, context: Context) -> Relation:
    """Where no join can have the condition (EXISTS, an Arrow function): the partners first, then who has none.

    A partner may bind what the left side left open, so it carries along what the left side had.
    """
    right = context.pointwise(right)
    left = context.plan.once(context.expand(left, right.keys))
    had = {v: context.plan.fresh(".had") for v in left.vars}
    copies = [sql.alias(sql.name(v), copy) for v, copy in had.items()]
    copied = replace(left, sql=select([*map(sql.name, left.vars), *copies], left.sql), vars=(*left.vars, *had.values()))
    partners = _filtered(joins.join(copied, right, order=order(left, right)), test, context)
    left = context.expand(left, partners.keys)
    alike = ((v, had.get(v, v)) for v in left.vars if v in partners.vars)
    same = sql.all_of(sql.column("l", v).same(sql.column("r", copy)) for v, copy in alike)
    both = joins.union(partners, joins.semi(left, partners, same, anti=True))
    vars = tuple(v for v in both.vars if v not in had.values())
    return replace(both, sql=select(map(sql.name, vars), both.sql), vars=vars)


def _union(op: ops.Union, context: Context) -> Relation:
    left, right = compile_op(op.left, context).plain(), compile_op(op.right, context).plain()
    keys = left.keys | right.keys
    return joins.union(context.expand(left, keys), context.expand(right, keys))


def _minus(op: ops.Minus, context: Context) -> Relation:
    left, right = apart(compile_op(op.left, context), compile_op(op.right, context).plain(), context)
    named = {v.name for v in visible(op.left) & visible(op.right)}
    common = [v for v in joins.shared(left, right) if v in named]
    return partnered(left, right, joins.excluding(left, right, common), anti=True) if common else left


def partnered(left: Relation, right: Relation, on: sql.Expr, anti: bool) -> Relation:
    """The rows of `left` that have a partner, or with `anti` none; on intervals: for as long as that is so."""
    if not interval_operators.can(left, right):
        return joins.semi(left, right, on, anti)
    return interval_operators.without(left, right, on) if anti else interval_operators.with_partner(left, right, on)


def _filter(op: ops.Filter, context: Context) -> Relation:
    below = replace(context, equated=context.equated or any(map(_equates, conjuncts(op.condition))))
    return _filtered(with_outer(compile_op(op.pattern, below), (op.condition,), context), op.condition, context)


def _equates(part: Expr) -> bool:
    return isinstance(part, Call) and part.name in ("=", "SAMETERM") and all(map(references, part.args))


def _filtered(relation: Relation, test: Expr, context: Context) -> Relation:
    return exists.filtered(_with_row(relation, (test,), context), test, context)


def _extend(op: ops.Extend, context: Context) -> Relation:
    relation = with_outer(compile_op(op.pattern, context), (op.expression,), context)
    relation = _with_row(relation, (op.expression,), context)
    marked, marks = exists.marked(relation, op.expression, context)
    var = op.var.name if op.var.name not in marked.vars else context.plan.fresh(".again")
    bound = sql.alias(term(value(op.expression, scope(marked, context, marks))), var)
    items = [*map(sql.name, marked.vars), bound, *map(sql.name, marked.hidden)]
    certain = marked.certain | ({var} if _surely_bound(op.expression, relation) else set())
    result = replace(marked, sql=select(items, marked.sql), vars=(*marked.vars, var), certain=certain)
    return context.settle(result) if var == op.var.name else _agreeing(result, var, op.var.name)


def _agreeing(relation: Relation, again: str, var: str) -> Relation:
    """The rows in which a variable that is bound twice (a key, which the outer solution binds) has one value."""
    kept = relation.where(sql.name(again).is_null() | sql.name(again).eq(sql.name(var)))
    vars = tuple(v for v in relation.vars if v != again)
    return replace(kept, sql=select(map(sql.name, vars + relation.hidden), kept.sql), vars=vars)


def _surely_bound(expr: Expr, relation: Relation) -> bool:
    return isinstance(expr, Const) or (isinstance(expr, Var) and expr.name in relation.certain)


def _with_row(relation: Relation, exprs: tuple[Expr, ...], context: Context) -> Relation:
    """The relation with what BNODE(…) in the expressions needs, if it stands there."""
    return identified(relation, context) if any(map(needs_row, exprs)) else relation


def identified(relation: Relation, context: Context) -> Relation:
    """The relation with a column that is unique to each row."""
    if relation.row is not None:
        return relation
    row = context.plan.fresh(".row")
    items = [*map(sql.name, relation.columns), sql.alias(UUID, row)]
    return replace(relation, sql=select(items, relation.sql), row=row)


def _graph(op: ops.Graph, context: Context) -> Relation:
    if not isinstance(op.name, Var):
        graph = term_encoding.encode(op.name)
        relation = compile_op(op.pattern, context.in_graph(NamedGraph(graph)))
        return relation if context.window or graph in context.plan.tables.graphs else relation.where(sql.FALSE)
    key = context.plan.fresh(KEY)
    names = Universe((key,), _graph_names(key, context), steady=context.window is None)
    inner = context.with_universe(names).in_graph(EachGraph(key))
    relation = inner.expand(compile_op(op.pattern, inner), frozenset((key,)))
    return _name_graph(relation, key, op.name.name)


def _graph_names(key: str, context: Context) -> Query:
    if context.window is None:
        return table((key,), [(g,) for g in sorted(context.plan.tables.graphs)]).sql
    g = sql.name("g")
    parts = sql.union_all(Select([sql.alias(g, key)], c.sql, g.not_null()) for c in context.contents())
    return Select([sql.STAR], parts, distinct=True)


def _in_window(op: ops.InWindow, context: Context, known: Candidates) -> Relation:
    """With a variable: each named window in turn."""
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


def _overridden(op: ops.WindowOverride, context: Context, known: Candidates) -> Relation:
    return compile_op(op.pattern, context.overridden(op.tag), known)


def _name_graph(relation: Relation, key: str, var: str) -> Relation:
    """The key becomes the variable; where the pattern binds that too, both have to agree."""
    vars = tuple(v for v in relation.vars if v not in (key, var))
    items = [*map(sql.name, vars), sql.alias(sql.name(key), var), *map(sql.name, relation.hidden)]
    if var in relation.vars:
        relation = relation.where(sql.name(var).is_null() | sql.name(var).eq(sql.name(key)))
    source = select(items, relation.sql)
    return replace(relation, sql=source, vars=(*vars, var), certain=relation.certain - {key} | {var})


def _project(op: ops.Project, context: Context, known: Candidates) -> Relation:
    vars = tuple(v.name for v in op.vars if not v.parameter)
    inside = compile_op(op.pattern, context, projected(op.vars, known))
    relation = context.expand(inside, frozenset(filter(is_key, vars)))
    vars += tuple(sorted(relation.keys - set(vars))) + tuple(filter(_kept_time(op, context), relation.vars))
    items: list[sql.Expr] = [sql.name(v) if v in relation.vars else sql.alias(sql.NULL, v) for v in vars]
    source = select([*items, *map(sql.name, relation.hidden)], relation.sql)
    found = {name: terms for name, terms in relation.found.items() if name in vars}
    return replace(relation, sql=source, vars=vars, certain=relation.certain & set(vars), found=found)


def _kept_time(op: ops.Project, context: Context) -> Callable[[str], bool]:
    """Bounds are kept, and stamps of what is projected, unless nothing above asks for them."""
    streaming = context.plan.streaming
    asked = streaming is not None and timestamps.calls(op.pattern) < streaming.calls
    wanted = {v.name for v in op.vars} if asked else set()
    dropped = (STARTS, ENDS) if streaming is not None and op == streaming.outermost else ()
    return lambda v: is_time(v) and v not in dropped and (not is_stamp(v) or timestamps.variable(v) in wanted)


def _distinct(op: ops.Distinct, context: Context) -> Relation:
    relation = compile_op(op.pattern, context)
    simple = relation.timed and not relation.order and not any(map(is_stamp, relation.vars))
    return interval_operators.distinct(relation.plain()) if simple else modifiers.distinct(context.pointwise(relation))


def _reduced(op: ops.Reduced, context: Context) -> Relation:
    return compile_op(op.pattern, context)


def _order_by(op: ops.OrderBy, context: Context) -> Relation:
    """Sort keys become hidden columns; the sort itself happens where the order is used, under LIMIT or at the end."""
    exprs = tuple(c.expression for c in op.conditions)
    relation = with_outer(compile_op(op.pattern, context), exprs, context)
    relation = _with_row(relation, exprs, context)
    marked, marks = exists.marked_all(relation, exprs, context)
    around = scope(marked, context, marks)
    order = tuple(Ordering(context.plan.fresh(".order"), c.descending) for c in op.conditions)
    keys = (sql.alias(term_order.sort_key(value(e, around)), o.column) for e, o in zip(exprs, order, strict=True))
    source = select([*map(sql.name, marked.columns), *keys], marked.sql)
    return replace(marked, sql=source, order=order + marked.order)


def _slice(op: ops.Slice, context: Context) -> Relation:
    return modifiers.part(context.pointwise(compile_op(op.pattern, context)), op.offset, op.limit)


def _group(op: ops.Group, context: Context) -> Relation:
    arguments = tuple(a.argument for _, a in op.aggregates if a.argument is not None)
    relation = with_outer(compile_op(op.pattern, context).plain(), arguments, context)
    relation = context.expand(relation, frozenset(k.name for k in op.keys if is_key(k.name)))
    relation = _with_row(relation, arguments, context)
    marked, marks = exists.marked_all(relation, arguments, context)
    return aggregation.group(op, marked, scope(marked, context, marks), context)


def _annotate(op: ops.Annotate, context: Context) -> Relation:
    arguments = () if op.aggregate.argument is None else (op.aggregate.argument,)
    relation = with_outer(context.pointwise(compile_op(op.pattern, context).plain()), arguments, context)
    relation = _with_row(relation, arguments, context)
    marked, marks = exists.marked_all(relation, arguments, context)
    return aggregation.annotate(op, marked, scope(marked, context, marks))


def _path(op: ops.Path, context: Context) -> Relation:
    return paths.compile_path(op, context)


# These use what is known, or pass it on.
_NARROWED = (ops.Bgp, ops.InWindow, ops.Join, ops.StaticView, ops.WindowOverride, ops.Project)
_OPERATORS: dict[type[ops.Op], Callable[..., Relation]] = {
    ops.Annotate: _annotate,
    ops.Bgp: bgp.compile_bgp,
    ops.Distinct: _distinct,
    ops.Equals: complex_events.simultaneous,
    ops.EqualsOptional: complex_events.simultaneous_optional,
    ops.Extend: _extend,
    ops.Filter: _filter,
    ops.Graph: _graph,
    ops.Group: _group,
    ops.InWindow: _in_window,
    ops.Join: _join,
    ops.StaticView: compile_static_view,
    ops.LeftJoin: _left_join,
    ops.Minus: _minus,
    ops.OptionalSeq: complex_events.sequence_optional,
    ops.OrderBy: _order_by,
    ops.WindowOverride: _overridden,
    ops.Path: _path,
    ops.Project: _project,
    ops.Reduced: _reduced,
    ops.Seq: complex_events.sequence,
    ops.Slice: _slice,
    ops.Table: _table,
    ops.Union: _union,
}

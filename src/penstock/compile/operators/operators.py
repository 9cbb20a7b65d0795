"""Relation-to-relation operators: one short function for each physical operator.

Basic graph patterns, paths, complex events, OPTIONAL and static views are in their own modules, which register their
operators when they are imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.algebra import ops
from penstock.algebra.expressions import Const, Expr, Var
from penstock.algebra.scope import visible
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.expressions import term_order, timestamps
from penstock.compile.expressions.expressions import condition, implied, needs_row, value
from penstock.compile.expressions.values import term
from penstock.compile.operators import (
    aggregation,
    bgp,
    exists,
    interval_operators,
    joins,
    modifiers,
    optional,
    paths,
    static_view,
)
from penstock.compile.operators.compile_operator import compile_op, compiles, identified, scope, with_outer, with_row
from penstock.compile.operators.events import complex_events, sequence_tasks
from penstock.compile.operators.time_buckets import Buckets
from penstock.compile.physical.nodes import (
    BroadcastJoin,
    HashJoin,
    IntervalDistinct,
    IntervalMinus,
    KeyedGraph,
    Side,
    TimeBucketJoin,
)
from penstock.compile.relation import (
    ENDS,
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
from penstock.model import term_encoding

__all__ = ["compile_op", "identified"]

OTHERS = (complex_events, sequence_tasks, static_view, optional, paths, bgp)  # modules that register further operators


@compiles(ops.Table)
def _table(op: ops.Table, context: Context) -> Relation:
    rows = [tuple(None if cell is None else term_encoding.encode(cell) for cell in row) for row in op.rows]
    return context.bind_keys(table(tuple(v.name for v in op.vars), rows))


@compiles(ops.Join)
def _join(op: ops.Join, context: Context) -> Relation:
    return joins.join(*_aligned(op, context))


@compiles(BroadcastJoin)
def _broadcast_join(op: BroadcastJoin, context: Context) -> Relation:
    return joins.join(*_aligned(op, context), ("BROADCAST", (_ALIASES[op.side],)))


@compiles(HashJoin)
def _hash_join(op: HashJoin, context: Context) -> Relation:
    return joins.join(*_aligned(op, context), ("SHUFFLE_HASH", (_ALIASES[op.build],)))


@compiles(TimeBucketJoin)
def _time_bucket_join(op: TimeBucketJoin, context: Context) -> Relation:
    assert context.span is not None
    return joins.join_in_buckets(*_aligned(op, context), Buckets(op.width, context.span))


_ALIASES: dict[Side, str] = {"left": "l", "right": "r"}


def _aligned(op: ops.Join, context: Context) -> tuple[Relation, Relation]:
    return joins.align_for_join(compile_op(op.left, context), compile_op(op.right, context), context)


@compiles(ops.Union)
def _union(op: ops.Union, context: Context) -> Relation:
    left, right = compile_op(op.left, context).plain(), compile_op(op.right, context).plain()
    keys = left.keys | right.keys
    return joins.union(context.expand(left, keys), context.expand(right, keys))


@compiles(ops.Minus)
def _minus(op: ops.Minus, context: Context) -> Relation:
    return _without(op, *interval_operators.at_instants(*_minus_sides(op, context), context), joins.semi)


@compiles(IntervalMinus)
def _interval_minus(op: IntervalMinus, context: Context) -> Relation:
    return _without(op, *interval_operators.on_intervals(*_minus_sides(op, context), context), interval_operators.semi)


def _minus_sides(op: ops.Minus, context: Context) -> tuple[Relation, Relation]:
    return compile_op(op.left, context), compile_op(op.right, context).plain()


def _without(op: ops.Minus, left: Relation, right: Relation, semi: joins.Semi) -> Relation:
    named = {v.name for v in visible(op.left) & visible(op.right)}
    common = [v for v in shared_variables(left, right) if v in named]
    return semi(left, right, joins.excluding(left, right, common), anti=True) if common else left


@compiles(ops.Filter)
def _filter(op: ops.Filter, context: Context) -> Relation:
    relation = with_outer(compile_op(op.pattern, context), (op.condition,), context)
    if context.plan.filters_in_joins and not exists.found_in(op.condition) and not needs_row(op.condition):
        columns = scope(relation, context)
        on, plain = condition(op.condition, columns), implied(op.condition, columns)
        filtered = joins.conditioned(relation, on, context.plan.fresh(".on"), plain)
        if filtered is not None:
            return filtered
    return exists.filtered(with_row(relation, (op.condition,), context), op.condition, context)


@compiles(ops.Extend)
def _extend(op: ops.Extend, context: Context) -> Relation:
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
    equal = relation.where(again.is_null() | again.eq(sql.name(var.name)))
    vars = tuple(v for v in relation.vars if v != column)
    return replace(equal, sql=select(map(sql.name, vars + relation.hidden), equal.sql), vars=vars)


def _surely_bound(expr: Expr, relation: Relation) -> bool:
    return isinstance(expr, Const) or (isinstance(expr, Var) and expr.name in relation.certain)


@compiles(ops.Graph)
def _graph(op: ops.Graph, context: Context) -> Relation:
    assert not isinstance(op.name, Var)
    relation = compile_op(op.pattern, context.inside(op))
    exists = context.in_window or term_encoding.encode(op.name) in context.plan.tables.graphs
    return relation if exists else relation.where(sql.FALSE)


@compiles(KeyedGraph)
def _each_graph(op: KeyedGraph, context: Context) -> Relation:
    assert isinstance(op.name, Var)
    inner = context.in_each_graph(op.key)
    relation = inner.expand(compile_op(op.pattern, inner), frozenset((op.key,)))
    return _name_graph(relation, op.key, op.name.name)


@compiles(ops.InWindow)
def _in_window(op: ops.InWindow, context: Context) -> Relation:
    assert not isinstance(op.name, Var)
    return compile_op(op.pattern, context.inside(op))


@compiles(ops.WindowOverride)
def _overridden(op: ops.WindowOverride, context: Context) -> Relation:
    return compile_op(op.pattern, context.inside(op))


def _name_graph(relation: Relation, key: str, var: str) -> Relation:
    """Turn the key into the variable; where the pattern binds the variable too, both must be equal."""
    vars = tuple(v for v in relation.vars if v not in (key, var))
    items = [*map(sql.name, vars), sql.alias(sql.name(key), var), *map(sql.name, relation.hidden)]
    if var in relation.vars:
        relation = relation.where(sql.name(var).is_null() | sql.name(var).eq(sql.name(key)))
    source = select(items, relation.sql)
    return replace(relation, sql=source, vars=(*vars, var), certain=relation.certain - {key} | {var})


@compiles(ops.Project)
def _project(op: ops.Project, context: Context) -> Relation:
    vars = tuple(v.name for v in op.vars if not v.parameter)
    inside = compile_op(op.pattern, context)
    relation = context.expand(inside, frozenset(filter(is_key, vars)))
    vars += tuple(sorted(relation.keys - set(vars))) + tuple(filter(_time_columns(op, context), relation.vars))
    items: list[sql.Expr] = [sql.name(v) if v in relation.vars else sql.alias(sql.NULL, v) for v in vars]
    source = select([*items, *map(sql.name, relation.hidden)], relation.sql)
    return replace(relation, sql=source, vars=vars, certain=relation.certain & set(vars))


def _time_columns(op: ops.Project, context: Context) -> Callable[[str], bool]:
    """Return the time columns that a projection keeps: validity, and timestamps of the projected variables."""
    streaming = context.plan.streaming
    asked = streaming is not None and timestamps.calls(op.pattern) < streaming.calls
    wanted = {v.name for v in op.vars} if asked else set()
    dropped = (STARTS, ENDS) if streaming is not None and op == streaming.outer_projection else ()
    return lambda v: is_time(v) and v not in dropped and (not is_stamp(v) or timestamps.variable(v) in wanted)


@compiles(ops.Distinct)
def _distinct(op: ops.Distinct, context: Context) -> Relation:
    return modifiers.distinct(context.pointwise(compile_op(op.pattern, context)))


@compiles(IntervalDistinct)
def _interval_distinct(op: IntervalDistinct, context: Context) -> Relation:
    return interval_operators.distinct(compile_op(op.pattern, context).plain())


@compiles(ops.Reduced)
def _reduced(op: ops.Reduced, context: Context) -> Relation:
    return compile_op(op.pattern, context)


@compiles(ops.OrderBy)
def _order_by(op: ops.OrderBy, context: Context) -> Relation:
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
def _slice(op: ops.Slice, context: Context) -> Relation:
    return modifiers.part(context.pointwise(compile_op(op.pattern, context)), op.offset, op.limit)


@compiles(ops.Group)
def _group(op: ops.Group, context: Context) -> Relation:
    arguments = tuple(a.argument for _, a in op.aggregates if a.argument is not None)
    relation = with_outer(compile_op(op.pattern, context).plain(), arguments, context)
    relation = context.expand(relation, frozenset(k.name for k in op.keys if is_key(k.name)))
    relation = with_row(relation, arguments, context)
    marked, marks = exists.marked_all(relation, arguments, context)
    return aggregation.group(op, marked, scope(marked, context, marks), context)


@compiles(ops.Annotate)
def _annotate(op: ops.Annotate, context: Context) -> Relation:
    arguments = () if op.aggregate.argument is None else (op.aggregate.argument,)
    relation = with_outer(context.pointwise(compile_op(op.pattern, context).plain()), arguments, context)
    relation = with_row(relation, arguments, context)
    marked, marks = exists.marked_all(relation, arguments, context)
    name = _column_for(op.var, marked, context)
    annotated = aggregation.annotate(replace(op, var=Var(name)), marked, scope(marked, context, marks))
    return _bound_once(annotated, name, op.var, context)

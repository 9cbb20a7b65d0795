"""Property paths: https://www.w3.org/TR/sparql11-query/#propertypaths.

Every path is a relation of pairs, `.s` and `.o`. The transitive closure of a few edges is computed in the driver
(`closed`), that of many edges is computed by Spark jobs until no new pair is found: from a given end
breadth first; between two
variables by doubling the length of the paths.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

from pyoxigraph import NamedNode

from penstock import log
from penstock.algebra import ops
from penstock.algebra.expressions import PatternTerm, Var
from penstock.compile import sql
from penstock.compile.context import Context, can_match
from penstock.compile.expressions import term_columns
from penstock.compile.operators import joins
from penstock.compile.operators.compile_operator import compiles
from penstock.compile.relation import INSTANT, Relation, select, table
from penstock.compile.sql import Derived, Expr, Join, Query, Select, Table
from penstock.model import term_encoding

S, O = ".s", ".o"  # noqa: E741
PAIR = (S, O)
Row = tuple[str, ...]  # a start, an end, and the keys that both hold for
Node = tuple[str, tuple[str, ...]]
Ends = tuple[str | None, str | None]  # the encoded start and end of a pair, if given


@compiles(ops.Path)
def compile_path(op: ops.Path, context: Context) -> Relation:
    ends = (_constant(op.subject), _constant(op.object))
    ends_of_path = pairs(op.path, context, ends)
    conditions = [sql.name(column).eq(sql.text(end)) for column, end in zip(PAIR, ends, strict=True) if end]
    if op.subject == op.object and isinstance(op.subject, Var):
        conditions.append(sql.name(S).eq(sql.name(O)))
    columns = {v.name: c for c, v in ((S, op.subject), (O, op.object)) if isinstance(v, Var)}
    items = [*(sql.alias(sql.name(c), v) for v, c in columns.items()), *map(sql.name, sorted(ends_of_path.keys))]
    vars = tuple(columns) + tuple(sorted(ends_of_path.keys))
    where = sql.all_of(conditions) if conditions else None
    return Relation(select(items, ends_of_path.sql, where), vars, frozenset(vars))


def _constant(term: PatternTerm) -> str | None:
    return None if isinstance(term, Var) else term_encoding.encode(term)


def pairs(path: ops.PathExpr, context: Context, ends: Ends = (None, None)) -> Relation:
    """Return the pairs that the path connects; `ends` only reduces the search, other pairs may be in the result."""
    return _PATHS[type(path)](path, context, ends)


def _scan(context: Context, condition: Expr, s: str = "s", o: str = "o", link: NamedNode | None = None) -> Relation:
    """Return the edges of the background and of the windows, the latter with their instants.

    Events that are in no window are no edges: a path has no time at which it would be complete.
    """
    source, key = context.source()
    pairs = ((s, S), (o, O), *(() if key is None else (("g", key),)))
    items = [sql.alias(sql.name(column), name) for column, name in pairs]
    vars = PAIR + (() if key is None else (key,))
    relations = [Relation(Select(items, source.called("t"), condition), vars, frozenset(vars))]
    for content in context.contents():
        if content.when and (link is None or can_match(link, content.predicates)):
            columns = [*items, *map(sql.name, content.when)]
            query = Select(columns, context.elements(content, link), condition)
            relations.append(context.pointwise(Relation(query, vars + content.when, frozenset(vars + content.when))))
    return reduce(lambda one, other: _union(one, other, context), relations)


def _union(left: Relation, right: Relation, context: Context) -> Relation:
    """Return the union of both, expanded to the same keys."""
    keys = left.keys | right.keys
    return joins.union(context.expand(left, keys), context.expand(right, keys))


def _link(path: ops.Link, context: Context, ends: Ends) -> Relation:
    return _scan(context, sql.name("p").eq(term_columns.constant(path.iri)), link=path.iri)


def _negated(path: ops.NegatedSet, context: Context, ends: Ends) -> Relation:
    sides = []
    for iris, columns in ((path.forward, ("s", "o")), (path.backward, ("o", "s"))):
        if iris is not None:
            others = sql.texts(map(term_encoding.encode, iris))
            condition = sql.name("p").not_among(others) if others else sql.TRUE
            sides.append(_scan(context, condition, *columns))
    return sides[0] if len(sides) == 1 else _union(sides[0], sides[1], context)


def _inverse(path: ops.Inverse, context: Context, ends: Ends) -> Relation:
    return _inverted(pairs(path.path, context, ends[::-1]))


def _renamed(relation: Relation, names: dict[str, str]) -> Relation:
    vars = tuple(names.get(v, v) for v in relation.vars)
    items = (sql.alias(sql.name(old), new) for old, new in zip(relation.vars, vars, strict=True))
    return Relation(select(items, relation.sql), vars, frozenset(vars))


def _sequence(path: ops.Sequence, context: Context, ends: Ends) -> Relation:
    first = _renamed(pairs(path.left, context, (ends[0], None)), {O: ".m"})
    second = _renamed(pairs(path.right, context, (None, ends[1])), {S: ".m"})
    joined = joins.join(first, second)
    vars = PAIR + tuple(sorted(joined.keys))
    return Relation(select(map(sql.name, vars), joined.sql), vars, frozenset(vars))


def _alternative(path: ops.Alternative, context: Context, ends: Ends) -> Relation:
    return _union(pairs(path.left, context, ends), pairs(path.right, context, ends), context)


def _zero_or_one(path: ops.ZeroOrOne, context: Context, ends: Ends) -> Relation:
    return _distinct(_union(_identity(context, ends), pairs(path.path, context, ends), context))


def _zero_or_more(path: ops.ZeroOrMore, context: Context, ends: Ends) -> Relation:
    closure = _closure(pairs(path.path, context), context, ends)
    return _distinct(_union(_identity(context, ends), closure, context))


def _one_or_more(path: ops.OneOrMore, context: Context, ends: Ends) -> Relation:
    return _closure(pairs(path.path, context), context, ends)


def _identity(context: Context, ends: Ends) -> Relation:
    """Return every node with itself: the nodes of the graph, or the given end whether or not the graph has it."""
    given = ends[0] or ends[1]
    if given is not None:
        return table(PAIR, [(given, given)])
    return _distinct(_union(_scan(context, sql.TRUE, "s", "s"), _scan(context, sql.TRUE, "o", "o"), context))


def _distinct(relation: Relation) -> Relation:
    return replace(relation, sql=Select(map(sql.name, relation.vars), relation.sql, distinct=True))


def _closure(edges: Relation, context: Context, ends: Ends) -> Relation:
    if ends[0] is None and ends[1] is not None:
        return _inverted(_closure(_inverted(edges), context, ends[::-1]))
    edges = _with_columns(_distinct(edges))
    if INSTANT in edges.keys:  # pairs are fetched and published as text
        text = _instant_as(edges, "STRING")
        return _instant_as(_closure_of(text, context, ends), "BIGINT")
    return _closure_of(edges, context, ends)


def _instant_as(relation: Relation, type: str) -> Relation:
    columns = ((sql.name(v), v) for v in relation.vars)
    items = (sql.alias(column.cast(type), v) if v == INSTANT else column for column, v in columns)
    return replace(relation, sql=select(items, relation.sql))


def _closure_of(edges: Relation, context: Context, ends: Ends) -> Relation:
    tuning = context.plan.tuning
    few = context.plan.fetch(edges.sql, tuning.path_edges)
    closure = None if few is None else closed(few, ends[0], tuning.path_pairs)
    if closure is not None:
        return replace(edges, sql=sql.view(context.plan.publish_rows(edges.vars, closure)))
    reason = f"it has more than {tuning.path_edges:,} edges or {tuning.path_pairs:,} pairs"
    log.fallback(None, "the closure of a path in this process", reason)
    view = context.plan.materialised_view(edges.sql)[0]
    return _closure_in_jobs(edges, view, context, ends)


def _closure_in_jobs(edges: Relation, view: str, context: Context, ends: Ends) -> Relation:
    edges = replace(edges, sql=sql.view(view))
    return _doubled(edges, context) if ends[0] is None else _reachable(edges, view, context, ends[0])


def _inverted(relation: Relation) -> Relation:
    return _renamed(relation, {S: O, O: S})


def _step(left: Query, right: Query, relation: Relation) -> Query:
    """Return left ∘ right within the same keys."""
    keys = sorted(relation.keys)
    pairs = [(O, S), *((key, key) for key in keys)]
    on = sql.all_of(sql.column("l", one).eq(sql.column("r", other)) for one, other in pairs)
    items = [sql.column("l", S), sql.column("r", O), *(sql.column("l", k) for k in keys)]
    return Select(items, Join(Derived(left, "l"), Derived(right, "r"), on))


def _reachable(edges: Relation, view: str, context: Context, start: str) -> Relation:
    """Return the nodes reachable from the start, breadth first: each job follows one edge from the newest nodes."""
    first = Select([sql.STAR], Table(view), sql.name(S).eq(sql.text(start)))
    name, new = context.plan.materialised_view(first)
    views = [name]
    while new:
        step = _step(sql.view(views[-1]), edges.sql, edges)
        reached = replace(edges, sql=Select([sql.STAR], step, distinct=True))
        seen = replace(edges, sql=_union_of_views(views))
        name, new = context.plan.materialised_view(
            joins.semi(reached, seen, joins.same(edges, edges.vars), anti=True).sql
        )
        views.append(name)
        if len(views) > context.plan.tuning.path_views:
            views = [context.plan.materialised_view(_union_of_views(views[:-1]))[0], name]
    return replace(edges, sql=_union_of_views(views))


def _union_of_views(views: list[str]) -> Query:
    return sql.union_all(map(sql.view, views))


def _with_columns(relation: Relation) -> Relation:
    vars = PAIR + tuple(sorted(relation.keys))
    return Relation(select(map(sql.name, vars), relation.sql), vars, frozenset(vars))


def _doubled(edges: Relation, context: Context) -> Relation:
    """Return R ← R ∪ R∘R at its fixpoint: paths of length n after log₂ n jobs."""
    name, size = context.plan.materialised_view(edges.sql)
    while True:
        closure = sql.view(name)
        grown = Select([sql.STAR], sql.union_all([closure, _step(closure, closure, edges)]), distinct=True)
        name, now = context.plan.materialised_view(grown)
        if now == size:
            return replace(edges, sql=sql.view(name))
        size = now


_PATHS: dict[type, Callable[[Any, Context, Ends], Relation]] = {
    ops.Alternative: _alternative,
    ops.Inverse: _inverse,
    ops.Link: _link,
    ops.NegatedSet: _negated,
    ops.OneOrMore: _one_or_more,
    ops.Sequence: _sequence,
    ops.ZeroOrMore: _zero_or_more,
    ops.ZeroOrOne: _zero_or_one,
}


def closed(edges: list[Row], start: str | None, most: int) -> list[Row] | None:
    """The pairs that one or more edges connect, from `start` or from anywhere; None where they are more than `most`."""
    following: dict[Node, list[str]] = defaultdict(list)
    for s, o, *rest in edges:
        following[s, tuple(rest)].append(o)
    closed_pairs: list[Row] = []
    for s, keys in [node for node in following if start in (None, node[0])]:
        for o in _reached(s, keys, following):
            closed_pairs.append((s, o, *keys))
            if len(closed_pairs) > most:
                return None
    return closed_pairs


def _reached(start: str, keys: tuple[str, ...], following: dict[Node, list[str]]) -> Iterator[str]:
    """Every node that can be reached, once; the start only by a cycle."""
    seen: set[str] = set()
    pending = [start]
    while pending:
        new = [o for o in following.get((pending.pop(), keys), ()) if o not in seen]
        seen.update(new)
        pending += new
        yield from new

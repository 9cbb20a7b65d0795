"""Property paths: https://www.w3.org/TR/sparql11-query/#propertypaths.

Every path is a relation of pairs, `.s` and `.o`. Closures of a few edges are computed here, by `closure.py`; those of
many by Spark jobs until nothing new is found: from a given end, breadth first; between two variables, by doubling the
length of the paths each time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import PatternTerm, Var
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.expressions import term_columns
from penstock.compile.operators import joins
from penstock.compile.operators.physical.semijoin_reduction import can_match
from penstock.compile.operators.transitive_closure import closed
from penstock.compile.relation import INSTANT, Relation, items_or_one, select, table
from penstock.model import term_encoding

FEW_EDGES = 20_000  # up to here it takes less time to fetch them than to plan the jobs
FEW_PAIRS = 200_000
MOST_VIEWS = 10  # whose union is planned in every step

S, O = ".s", ".o"  # noqa: E741
PAIR = (S, O)
Ends = tuple[str | None, str | None]  # the encoded terms that a pair has to start and to end with, where given


def compile_path(op: ops.Path, context: Context) -> Relation:
    ends = (_constant(op.subject), _constant(op.object))
    found = pairs(op.path, context, ends)
    conditions = [f"{sql.name(column)} = {sql.text(end)}" for column, end in zip(PAIR, ends, strict=True) if end]
    if op.subject == op.object and isinstance(op.subject, Var):
        conditions.append("`.s` = `.o`")
    columns = {v.name: c for c, v in ((S, op.subject), (O, op.object)) if isinstance(v, Var)}
    items = [sql.alias(sql.name(c), v) for v, c in columns.items()] + [sql.name(k) for k in sorted(found.keys)]
    vars = tuple(columns) + tuple(sorted(found.keys))
    return Relation(select(items, found.sql, f"WHERE {sql.all_of(conditions)}"), vars, frozenset(vars))


def _constant(term: PatternTerm) -> str | None:
    return None if isinstance(term, Var) else term_encoding.encode(term)


def pairs(path: ops.PathExpr, context: Context, ends: Ends = (None, None)) -> Relation:
    """The pairs that the path connects; `ends` only narrows the search, it may leave others in."""
    return _PATHS[type(path)](path, context, ends)


def _scan(context: Context, condition: str, s: str = "s", o: str = "o", link: NamedNode | None = None) -> Relation:
    """Edges of the background and of the windows, these with the instants at which they are there. Events that are in
    no window are no edges: a path has no time at which it would be complete."""
    source, key = context.source()
    items = [sql.alias(s, S), sql.alias(o, O)] + ([] if key is None else [sql.alias("g", key)])
    vars = PAIR + (() if key is None else (key,))
    found = [Relation(f"SELECT {', '.join(items)} FROM {source} t WHERE {condition}", vars, frozenset(vars))]
    for content in context.contents():
        if content.when and (link is None or can_match(link, content.predicates)):
            columns = [*items, *map(sql.name, content.when)]
            text = f"SELECT {', '.join(columns)} FROM ({context.elements(content, link)}) t WHERE {condition}"
            found.append(context.pointwise(Relation(text, vars + content.when, frozenset(vars + content.when))))
    return reduce(lambda one, other: _union(one, other, context), found)


def _union(left: Relation, right: Relation, context: Context) -> Relation:
    """Both, for the same keys."""
    keys = left.keys | right.keys
    return joins.union(context.expand(left, keys), context.expand(right, keys))


def _link(path: ops.Link, context: Context, ends: Ends) -> Relation:
    return _scan(context, f"p = {term_columns.constant(path.iri)}", link=path.iri)


def _negated(path: ops.NegatedSet, context: Context, ends: Ends) -> Relation:
    sides = []
    for iris, columns in ((path.forward, ("s", "o")), (path.backward, ("o", "s"))):
        if iris is not None:
            condition = f"p NOT IN ({sql.texts(map(term_encoding.encode, iris))})" if iris else "true"
            sides.append(_scan(context, condition, *columns))
    return sides[0] if len(sides) == 1 else _union(sides[0], sides[1], context)


def _inverse(path: ops.Inverse, context: Context, ends: Ends) -> Relation:
    return _turned(pairs(path.path, context, ends[::-1]))


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
    """Every node with itself: those of the graph, or the given end whether or not the graph has it."""
    given = ends[0] or ends[1]
    if given is not None:
        return table(PAIR, [(given, given)])
    return _distinct(_union(_scan(context, "true", "s", "s"), _scan(context, "true", "o", "o"), context))


def _distinct(relation: Relation) -> Relation:
    return replace(relation, sql=f"SELECT DISTINCT {items_or_one(map(sql.name, relation.vars))} FROM ({relation.sql})")


def _closure(edges: Relation, context: Context, ends: Ends) -> Relation:
    if ends[0] is None and ends[1] is not None:
        return _turned(_closure(_turned(edges), context, ends[::-1]))
    edges = _with_columns(_distinct(edges))
    if INSTANT in edges.keys:  # pairs are fetched and published as text
        text = _instant_as(edges, "STRING")
        return _instant_as(_closure_of(text, context, ends), "BIGINT")
    return _closure_of(edges, context, ends)


def _instant_as(relation: Relation, type: str) -> Relation:
    items = (sql.alias(f"CAST({sql.name(v)} AS {type})", v) if v == INSTANT else sql.name(v) for v in relation.vars)
    return replace(relation, sql=select(items, relation.sql))


def _closure_of(edges: Relation, context: Context, ends: Ends) -> Relation:
    few = context.plan.fetch(edges.sql, FEW_EDGES)
    found = None if few is None else closed(few, ends[0], FEW_PAIRS)
    if found is not None:
        return replace(edges, sql=f"SELECT * FROM {context.plan.publish(edges.vars, found)}")
    edges = replace(edges, sql=f"SELECT * FROM {context.plan.keep(edges.sql)[0]}")
    return _doubled(edges, context) if ends[0] is None else _reachable(edges, context, ends[0])


def _turned(relation: Relation) -> Relation:
    return _renamed(relation, {S: O, O: S})


def _step(left: str, right: str, relation: Relation) -> str:
    """left ∘ right, within the same keys."""
    keys = sorted(relation.keys)
    on = sql.all_of(["l.`.o` = r.`.s`", *(f"l.{sql.name(k)} = r.{sql.name(k)}" for k in keys)])
    items = ", ".join(["l.`.s`", "r.`.o`", *(f"l.{sql.name(k)}" for k in keys)])
    return f"SELECT {items} FROM ({left}) l JOIN ({right}) r ON {on}"


def _reachable(edges: Relation, context: Context, start: str) -> Relation:
    """Breadth first: each job goes one edge on from the nodes that the last one found."""
    name, new = context.plan.keep(f"{edges.sql} WHERE `.s` = {sql.text(start)}")
    found = [name]
    while new:
        step = _step(f"SELECT * FROM {found[-1]}", edges.sql, edges)
        reached = replace(edges, sql=f"SELECT DISTINCT * FROM ({step})")
        seen = replace(edges, sql=_together(found))
        name, new = context.plan.keep(joins.semi(reached, seen, joins.same(edges, edges.vars), anti=True).sql)
        found.append(name)
        if len(found) > MOST_VIEWS:
            found = [context.plan.keep(_together(found[:-1]))[0], name]
    return replace(edges, sql=_together(found))


def _together(views: list[str]) -> str:
    return " UNION ALL ".join(f"SELECT * FROM {view}" for view in views)


def _with_columns(relation: Relation) -> Relation:
    vars = PAIR + tuple(sorted(relation.keys))
    return Relation(select(map(sql.name, vars), relation.sql), vars, frozenset(vars))


def _doubled(edges: Relation, context: Context) -> Relation:
    """R ← R ∪ R∘R until it stops growing: paths of length n after log₂ n jobs."""
    name, size = context.plan.keep(edges.sql)
    while True:
        known = f"SELECT * FROM {name}"
        grown = replace(edges, sql=f"SELECT DISTINCT * FROM ({known} UNION ALL {_step(known, known, edges)})")
        name, now = context.plan.keep(grown.sql)
        if now == size:
            return replace(edges, sql=f"SELECT * FROM {name}")
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

"""Basic graph patterns: triple patterns as scans, joined on their variables.

Without streams that is one SELECT. With streams a triple may come from the background or from a window. What cannot
come from a window, because no stream has such a predicate, is joined beforehand, once for all evaluations; what
cannot come from the background is read from the windows alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import PatternTerm, Var
from penstock.optimise.cost import Estimate, estimate, of_pattern
from penstock.spark import encoding, joins, sql, stamps
from penstock.spark.buckets import Size
from penstock.spark.contents import Content
from penstock.spark.context import Context
from penstock.spark.relation import ENDS, STARTS, Relation, items_or_one, unit

_MANY = 200_000  # elements of a window from which Spark is told how to join them


def compile_bgp(op: ops.Bgp, context: Context) -> Relation:
    if not op.patterns:
        return unit()
    if not context.contents():
        return _static(op.patterns, context)
    still = [p for p in op.patterns if not streams_of(p, context)]
    settled = [_settled(group, context) for group in _connected(still)]
    return _joined(settled, [_leaf(p, context) for p in op.patterns if p not in still], context)


def _static(patterns: Sequence[ops.TriplePattern], context: Context) -> Relation:
    """One join of scans: the first use of a variable is its column, every further use a condition."""
    source, key = context.source()
    columns: dict[str, str] = {}
    matches = [_match(pattern, f"t{i}", key, columns) for i, pattern in enumerate(patterns)]
    joined = "".join(f" JOIN {source} t{i} ON {match}" for i, match in enumerate(matches) if i)
    items = items_or_one(sql.alias(column, var) for var, column in columns.items())
    text = f"SELECT {items} FROM {source} t0{joined} WHERE {matches[0]}"
    return Relation(text, tuple(columns), frozenset(columns))


def _match(pattern: ops.TriplePattern, table: str, key: str | None, columns: dict[str, str]) -> str:
    """The conditions on one scan; variables that are new get their column noted."""
    places = list(zip("spo", _terms(pattern), strict=True))
    if key is not None:
        places.insert(0, ("g", Var(key)))
    conditions = []
    for place, wanted in places:
        column = f"{table}.{place}"
        if not isinstance(wanted, Var):
            conditions.append(f"{column} = {encoding.constant(wanted)}")
        elif columns.setdefault(wanted.name, column) != column:
            conditions.append(f"{column} = {columns[wanted.name]}")
    return sql.all_of(conditions)


def _terms(pattern: ops.TriplePattern) -> tuple[PatternTerm, ...]:
    return pattern.subject, pattern.predicate, pattern.object


def streams_of(pattern: ops.TriplePattern, context: Context) -> list[Content]:
    """The windows in which the pattern can match at all."""
    return [c for c in context.contents() if can_match(pattern.predicate, c.predicates)]


def can_match(predicate: PatternTerm, known: frozenset[str] | None) -> bool:
    return known is None or not isinstance(predicate, NamedNode) or encoding.encode(predicate) in known


def _settled(patterns: Sequence[ops.TriplePattern], context: Context) -> Relation:
    """A join on the background alone, whose rows are the same at every evaluation."""
    relation = _static(patterns, context)
    streaming = context.plan.streaming
    assert streaming is not None
    items = items_or_one(map(sql.name, relation.vars))
    plain = _sparql(patterns, relation.vars) if context.is_whole_default() else None
    size = Size(partial(estimate, ops.Bgp(tuple(patterns)), streaming.statistics), None)
    text = f"SELECT {items} FROM {streaming.settled(relation, plain)}"
    return Relation(text, relation.vars, relation.certain, size=size)


def _sparql(patterns: Sequence[ops.TriplePattern], vars: tuple[str, ...]) -> str:
    """The patterns as a query. Names are numbers, since not every variable here has one that SPARQL can say."""
    names = {Var(v): f"?v{i}" for i, v in enumerate(vars)}
    lines = (" ".join(names[t] if isinstance(t, Var) else str(t) for t in _terms(p)) for p in patterns)
    return f"SELECT {' '.join(names.values()) or '*'} {{ {' . '.join(lines)} }}"


def _leaf(pattern: ops.TriplePattern, context: Context) -> Relation:
    """The matches of one pattern, in the windows and, unless that cannot be, in the background."""
    found = [_in_window(pattern, content, context) for content in streams_of(pattern, context)]
    if can_match(pattern.predicate, context.background()):
        found.append(_static((pattern,), context))
    keys = frozenset().union(*(part.keys for part in found))
    return reduce(joins.union, (context.expand(part, keys) for part in found))


def _in_window(pattern: ops.TriplePattern, content: Content, context: Context) -> Relation:
    columns: dict[str, str] = {}
    _, key = context.source()
    match = _match(pattern, "t", key, columns)
    times = {c: f"t.{sql.name(c)}" for c in content.when} | _occurred(context) | _stamps(pattern, content, context)
    items = items_or_one(sql.alias(column, name) for name, column in {**columns, **times}.items())
    elements = context.elements(content, pattern.predicate, pattern.object)
    text = f"SELECT {items} FROM ({elements}) t WHERE {match}"
    known = _many(context) and not context.equated
    size = Size(partial(_counted, pattern, content), content.lasts) if known else None
    certain = frozenset((*columns, *content.when, *_occurred(context)))
    return Relation(text, (*columns, *times), certain, size=size)


def _counted(pattern: ops.TriplePattern, content: Content) -> Estimate:
    return of_pattern(pattern, content.counts())


def _many(context: Context) -> bool:
    return sum(c.rows for c in context.contents()) >= _MANY


def _occurred(context: Context) -> dict[str, str]:
    """When the element occurred, if the query asks for that."""
    streaming = context.plan.streaming
    asked = streaming is not None and streaming.occurring
    return {STARTS: "coalesce(t.start, t.ts)", ENDS: "t.ts"} if asked else {}


def _stamps(pattern: ops.TriplePattern, content: Content, context: Context) -> dict[str, str]:
    """The element's timestamp, under the name of each variable that it binds and the query asks about."""
    asked = context.plan.streaming.stamped if context.plan.streaming is not None else {}
    bound = [v.name for v in ops.variables_of(*_terms(pattern)) if v.name in asked]
    names = [stamps.column(v) for v in bound] + [stamps.column(v, content.graph) for v in bound if asked[v]]
    return dict.fromkeys(names, "t.ts")


def _connected(patterns: Iterable[ops.TriplePattern]) -> list[list[ops.TriplePattern]]:
    """Groups of patterns that share variables, directly or through others."""
    groups: list[list[ops.TriplePattern]] = []
    for pattern in patterns:
        near = [g for g in groups if any(_variables(pattern) & _variables(other) for other in g)]
        groups = [g for g in groups if g not in near] + [[*(p for g in near for p in g), pattern]]
    return groups


def _variables(pattern: ops.TriplePattern) -> set[Var]:
    return set(ops.variables_of(*_terms(pattern)))


def _joined(settled: list[Relation], leaves: list[Relation], context: Context) -> Relation:
    """One after the other, next one that shares a variable if there is any.

    What is settled is a small table, or kept with its size, and Spark finds the way itself; as for few elements. Of
    many it would guess from the size of compressed files, and broadcast what is many times as large: a hash join of
    shuffled rows needs no sorting, and the partitions are cut so that they fit (`Jobs.partition`).
    """
    many = _many(context)
    result, *rest = [*settled, *leaves]
    while rest:
        following = next((part for part in rest if set(part.solution) & set(result.solution)), rest[0])
        rest.remove(following)
        hashed = many and not (result in settled or following in settled) and joins.shared(result, following)
        result = joins.join(result, following, joins.HASHED if hashed else "", context.span)
    return result

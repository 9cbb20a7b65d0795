"""Basic graph patterns: triple patterns as scans, joined on their variables.

Without streams that is one SELECT. With streams a triple may come from the background or from a window. What cannot
come from a window, because no stream has such a predicate, is one SELECT too; what cannot come from the background is
read from the windows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.compile import notes, sql
from penstock.compile.context import Context, Universe
from penstock.compile.expressions import term_columns, timestamps
from penstock.compile.operators import joins, query_family
from penstock.compile.operators.compile_operator import compiles
from penstock.compile.operators.physical.join_algorithm import choose_join_algorithm
from penstock.compile.operators.physical.semijoin_reduction import (
    Candidates,
    SelectiveTerms,
    can_match,
    matching_windows,
    selective_terms,
)
from penstock.compile.operators.physical.time_buckets import Cardinality
from penstock.compile.relation import ENDS, STARTS, Relation, unit
from penstock.compile.sql import Derived, Expr, From, Join, Select
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model import term_encoding
from penstock.optimise.cost import Estimate, of_pattern
from penstock.optimise.statics import connected

_TS = sql.column("t", "ts")


@compiles(ops.Bgp)
def compile_bgp(op: ops.Bgp, context: Context, known: Candidates) -> Relation:
    if not op.patterns:
        return unit()
    if not context.contents():
        return _static(op.patterns, context)
    still = [p for p in op.patterns if not matching_windows(p, context)]
    if len(still) == len(op.patterns):
        return _static(op.patterns, context)
    groups = {
        group[0]: _static(group, context)
        for group in connected((frozenset(ops.variables_of(*p.terms)), [p]) for p in still)
    }
    parts = [
        groups[p] if p in still else _leaf(p, context, known) for p in op.patterns if p in groups or p not in still
    ]
    return _joined(parts, list(groups.values()), context)


def _static(patterns: Sequence[ops.TriplePattern], context: Context) -> Relation:
    """One join of scans: the first use of a variable is its column, every further use a condition."""
    source, key = context.source()
    _count(patterns, context)
    family = query_family.around(patterns, context)
    columns = _told(family)
    if family is not None:  # their constants come first, and what they are the constants of
        patterns = sorted(patterns, key=lambda pattern: not query_family.parameters_in((pattern,)))
    matches = [_match(pattern, f"t{i}", key, columns) for i, pattern in enumerate(patterns)]
    scans = [source.called(f"t{i}") for i in range(len(patterns))]
    if family is not None:
        matches, scans = [sql.TRUE, *matches], [Derived(family.sql, "u"), *scans]
    joined = scans[0]
    for scan, match in zip(scans[1:], matches[1:], strict=True):
        joined = Join(joined, scan, match)
    columns = _kept(columns, family)
    items = [sql.alias(column, var) for var, column in columns.items()]
    query = Select(items, joined, matches[0], hints=_hints(family))
    return Relation(query, tuple(columns), frozenset(columns))


def _count(patterns: Sequence[ops.TriplePattern], context: Context) -> None:
    """What is read of the background for this evaluation alone."""
    streaming = context.plan.streaming
    if streaming is not None and not context.static and context.window is None:
        context.plan.background_rows += sum(of_pattern(pattern, streaming.statistics).rows for pattern in patterns)


def _told(family: Universe | None) -> dict[str, Expr]:
    """Where the constants of a family's members are read."""
    return {} if family is None else {c: sql.column("u", c) for c in (*family.keys, *family.dependent)}


def _kept(columns: dict[str, Expr], family: Universe | None) -> dict[str, Expr]:
    """Without the constants that the keys tell."""
    return columns if family is None else {v: c for v, c in columns.items() if v not in family.dependent}


def _hints(family: Universe | None) -> list[sql.Hint]:
    return [] if family is None else family.hints


def _match(pattern: ops.TriplePattern, table: str, key: str | None, columns: dict[str, Expr]) -> Expr:
    """The conditions on one scan; variables that are new get their column noted."""
    places = list(zip("spo", pattern.terms, strict=True))
    if key is not None:
        places.insert(0, ("g", Var(key)))
    conditions = []
    for place, wanted in places:
        column = sql.column(table, place)
        if not isinstance(wanted, Var):
            conditions.append(column.eq(term_columns.constant(wanted)))
        elif columns.setdefault(wanted.name, column) != column:
            conditions.append(column.eq(columns[wanted.name]))
    return sql.all_of(conditions)


def _leaf(pattern: ops.TriplePattern, context: Context, known: Candidates) -> Relation:
    """The matches of one pattern, in the windows and, unless that cannot be, in the background."""
    found = [_in_window(pattern, content, context, known) for content in matching_windows(pattern, context)]
    if can_match(pattern.predicate, context.background()):
        found.append(_static((pattern,), context))
    keys = frozenset().union(*(part.keys for part in found))
    return reduce(joins.union, (context.expand(part, keys) for part in found))


def _in_window(pattern: ops.TriplePattern, content: WindowRelation, context: Context, known: Candidates) -> Relation:
    family = query_family.around((pattern,), context)
    columns = _told(family)
    _, key = context.source()
    match = sql.all_of([_match(pattern, "t", key, columns), *_narrowed(pattern, content, context, known)])
    columns = _kept(columns, family)
    visible: dict[str, Expr] = {c: sql.column("t", c) for c in content.when}
    times = visible | _occurred(context) | _stamps(pattern, content, context)
    items = [sql.alias(column, name) for name, column in {**columns, **times}.items()]
    source: From = Derived(context.elements(content, pattern.predicate, pattern.object))
    if family is not None:
        source = Join(source, Derived(family.sql, "u"), None)
    query = Select(items, source, match, hints=_hints(family))
    sized = context.has_many_elements and not context.joined_by_filter and family is None
    size = Cardinality(partial(_counted, pattern, content), content.lasts) if sized else None
    certain = frozenset((*columns, *content.when, *_occurred(context)))
    return Relation(query, (*columns, *times), certain, cardinality=size, upper_bound=_most(pattern, content, context))


def _narrowed(pattern: ops.TriplePattern, content: WindowRelation, context: Context, known: Candidates) -> list[Expr]:
    """Conditions that leave out most of the elements, none of which would find a partner."""
    found = selective_terms(pattern, content, known) if context.plan.members is None else []
    for each in found:
        notes.note(f"only {len(each.terms):,} terms of ?{each.var.name}, which is {each.share:.1%} of them")
    share = min((each.share for each in found), default=1.0)
    context.plan.selectivity[pattern] = max(share, context.plan.selectivity.get(pattern, 0.0))
    return [_among(each) for each in found]


def _among(few: SelectiveTerms) -> Expr:
    return sql.column("t", few.column).among(sql.texts(sorted(few.terms))) if few.terms else sql.FALSE


def _most(pattern: ops.TriplePattern, content: WindowRelation, context: Context) -> int | None:
    """What follows from elements is more than there are, and so are copies for the members of a family."""
    streaming = context.plan.streaming
    if not isinstance(pattern.predicate, NamedNode) or streaming is None or streaming.entailed or context.plan.members:
        return None
    return content.upper_bound(term_encoding.encode(pattern.predicate))


def _counted(pattern: ops.TriplePattern, content: WindowRelation) -> Estimate:
    return of_pattern(pattern, content.counts())


def _occurred(context: Context) -> dict[str, Expr]:
    """When the element occurred, if the query asks for that."""
    streaming = context.plan.streaming
    asked = streaming is not None and streaming.occurrence_times
    start = sql.coalesce(sql.column("t", "start"), _TS)
    return {STARTS: start, ENDS: _TS} if asked else {}


def _stamps(pattern: ops.TriplePattern, content: WindowRelation, context: Context) -> dict[str, Expr]:
    """The element's timestamp, under the name of each variable that it binds and the query asks about."""
    asked = context.plan.streaming.stamped if context.plan.streaming is not None else {}
    bound = [v.name for v in ops.variables_of(*pattern.terms) if v.name in asked]
    names = [timestamps.column(v) for v in bound] + [timestamps.column(v, content.graph) for v in bound if asked[v]]
    return dict.fromkeys(names, _TS)


def _joined(parts: list[Relation], still: list[Relation], context: Context) -> Relation:
    """One after the other as they stand, next one that shares a variable if there is any."""
    result, *rest = parts
    while rest:
        following = next((part for part in rest if set(part.solution) & set(result.solution)), rest[0])
        rest.remove(following)
        plain = result in still or following in still
        hint = None if plain else choose_join_algorithm(result, following, context.has_many_elements)
        result = joins.join(result, following, hint, context.span)
    return result

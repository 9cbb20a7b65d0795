"""Basic graph patterns: triple patterns as scans, joined on their variables.

Without streams that is one SELECT. With streams a triple may be in the background or in a window. Patterns whose
predicate occurs in no stream are one SELECT too; a pattern whose predicate is not in the background reads the windows
alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.compile import notes, sql
from penstock.compile.cardinality import Cardinality
from penstock.compile.context import Context
from penstock.compile.expressions import term_columns, timestamps
from penstock.compile.key_domain import Universe
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
from penstock.compile.relation import ENDS, STARTS, Relation, unit
from penstock.compile.sql import Derived, Expr, From, Join, Select
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model import term_encoding
from penstock.optimise.cost import Estimate, of_pattern
from penstock.optimise.statics import connected

_TS = sql.column("t", "ts")


@compiles(ops.Bgp)
def compile_bgp(op: ops.Bgp, context: Context, known: Candidates) -> Relation:
    """Return the matches of a basic graph pattern."""
    if not op.patterns:
        return unit()
    if not context.contents():
        return _static(op.patterns, context)
    static_patterns = [p for p in op.patterns if not matching_windows(p, context)]
    if len(static_patterns) == len(op.patterns):
        return _static(op.patterns, context)
    groups = {
        group[0]: _static(group, context)
        for group in connected((frozenset(ops.variables_of(*p.terms)), [p]) for p in static_patterns)
    }
    parts = [
        groups[p] if p in static_patterns else _leaf(p, context, known)
        for p in op.patterns
        if p in groups or p not in static_patterns
    ]
    return _joined(parts, list(groups.values()), context)


def _static(patterns: Sequence[ops.TriplePattern], context: Context) -> Relation:
    """Return one join of scans of the background: the first use of a variable is its column, further uses are
    conditions."""
    source, key = context.source()
    _count_background_rows(patterns, context)
    family = query_family.around(patterns, context)
    columns = _family_columns(family)
    if family is not None:  # patterns with parameters come first
        patterns = sorted(patterns, key=lambda pattern: not query_family.parameters_in((pattern,)))
    matches = [_match(pattern, f"t{i}", key, columns) for i, pattern in enumerate(patterns)]
    scans = [source.called(f"t{i}") for i in range(len(patterns))]
    if family is not None:
        matches, scans = [sql.TRUE, *matches], [Derived(family.sql, "u"), *scans]
    joined = scans[0]
    for scan, match in zip(scans[1:], matches[1:], strict=True):
        joined = Join(joined, scan, match)
    columns = _without_dependent(columns, family)
    items = [sql.alias(column, var) for var, column in columns.items()]
    query = Select(items, joined, matches[0], hints=_hints(family))
    return Relation(query, tuple(columns), frozenset(columns))


def _count_background_rows(patterns: Sequence[ops.TriplePattern], context: Context) -> None:
    """Add the estimated triples that the patterns read to the plan, since this evaluation alone reads them."""
    streaming = context.plan.streaming
    if streaming is not None and not context.static and context.window is None:
        context.plan.background_rows += sum(of_pattern(pattern, streaming.statistics).rows for pattern in patterns)


def _family_columns(family: Universe | None) -> dict[str, Expr]:
    """Return the columns of the constants of a family's members."""
    return {} if family is None else {c: sql.column("u", c) for c in (*family.keys, *family.dependent)}


def _without_dependent(columns: dict[str, Expr], family: Universe | None) -> dict[str, Expr]:
    """Return the columns without those that depend on the keys of the family."""
    return columns if family is None else {v: c for v, c in columns.items() if v not in family.dependent}


def _hints(family: Universe | None) -> list[sql.Hint]:
    return [] if family is None else family.hints


def _match(pattern: ops.TriplePattern, table: str, key: str | None, columns: dict[str, Expr]) -> Expr:
    """Return the conditions on one scan, and add the columns of new variables to `columns`."""
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
    """Return the matches of one pattern in the windows, and in the background if its predicate may occur there."""
    matches = [_in_window(pattern, content, context, known) for content in matching_windows(pattern, context)]
    if can_match(pattern.predicate, context.background()):
        matches.append(_static((pattern,), context))
    keys = frozenset().union(*(part.keys for part in matches))
    return reduce(joins.union, (context.expand(part, keys) for part in matches))


def _in_window(pattern: ops.TriplePattern, content: WindowRelation, context: Context, known: Candidates) -> Relation:
    """Return the matches of one pattern in one window."""
    family = query_family.around((pattern,), context)
    columns = _family_columns(family)
    _, key = context.source()
    match = sql.all_of([_match(pattern, "t", key, columns), *_semijoin_conditions(pattern, content, context, known)])
    columns = _without_dependent(columns, family)
    visible: dict[str, Expr] = {c: sql.column("t", c) for c in content.when}
    times = visible | _occurred(context) | _stamps(pattern, content, context)
    items = [sql.alias(column, name) for name, column in {**columns, **times}.items()]
    source: From = Derived(context.elements(content, pattern.predicate, pattern.object))
    if family is not None:
        source = Join(source, Derived(family.sql, "u"), None)
    query = Select(items, source, match, hints=_hints(family))
    sized = context.has_many_elements and not context.joined_by_filter and family is None
    cardinality = Cardinality(partial(_estimate, pattern, content), content.lasts) if sized else None
    certain = frozenset((*columns, *content.when, *_occurred(context)))
    return Relation(
        query, (*columns, *times), certain, cardinality=cardinality, upper_bound=_upper_bound(pattern, content, context)
    )


def _semijoin_conditions(
    pattern: ops.TriplePattern, content: WindowRelation, context: Context, known: Candidates
) -> list[Expr]:
    """Return the conditions of the semi-join reduction: they drop elements that have no join partner."""
    plan = context.plan
    reductions = selective_terms(pattern, content, known, plan.tuning) if plan.members is None else []
    for reduction in reductions:
        notes.note(
            f"only {len(reduction.terms):,} terms of ?{reduction.var.name}, {reduction.share:.1%} of the distinct terms"
        )
    share = min((reduction.share for reduction in reductions), default=1.0)
    plan.selectivity[pattern] = max(share, plan.selectivity.get(pattern, 0.0))
    return [_among(reduction) for reduction in reductions]


def _among(reduction: SelectiveTerms) -> Expr:
    return sql.column("t", reduction.column).among(sql.texts(sorted(reduction.terms))) if reduction.terms else sql.FALSE


def _upper_bound(pattern: ops.TriplePattern, content: WindowRelation, context: Context) -> int | None:
    """Return the upper bound on the matches; None if it is unknown.

    Entailed triples are more than the elements, and so are the copies for the members of a family.
    """
    streaming = context.plan.streaming
    if not isinstance(pattern.predicate, NamedNode) or streaming is None or streaming.entailed or context.plan.members:
        return None
    return content.upper_bound(term_encoding.encode(pattern.predicate))


def _estimate(pattern: ops.TriplePattern, content: WindowRelation) -> Estimate:
    return of_pattern(pattern, content.counts())


def _occurred(context: Context) -> dict[str, Expr]:
    """Return the columns of the element's occurrence time, if the query reads it."""
    streaming = context.plan.streaming
    asked = streaming is not None and streaming.occurrence_times
    start = sql.coalesce(sql.column("t", "start"), _TS)
    return {STARTS: start, ENDS: _TS} if asked else {}


def _stamps(pattern: ops.TriplePattern, content: WindowRelation, context: Context) -> dict[str, Expr]:
    """Return the element's timestamp for each variable that it binds and whose timestamp the query reads."""
    asked = context.plan.streaming.stamped if context.plan.streaming is not None else {}
    bound = [v.name for v in ops.variables_of(*pattern.terms) if v.name in asked]
    names = [timestamps.column(v) for v in bound] + [timestamps.column(v, content.graph) for v in bound if asked[v]]
    return dict.fromkeys(names, _TS)


def _joined(parts: list[Relation], static_parts: list[Relation], context: Context) -> Relation:
    """Join the parts in their order, but a part that shares a variable before one that does not."""
    result, *rest = parts
    while rest:
        following = next((part for part in rest if set(part.solution) & set(result.solution)), rest[0])
        rest.remove(following)
        is_static = result in static_parts or following in static_parts
        hint = (
            None
            if is_static
            else choose_join_algorithm(result, following, context.has_many_elements, context.plan.tuning)
        )
        result = joins.join(result, following, hint, context.span, tuning=context.plan.tuning)
    return result

"""SQL of basic graph patterns: triple patterns as scans.

Patterns on the background alone are one SELECT. With streams a triple may be in the background or in a window: such a
pattern is a scan of its own, which the physical plan joins with others. A pattern whose predicate is not in the
background reads the windows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import chain, repeat

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.compile import sql
from penstock.compile.context import Context, can_match
from penstock.compile.expressions import term_columns, timestamps
from penstock.compile.key_domain import Universe
from penstock.compile.operators import joins, query_family
from penstock.compile.operators.compile_operator import compiles
from penstock.compile.physical.nodes import ReducedScan, TermReduction
from penstock.compile.relation import ENDS, STARTS, Relation, unit
from penstock.compile.sql import Derived, Expr, From, Join, Select
from penstock.compile.windows.stream_to_relation import WindowRelation

_TS = sql.column("t", "ts")
Reductions = tuple[TermReduction, ...]


@compiles(ops.Bgp)
def compile_bgp(op: ops.Bgp, context: Context) -> Relation:
    """Return the matches of triple patterns on the background alone, or of one triple pattern on windows."""
    if not op.patterns:
        return unit()
    if not any(map(context.matching_windows, op.patterns)):
        return _static(op.patterns, context)
    (pattern,) = op.patterns
    return _leaf(pattern, context, ())


@compiles(ReducedScan)
def compile_reduced_scan(op: ReducedScan, context: Context) -> Relation:
    """Return the matches of one triple pattern on windows, without elements that have no join partner."""
    (pattern,) = op.patterns
    return _leaf(pattern, context, op.reductions)


def _static(patterns: Sequence[ops.TriplePattern], context: Context) -> Relation:
    """Return one join of scans of the background: the first use of a variable is its column, further uses are
    conditions."""
    source, key = context.source()
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


def _leaf(pattern: ops.TriplePattern, context: Context, reductions: Sequence[Reductions]) -> Relation:
    """Return the matches of one pattern in the windows, and in the background if its predicate may occur there."""
    windows = zip(context.matching_windows(pattern), chain(reductions, repeat(())), strict=False)
    matches = [_in_window(pattern, window, context, own) for window, own in windows]
    if can_match(pattern.predicate, context.background()):
        matches.append(_static((pattern,), context))
    keys = frozenset().union(*(part.keys for part in matches))
    return reduce(joins.union, (context.expand(part, keys) for part in matches))


def _in_window(
    pattern: ops.TriplePattern, content: WindowRelation, context: Context, reductions: Reductions
) -> Relation:
    """Return the matches of one pattern in one window."""
    family = query_family.around((pattern,), context)
    columns = _family_columns(family)
    _, key = context.source()
    match = sql.all_of([_match(pattern, "t", key, columns), *map(_among, reductions)])
    columns = _without_dependent(columns, family)
    visible: dict[str, Expr] = {c: sql.column("t", c) for c in content.when}
    times = visible | _occurred(context) | _stamps(pattern, content, context)
    items = [sql.alias(column, name) for name, column in {**columns, **times}.items()]
    source: From = Derived(context.elements(content, pattern.predicate, pattern.object))
    if family is not None:
        source = Join(source, Derived(family.sql, "u"), None)
    query = Select(items, source, match, hints=_hints(family))
    certain = frozenset((*columns, *content.when, *_occurred(context)))
    return Relation(query, (*columns, *times), certain, length=content.length)


def _among(reduction: TermReduction) -> Expr:
    """Return the condition that an element has one of the terms that can have a join partner."""
    return sql.column("t", reduction.column).among(sql.texts(sorted(reduction.terms))) if reduction.terms else sql.FALSE


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

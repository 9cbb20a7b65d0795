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
from penstock.compile.operators.physical.semijoin_reduction import (
    Candidates,
    can_match,
    matching_windows,
    selective_terms,
)
from penstock.compile.operators.physical.time_buckets import Size
from penstock.compile.relation import ENDS, STARTS, Relation, items_or_one, unit
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model import term_encoding
from penstock.optimise.cost import Estimate, of_pattern
from penstock.optimise.statics import connected


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
    scans = [f"{source} t{i}" for i in range(len(patterns))]
    if family is not None:
        matches, scans = ["true", *matches], [f"({family.sql}) u", *scans]
    joined = "".join(f" JOIN {scan} ON {match}" for scan, match in list(zip(scans, matches, strict=True))[1:])
    columns = _kept(columns, family)
    items = items_or_one(sql.alias(column, var) for var, column in columns.items())
    text = f"SELECT {_hint(family)}{items} FROM {scans[0]}{joined} WHERE {matches[0]}"
    return Relation(text, tuple(columns), frozenset(columns))


def _count(patterns: Sequence[ops.TriplePattern], context: Context) -> None:
    """What is read of the background for this evaluation alone."""
    streaming = context.plan.streaming
    if streaming is not None and not context.steady and context.window is None:
        context.plan.read += sum(of_pattern(pattern, streaming.statistics).rows for pattern in patterns)


def _told(family: Universe | None) -> dict[str, str]:
    """Where the constants of a family's members are read."""
    return {} if family is None else {c: sql.column("u", c) for c in (*family.keys, *family.tells)}


def _kept(columns: dict[str, str], family: Universe | None) -> dict[str, str]:
    """Without the constants that the keys tell."""
    return columns if family is None else {v: c for v, c in columns.items() if v not in family.tells}


def _hint(family: Universe | None) -> str:
    return "" if family is None else family.hint


def _match(pattern: ops.TriplePattern, table: str, key: str | None, columns: dict[str, str]) -> str:
    """The conditions on one scan; variables that are new get their column noted."""
    places = list(zip("spo", pattern.terms, strict=True))
    if key is not None:
        places.insert(0, ("g", Var(key)))
    conditions = []
    for place, wanted in places:
        column = f"{table}.{place}"
        if not isinstance(wanted, Var):
            conditions.append(f"{column} = {term_columns.constant(wanted)}")
        elif columns.setdefault(wanted.name, column) != column:
            conditions.append(f"{column} = {columns[wanted.name]}")
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
    times = {c: f"t.{sql.name(c)}" for c in content.when} | _occurred(context) | _stamps(pattern, content, context)
    items = items_or_one(sql.alias(column, name) for name, column in {**columns, **times}.items())
    elements = context.elements(content, pattern.predicate, pattern.object)
    others = "" if family is None else f" JOIN ({family.sql}) u"
    text = f"SELECT {_hint(family)}{items} FROM ({elements}) t{others} WHERE {match}"
    sized = context.many and not context.equated and family is None
    size = Size(partial(_counted, pattern, content), content.lasts) if sized else None
    certain = frozenset((*columns, *content.when, *_occurred(context)))
    return Relation(text, (*columns, *times), certain, size=size, most=_most(pattern, content, context))


def _narrowed(pattern: ops.TriplePattern, content: WindowRelation, context: Context, known: Candidates) -> list[str]:
    """Conditions that leave out most of the elements, none of which would find a partner."""
    found = selective_terms(pattern, content, known) if context.plan.members is None else []
    for each in found:
        notes.note(f"only {len(each.terms):,} terms of ?{each.var.name}, which is {each.share:.1%} of them")
    share = min((each.share for each in found), default=1.0)
    context.plan.left[pattern] = max(share, context.plan.left.get(pattern, 0.0))
    return [f"t.{each.column} IN ({sql.texts(sorted(each.terms))})" if each.terms else "false" for each in found]


def _most(pattern: ops.TriplePattern, content: WindowRelation, context: Context) -> int | None:
    """What follows from elements is more than there are, and so are copies for the members of a family."""
    streaming = context.plan.streaming
    if not isinstance(pattern.predicate, NamedNode) or streaming is None or streaming.entailed or context.plan.members:
        return None
    return content.most(term_encoding.encode(pattern.predicate))


def _counted(pattern: ops.TriplePattern, content: WindowRelation) -> Estimate:
    return of_pattern(pattern, content.counts())


def _occurred(context: Context) -> dict[str, str]:
    """When the element occurred, if the query asks for that."""
    streaming = context.plan.streaming
    asked = streaming is not None and streaming.occurring
    return {STARTS: "coalesce(t.start, t.ts)", ENDS: "t.ts"} if asked else {}


def _stamps(pattern: ops.TriplePattern, content: WindowRelation, context: Context) -> dict[str, str]:
    """The element's timestamp, under the name of each variable that it binds and the query asks about."""
    asked = context.plan.streaming.stamped if context.plan.streaming is not None else {}
    bound = [v.name for v in ops.variables_of(*pattern.terms) if v.name in asked]
    names = [timestamps.column(v) for v in bound] + [timestamps.column(v, content.graph) for v in bound if asked[v]]
    return dict.fromkeys(names, "t.ts")


def _joined(parts: list[Relation], still: list[Relation], context: Context) -> Relation:
    """One after the other as they stand, next one that shares a variable if there is any."""
    result, *rest = parts
    while rest:
        following = next((part for part in rest if set(part.solution) & set(result.solution)), rest[0])
        rest.remove(following)
        plain = result in still or following in still
        way = "" if plain else joins.way(result, following, context.many)
        result = joins.join(result, following, way, context.span)
    return result

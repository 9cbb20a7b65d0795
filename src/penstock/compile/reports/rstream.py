"""Relation-to-stream by query form: the answers at all instants of a span in one SELECT.

RSTREAM has the whole answer at every instant. ISTREAM, DSTREAM and intervals come from `deltas` or `validity`. Every
SELECT has a column `time`, the columns of the form, and with ORDER BY `.order`, a row's position. Of a family of
queries, `.km` follows the time: the number of the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.scope import visible
from penstock.algebra.template import parameters_of
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.operators import joins, query_forms
from penstock.compile.operators.operators import compile_op, identified
from penstock.compile.relation import ENDS, FROM, INSTANT, MEMBER, STARTS, TO, Relation, empty, nothing, select
from penstock.compile.reports import deltas
from penstock.compile.reports.validity import SINCE, at_non_empty_instants, validity_intervals
from penstock.compile.sql import Expr, Over, Query, Select
from penstock.compile.windows.evaluation_instants import PeriodicInstants
from penstock.compile.windows.plan_span import within
from penstock.optimise import walk

ORDER, TIME = ".order", "time"


def _answer_keys(context: Context) -> list[str]:
    """Return the keys that identify an answer: the instant, and the number of the query in a family."""
    return [key for universe in context.universes for key in universe.keys]


def _member_key(context: Context) -> list[str]:
    """Return the key column of a family's members, if the plan is that of a family."""
    return [key for key in _answer_keys(context) if key == MEMBER]


def answers(query: ops.Query, context: Context) -> Query:
    """Return the RSTREAM: all solutions at every instant of the span."""
    match query.form:
        case ops.Select():
            columns, rows = _select(query, context)
        case ops.Ask():
            keys = map(sql.name, _answer_keys(context))
            columns, rows = [], Select(keys, _pattern(query, context).sql, distinct=True)
        case ops.Construct() as form:
            columns, rows = list(query_forms.TRIPLE), _construct(form, query, context)
        case ops.Describe() as form:
            columns, rows = list(query_forms.TRIPLE), _describe(form, query, context)
    return _reported([*_member_key(context), *columns], rows, context)


def delta_rows(query: ops.Query, emit: str, context: Context) -> Query:
    """Return the ISTREAM or DSTREAM of a SELECT from deltas: see `deltas.py`."""
    streaming = context.plan.streaming
    assert streaming is not None
    assert isinstance(streaming.timeline, PeriodicInstants)
    relation, columns = _selected(query, context)
    relation = context.expand(relation, frozenset(_member_key(context)))
    return deltas.deltas(emit, relation, [*_member_key(context), *columns], streaming.timeline)


def _selected(query: ops.Query, context: Context) -> tuple[Relation, list[str]]:
    """Return the solutions with all projected variables as columns."""
    relation, columns = compile_op(query.pattern, context), [v.name for v in query.variables]
    missing = [n for n in columns if n not in relation.vars]
    padded = [*map(sql.name, relation.vars), *(sql.alias(sql.NULL, n) for n in missing)]
    return replace(relation.plain(), sql=select(padded, relation.sql), vars=(*relation.vars, *missing)), columns


def intervals(query: ops.Query, before: str | None, context: Context) -> tuple[list[str], Query]:
    """Return the columns of the form, and the validity intervals of its rows.

    `before` is a view of the intervals that were open when the span began.
    """
    match query.form:
        case ops.Select():
            relation, columns = _selected(query, context)
        case ops.Ask():
            relation, columns = compile_op(query.pattern, context).plain(), []
        case ops.Construct() as form:
            relation, columns = _constructed(form, query, context), list(query_forms.TRIPLE)
        case ops.Describe() as form:
            columns, rows = list(query_forms.TRIPLE), _describe(form, query, context)
            relation = Relation(rows, (*columns, INSTANT), frozenset((*columns, INSTANT)))
    columns = [*_member_key(context), *columns]
    relation = context.expand(relation, frozenset(_member_key(context)))
    once = not isinstance(query.form, ops.Select)
    return columns, validity_intervals(relation, columns, before, once, once or _hides_variables(query), context)


def _hides_variables(query: ops.Query) -> bool:
    """Whether a variable is projected away, so that many solutions may be equal."""
    variables = (var for op in walk.nodes(query.pattern) if isinstance(op, ops.Bgp) for var in visible(op))
    return any(not var.parameter and var not in query.variables for var in variables)


def events(query: ops.Query, context: Context) -> Query:
    """Return the answers that the elements of the span complete: each at its end, with its start."""
    streaming = context.plan.streaming
    assert streaming is not None
    span = streaming.timeline.span
    match query.form:
        case ops.Construct() as form:
            relation, columns = _constructed(form, query, context), list(query_forms.TRIPLE)
        case _:
            relation, columns = compile_op(query.pattern, context), [v.name for v in query.variables]
    relation, member = context.expand(relation, frozenset(_member_key(context))), _member_key(context)
    columns = [*member, *columns]
    read = {c: sql.name(c) if c in relation.vars else nothing(c) for c in (ENDS, *columns, STARTS)}
    items = [
        sql.alias(read[c], name) for c, name in ((ENDS, TIME), *zip(columns, columns, strict=True), (STARTS, SINCE))
    ]
    if relation.order:
        items.append(_position([*map(sql.name, member), read[STARTS], read[ENDS]], relation))
    due = sql.all_of([within(read[ENDS], span), *_at_end(relation)])
    return Select(items, relation.sql, due, distinct=not isinstance(query.form, ops.Select))


def _position(by: Sequence[Expr], relation: Relation) -> Expr:
    """Return a row's position within its answer."""
    return sql.alias(Over(sql.call("row_number"), by, relation.reorder()), ORDER)


def _at_end(relation: Relation) -> list[Expr]:
    """Return the condition that a row with an instant or interval holds at its end."""
    if INSTANT in relation.vars:
        return [sql.name(INSTANT).eq(sql.name(ENDS))]
    return [sql.name(FROM) <= sql.name(ENDS), sql.name(ENDS) < sql.name(TO)] if relation.timed else []


def _constructed(form: ops.Construct, query: ops.Query, context: Context) -> Relation:
    """Return the triples that solutions construct, with the times of the solutions."""
    relation = _with_template_inputs(form, compile_op(query.pattern, context).plain(), context)
    if not form.template:
        return empty(query_forms.TRIPLE)
    when = tuple(v for v in relation.vars if v in (FROM, TO, STARTS, ENDS, INSTANT, MEMBER))
    items = [*map(sql.name, when), query_forms.filled(form, relation)]
    triples = Select([sql.STAR], Select(items, relation.sql), query_forms.IS_TRIPLE)
    return Relation(triples, (*query_forms.TRIPLE, *when), frozenset((*query_forms.TRIPLE, *when)))


def _with_template_inputs(form: ops.Construct, relation: Relation, context: Context) -> Relation:
    """Return the relation with the template's constants of a family, and a row identifier for new blank nodes."""
    constants = frozenset(var.name for var in parameters_of(form))
    relation = context.expand(relation, constants) if constants else relation
    return identified(relation, context) if query_forms.makes_nodes(form, relation) else relation


def _reported(columns: Sequence[str], rows: Query, context: Context) -> Query:
    """Return the rows at the instants that have answers."""
    answered = at_non_empty_instants(rows, context) if rows.holds_always else rows
    return Select([sql.alias(sql.name(INSTANT), TIME), *map(sql.name, columns)], answered)


def _pattern(query: ops.Query, context: Context) -> Relation:
    return context.expand(compile_op(query.pattern, context), frozenset(_answer_keys(context)))


def _select(query: ops.Query, context: Context) -> tuple[list[str], Query]:
    relation = _pattern(query, context)
    names = [v.name for v in query.variables]
    items = [sql.name(n) if n in relation.vars else sql.alias(sql.NULL, n) for n in names]
    keys = [*map(sql.name, _answer_keys(context))]
    if not relation.order:
        return names, Select([*keys, *items], relation.sql)
    return [*names, ORDER], Select([*keys, *items, _position(keys, relation)], relation.sql)


def _construct(form: ops.Construct, query: ops.Query, context: Context) -> Query:
    """Return the distinct triples at each instant, without invalid RDF."""
    keys = _answer_keys(context)
    if not form.template:
        return empty((*query_forms.TRIPLE, *keys)).sql
    relation = _with_template_inputs(form, _pattern(query, context), context)
    names = [sql.name(key) for key in keys]
    triples = Select([*names, query_forms.filled(form, relation)], relation.sql)
    return Select([*query_forms.SPO, *names], triples, query_forms.IS_TRIPLE, distinct=True)


def _describe(form: ops.Describe, query: ops.Query, context: Context) -> Query:
    """Return the triples about each resource at its instants, and about every blank node that they lead to."""
    resources = _resources(form, query, context)
    return query_forms.described(resources, lambda subjects: _about(subjects, context), (INSTANT,), context)


def _about(resources: Query, context: Context) -> Query:
    """Return the triples of the default graph with one of the subjects, at the same instants."""
    all_triples = compile_op(ops.Bgp((ops.TriplePattern(Var("s"), Var("p"), Var("o")),)), context)
    at = ("s", INSTANT)
    wanted = Relation(Select(map(sql.name, at), resources, distinct=True), at, frozenset(at))
    return Select([*query_forms.SPO, sql.name(INSTANT)], joins.join(wanted, all_triples).sql)


def _resources(form: ops.Describe, query: ops.Query, context: Context) -> Query:
    relation = _pattern(query, context)
    sources = {True: relation.sql, False: context.universes[0].sql}  # a constant is described at every instant
    instant, s = sql.name(INSTANT), sql.name("s")
    parts = (
        Select([sql.alias(query_forms.read(term, relation), "s"), instant], sources[isinstance(term, Var)])
        for term in form.terms
    )
    return Select([s, instant], sql.union_all(parts), s.not_null())

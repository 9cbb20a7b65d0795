"""Query forms with time: the answers at all instants of a span in one SELECT.

Every SELECT has a column `time`, those of the form, and with ORDER BY `.order`, a row's place. Of a family of queries,
`.km` comes after the time: the number of the one whose answer it is. What is not reported whole at every instant but as
it comes and goes is reported from its `spells`.
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
from penstock.compile.expressions import term_columns
from penstock.compile.operators import joins, query_forms
from penstock.compile.operators.operators import compile_op, identified
from penstock.compile.relation import ENDS, FROM, INSTANT, MEMBER, STARTS, TO, Relation, empty, nothing, select
from penstock.compile.reports import deltas
from penstock.compile.reports.validity import SINCE, spells_of
from penstock.compile.windows.evaluation_instants import PeriodicInstants
from penstock.optimise import walk

ORDER, TIME = ".order", "time"


def _answering(context: Context) -> list[str]:
    """The keys that say which answer a row is in: the instant, and the query if there are several."""
    return [key for universe in context.universes for key in universe.keys]


def _whose(context: Context) -> list[str]:
    return [key for key in _answering(context) if key == MEMBER]


def answers(query: ops.Query, context: Context) -> str:
    match query.form:
        case ops.Select():
            columns, text = _select(query, context)
        case ops.Ask():
            keys = ", ".join(map(sql.name, _answering(context)))
            columns, text = [], f"SELECT DISTINCT {keys} FROM ({_pattern(query, context).sql})"
        case ops.Construct() as form:
            columns, text = list(query_forms.TRIPLE), _construct(form, query, context)
        case ops.Describe() as form:
            columns, text = list(query_forms.TRIPLE), _describe(form, query, context)
    return _reported([*_whose(context), *columns], text, context)


def changes(query: ops.Query, emit: str, context: Context) -> str:
    """What comes, or goes, in the span: see `net.py`."""
    streaming = context.plan.streaming
    assert streaming is not None
    assert isinstance(streaming.timeline, PeriodicInstants)
    relation, columns = _selected(query, context)
    relation = context.expand(relation, frozenset(_whose(context)))
    return deltas.deltas(emit, relation, [*_whose(context), *columns], streaming.timeline)


def _selected(query: ops.Query, context: Context) -> tuple[Relation, list[str]]:
    """The solutions, with all columns that are asked for."""
    relation, columns = compile_op(query.pattern, context), [v.name for v in query.variables]
    missing = [n for n in columns if n not in relation.vars]
    padded = [*map(sql.name, relation.vars), *(sql.alias(sql.NULL, n) for n in missing)]
    return replace(relation.plain(), sql=select(padded, relation.sql), vars=(*relation.vars, *missing)), columns


def spells(query: ops.Query, before: str | None, context: Context) -> tuple[list[str], str]:
    """The columns of the form, and the spells of its rows; `before` are those that were open when the span began."""
    match query.form:
        case ops.Select():
            relation, columns = _selected(query, context)
        case ops.Ask():
            relation, columns = compile_op(query.pattern, context).plain(), []
        case ops.Construct() as form:
            relation, columns = _made(form, query, context), list(query_forms.TRIPLE)
        case ops.Describe() as form:
            columns, text = list(query_forms.TRIPLE), _describe(form, query, context)
            relation = Relation(text, (*columns, INSTANT), frozenset((*columns, INSTANT)))
    columns = [*_whose(context), *columns]
    relation = context.expand(relation, frozenset(_whose(context)))
    once = not isinstance(query.form, ops.Select)
    return columns, spells_of(relation, columns, before, once, once or _leaves_out(query), context)


def _leaves_out(query: ops.Query) -> bool:
    """Whether there are variables that are not asked for, so that many solutions may look alike."""
    found = (var for op in walk.nodes(query.pattern) if isinstance(op, ops.Bgp) for var in visible(op))
    return any(not var.parameter and var not in query.variables for var in found)


def events(query: ops.Query, context: Context) -> str:
    """The answers that the elements of the span complete: each when its last element ends, with when it began."""
    streaming = context.plan.streaming
    assert streaming is not None
    span = streaming.timeline.span
    match query.form:
        case ops.Construct() as form:
            relation, columns = _made(form, query, context), list(query_forms.TRIPLE)
        case _:
            relation, columns = compile_op(query.pattern, context), [v.name for v in query.variables]
    relation, whose = context.expand(relation, frozenset(_whose(context))), _whose(context)
    columns = [*whose, *columns]
    read = {c: sql.name(c) if c in relation.vars else nothing(c) for c in (ENDS, *columns, STARTS)}
    items = [
        sql.alias(read[c], name) for c, name in ((ENDS, TIME), *zip(columns, columns, strict=True), (STARTS, SINCE))
    ]
    if relation.order:
        by = ", ".join([*map(sql.name, whose), read[STARTS], read[ENDS]])
        items.append(f"row_number() OVER (PARTITION BY {by} {relation.reorder()}) AS `{ORDER}`")
    once = "" if isinstance(query.form, ops.Select) else "DISTINCT "
    due = sql.all_of([f"{read[ENDS]} > {span.after}L", f"{read[ENDS]} <= {span.through}L", *_at_end(relation)])
    return f"SELECT {once}{', '.join(items)} FROM ({relation.sql}) t WHERE {due}"


def _at_end(relation: Relation) -> list[str]:
    """Where rows hold at some instants only: of these, when the row ends is one."""
    if INSTANT in relation.vars:
        return [f"`{INSTANT}` = `{ENDS}`"]
    return [f"`{FROM}` <= `{ENDS}`", f"`{ENDS}` < `{TO}`"] if relation.timed else []


def _made(form: ops.Construct, query: ops.Query, context: Context) -> Relation:
    """The triples that solutions make, for as long as these hold."""
    relation = _filling(form, compile_op(query.pattern, context).plain(), context)
    if not form.template:
        return empty(query_forms.TRIPLE)
    when = tuple(v for v in relation.vars if v in (FROM, TO, STARTS, ENDS, INSTANT, MEMBER))
    items = [*map(sql.name, when), query_forms.filled(form, relation)]
    text = f"SELECT * FROM (SELECT {', '.join(items)} FROM ({relation.sql})) t WHERE {query_forms.IS_TRIPLE}"
    return Relation(text, (*query_forms.TRIPLE, *when), frozenset((*query_forms.TRIPLE, *when)))


def _filling(form: ops.Construct, relation: Relation, context: Context) -> Relation:
    """The relation with what the template reads besides variables: constants of queries, and names for new nodes."""
    constants = frozenset(var.name for var in parameters_of(form))
    relation = context.expand(relation, constants) if constants else relation
    return identified(relation, context) if query_forms.makes_nodes(form, relation) else relation


def _reported(columns: Sequence[str], text: str, context: Context) -> str:
    """The rows. Those that hold always, from the background alone, were copied to all instants; only the ones at which
    some window holds something have answers."""
    if nothing(FROM) in text:
        occupied = context.universes[0].sql
        text = f"SELECT l.* FROM ({text}) l LEFT SEMI JOIN ({occupied}) r ON l.`{INSTANT}` = r.`{INSTANT}`"
    return f"SELECT {', '.join([f'`{INSTANT}` AS {TIME}', *map(sql.name, columns)])} FROM ({text})"


def _pattern(query: ops.Query, context: Context) -> Relation:
    return context.expand(compile_op(query.pattern, context), frozenset(_answering(context)))


def _select(query: ops.Query, context: Context) -> tuple[list[str], str]:
    relation = _pattern(query, context)
    names = [v.name for v in query.variables]
    items = [sql.name(n) if n in relation.vars else sql.alias(sql.NULL, n) for n in names]
    keys = [*map(sql.name, _answering(context))]
    if not relation.order:
        return names, f"SELECT {', '.join([*keys, *items])} FROM ({relation.sql})"
    place = f"row_number() OVER (PARTITION BY {', '.join(keys)} {relation.reorder()}) AS `{ORDER}`"
    return [*names, ORDER], f"SELECT {', '.join([*keys, *items, place])} FROM ({relation.sql})"


def _construct(form: ops.Construct, query: ops.Query, context: Context) -> str:
    """As without time, instant by instant: what is no RDF is left out, and each triple is there once."""
    keys = _answering(context)
    if not form.template:
        return empty((*query_forms.TRIPLE, *keys)).sql
    relation = _filling(form, _pattern(query, context), context)
    names = ", ".join(map(sql.name, keys))
    made = f"SELECT {names}, {query_forms.filled(form, relation)} FROM ({relation.sql})"
    return f"SELECT DISTINCT s, p, o, {names} FROM ({made}) WHERE {query_forms.IS_TRIPLE}"


def _describe(form: ops.Describe, query: ops.Query, context: Context) -> str:
    """What the snapshot says of each resource, and of every blank node that this leads to."""
    found = _about(_resources(form, query, context), context)
    done: list[str] = []
    while True:
        name, new = context.plan.keep(f"SELECT DISTINCT * FROM ({found})")
        done.append(name)
        known = " UNION ALL ".join(f"SELECT * FROM {name}" for name in done)
        if not new:
            return f"SELECT DISTINCT s, p, o, `{INSTANT}` FROM ({known})"
        blank = f"SELECT o AS s, `{INSTANT}` FROM {done[-1]} WHERE {term_columns.is_blank('o')}"
        unseen = (
            f"SELECT b.* FROM ({blank}) b LEFT ANTI JOIN ({known}) k ON b.s = k.s AND b.`{INSTANT}` = k.`{INSTANT}`"
        )
        found = _about(unseen, context)


def _about(resources: str, context: Context) -> str:
    """The triples of the default graph whose subject is one of these, at the same instants."""
    all_triples = compile_op(ops.Bgp((ops.TriplePattern(Var("s"), Var("p"), Var("o")),)), context)
    wanted = Relation(f"SELECT DISTINCT s, `{INSTANT}` FROM ({resources})", ("s", INSTANT), frozenset(("s", INSTANT)))
    return f"SELECT s, p, o, `{INSTANT}` FROM ({joins.join(wanted, all_triples).sql})"


def _resources(form: ops.Describe, query: ops.Query, context: Context) -> str:
    relation = _pattern(query, context)
    sources = {True: relation.sql, False: context.universes[0].sql}  # a constant is described at every instant
    parts = (
        f"SELECT {query_forms.read(term, relation)} AS s, `{INSTANT}` FROM ({sources[isinstance(term, Var)]})"
        for term in form.terms
    )
    return f"SELECT s, `{INSTANT}` FROM ({' UNION ALL '.join(parts)}) WHERE s IS NOT NULL"

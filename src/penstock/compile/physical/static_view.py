"""The physical plan of static views: materialised once, then read whole or by look-up.

If the terms that the other side of the join has are known and few, the driver finds the rows with these terms, and only
those are sent to Spark. A view that does not pay yet is computed in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from penstock import log
from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.ops import Bgp, Op, Project
from penstock.algebra.scope import mentioned, visible
from penstock.algebra.sparql_writer import SparqlWriter
from penstock.compile import sql
from penstock.compile.context import Context, Streaming
from penstock.compile.physical.cardinality import Cardinality
from penstock.compile.physical.facts import Facts
from penstock.compile.physical.nodes import ViewLookup, ViewScan
from penstock.compile.physical.plan_operator import Planned, Planner, Surroundings, plans
from penstock.compile.relation import MEMBER, Relation
from penstock.compile.sql import Select, Table
from penstock.compile.views import packed_view
from penstock.compile.views.view_types import MaterialisedView, ViewRequest
from penstock.optimise.cost import Estimate, estimate
from penstock.optimise.statics import is_join, is_key, predicates, unordered
from penstock.optimise.walk import nodes


@plans(ops.StaticView)
def _static_view(op: ops.StaticView, at: Surroundings, planner: Planner) -> Planned:
    streaming = at.context.plan.streaming
    if streaming is None:
        return planner.plan(op.pattern, at)
    family = _family_view(op, at, planner, streaming)
    if family is not None:
        return family
    static = Surroundings(at.context.as_static())
    planned = cache(lambda: planner.plan(op.pattern, static))
    expected = estimate(op.pattern, streaming.statistics, at.context.plan.tuning)
    request = _request(op, expected, static.context, lambda: planner.emit(planned().op, static.context).plain())
    view = streaming.static_view(request)
    if view is None:
        return Planned(replace(op, pattern=planned().op), _facts(op))
    scan = _scan(view, op, at, planner)
    planner.view_rows[op], planner.selectivity[op] = scan.rows, scan.rows / expected.rows
    return Planned(scan, _view_facts(scan, expected, at.context))


def _facts(op: ops.StaticView) -> Facts:
    """Return the facts of any static view: in a family, the member's number stands for its parameters."""
    names = {var.name for var in visible(op) if not var.parameter}
    return Facts(frozenset(names | {MEMBER} if _has_parameters(op) else names))


def _has_parameters(op: ops.StaticView) -> bool:
    return any(var.parameter for var in mentioned(op.pattern))


def _view_facts(scan: ViewScan, expected: Estimate, context: Context) -> Facts:
    """Return the facts of a view that is read. Of a family, the rows are joined with the members, and are no longer
    the view's."""
    facts = _facts(scan)
    if _has_parameters(scan) and context.plan.members is not None:
        return facts
    size = Cardinality(lambda: Estimate(float(scan.rows), expected.distinct), None)
    terms = {}
    if isinstance(scan, ViewLookup):
        terms = packed_view.distinct_terms(scan.table, [key.name for key in _certain_keys(scan, scan.relation)])
    return replace(facts, cardinality=size, upper_bound=scan.rows, view_rows=scan.rows, looked_up_terms=terms)


def _request(op: ops.StaticView, expected: Estimate, context: Context, compile: Callable[[], Relation]) -> ViewRequest:
    return ViewRequest(
        _identity(unordered(op.pattern), context),
        predicates(op.pattern),
        tuple(var.name for var in op.keys),
        expected.rows,
        _sparql(op.pattern) if context.is_whole_default() else None,
        compile,
    )


def _scan(view: MaterialisedView, op: ops.StaticView, at: Surroundings, planner: Planner) -> ViewScan:
    """Return the look-up of the rows that can have a join partner, if they are few and their terms are known; else the
    scan of the whole view."""
    tuning = at.context.plan.tuning
    large = view.rows >= tuning.lookup_view_rows and at.context.plan.members is None
    if large and "view_lookup" in planner.choices:
        lookup = _look_up(view, op, at)
        if lookup is not None:
            return lookup
    return ViewScan(op.keys, op.pattern, _vars(view.relation), view.rows, view.relation)


def _look_up(view: MaterialisedView, op: ops.StaticView, at: Surroundings) -> ViewLookup | None:
    plan, relation = at.context.plan, view.relation
    terms_by_key = {key: terms for key in _certain_keys(op, relation) if (terms := at.known(key)) is not None}
    packed = view.packed() if terms_by_key else None
    if packed is None:
        return None
    table = packed.with_terms({key.name: terms for key, terms in terms_by_key.items()})
    if table.num_rows > min(view.rows * plan.tuning.lookup_share, plan.tuning.broadcast_view_rows):
        log.fallback(None, "view_lookup", f"{table.num_rows:,} of {view.rows:,} rows were asked for")
        return None
    rows = Select(map(sql.name, relation.vars), Table(plan.publish_table(table)))
    looked_up = replace(relation, sql=rows)
    by = tuple(terms_by_key)
    return ViewLookup(op.keys, op.pattern, _vars(relation), table.num_rows, looked_up, by, view.rows, table)


def _certain_keys(op: ops.StaticView, relation: Relation) -> list[Var]:
    return [key for key in op.keys if key.name in relation.certain]


def _vars(relation: Relation) -> tuple[Var, ...]:
    return tuple(map(Var, relation.vars))


def _family_view(op: ops.StaticView, at: Surroundings, planner: Planner, streaming: Streaming) -> Planned | None:
    """Return the scan of the rows of a family's members; None if the pattern has no parameters, or the rows are too
    many."""
    members = at.context.plan.members
    if members is None or not _has_parameters(op):
        return None
    inside = at.context.as_static()
    family = streaming.family_view(
        _identity(op.pattern, inside),
        predicates(op.pattern),
        members,
        lambda domain: _emitted(op.pattern, inside.with_universe(domain), planner),
    )
    if family is None:
        return None
    relation, rows = family
    planner.view_rows[op] = rows
    scan = ViewScan(op.keys, op.pattern, _vars(relation), rows, relation)
    return Planned(scan, replace(_facts(op), upper_bound=rows, view_rows=rows))


def _emitted(pattern: Op, context: Context, planner: Planner) -> Relation:
    return planner.emit(planner.plan(pattern, Surroundings(context)).op, context).plain()


def _identity(pattern: Op, context: Context) -> tuple[object, ...]:
    """Return the identity of the rows: all that they depend on, except the background itself."""
    plan = context.plan
    return pattern, context.scope, plan.dataset, plan.base, tuple(sorted(plan.tables.graphs))


def _sparql(pattern: Op) -> str | None:
    """Return the pattern as a SPARQL query of triples alone, which any store can evaluate; None if it has more.

    Variables are numbered, since not every internal variable has a name that SPARQL allows.
    """
    inner, vars = (pattern.pattern, pattern.vars) if isinstance(pattern, Project) else (pattern, None)
    if not is_join(inner):
        return None
    triples = [triple for node in nodes(inner) if isinstance(node, Bgp) for triple in node.patterns]
    variables = dict.fromkeys(t for triple in triples for t in triple.terms if isinstance(t, Var))
    if any(map(is_key, variables)) or not set(vars or ()) <= variables.keys():
        return None
    writer = SparqlWriter({var: f"v{i}" for i, var in enumerate(variables)})
    projection = " ".join(map(writer.term, variables if vars is None else vars))
    return f"SELECT {projection or '*'} {{ {' . '.join(map(writer.triple, triples))} }}"

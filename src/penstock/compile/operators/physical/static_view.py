"""Static views: patterns that read the background alone, materialised once and read at each evaluation.

A view is read whole, or by look-up: if the terms that the other side of the join has are known and few, the driver
finds the rows with these terms, and only those are sent to Spark.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.ops import Bgp, Op, Project
from penstock.algebra.scope import mentioned
from penstock.algebra.sparql_writer import SparqlWriter
from penstock.compile import notes, sql
from penstock.compile.cardinality import Cardinality
from penstock.compile.context import Context
from penstock.compile.operators import query_family
from penstock.compile.operators.compile_operator import compile_op, compiles
from penstock.compile.operators.physical.semijoin_reduction import Candidates
from penstock.compile.relation import Relation
from penstock.compile.sql import Select, Table
from penstock.compile.views import packed_view
from penstock.compile.views.view_types import MaterialisedView, ViewRequest
from penstock.optimise.cost import Estimate, estimate
from penstock.optimise.statics import is_join, is_key, predicates, unordered
from penstock.optimise.walk import nodes

__all__ = ["compile_static_view"]


@compiles(ops.StaticView)
def compile_static_view(op: ops.StaticView, context: Context, known: Candidates) -> Relation:
    """Return the rows of a static view; the pattern itself where materialising it does not pay."""
    streaming = context.plan.streaming
    if streaming is None:
        return compile_op(op.pattern, context)
    family = _family_view(op, context)
    if family is not None:
        return family
    static_context = context.as_static()
    expected = estimate(op.pattern, streaming.statistics)
    request = ViewRequest(
        _identity(unordered(op.pattern), static_context),
        predicates(op.pattern),
        tuple(var.name for var in op.keys),
        expected.rows,
        _sparql(op.pattern) if context.is_whole_default() else None,
        lambda: compile_op(op.pattern, static_context).plain(),
    )
    view = streaming.static_view(request)
    if view is None:
        return query_family.attached(request.compile(), context)
    large = view.rows >= context.plan.tuning.lookup_view_rows
    relation, rows = _look_up(view, op, known, context) if large else (view.relation, view.rows)
    context.plan.view_rows[op], context.plan.selectivity[op] = rows, rows / expected.rows
    size = Cardinality(lambda: Estimate(float(rows), expected.distinct), None)
    relation = replace(relation, cardinality=size, view_rows=rows)
    attached = query_family.attached(relation, context)
    return relation if attached is relation else replace(attached, view_rows=None)


def _look_up(view: MaterialisedView, op: ops.StaticView, known: Candidates, context: Context) -> tuple[Relation, int]:
    """Look up the rows of the view that can have a join partner, if they are few and their terms are known.

    Returns the relation and its number of rows; otherwise those of the whole view.
    """
    keys = [key for key in op.keys if key.name in view.relation.certain and context.plan.members is None]
    terms_by_key = {key.name: terms for key in keys if (terms := known(key)) is not None}
    packed = view.packed() if terms_by_key else None
    if packed is None:
        return view.relation, view.rows
    table = packed.with_terms(terms_by_key)
    tuning = context.plan.tuning
    if table.num_rows > min(view.rows * tuning.lookup_share, tuning.broadcast_view_rows):
        return view.relation, view.rows
    notes.note(f"{table.num_rows:,} of {view.rows:,} rows looked up by {' '.join(f'?{key}' for key in terms_by_key)}")
    rows = Select(map(sql.name, view.relation.vars), Table(context.plan.publish_table(table)))
    looked_up = packed_view.distinct_terms(table, [key.name for key in keys])
    return replace(view.relation, sql=rows, looked_up_terms=looked_up), table.num_rows


def _family_view(op: ops.StaticView, context: Context) -> Relation | None:
    """Return the rows of a family's members; None if the pattern has no parameters, or the rows are too many."""
    streaming, members = context.plan.streaming, context.plan.members
    if streaming is None or members is None or not any(var.parameter for var in mentioned(op.pattern)):
        return None
    inside = context.as_static()
    family_rows = streaming.family_view(
        _identity(op.pattern, inside),
        predicates(op.pattern),
        members,
        lambda domain: compile_op(op.pattern, inside.with_universe(domain)).plain(),
    )
    if family_rows is None:
        return None
    relation, rows = family_rows
    context.plan.view_rows[op] = rows
    return replace(relation, view_rows=rows)


def _identity(pattern: Op, context: Context) -> tuple[object, ...]:
    """Return the identity of the rows: all that they depend on, except the background itself."""
    plan = context.plan
    return pattern, context.graph, context.tag, plan.dataset, plan.base, tuple(sorted(plan.tables.graphs))


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

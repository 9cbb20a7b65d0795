"""Parts that read the background alone: compiled and answered when they are first met, and read from then on."""

from __future__ import annotations

from dataclasses import replace

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.ops import Bgp, Op, Project
from penstock.algebra.scope import mentioned
from penstock.algebra.sparql_writer import SparqlWriter
from penstock.compile import notes, sql
from penstock.compile.context import Context
from penstock.compile.operators import query_family
from penstock.compile.operators.compile_operator import compile_op, compiles
from penstock.compile.operators.physical.join_algorithm import FEW
from penstock.compile.operators.physical.semijoin_reduction import Candidates
from penstock.compile.operators.physical.time_buckets import Cardinality
from penstock.compile.relation import Relation
from penstock.compile.sql import Select, Table
from penstock.compile.views import packed_view
from penstock.compile.views.view_types import MaterialisedView, ViewRequest
from penstock.optimise.cost import Estimate, estimate
from penstock.optimise.statics import is_join, is_key, predicates, unordered
from penstock.optimise.walk import nodes

__all__ = ["compile_static_view"]

_MANY = 5_000  # rows of a part: those of fewer need not be looked up
_SHARE = 0.5  # of its rows: where more are asked for, it is read as it is


@compiles(ops.StaticView)
def compile_static_view(op: ops.StaticView, context: Context, known: Candidates) -> Relation:
    streaming = context.plan.streaming
    if streaming is None:
        return compile_op(op.pattern, context)
    family = _of_members(op, context)
    if family is not None:
        return family
    inside = context.as_static()
    expected = estimate(op.pattern, streaming.statistics)
    wanted = ViewRequest(
        _asked(unordered(op.pattern), inside),
        predicates(op.pattern),
        tuple(var.name for var in op.keys),
        expected.rows,
        _sparql(op.pattern) if context.is_whole_default() else None,
        lambda: compile_op(op.pattern, inside).plain(),
    )
    part = streaming.static_view(wanted)
    if part is None:
        return query_family.attached(wanted.compile(), context)
    relation, rows = _sought(part, op, known, context) if part.rows >= _MANY else (part.relation, part.rows)
    context.plan.view_rows[op], context.plan.selectivity[op] = rows, rows / expected.rows
    size = Cardinality(lambda: Estimate(float(rows), expected.distinct), None)
    relation = replace(relation, cardinality=size, view_rows=rows)
    mine = query_family.attached(relation, context)
    return relation if mine is relation else replace(mine, view_rows=None)


def _sought(part: MaterialisedView, op: ops.StaticView, known: Candidates, context: Context) -> tuple[Relation, int]:
    """The rows of the part that may have a partner beside it, if these are few, and it is known beforehand which."""
    keys = [key for key in op.keys if key.name in part.relation.certain and context.plan.members is None]
    wanted = {key.name: terms for key in keys if (terms := known(key)) is not None}
    packed = part.packed() if wanted else None
    if packed is None:
        return part.relation, part.rows
    table = packed.with_terms(wanted)
    if table.num_rows > min(part.rows * _SHARE, FEW):
        return part.relation, part.rows
    notes.note(f"{table.num_rows:,} of {part.rows:,} rows looked up by {' '.join(f'?{key}' for key in wanted)}")
    rows = Select(map(sql.name, part.relation.vars), Table(context.plan.publish_table(table)))
    found = packed_view.distinct_terms(table, [key.name for key in keys])
    return replace(part.relation, sql=rows, looked_up_terms=found), table.num_rows


def _of_members(op: ops.StaticView, context: Context) -> Relation | None:
    """The rows that a family's members have there; None: it does not ask for their constants, or they are too many."""
    streaming, whose = context.plan.streaming, context.plan.members
    if streaming is None or whose is None or not any(var.parameter for var in mentioned(op.pattern)):
        return None
    inside = context.as_static()
    found = streaming.family_view(
        _asked(op.pattern, inside),
        predicates(op.pattern),
        whose,
        lambda members: compile_op(op.pattern, inside.with_universe(members)).plain(),
    )
    if found is None:
        return None
    relation, rows = found
    context.plan.view_rows[op] = rows
    return replace(relation, view_rows=rows)


def _asked(pattern: Op, context: Context) -> tuple[object, ...]:
    """All that the rows depend on, but the background itself."""
    plan = context.plan
    return pattern, context.graph, context.tag, plan.dataset, plan.base, tuple(sorted(plan.tables.graphs))


def _sparql(pattern: Op) -> str | None:
    """The pattern as a query that any store understands: nothing but triples, and which of their variables are wanted.
    Names are numbers, since not every variable here has one that SPARQL can say."""
    inner, vars = (pattern.pattern, pattern.vars) if isinstance(pattern, Project) else (pattern, None)
    if not is_join(inner):
        return None
    triples = [triple for node in nodes(inner) if isinstance(node, Bgp) for triple in node.patterns]
    found = dict.fromkeys(t for triple in triples for t in triple.terms if isinstance(t, Var))
    if any(map(is_key, found)) or not set(vars or ()) <= found.keys():
        return None
    writer = SparqlWriter({var: f"v{i}" for i, var in enumerate(found)})
    wanted = " ".join(map(writer.term, found if vars is None else vars))
    return f"SELECT {wanted or '*'} {{ {' . '.join(map(writer.triple, triples))} }}"

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
from penstock.compile.operators.physical.semijoin_reduction import Candidates
from penstock.compile.operators.physical.time_buckets import Size
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
    streaming = context.plan.streaming
    if streaming is None:
        return compile_op(op.pattern, context)
    family = _of_members(op, context)
    if family is not None:
        return family
    inside = context.made_steady()
    expected = estimate(op.pattern, streaming.statistics)
    wanted = ViewRequest(
        _asked(unordered(op.pattern), inside),
        predicates(op.pattern),
        tuple(var.name for var in op.keys),
        expected.rows,
        _sparql(op.pattern) if context.is_whole_default() else None,
        lambda: compile_op(op.pattern, inside).plain(),
    )
    part = streaming.settled(wanted)
    if part is None:
        return query_family.attached(wanted.compile(), context)
    large = part.rows >= context.plan.tuning.lookup_view_rows
    relation, rows = _sought(part, op, known, context) if large else (part.relation, part.rows)
    context.plan.kept[op], context.plan.left[op] = rows, rows / expected.rows
    size = Size(lambda: Estimate(float(rows), expected.distinct), None)
    relation = replace(relation, size=size, kept=rows)
    mine = query_family.attached(relation, context)
    return relation if mine is relation else replace(mine, kept=None)


def _sought(part: MaterialisedView, op: ops.StaticView, known: Candidates, context: Context) -> tuple[Relation, int]:
    """The rows of the part that may have a partner beside it, if these are few, and it is known beforehand which."""
    keys = [key for key in op.keys if key.name in part.relation.certain and context.plan.members is None]
    wanted = {key.name: terms for key in keys if (terms := known(key)) is not None}
    packed = part.packed() if wanted else None
    if packed is None:
        return part.relation, part.rows
    table = packed.with_terms(wanted)
    tuning = context.plan.tuning
    if table.num_rows > min(part.rows * tuning.lookup_share, tuning.broadcast_view_rows):
        return part.relation, part.rows
    notes.note(f"{table.num_rows:,} of {part.rows:,} rows looked up by {' '.join(f'?{key}' for key in wanted)}")
    rows = Select(map(sql.name, part.relation.vars), Table(context.plan.sent(table)))
    found = packed_view.distinct_terms(table, [key.name for key in keys])
    return replace(part.relation, sql=rows, found=found), table.num_rows


def _of_members(op: ops.StaticView, context: Context) -> Relation | None:
    """The rows that a family's members have there; None: it does not ask for their constants, or they are too many."""
    streaming, whose = context.plan.streaming, context.plan.members
    if streaming is None or whose is None or not any(var.parameter for var in mentioned(op.pattern)):
        return None
    inside = context.made_steady()
    found = streaming.of_members(
        _asked(op.pattern, inside),
        predicates(op.pattern),
        whose,
        lambda members: compile_op(op.pattern, inside.with_universe(members)).plain(),
    )
    if found is None:
        return None
    relation, rows = found
    context.plan.kept[op] = rows
    return replace(relation, kept=rows)


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

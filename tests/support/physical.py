"""Physical plans in tests: windows with declared statistics, and the plan of a pattern on them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Never

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.ops import Op
from penstock.algebra.windows import TimeWindow
from penstock.compile import sql
from penstock.compile.context import Context, Plan, Streaming, Tables
from penstock.compile.operators.operators import compile_op
from penstock.compile.physical import physical_plan
from penstock.compile.relation import Relation
from penstock.compile.windows.evaluation_instants import PeriodicInstants
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model.span import Span
from penstock.optimise import Uniform, enabled
from penstock.tuning import DEFAULT, Tuning

STREAM = ops.StreamWindow(NamedNode("a:s"), TimeWindow(10, 5))

__all__ = ["STREAM", "compiled", "never", "on_windows", "physical"]


def never(*_: object) -> Never:
    raise AssertionError("nothing here is static")


def on_windows(
    *contents: WindowRelation,
    span: Span,
    background: frozenset[str] = frozenset(),
    occurrence_times: bool = False,
    tuning: Tuning = DEFAULT,
) -> Context:
    """Return the context of a query whose default graph has these windows, and no static views."""
    plan = Plan(Tables(sql.Table("d"), sql.Table("n"), frozenset()), lambda query, name: 0, None, "", tuning=tuning)
    default = tuple(content for content in contents if content.source.name is None)
    plan.streaming = Streaming(
        PeriodicInstants((1,), span),
        contents,
        default,
        background,
        {},
        0,
        never,
        never,
        Uniform(),
        occurrence_times=occurrence_times,
    )
    return Context(plan)


def physical(op: Op, context: Context, rules: Collection[str] | None = None) -> Op:
    """Return the physical plan of a pattern."""
    return physical_plan(ops.Query(ops.Select(), op), context, enabled(rules), compile_op).query.pattern


def compiled(op: Op, context: Context, rules: Collection[str] | None = None) -> Relation:
    """Return the relation of a pattern by its physical plan."""
    return compile_op(physical(op, context, rules), context)

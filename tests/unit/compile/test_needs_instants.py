"""Which plans of complex events have to look at each instant: what comes may change a row that has no end."""

from __future__ import annotations

from typing import Never

import pytest

from penstock.algebra.build import translate
from penstock.compile import sql
from penstock.compile.context import Context, Plan, Streaming, Tables
from penstock.compile.operators.events.complex_events import needs_instants
from penstock.compile.operators.operators import compile_op
from penstock.compile.windows.evaluation_instants import PeriodicInstants
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model.span import Span
from penstock.optimise import Uniform

EVENT, OTHER, FACT, BOTH = "?x <a:event> ?y .", "?x <a:other> ?z .", "?x <a:fact> ?f .", "?x <a:both> ?b ."


def _never(*_: object) -> Never:
    raise AssertionError("nothing here is static")


def context() -> Context:
    """Events that are in a stream, facts that are in the background, and what is in both."""
    known = frozenset(("<a:event>", "<a:other>", "<a:both>"))
    content = WindowRelation("<a:s>", False, sql.view("s"), known, when=())
    plan = Plan(Tables(sql.Table("d"), sql.Table("n"), frozenset()), lambda query, name: 0, None, "")
    background = frozenset(("<a:fact>", "<a:both>"))
    lattice = PeriodicInstants((1,), Span(0, 10))
    plan.streaming = Streaming(
        lattice, (content,), (content,), background, {}, 0, _never, _never, Uniform(), occurrence_times=True
    )
    return Context(plan)


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (f"{EVENT} {OTHER}", False),
        (f"{EVENT} OPTIONAL {{ {OTHER} }}", False),
        (f"{EVENT} OPTIONAL {{ {FACT} }}", False),
        (f"{FACT} OPTIONAL {{ {EVENT} }}", True),
        (f"{FACT} {EVENT} OPTIONAL {{ {OTHER} }}", False),
        (f"{BOTH} OPTIONAL {{ {EVENT} }}", True),
        (f"{EVENT} OPTIONAL {{ {BOTH} }}", False),
        (f"{FACT} MINUS {{ {EVENT} }}", True),
        (f"{EVENT} MINUS {{ {OTHER} }}", False),
        (f"{{ {EVENT} }} UNION {{ {FACT} }} MINUS {{ {OTHER} }}", True),
        (f"{{ {EVENT} }} UNION {{ {OTHER} }} MINUS {{ {BOTH} }}", False),
        (f"{FACT} FILTER NOT EXISTS {{ {EVENT} }}", True),
        (f"{EVENT} FILTER NOT EXISTS {{ {OTHER} }}", False),
        (f"{EVENT} FILTER EXISTS {{ {FACT} OPTIONAL {{ {OTHER} }} }}", True),
        (f"{FACT} OPTIONAL {{ {EVENT} }} OPTIONAL {{ {OTHER} }}", True),
        (f"{EVENT} OPTIONAL {{ {FACT} FILTER EXISTS {{ {OTHER} }} }}", False),
    ],
)
def test_rows_that_never_end_are_judged_at_each_instant(pattern: str, needed: bool) -> None:
    op, where = translate(f"SELECT * {{ {pattern} }}").pattern, context()
    assert needs_instants(op, where) is needed
    if not needed:
        assert compile_op(op, where).vars  # where the compiler would find a row that is judged without looking at time

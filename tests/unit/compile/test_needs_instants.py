"""Which plans of complex events have to look at each instant: what comes may change a row that has no end."""

from __future__ import annotations

import pytest

from penstock.algebra.build import translate
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.operators.events.complex_events import needs_instants
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model.span import Span
from tests.support.physical import STREAM, compiled, on_windows

EVENT, OTHER, FACT, BOTH = "?x <a:event> ?y .", "?x <a:other> ?z .", "?x <a:fact> ?f .", "?x <a:both> ?b ."


def context() -> Context:
    """Events that are in a stream, facts that are in the background, and what is in both."""
    known = frozenset(("<a:event>", "<a:other>", "<a:both>"))
    content = WindowRelation(STREAM, sql.view("s"), known, when=())
    background = frozenset(("<a:fact>", "<a:both>"))
    return on_windows(content, span=Span(0, 10), background=background, occurrence_times=True)


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
        assert compiled(op, where).vars  # where the compiler would find a row that is judged without looking at time

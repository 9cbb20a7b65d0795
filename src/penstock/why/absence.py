"""Why a query has no answer: all reasons in the order of their likelihood."""

from __future__ import annotations

from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.stream.runtime.runtime import Runtime
from penstock.why.query_reasons import query_reasons
from penstock.why.reasons import Reason, Why, in_order
from penstock.why.stream_reasons import stream_reasons

__all__ = ["why_no_answer"]


def why_no_answer(runtime: Runtime, task: RegisteredQuery) -> Why:
    """The reasons why a query has no answer, the most likely first; nothing of it is changed by asking."""
    facts = runtime.facts(task)
    found: list[Reason] = [*stream_reasons(facts), *query_reasons(facts)]
    return Why(task.name, in_order(found))

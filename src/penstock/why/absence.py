"""Why a query has no answer: all reasons in the order of their likelihood."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.stream.runtime.query_facts import QueryFacts
from penstock.stream.runtime.runtime import Runtime
from penstock.why.pattern_reasons import pattern_reasons
from penstock.why.query_reasons import query_reasons
from penstock.why.reasons import Reason, Why, in_order
from penstock.why.stream_reasons import stream_reasons

__all__ = ["why_no_answer"]

_UNKNOWN = Reason("unknown", "No reason was found.", "See how it is computed with query.explain(run=True).")


def why_no_answer(runtime: Runtime, task: RegisteredQuery) -> Why:
    """The reasons why a query has no answer, the most likely first; nothing of it is changed by asking."""
    facts = runtime.facts(task)
    reasons = [*stream_reasons(facts), *query_reasons(facts), *_in_the_pattern(runtime, task, facts)]
    return Why(task.name, in_order(reasons or [_UNKNOWN]))


def _in_the_pattern(runtime: Runtime, task: RegisteredQuery, facts: QueryFacts) -> Iterator[Reason]:
    """The reasons in the pattern; only where an instant has been evaluated, since before that nothing was asked."""
    if facts.progress is None or facts.status.state == "failed":
        return
    with runtime.reevaluation(task) as again:
        if again.is_possible:
            yield from pattern_reasons(facts, again)

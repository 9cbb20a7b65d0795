"""Reasons that show when the query is evaluated again: empty windows, the first operator without rows, no change."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.explain.notation import Notation
from penstock.spark.query.operator_rows import OperatorRows
from penstock.stream.runtime.query_facts import QueryFacts
from penstock.stream.runtime.reevaluation import Reevaluation
from penstock.translate.window_forms import written_window
from penstock.why.blame import blamed
from penstock.why.operator_reasons import operator_reasons
from penstock.why.reasons import Reason
from penstock.why.search import Search
from penstock.why.wording import at, counted

__all__ = ["pattern_reasons"]

_REPORTS = {"istream": "become true", "dstream": "cease to be true"}


def pattern_reasons(facts: QueryFacts, again: Reevaluation) -> Iterator[Reason]:
    """The reasons that lie in the pattern, found by evaluating the query again at all instants."""
    rows = again.operators(again.query)
    if empty := list(_empty_windows(facts, rows)):
        yield from empty
        return
    if count := rows.count(rows.query.pattern):
        yield from _answered(facts, rows, count)
        return
    search = Search(facts, again, rows, Notation(facts.text))
    for each in blamed(rows.query.pattern, rows):
        yield from operator_reasons(search, each)


def _empty_windows(facts: QueryFacts, rows: OperatorRows) -> Iterator[Reason]:
    newest = {stream.iri: stream.position.newest for stream in facts.streams}
    for window in rows.query.streams:
        if rows.is_always_empty(window) and (last := newest.get(window.iri.value)) is not None:
            text = (
                f"The window {written_window(window.window)} on <{window.iri.value}> is empty at each instant "
                f"{_during(rows)}: its newest element is of {at(last)}."
            )
            yield Reason("window", text, "Widen RANGE, or evaluate the query more often.")


def _answered(facts: QueryFacts, rows: OperatorRows, solutions: int) -> Iterator[Reason]:
    """The reason if there are solutions: perhaps their report has nothing new."""
    there_are = f"there {'is' if solutions == 1 else 'are'} {counted(solutions, 'solution')}"
    if facts.report in _REPORTS:
        since = "" if facts.latest is None else f" since {at(facts.latest)}"
        when = f"{facts.report.upper()} reports solutions only when they {_REPORTS[facts.report]}"
        text = f"Nothing has changed{since}: {there_are} {_during(rows)}, and {when}."
        yield Reason("unchanged", text, 'Register the query with emit="rstream" to get all of them at each instant.')
    else:
        yield Reason("answered", f"It has answers: {there_are} {_during(rows)}.", "They have gone to its sink.")


def _during(rows: OperatorRows) -> str:
    return f"from {at(rows.span.after + 1)} to {at(rows.span.through)}"

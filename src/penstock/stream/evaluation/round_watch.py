"""Measures rounds by part, and logs each; a slow one as a warning with the reason.

A round is slow if it takes longer than `slow_round_us` of the tuning, or, on a live engine, than the steps of a query
that it evaluates: then that query falls behind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from penstock import log
from penstock.model.span import Span
from penstock.stream.registry.due_instants import CompiledQuery
from penstock.stream.registry.evaluation_group import EvaluationGroup
from penstock.tuning import DEFAULT, Tuning

__all__ = ["DELIVERY", "JOB", "PLANNING", "STATE", "RoundWatch"]

PLANNING, JOB, STATE, DELIVERY = "planning", "the Spark job", "operator state", "delivery"
_NAMED = 5  # groups that the record of a round names


@dataclass(slots=True)
class _Evaluated:
    """A group that was evaluated in the round. `step` is the time that its instants last, None if there is no step."""

    name: str
    queries: int
    parts: Counter[str]  # microseconds
    instants: int = 0
    step: int | None = None
    elements: int = 0

    @property
    def took(self) -> int:
        return sum(self.parts.values())

    @property
    def title(self) -> str:
        return self.name if self.queries == 1 else f"{self.name} and {self.queries - 1} like it"


class RoundWatch:
    """Measures the rounds of one thread. `now` has the time in microseconds."""

    def __init__(self, now: Callable[[], int], tuning: Tuning = DEFAULT) -> None:
        self._now, self._tuning = now, tuning
        self._groups: list[_Evaluated] = []
        self._parts: Counter[str] = Counter()  # of the present group

    @contextmanager
    def round(self) -> Iterator[None]:
        """Measure a round, and log it if it had something to evaluate."""
        began, self._groups = self._now(), []
        yield
        if self._groups:
            self._log(self._now() - began, self._groups)

    def resume(self, parts: Counter[str]) -> None:
        """Add the time of parts to those of this group from now on."""
        self._parts = parts

    def span(self, group: EvaluationGroup, plan: CompiledQuery, span: Span, elements: int, *, live: bool) -> None:
        """Note that the group is evaluated for a span, over so many elements."""
        noted = next((each for each in self._groups if each.parts is self._parts), None)
        if noted is None:
            noted = _Evaluated(group.name, len(group.tasks), self._parts)
            self._groups.append(noted)
        schedule = plan.schedule
        noted.elements += elements
        noted.instants += schedule.count(span.after, span.through)
        if live and schedule.steps and not schedule.at_changes:
            noted.step = min(schedule.steps) * max(1, noted.instants)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Measure a part of the group's evaluation."""
        began = self._now()
        try:
            yield
        finally:
            self._parts[name] += self._now() - began

    def _log(self, took: int, groups: list[_Evaluated]) -> None:
        fields: dict[str, object] = {
            "took_s": took / 1e6,
            "groups": len(groups),
            "queries": sum(group.queries for group in groups),
            "instants": sum(group.instants for group in groups),
            "elements": sum(group.elements for group in groups),
        }
        reason = self._reason(took, groups)
        if reason is None:
            log.rounds.debug("a round took %s: %s", _seconds(took), _names(groups), extra=fields)
            return
        longest = max(groups, key=lambda group: group.took)
        parts = ", ".join(f"{name} {_seconds(spent)}" for name, spent in longest.parts.most_common())
        detail: dict[str, object] = {
            "query": longest.name,
            "reason": reason,
            "parts_s": {name: spent / 1e6 for name, spent in longest.parts.items()},
        }
        log.rounds.warning(
            "a slow round took %s, %s; %s took %s (%s), with %s",
            _seconds(took),
            reason,
            longest.title,
            _seconds(longest.took),
            parts,
            "1 element" if longest.elements == 1 else f"{longest.elements:,} elements",
            extra=fields | detail,
        )

    def _reason(self, took: int, groups: list[_Evaluated]) -> str | None:
        """Why the round is slow; None if it is not."""
        short = min((group for group in groups if group.step is not None), key=_step, default=None)
        if short is not None and took > _step(short):
            instants = "a step" if short.instants <= 1 else f"{short.instants:,} steps"
            return f"longer than {instants} of {short.title} ({_seconds(_step(short))})"
        limit = self._tuning.slow_round_us
        return f"longer than slow_round_us ({_seconds(limit)})" if took > limit else None


def _step(group: _Evaluated) -> int:
    return group.step or 0


def _names(groups: list[_Evaluated]) -> str:
    titles = [group.title for group in groups[:_NAMED]]
    return ", ".join([*titles, f"and {len(groups) - _NAMED} more"] if len(groups) > _NAMED else titles)


def _seconds(microseconds: int) -> str:
    return f"{microseconds / 1e6:.3g} s"

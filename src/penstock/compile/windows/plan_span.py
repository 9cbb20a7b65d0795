"""The span of a plan: two times that are known, or two variables of the SQL, so that one text serves every span.

The functions here take a time in either form. A time that is known stays a constant of the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from penstock.algebra import windows
from penstock.compile import sql
from penstock.compile.sql import Expr
from penstock.model.span import Span

__all__ = [
    "PlanSpan", "Time", "VariableSpan", "ceiling", "down", "earliest", "floor", "latest", "moment",
    "up", "within",
]  # fmt: skip

Time: TypeAlias = int | Expr
AFTER, THROUGH = sql.Variable("after"), sql.Variable("through")


@dataclass(frozen=True, slots=True)
class VariableSpan:
    """The instants t with after < t <= through, where both are variables. The planner counts those of `known`."""

    known: Span
    after: Expr = AFTER
    through: Expr = THROUGH


PlanSpan: TypeAlias = Span | VariableSpan


def moment(time: Time) -> Expr:
    """Return a time as SQL."""
    return time if isinstance(time, Expr) else sql.long(time)


def within(time: Expr, span: PlanSpan) -> Expr:
    """Return the condition that a time lies in the span."""
    return (time > moment(span.after)) & (time <= moment(span.through))


def up(value: Expr, step: int) -> Expr:
    """The SQL of `windows.ceiling`."""
    return value + sql.call("pmod", -value, sql.long(step))


def down(value: Expr, step: int) -> Expr:
    """The SQL of `windows.floor`."""
    return value - sql.call("pmod", value, sql.long(step))


def ceiling(time: Time, step: int) -> Time:
    """Return the first multiple of the step that is not before a time."""
    return up(time, step) if isinstance(time, Expr) else windows.ceiling(time, step)


def floor(time: Time, step: int) -> Time:
    """Return the last multiple of the step that is not after a time."""
    return down(time, step) if isinstance(time, Expr) else windows.floor(time, step)


def earliest(times: Iterable[Time]) -> Time:
    """Return the least of some times."""
    return _chosen("least", list(times))


def latest(times: Iterable[Time]) -> Time:
    """Return the greatest of some times."""
    return _chosen("greatest", list(times))


def _chosen(function: str, times: list[Time]) -> Time:
    numbers = [time for time in times if isinstance(time, int)]
    if len(numbers) == len(times):
        return min(numbers) if function == "least" else max(numbers)
    return times[0] if len(times) == 1 else sql.call(function, *map(moment, times))

"""A rule of the optimiser, as the driver runs it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import wraps

from penstock.algebra.ops import Op
from penstock.optimise.statistics import Statistics
from penstock.tuning import Tuning

__all__ = ["Direction", "Rule", "plain"]

Rewrite = Callable[[Op, Statistics, Tuning], Op]


class Direction(Enum):
    """The order in which the driver takes a rule through a plan."""

    UP = "operands first"
    DOWN = "operands last"
    ROOT = "the root only: the rule passes down what a single operator cannot know"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rewrite with its name (for `Engine(rules=…)` and the trace) and the way it is applied.

    `on_events` says whether it also holds where solutions have intervals, or is the rewrite that does.
    """

    name: str
    direction: Direction
    rewrite: Rewrite
    inside_exists: bool = True
    on_events: bool | Rewrite = True

    @property
    def why(self) -> str:
        """The purpose of the rule: the first sentence of its module."""
        return inspect.getdoc(sys.modules[self.rewrite.__module__]) or ""


def plain(rewrite: Callable[[Op], Op]) -> Rewrite:
    """A rewrite that does not ask about the data, nor for a threshold."""

    @wraps(rewrite)
    def asking_nothing(op: Op, _: Statistics, __: Tuning) -> Op:
        return rewrite(op)

    return asking_nothing

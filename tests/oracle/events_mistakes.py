"""Mistakes that one could make with time. A case against a mistake is one whose answer would show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from penstock.algebra.ops import Op
from tests.support import event_reference as events
from tests.support.event_reference import Row, World

Bag = Counter[Any]
Answers = Callable[[Op, World], Bag]


def shows(against: str, plan: Op, world: World) -> bool:
    """Whether there is an answer, and with the mistake another one."""
    right = events.delivered(plan, world)
    return bool(right) and (against == "nothing" or MISTAKES[against](plan, world) != right)


def _instead(name: str, wrong: Callable[[Row, Row], bool]) -> Answers:
    def answers(plan: Op, world: World) -> Bag:
        with patch.object(events, name, wrong):
            return events.delivered(plan, world)

    return answers


def _as_points(plan: Op, world: World) -> Bag:
    points = tuple(replace(element, start=element.end) for element in world.elements)
    return events.delivered(plan, replace(world, elements=points))


def _at_the_end(plan: Op, world: World) -> Bag:
    """What is left of the answers when all has come."""
    return Counter({row: n for row, n in events.bag(plan, world).items() if row[2] is not None})  # type: ignore[index]


def _touching(left: Row, right: Row) -> bool:
    return left.ends is not None and right.starts is not None and left.ends <= right.starts


MISTAKES: dict[str, Answers] = {
    "sequences may touch": _instead("before", _touching),
    "elements are points": _as_points,
    "equal ends are enough": _instead("at_once", lambda one, other: one.ends is not None and one.ends == other.ends),
    "later counts": _instead("so_far", lambda own, other: True),
    "nothing counts": _instead("so_far", lambda own, other: other.ends is None),
    "all at the end": _at_the_end,
}
AGAINST = ("nothing", "nothing", "sequences may touch", *MISTAKES)

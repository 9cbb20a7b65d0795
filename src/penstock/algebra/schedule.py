"""The evaluation schedule of a query: its instants, and how far back they see. Pure arithmetic on microseconds.

The instants are the multiples of COMPUTED EVERY, else those of the windows' steps. Windows that slide or count elements
have no step: a query with such a window may also have an instant wherever an element comes or leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import lcm

from penstock.algebra.ops import Query, Registration
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, Window, ceiling, floor

__all__ = ["Schedule", "is_periodic", "schedule", "stretched"]

_NEVER_LEAVES = -(2**62)  # the horizon of a window that elements do not leave: no element is before it


@dataclass(frozen=True, slots=True)
class Schedule:
    """The `steps` whose multiples are instants, and whether there may be others `at_changes` of a window.

    `windows` are those on each stream by its IRI, and `elsewhere` those on every stream that is not named. With
    `deltas` an evaluation reads the elements that enter and leave alone, and not the rest of a window.
    """

    steps: tuple[int, ...] = ()
    at_changes: bool = False
    windows: Mapping[str, tuple[Window, ...]] = field(default_factory=dict)
    elsewhere: tuple[Window, ...] = ()
    deltas: bool = False

    def has_instant(self, after: int, through: int) -> bool:
        """Whether there can be an instant t with after < t <= through."""
        return any(floor(through, step) > after for step in self.steps) or (self.at_changes and through > after)

    def next_instant(self, after: int) -> int:
        """The first instant that there can be after that time."""
        steps = () if self.at_changes else self.steps
        return min((ceiling(after + 1, step) for step in steps), default=after + 1)

    def last_instant(self, last: int) -> int:
        """The last instant of a bounded run whose last element has that time: the time itself, or the next instant."""
        return min((ceiling(last, step) for step in self.steps), default=last)

    def count(self, after: int, through: int) -> int:
        """The number of multiples t of the steps with after < t <= through."""
        several = (steps for size in range(1, len(self.steps) + 1) for steps in combinations(self.steps, size))
        signed = ((lcm(*steps), 1 if len(steps) % 2 else -1) for steps in several)
        return sum(sign * (through // step - after // step) for step, sign in signed)

    def horizon(self, progress: int, stream: str) -> int | None:
        """The time up to which elements of the stream are past for all instants after `progress`.

        None: a window counts elements, so that depends on how many there are.
        """
        windows = self._on(stream)
        ends = [self._end(window, progress) for window in windows if not isinstance(window, CountWindow)]
        return min(ends) if len(ends) == len(windows) and ends else None

    def seen_until(self, last: int, stream: str) -> int | None:
        """A time with an instant at which no window sees an element of the stream up to `last` any more, and neither
        does a later instant. None: there may be no such time.

        Windows that elements do not leave by themselves change when others come, and so have no instant in between,
        unless there are steps.
        """
        ends = [self._leaves(window, last) for window in self._on(stream)]
        known = [end for end in ends if end is not None]
        if len(known) < len(ends):
            return None if self.steps else max([last, *known])
        after = max(known, default=last)
        return min((ceiling(after + 1, step) for step in self.steps), default=after)

    def _leaves(self, window: Window, last: int) -> int | None:
        """A time at which all elements up to `last` have left the window; None: they stay until others come."""
        if isinstance(window, TimeWindow):
            return last + window.delay + window.range + window.step
        return None if isinstance(window, CountWindow) or window.range is None else last + window.range

    def tail(self, stream: str) -> int:
        """The number of the newest elements up to the progress that windows which count elements still need."""
        counting = [window for window in self._on(stream) if isinstance(window, CountWindow)]
        return max((window.size + window.step for window in counting), default=0)

    def _on(self, stream: str) -> tuple[Window, ...]:
        return self.windows.get(stream, self.elsewhere)

    def _end(self, window: TimeWindow | SlideWindow, progress: int) -> int:
        """The horizon of one window. An instant at a change sees all elements of a window with a step."""
        if isinstance(window, SlideWindow):
            left = None if window.range is None else floor(progress - window.range, window.slide) + window.slide - 1
            return _NEVER_LEAVES if left is None else left
        seen = progress if self.deltas else self.next_instant(progress)
        return floor(seen, window.step) - window.delay - window.range


def schedule(query: Query, *, deltas: bool = False) -> Schedule:
    """The evaluation schedule of a query."""
    windows: dict[str, tuple[Window, ...]] = {}
    for source in query.streams:
        windows[source.iri.value] = (*windows.get(source.iri.value, ()), source.window)
    return Schedule(_steps(query), _is_at_changes(query), windows, deltas=deltas)


def is_periodic(query: Query) -> bool:
    """Whether all its instants are multiples of a step, so that it can be evaluated at fewer of them."""
    return query.emit != "events" and bool(query.streams) and not _is_at_changes(query)


def stretched(query: Query, factor: int) -> Query:
    """The query with one instant in the place of `factor` instants: at these the answers are as before."""
    if factor == 1:
        return query
    every = min(_steps(query)) * factor
    return replace(query, registration=replace(query.registration or Registration(None), every=every))


def _steps(query: Query) -> tuple[int, ...]:
    if (every := _every(query)) is not None:
        return (every,)
    return tuple(dict.fromkeys(s.window.step for s in query.streams if isinstance(s.window, TimeWindow)))


def _is_at_changes(query: Query) -> bool:
    return _every(query) is None and not all(isinstance(s.window, TimeWindow) for s in query.streams)


def _every(query: Query) -> int | None:
    """The period that COMPUTED EVERY says."""
    return None if query.registration is None else query.registration.every

"""Tree → algebra, windows of all languages (`windows.py` defines their meaning)."""

from __future__ import annotations

from penstock.algebra.build.base import BuilderBase
from penstock.algebra.windows import UNITS, CountWindow, SlideWindow, TimeWindow, Window
from penstock.syntax import tree

__all__ = ["WindowBuilder"]

LONGEST = 10_000 * 366 * UNITS["d"]  # times and durations can then be added without leaving 64 bits

_EMPTY = "a window of length 0 holds nothing"
_STILL = "a window with step 0 never moves"


class WindowBuilder(BuilderBase):
    def window(self, window: tree.Window) -> Window:
        match window:
            case tree.TimeWindow():
                return self.time_window(window)
            case tree.PastWindow():
                return self.past_window(window)
            case tree.SlideWindow():
                return self.slide_window(window)
            case tree.CountWindow():
                return self.count_window(window)
            case tree.NowWindow():
                return SlideWindow(1, 1)

    def time_window(self, window: tree.TimeWindow) -> TimeWindow:
        return TimeWindow(self.microseconds(window.range, _EMPTY), self.microseconds(window.step, _STILL))

    def past_window(self, window: tree.PastWindow) -> TimeWindow:
        start, end = self.microseconds(window.start), self.microseconds(window.end)
        step = self.microseconds(window.step, _STILL)
        if start <= end:
            reason = _EMPTY if start == end else "this window ends before it starts"
            self.fail(reason, window.span, "the earlier time comes first, as in [FROM NOW-2h TO NOW-1h STEP 10m]")
        return TimeWindow(start - end, step, end)

    def slide_window(self, window: tree.SlideWindow) -> SlideWindow:
        """The window; without a slide each element leaves on its own. Streaming SPARQL defines no slide beyond the
        range (definition 3)."""
        if window.range is None:
            return SlideWindow(None)
        range_ = self.microseconds(window.range, _EMPTY)
        slide = 1 if window.slide is None else self.microseconds(window.slide, "a window with slide 0 never moves")
        if range_ < slide:
            reason = "the window is shorter than its slide, so some elements would never be seen"
            self.fail(reason, window.span, "write a smaller SLIDE, or STEP to sample the stream")
        return SlideWindow(range_, slide)

    def count_window(self, window: tree.CountWindow) -> CountWindow:
        size = self.count(window.size, "a window of 0 triples holds nothing")
        return CountWindow(size, 1 if window.step is None else self.count(window.step, _STILL))

    def microseconds(self, duration: tree.Duration, if_zero: str | None = None) -> int:
        value = duration.amount * UNITS[duration.unit]
        if value == 0 and if_zero is not None:
            self.fail(if_zero, duration.span)
        if value > LONGEST:
            self.fail("this is longer than 10000 years", duration.span)
        return value

    def count(self, count: tree.Count, if_zero: str) -> int:
        if count.amount == 0:
            self.fail(if_zero, count.span)
        return count.amount

"""Parse tree → windows and durations, for all languages: the rules `window` and `duration` of their grammar files."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from lark import Token

from penstock.syntax import tree
from penstock.syntax.transform.base import TransformerBase
from penstock.syntax.units import UNITS

__all__ = ["WindowTransformer"]

_MOST_DIGITS = 15  # enough for any window, and for a message that says what is wrong with others
_ISO = re.compile(
    r"P(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+)(?:\.(?P<f>\d{1,6}))?S)?)?",
    re.IGNORECASE,
)
_IN_SMALLER = {"w": (7, "d"), "d": (24, "h"), "h": (60, "m"), "m": (60, "s"), "s": (1_000, "ms"), "ms": (1_000, "us")}


class WindowTransformer(TransformerBase):
    # Windows in square brackets

    def sliding_window(self, start: Token, range_: tree.Duration, step: tree.Duration, end: Token) -> tree.TimeWindow:
        return tree.TimeWindow(range_, step, self.span_between(start, end))

    def tumbling_window(self, start: Token, range_: tree.Duration, end: Token) -> tree.TimeWindow:
        return self.sliding_window(start, range_, range_, end)

    def counting_window(self, start: Token, size: tree.Count, *rest: Any) -> tree.CountWindow:
        *steps, end = rest
        return tree.CountWindow(size, steps[0] if steps else None, self.span_between(start, end))

    def tumbling_counting_window(self, start: Token, size: tree.Count, end: Token) -> tree.CountWindow:
        return self.counting_window(start, size, size, end)

    def open_window(self, start: Token, range_: tree.Duration, end: Token) -> tree.SlideWindow:
        return tree.SlideWindow(range_, None, self.span_between(start, end))

    def gliding_window(self, start: Token, range_: tree.Duration, slide: tree.Duration, end: Token) -> tree.SlideWindow:
        return tree.SlideWindow(range_, slide, self.span_between(start, end))

    def now_window(self, start: Token, now: Token, end: Token) -> tree.NowWindow:
        return tree.NowWindow(self.span_between(start, end))

    def all_window(self, start: Token, end: Token) -> tree.SlideWindow:
        return tree.SlideWindow(None, None, self.span_between(start, end))

    def past_window(
        self, bracket: Token, start: tree.Duration, end: tree.Duration, step: tree.Duration, closing: Token
    ) -> tree.PastWindow:
        return tree.PastWindow(start, end, step, self.span_between(bracket, closing))

    def present(self, now: Token) -> tree.Duration:
        return tree.Duration(0, "s", self.span(now))

    def ago(self, now: Token, duration: tree.Duration) -> tree.Duration:
        return tree.Duration(duration.amount, duration.unit, self.span(now).to(duration.span), duration.bare)

    # Durations

    def duration(self, amount: Token, unit: Token) -> tree.Duration:
        return tree.Duration(self._whole(amount), UNITS[unit.lower()], self.span_between(amount, unit))

    def milliseconds(self, amount: Token) -> tree.Duration:
        return tree.Duration(self._whole(amount), "ms", self.span(amount), bare=True)

    def iso_duration(self, written: Token) -> tree.Duration:
        """The duration in the smallest of its units: PT1H30M is 90 minutes."""
        match = _ISO.fullmatch(written)
        parts = {} if match is None else {unit: text for unit, text in match.groupdict().items() if text}
        if not parts or written[-1] in "Tt":
            self._fail_duration(written)
        amount, unit = 0, next(iter(parts))
        for part in (each for each in parts if each != "f"):
            while unit != part:
                factor, unit = _IN_SMALLER[unit]
                amount *= factor
            amount += self._digits(parts[part], written)
        if fraction := parts.get("f", "").rstrip("0"):
            unit, digits = ("ms", 3) if len(fraction) <= 3 else ("us", 6)
            amount = amount * 10**digits + int(fraction.ljust(digits, "0"))
        return tree.Duration(amount, unit, self.span(written))

    def _fail_duration(self, written: Token) -> NoReturn:
        reason, hint = f"{written} is no duration", "durations are written as in PT10S, PT1M30S, P1DT12H, or 10s"
        if re.match(r"P\d+[YM]", written, re.IGNORECASE):
            reason = f"{written} is no window: years and months differ in length"
            hint = "write days, as in P30D"
        self.fail(reason, self.span(written), hint)

    def count(self, amount: Token) -> tree.Count:
        return tree.Count(self._whole(amount), self.span(amount))

    def _whole(self, number: Token) -> int:
        return self._digits(str(number), number)

    def _digits(self, digits: str, place: Token) -> int:
        if len(digits) > _MOST_DIGITS:
            self.fail("this number is too large", self.span(place))
        return int(digits)

"""The progress line of a run, at the bottom of a terminal, below the answers that scroll."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from penstock.stream.runtime.progress import Progress

__all__ = ["ProgressLine", "describe"]

_ERASE = "\r\x1b[2K"
_WHERE = "written to the dead letters (with --checkpoint DIR, penstock dead DIR prints them)"
_SOON = 0.1  # seconds between two drawings


class ProgressLine:
    """Draws on standard error if that is a terminal. At the end it always writes the number of refused elements."""

    def __init__(self, out: TextIO | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._out = out or sys.stderr
        self._now = now
        self._shown = self._out is not None and self._out.isatty()
        self._lock = RLock()
        self._started: float | None = None
        self._drawn = float("-inf")
        self._last: Progress | None = None

    def __enter__(self) -> ProgressLine:
        self._started = self._now()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()
        if self._last is not None and (refused := _refused(self._last)):
            self._out.write(f"{refused}: {_WHERE}\n")
        if self._last is not None and self._last.answers == 0 and kind is None:
            self._out.write(f"{_silence(self._last)}\n")
        self._started = None

    def update(self, progress: Progress) -> None:
        """Take the progress of the engine; redraws at most ten times a second."""
        with self._lock:
            self._last = progress
            if self._now() - self._drawn >= _SOON:
                self.draw()

    def draw(self) -> None:
        """Draw the current line."""
        with self._lock:
            if not self._shown or self._last is None or self._started is None:
                return
            self._drawn = self._now()
            self._out.write(_ERASE + describe(self._last, self._drawn - self._started))
            self._out.flush()

    def clear(self) -> None:
        """Erase the line, so that something else can be written there."""
        with self._lock:
            if self._shown and self._drawn > float("-inf"):
                self._out.write(_ERASE)
                self._out.flush()


def describe(progress: Progress, seconds: float) -> str:
    """Elements read, their rate, how far answers are behind the newest element, and how many there were."""
    from penstock.stream.runtime.status_table import duration

    parts = [f"{progress.elements:,} elements"]
    if seconds > 0:
        parts.append(f"{progress.elements / seconds:,.0f}/s")
    if progress.lag is not None:
        parts.append(f"{duration(progress.lag)} behind")
    if progress.stretched > 1:
        parts.append(f"1 of {progress.stretched} instants")
    parts.append(f"{progress.answers:,} answers")
    return " · ".join([*parts, *filter(None, [_refused(progress)])])


def _silence(progress: Progress) -> str:
    """The reason why there was no answer."""
    if progress.elements == 0:
        return "no element was read, so there is nothing to answer"
    return "nothing to answer: instants that are complete were answered before (by a run with the same --checkpoint)"


def _refused(progress: Progress) -> str:
    counts = {"late": progress.late, "malformed": progress.malformed}
    return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)

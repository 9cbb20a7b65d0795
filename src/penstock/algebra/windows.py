"""Windows: from an element of a stream to the time during which a query can see it. Time is microseconds since 1970.

[RANGE ρ STEP σ]      τ is visible during [⌈τ/σ⌉σ, ⌈(τ+ρ)/σ⌉σ); [RANGE ρ TUMBLING] is the same with σ = ρ.
                      With σ > ρ it samples: where that interval is empty, no instant sees the element
[FROM NOW-α TO NOW-β STEP σ]  the same with ρ = α−β for an element of the time τ+β: a window in the past
RANGE w SLIDE δ       τ is visible during [τ, ⌊τ/δ⌋δ + w); FIXED is the same with δ = w
[RANGE ρ]             the same with δ the smallest time there is, so that it is [τ, τ+ρ); [NOW] holds an instant alone
[ALL]                 τ is visible from τ on, for ever
[RANGE TRIPLES n]     the i-th element is visible from its own time until that of element i+n; ELEMS n, ELEMENTS n
[… TRIPLES n STEP m]  the same, but the content changes only at every m-th element
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
UNITS["w"] = 7 * UNITS["d"]


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """At the instant kσ it holds the elements with kσ−β−ρ < τ ≤ kσ−β (ρ the range, σ the step, β the delay, which is
    for windows in the past), until the next instant. With σ > ρ it is a sample: most elements are in no content."""

    range: int
    step: int
    delay: int = 0

    def visible(self, time: int) -> tuple[int, int]:
        """The visibility interval of an element with that timestamp: start, and exclusive end. It may be empty if the
        window samples."""
        seen = time + self.delay
        return ceiling(seen, self.step), ceiling(seen + self.range, self.step)

    @property
    def samples(self) -> bool:
        """Whether some elements are never seen."""
        return self.range < self.step


@dataclass(frozen=True, slots=True)
class SlideWindow:
    """An element enters at its own time and leaves together with all of its slide: [τ, ⌊τ/δ⌋δ + w). No range: never."""

    range: int | None
    slide: int = 1

    def visible(self, time: int) -> tuple[int, int | None]:
        """The visibility interval of an element with that timestamp: start, and exclusive end (None: for ever)."""
        return time, None if self.range is None else floor(time, self.slide) + self.range


@dataclass(frozen=True, slots=True)
class CountWindow:
    """After every `step`-th element it holds the last `size` elements."""

    size: int
    step: int = 1

    def entering(self, rank: int) -> int:
        """The number (from 1) of the element whose time makes the `rank`-th element visible."""
        return ceiling(rank, self.step)

    def leaving(self, rank: int) -> int:
        """The number of the element whose time makes the `rank`-th element invisible."""
        return ceiling(rank + self.size, self.step)


Window: TypeAlias = TimeWindow | SlideWindow | CountWindow


def ceiling(value: int, step: int) -> int:
    """The smallest multiple of the step that is not below the value."""
    return value + -value % step


def floor(value: int, step: int) -> int:
    """The largest multiple of the step that is not above the value."""
    return value - value % step

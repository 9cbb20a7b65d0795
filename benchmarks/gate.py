"""The gate of CI: the ratio benchmarks at small sizes, with bars of their own.

It is there to show a lost broadcast, pushdown or kernel on the day it happens; the promises are the bars of
`docs/benchmarks.md`, at full sizes. A comment has the ratio that two quiet cores gave at these sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from benchmarks.common import Effort
from benchmarks.report import Section, at_most

__all__ = ["GATES", "Gate"]


@dataclass(frozen=True, slots=True)
class Gate:
    """A part of the benchmarks, its effort, and the limits of its ratios by the beginning of their names."""

    part: str
    effort: Effort
    limits: Mapping[str, float]

    def judged(self, section: Section) -> Section:
        """The section with the gate's limits as its only bars. A limit without a ratio is an error of the table."""
        ratios = {bar.what: bar.value for bar in section.bars if bar.value is not None}
        found = {what: self._limit(what) for what in ratios}
        if unused := self.limits.keys() - {limit for limit in found.values() if limit is not None}:
            raise ValueError(f"{self.part}: nothing was measured for {', '.join(sorted(unused))}")
        bars = [
            at_most(what, ratios[what] or 0.0, self.limits[name]) for what, name in found.items() if name is not None
        ]
        return replace(section, bars=bars)

    def _limit(self, what: str) -> str | None:
        return next((name for name in self.limits if what.startswith(name)), None)


GATES = (
    Gate(
        "live",
        Effort(0.1),  # ten answers: enough for a median, not for a 99th percentile
        {
            "tumbling, 1m: median, ratio": 1.2,  # 0.4; Java compiles while Penstock answers
            "sliding, 5m by 1m: median, ratio": 1.2,  # 0.4
            "20 different queries to one": 15,  # 4.2; 12 and more where each has a job of its own
        },
    ),
    Gate(
        "replay",
        Effort(0.1, repeats=3),
        {
            "topic count": 1.8,  # 1.1; 1.4 on a busy machine
            "district count": 1.5,  # 1.05; 1.9 where the stream is broadcast
            "turning cars": 2,  # 1.2
            "range/step = 60": 1.9,  # 1.3
        },
    ),
    Gate(
        "outputs",
        Effort(0.1, repeats=3),
        {  # twice the ratio, and at least 1.5
            "OPTIONAL to inner join": 2.5,  # 1.2
            "MINUS to inner join": 1.5,  # 0.9
            "NOT EXISTS to inner join": 1.5,  # 0.8
            "ISTREAM to RSTREAM": 1.5,  # 1.05; 0.6 at full size
            "intervals, slowest to fastest slide": 1.7,  # 1.2
        },
    ),
    Gate(
        "sequences",
        Effort(0.1, repeats=3),
        {
            "Penstock to PySpark self-join": 1,  # 0.2 at full size
            "Penstock to Python loop": 3.5,  # 1.7: fixed costs of a job; 0.5 at full size
        },
    ),
    Gate("start", Effort(0.1, repeats=2), {"quick to plain": 0.8}),  # 0.4 to 0.57; 1 where no archive is mapped
)

"""Formats numbers of rows, times and sizes for people."""

from __future__ import annotations

from penstock.explain.model import Figures

__all__ = ["amount", "counted", "figure_lines", "rows", "seconds"]


def rows(count: float | None) -> str:
    """About so many: 0.3, 1.5, 12, 1,200, 3.4M."""
    if count is None:
        return "–"
    if count >= 1e6:
        return f"{count / 1e6:.1f}M"
    return f"{count:,.0f}" if count >= 10 else f"{count:.2g}"


def seconds(time: float | None) -> str:
    return "–" if time is None else f"{time * 1000:.0f} ms" if time < 1 else f"{time:.1f} s"


def counted(number: int, what: str) -> str:
    """1 row, 2 rows."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def amount(bytes: int) -> str:
    """Bytes: 340 kB, 1.2 MB."""
    return f"{bytes:,} bytes" if bytes < 1e3 else f"{bytes / 1e3:.0f} kB" if bytes < 1e6 else f"{bytes / 1e6:.1f} MB"


def figure_lines(figures: Figures | None) -> list[str]:
    """The lines of a node's figures: estimated beside actual rows, time, and state."""
    if figures is None:
        return []
    parts = [] if figures.estimated is None else [f"expected {rows(figures.estimated)}"]
    parts += [] if figures.actual is None else [f"found {rows(figures.actual)}"]
    parts += [] if figures.rows is None or figures.rows == figures.actual else [f"{figures.rows:,} in all"]
    parts += [] if figures.seconds is None else [seconds(figures.seconds)]
    return [line for line in (" · ".join(parts), figures.state or "") if line]

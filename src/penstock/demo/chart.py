"""A line chart in plain characters, for terminals and for files alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

__all__ = ["chart"]

_MARKS = "●■▲◆○□△◇"
_COLOURS = ("cyan", "magenta", "yellow", "green", "red", "blue", "white", "bright_black")
_STRETCH = 2  # columns between two points


def chart(title: str, labels: Sequence[str], series: Mapping[str, Sequence[float | None]], height: int = 14) -> Text:
    """Each series with a mark and a colour of its own over shared labels, and below a legend. None leaves a gap."""
    top = max((value for values in series.values() for value in values if value is not None), default=0) or 1
    grid = [[" "] * (len(labels) * _STRETCH) for _ in range(height)]
    for mark, values in zip(_MARKS * len(series), series.values(), strict=False):
        for place, value in enumerate(values):
            if value is not None:
                grid[height - 1 - round(value / top * (height - 1))][place * _STRETCH] = mark
    text = Text(f"{title}\n", style="bold")
    for row, cells in enumerate(grid):
        scale = round(top * (height - 1 - row) / (height - 1))
        text.append(f"{scale:>5} ┤" if row % 3 == (height - 1) % 3 else "      │", style="default not bold")
        for cell in cells:
            text.append(cell, style=f"{_colour(cell)} not bold")
        text.append("\n")
    text.append(_axis(labels), style="default not bold")
    return text.append_text(_legend(series))


def _colour(mark: str) -> str:
    return _COLOURS[_MARKS.index(mark)] if mark in _MARKS else "default"


def _axis(labels: Sequence[str]) -> str:
    """A line, and below it as many labels as fit."""
    line = "      └" + "─" * (len(labels) * _STRETCH) + "\n"
    below = [" "] * (7 + len(labels) * _STRETCH + 8)
    room = max(1, -(-8 // _STRETCH)) if labels else 1
    for place in range(0, len(labels), max(room, 5)):
        below[7 + place * _STRETCH : 7 + place * _STRETCH + len(labels[place])] = labels[place]
    return line + "".join(below).rstrip() + "\n"


def _legend(series: Mapping[str, object]) -> Text:
    legend = Text("       ")
    for mark, name in zip(_MARKS * len(series), series, strict=False):
        legend.append(f"{mark} ", style=f"{_colour(mark)} not bold").append(f"{name}   ", style="default not bold")
    return legend

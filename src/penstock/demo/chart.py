"""A line chart in plain characters, for terminals and for files alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

__all__ = ["chart"]

_MARKS = "●■▲◆○□△◇"
_COLOURS = ("cyan", "magenta", "yellow", "green", "red", "blue", "white", "bright_black")
_MARGIN = 7  # columns before the first point
_STRETCH = 2  # columns between two points, where there is room


def chart(
    title: str,
    labels: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    height: int = 14,
    width: int = 110,
) -> Text:
    """Each series with a mark and a colour of its own over shared labels, and below a legend. None leaves a gap.

    Where not all points fit into the width, every second one is left out, or two of three, and so on.
    """
    room = max(1, width - _MARGIN)
    every = max(1, -(-len(labels) // room))
    labels, series = labels[::every], {name: values[::every] for name, values in series.items()}
    stretch = _STRETCH if len(labels) * _STRETCH <= room else 1
    top = max((value for values in series.values() for value in values if value is not None), default=0) or 1
    grid = [[" "] * (len(labels) * stretch) for _ in range(height)]
    for mark, values in zip(_MARKS * len(series), series.values(), strict=False):
        for place, value in enumerate(values):
            if value is not None:
                grid[height - 1 - round(value / top * (height - 1))][place * stretch] = mark
    text = Text(f"{title}\n", style="bold")
    for row, cells in enumerate(grid):
        scale = round(top * (height - 1 - row) / (height - 1))
        text.append(f"{scale:>5} ┤" if row % 3 == (height - 1) % 3 else "      │", style="default not bold")
        for cell in cells:
            text.append(cell, style=f"{_colour(cell)} not bold")
        text.append("\n")
    text.append(_axis(labels, stretch, room), style="default not bold")
    return text.append_text(_legend(series))


def _colour(mark: str) -> str:
    return _COLOURS[_MARKS.index(mark)] if mark in _MARKS else "default"


def _axis(labels: Sequence[str], stretch: int, room: int) -> str:
    """A line, and below it as many labels as fit."""
    line = "      └" + "─" * (len(labels) * stretch) + "\n"
    below = [" "] * room
    for place in range(0, len(labels), 10 // stretch):
        start, end = place * stretch, place * stretch + len(labels[place])
        if end <= room:
            below[start:end] = labels[place]
    return line + (" " * _MARGIN + "".join(below)).rstrip() + "\n"


def _legend(series: Mapping[str, object]) -> Text:
    legend = Text("       ")
    for mark, name in zip(_MARKS * len(series), series, strict=False):
        legend.append(f"{mark} ", style=f"{_colour(mark)} not bold").append(f"{name}   ", style="default not bold")
    return legend

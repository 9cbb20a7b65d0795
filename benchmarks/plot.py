"""Lines on two axes, both logarithmic or both linear, and groups of columns, as SVG: enough for some figures, and
nothing to install."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 74, 190, 44, 58  # margins; names of lines stand at the right
FONT = "font-family='system-ui, sans-serif' font-size='13'"
COLOURS = ("#b5472f", "#1f6f8b", "#3a8f5c", "#7b5aa6")


@dataclass(frozen=True, slots=True)
class Line:
    """A name and its points, from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Axis:
    """Whole powers of ten from one end of the picture to the other."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float) -> Axis:
        logs = [math.log10(value) for value in values]
        return cls(math.floor(min(logs)), math.ceil(max(logs)), start, end)

    def place(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        return [10.0**power for power in range(int(self.low), int(self.high) + 1)]


class Linear(Axis):
    """From zero to a round number, with a mark at some others."""

    __slots__ = ()

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float) -> Linear:
        largest = max(values)
        step = _step(largest)
        return cls(0, math.ceil(largest / step) * step, start, end)

    def place(self, value: float) -> float:
        return self.start + value / self.high * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        step = _step(self.high)
        return [step * n for n in range(round(self.high / step) + 1)]


def _step(largest: float) -> float:
    """One, two or five times a power of ten: the least of which at most six reach the end."""
    power = 10.0 ** math.floor(math.log10(largest / 6))
    return next(power * times for times in (1, 2, 5, 10) if power * times * 6 >= largest)


def svg(lines: Sequence[Line], title: str, across: str, up: str, axis: type[Axis] = Axis) -> str:
    """The whole picture, readable on light and dark pages."""
    x = axis.over((p[0] for line in lines for p in line.points), LEFT, WIDTH - RIGHT)
    y = axis.over((p[1] for line in lines for p in line.points), HEIGHT - BOTTOM, TOP)
    return _picture(title, [*_across(x, y, across), *_up(x, y, up), *_drawn(lines, x, y)])


def columns(groups: Mapping[str, Mapping[str, float]], title: str, up: str) -> str:
    """For each name of a group a column for each of its values, by a logarithmic axis."""
    y = Axis.over((value for group in groups.values() for value in group.values()), HEIGHT - BOTTOM, TOP)
    x = Linear(0, len(groups), LEFT, WIDTH - RIGHT)
    found = _up(x, y, up)
    for at, (name, group) in enumerate(groups.items()):
        found.append(_text(x.place(at + 0.5), y.start + 20, name, "middle"))
        wide = (x.place(1) - x.place(0)) * 0.8 / len(group)
        for number, (value, colour) in enumerate(zip(group.values(), COLOURS, strict=False)):
            left, level = x.place(at + 0.1) + number * wide, y.place(value)
            box = f"x='{left:.1f}' y='{level:.1f}' width='{wide - 2:.1f}' height='{y.start - level:.1f}'"
            found.append(f"<rect {box} fill='{colour}'/>")
    for number, (name, colour) in enumerate(zip(next(iter(groups.values())), COLOURS, strict=False)):
        found.append(_text(WIDTH - RIGHT + 16, TOP + 20 + 22 * number, name, "start", f"fill='{colour}'"))
    return _picture(title, found)


def _picture(title: str, drawn: Iterable[str]) -> str:
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' role='img' {FONT}>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{WIDTH}' height='{HEIGHT}' fill='#fff'/>",
        _text(LEFT, 24, title, "start", "font-weight='600'"),
        *drawn,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _across(x: Axis, y: Axis, name: str) -> list[str]:
    middle = (x.start + x.end) / 2
    marks = [_text(x.place(tick), y.start + 20, f"{tick:,.0f}", "middle") for tick in x.ticks]
    return [*marks, _text(middle, y.start + 44, name, "middle", "fill='#555'")]


def _up(x: Axis, y: Axis, name: str) -> list[str]:
    found = []
    for tick in y.ticks:
        level = y.place(tick)
        found.append(f"<path d='M{x.start} {level:.1f}H{x.end}' stroke='#ddd'/>")
        found.append(_text(x.start - 8, level + 4, f"{tick:g}", "end"))
    middle = (y.start + y.end) / 2
    turned = f"transform='rotate(-90 18 {middle:.0f})' fill='#555'"
    return [*found, _text(18, middle, name, "middle", turned)]


def _drawn(lines: Sequence[Line], x: Axis, y: Axis) -> list[str]:
    found = []
    names = _apart([y.place(line.points[-1][1]) for line in lines])
    for line, colour, level in zip(lines, COLOURS, names, strict=False):
        places = [(x.place(across), y.place(up)) for across, up in line.points]
        path = "L".join(f"{across:.1f} {up:.1f}" for across, up in places)
        found.append(f"<path d='M{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
        found += [f"<circle cx='{across:.1f}' cy='{up:.1f}' r='3' fill='{colour}'/>" for across, up in places]
        found.append(_text(places[-1][0] + 10, level + 4, line.name, "start", f"fill='{colour}'"))
    return found


def _apart(levels: Sequence[float], least: float = 18) -> list[float]:
    """Names that would stand on each other, moved down as little as needed."""
    moved = list(levels)
    order = sorted(range(len(levels)), key=levels.__getitem__)
    for above, below in pairwise(order):
        moved[below] = max(moved[below], moved[above] + least)
    return moved


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' {more}>{escape(text)}</text>"

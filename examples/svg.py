"""The few shapes that the examples' pictures are made of, as SVG text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

__all__ = ["GREY", "INK", "Points", "Scale", "circle", "line", "page", "path", "rect", "text"]

INK, GREY = "#23303a", "#8a959c"
FONT = "font-family='system-ui, -apple-system, Segoe UI, DejaVu Sans, sans-serif'"

Points = Sequence[tuple[float, float]]


class Scale:
    """Numbers from `low` to `high` on a line from `start` to `end`."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def page(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """A whole picture, on white so that it can be read on dark pages too."""
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' role='img' {FONT} font-size='13'>"
    paper = rect(0, 0, width, height, fill="#fff")
    return "\n".join([head, f"<title>{escape(title)}</title>", paper, *parts, "</svg>"]) + "\n"


def path(points: Points, **style: object) -> str:
    """Straight from point to point."""
    steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f"<path d='M{steps}' {_attributes({'fill': 'none', 'stroke': INK, **style})}/>"


def line(x1: float, y1: float, x2: float, y2: float, **style: object) -> str:
    return path([(x1, y1), (x2, y2)], **style)


def circle(x: float, y: float, radius: float, **style: object) -> str:
    return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius:g}' {_attributes(style)}/>"


def rect(x: float, y: float, width: float, height: float, **style: object) -> str:
    return f"<rect x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{height:.1f}' {_attributes(style)}/>"


def text(x: float, y: float, words: str, **style: object) -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' {_attributes({'fill': INK, **style})}>{escape(words)}</text>"


def _attributes(style: dict[str, object]) -> str:
    """`stroke_width=2` is stroke-width='2'."""
    return " ".join(f"{name.replace('_', '-')}={quoteattr(str(value))}" for name, value in style.items())

"""The display of the demo: a table per query, updated with its answers, and a plot at the end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from threading import Lock
from types import TracebackType

from pyoxigraph import Literal
from rich.columns import Columns
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from penstock.answer import Answer, Term
from penstock.demo.chart import chart

__all__ = ["Board"]

_PLOTTED = "CarsPerGate"
_EVERY = 5  # minutes between two looks where nothing can be drawn over
_LONGEST = 8  # rows of a table


class Board:
    """The screen of the demonstration. On a terminal all tables stand still and change; in a file they are printed
    every few minutes of the city's."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = Lock()
        self._titles: dict[str, str] = {}
        self._latest: dict[str, Answer] = {}
        self._history: dict[datetime, Mapping[str, float]] = {}
        self._headline = ""
        self._printed: datetime | None = None
        self._live = Live(console=console, refresh_per_second=8) if console.is_terminal else None

    def __enter__(self) -> Board:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.update(self._tables(), refresh=True)
            self._live.stop()
        elif kind is None:
            self._console.print(self._tables())

    def announce(self, query: str, title: str) -> None:
        """Add a table for a query."""
        self._titles[query] = title

    def show(self, answer: Answer) -> None:
        """The sink of all queries."""
        with self._lock:
            self._latest[answer.query or ""] = answer
            if answer.query == _PLOTTED and answer.time is not None:
                self._history[answer.time] = dict(map(_count, answer.rows))
        if self._live:
            self._live.update(self._tables())

    def tick(self, clock: datetime, pushed: int, speed: float) -> None:
        """Show the new time of the city's clock."""
        self._headline = (
            f"{clock:%H:%M:%S} in the city, {speed:g} times as fast as here · {pushed:,} passages registered"
        )
        if self._live:
            self._live.update(self._tables())
        elif self._printed is None or (clock - self._printed).total_seconds() >= _EVERY * 60:
            self._printed = clock
            self._console.print(self._tables())

    def plot(self) -> Text:
        """Plot the number of cars at each gate over the morning."""
        with self._lock:
            times = sorted(self._history)
            gates = sorted({gate for counts in self._history.values() for gate in counts})
            series = {gate: [self._history[time].get(gate) for time in times] for gate in gates}
        return chart(
            "Cars in the last 10 minutes, by gate",
            [f"{time:%H:%M}" for time in times],
            series,
            width=self._console.width,
        )

    def _tables(self) -> Group:
        with self._lock:
            panels = [self._panel(query, title) for query, title in self._titles.items()]
        return Group(Text(self._headline, style="bold"), Columns(panels, equal=False))

    def _panel(self, query: str, title: str) -> Panel:
        answer = self._latest.get(query)
        when = f"{answer.time:%H:%M}" if answer and answer.time else "no answer yet"
        body = Group(Text(title, style="bold"), Text(), _rows(answer) if answer else Text("…"))
        return Panel(body, subtitle=when, subtitle_align="right", width=self._width())

    def _width(self) -> int:
        return max(24, self._console.width // max(1, len(self._titles)) - 1)


def _rows(answer: Answer) -> Text:
    """The rows, the largest numbers first, without the long beginnings of IRIs."""
    rows = sorted(answer.rows, key=lambda row: _order(tuple(row.values())))
    lines = ["  ".join(_short(term) for term in row.values()) for row in rows[:_LONGEST]]
    more = [f"… and {len(rows) - _LONGEST} more"] if len(rows) > _LONGEST else []
    return Text("\n".join([*lines, *more]) or "none")


def _order(terms: tuple[Term, ...]) -> tuple[int, str]:
    number = next((int(term.value) for term in terms if isinstance(term, Literal)), 0)
    return -number, str(terms[0])


def _count(row: Mapping[str, Term]) -> tuple[str, float]:
    """A row of a name and a number."""
    name, number = row.values()
    return _short(name).strip(), float(number.value)


def _short(term: Term) -> str:
    """The last part of an IRI, in a column; a number to its right."""
    text = term.value.rpartition("#")[2]
    return f"{text:>4}" if isinstance(term, Literal) else f"{text:<12}"

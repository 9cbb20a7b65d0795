"""`penstock demo city-static`: the map of a small city and a few queries on it, answered by Spark."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

if TYPE_CHECKING:
    from penstock.engine import Engine

__all__ = ["CITY", "play", "queries"]

_DATA = Path(__file__).parents[1] / "data"
CITY = _DATA / "city.ttl"


def queries() -> Iterator[tuple[str, str]]:
    """Each query of the demo with the question it answers, which is its first line."""
    for path in sorted(_DATA.glob("*.rq")):
        question, _, text = path.read_text("utf-8").partition("\n")
        yield question.removeprefix("# "), text.strip()


def play(open_engine: Callable[[], AbstractContextManager[Engine]], console: Console | None = None) -> None:
    """Load the city and answer all queries, with each query, its answer and the time it took."""
    console = console or Console(width=None if sys.stdout.isatty() else 110)
    started = time.perf_counter()
    with console.status("Starting Spark…"), open_engine() as engine:
        engine.load(str(CITY))
        console.print(f"Spark is up and the city is loaded ({_since(started)}).\n")
        for question, text in queries():
            _show(console, engine, question, text)
    console.print("Now yours: penstock run QUERY.rq --background FILE.ttl")


def _show(console: Console, engine: Engine, question: str, text: str) -> None:
    started = time.perf_counter()
    answer = str(engine.query(text))
    query = Syntax(text, "sparql", background_color="default", word_wrap=True)
    body = Group(query, Text(), Text.from_ansi(answer))
    console.print(Panel(body, title=question, title_align="left", subtitle=_since(started), subtitle_align="right"))


def _since(started: float) -> str:
    return f"{time.perf_counter() - started:.1f} s"

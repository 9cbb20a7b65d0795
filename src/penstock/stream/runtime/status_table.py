"""The status of an engine as plain text: a line about the engine, a table of its streams, and one of its queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from penstock.io.results import time_text
from penstock.io.results.cells import width

if TYPE_CHECKING:
    from penstock.stream.runtime.progress import EngineStatus, QueryStatus, StreamStatus

__all__ = ["duration", "status_text"]

_Columns = Mapping[str, Callable[[Any], str]]


def status_text(status: EngineStatus) -> str:
    """The status as text, for `print`. A column without a value is left out; `-` is an unknown value."""
    parts = [_summary(status)]
    for columns, rows in ((_STREAMS, status.streams.items()), (_QUERIES, status.queries.items())):
        if rows:
            parts.append("\n".join(_table(columns, rows)))
    return "\n\n".join(parts)


def duration(time: timedelta) -> str:
    """Short: 250 ms, 3.2 s, 5 min, 2 h."""
    seconds = time.total_seconds()
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def _summary(status: EngineStatus) -> str:
    if status.problem is not None:
        return status.problem
    counts = f"{_count(status.streams, 'stream')}, {_count(status.queries, 'query', 'queries')}"
    lag = "" if status.lag is None else f"; the slowest query is {duration(status.lag)} behind the newest element"
    return f"{'live' if status.live else 'not live'}: {counts}{lag}"


def _count(things: Mapping[str, object], one: str, several: str | None = None) -> str:
    return f"{len(things):,} {one if len(things) == 1 else several or f'{one}s'}"


def _time(time: datetime | None) -> str:
    return "-" if time is None else time_text(time)


def _stretched(query: QueryStatus) -> str:
    return "" if query.stretched == 1 and not query.skipped else f"1 of {query.stretched}, {query.skipped:,} skipped"


_STREAMS: dict[str, Callable[[tuple[str, StreamStatus]], str]] = {
    "stream": lambda row: row[0],
    "elements": lambda row: f"{row[1].elements:,}",
    "late": lambda row: f"{row[1].late:,}",
    "malformed": lambda row: f"{row[1].malformed:,}",
    "newest": lambda row: _time(row[1].newest),
    "watermark": lambda row: _time(row[1].watermark),
    "held back by": lambda row: row[1].held_back_by or "",
    "waiting": lambda row: f"{row[1].waiting:,} bytes" if row[1].waiting else "",
    "refused": lambda row: f"{row[1].refused:,}" if row[1].refused else "",
    "problem": lambda row: row[1].problem or "",
}
_QUERIES: dict[str, Callable[[tuple[str, QueryStatus]], str]] = {
    "query": lambda row: row[0],
    "state": lambda row: row[1].state,
    "answers": lambda row: f"{row[1].answers:,}",
    "answered": lambda row: _time(row[1].answered),
    "behind": lambda row: duration(row[1].behind),
    "due": lambda row: "-" if row[1].due is None else f"{row[1].due:,}",
    "instants": lambda row: _stretched(row[1]),
    "error": lambda row: row[1].error or "",
}
_NUMBERS = {"elements", "late", "malformed", "waiting", "refused", "answers", "behind", "due"}


def _table(columns: _Columns, rows: Iterable[object]) -> Iterator[str]:
    lines = list(rows)
    cells = {title: [cell(row) for row in lines] for title, cell in columns.items()}
    aligned = [_aligned(title, column) for title, column in cells.items() if any(column)]
    return ("  ".join(line).rstrip() for line in zip(*aligned, strict=True))


def _aligned(title: str, column: list[str]) -> list[str]:
    texts = [title, *column]
    widest = max(map(width, texts))
    gaps = [" " * (widest - width(text)) for text in texts]
    return [gap + text if title in _NUMBERS else text + gap for text, gap in zip(texts, gaps, strict=True)]

"""Dead letters: late elements, elements of a time to come, and malformed lines, kept in files so that none is lost
without a trace.

    ROOT/<stream>/<source>-<batch>.late.nq              timestamped N-Quads, the reason behind each in a comment
    ROOT/<stream>/<source>-<batch>.ahead.nq             the same
    ROOT/<stream>/<source>-<batch>.malformed.ndjson     {"source", "line", "text", "reason"}

A batch that runs again writes the same files again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from penstock import log
from penstock.io.nquads import parse, scope
from penstock.io.results import time_text
from penstock.io.splits import Split, chunks
from penstock.model.term_encoding import decode
from penstock.stream.base import durable_files
from penstock.stream.base.dead_letter import DeadLetter, Kind
from penstock.stream.base.time_values import stamp, to_datetime
from penstock.stream.base.watermark import Position

__all__ = ["LIMIT", "Ahead", "DeadLetters", "Malformed", "line_of", "missed_by"]

LIMIT = "limit"
"""The column of late elements with the time before which the stream was complete when they came."""

_LATE, _AHEAD, _MALFORMED = ".late.nq", ".ahead.nq", ".malformed.ndjson"
_KINDS: dict[str, Kind] = {_LATE: "late", _AHEAD: "ahead", _MALFORMED: "malformed"}
_REASON = "the stream was complete before {} when it came"
_AHEAD_REASON = "it was {} ahead of the clock, which was at {}: max_ahead is {}"
_TIME = "[-0-9T:.Z]+"
_REASONS = "|".join((_REASON.format(_TIME), _AHEAD_REASON.format("[-0-9a-z,:. ]+", _TIME, "[-0-9a-z,:. ]+")))
_LATE_LINE = re.compile(rf"(?P<line>.* \.)(?: # (?P<reason>{_REASONS}))?")
_COMPLETE_BEFORE = re.compile(_REASON.format(f"({_TIME})"))
_NO_REASON = "it came when the stream was complete up to a later time"


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that holds no element: where it came from, its number there (from 1), its text, and why."""

    source: str
    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ahead:
    """Elements that are too far ahead of the clock, and the position of the stream when they came."""

    elements: pa.Table
    position: Position


class DeadLetters:
    """The folder of dead letters."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(
        self, stream: str, name: str, late: pa.Table, malformed: Sequence[Malformed], ahead: Ahead | None = None
    ) -> None:
        """Write the dead letters of a batch, in place of what an earlier run of it has left."""
        lines = [_late_line(**row) for row in late.to_pylist()]
        far = [] if ahead is None else [_ahead_line(ahead.position, row) for row in ahead.elements.to_pylist()]
        _log(stream, name, len(lines), len(far), malformed)
        records = [json.dumps(asdict(item), ensure_ascii=False) + "\n" for item in malformed]
        for texts, path in zip((lines, far, records), self._paths(stream, name), strict=True):
            if texts:
                durable_files.make_folder(path.parent)
                durable_files.replace(path, "".join(texts).encode())
            else:
                path.unlink(missing_ok=True)

    def remove(self, stream: str, name: str) -> None:
        """Remove the dead letters of a batch that was not committed."""
        for path in self._paths(stream, name):
            path.unlink(missing_ok=True)

    def read(self, stream: str) -> Iterator[DeadLetter]:
        """The dead letters of a stream that there are now, by the time at which they were set aside."""
        paths = [path for path in self._folder(stream).glob("*") if path.name.endswith(tuple(_KINDS))]
        files = sorted((path.stat().st_mtime_ns, path) for path in paths)
        return (letter for written, path in files for letter in _letters(stream, path, written))

    def _paths(self, stream: str, name: str) -> tuple[Path, ...]:
        folder = self._folder(stream)
        return tuple(folder / f"{name}{ending}" for ending in _KINDS)

    def _folder(self, stream: str) -> Path:
        return self._root / durable_files.folder_name(stream)


def _log(stream: str, batch: str, late: int, ahead: int, malformed: Sequence[Malformed]) -> None:
    """Log that a batch has dead letters, with the first reason why a line is malformed."""
    if not late and not ahead and not malformed:
        return
    reason = f", the first because {malformed[0].reason}" if malformed else ""
    fields = {"stream": stream, "batch": batch, "late": late, "ahead": ahead, "malformed": len(malformed)}
    far = f", {ahead} too far ahead of the clock" if ahead else ""
    log.ingest.warning(
        "%s: dead letters, %d late%s and %d malformed%s", stream, late, far, len(malformed), reason, extra=fields
    )


def line_of(s: str, p: str, o: str, ts: int, g: str | None = None, start: int | None = None) -> str:
    """An element as a line of timestamped N-Quads."""
    graph = "" if g is None else f"{decode(g)} "
    return f"{decode(s)} {decode(p)} {decode(o)} {graph}{stamp(ts, start)} .\n"


def _late_line(limit: int | None = None, **row: Any) -> str:
    reason = "" if limit is None else f" # {_REASON.format(time_text(to_datetime(limit)))}"
    return line_of(**row).removesuffix("\n") + reason + "\n"


def _ahead_line(position: Position, row: Mapping[str, Any]) -> str:
    by, most = (timedelta(microseconds=time) for time in (row["ts"] - position.now, position.max_ahead or 0))
    reason = _AHEAD_REASON.format(by, time_text(to_datetime(position.now)), most)
    return line_of(**row).removesuffix("\n") + f" # {reason}\n"


def missed_by(letter: DeadLetter) -> int | None:
    """The microseconds by which a late element was before the time that was complete; None: unknown."""
    match = _COMPLETE_BEFORE.fullmatch(letter.reason)
    if match is None or letter.time is None:
        return None
    return (datetime.fromisoformat(match[1]) - letter.time) // timedelta(microseconds=1)


_Make = Callable[..., DeadLetter]


def _letters(stream: str, path: Path, written: int) -> Iterator[DeadLetter]:
    """The letters of a file. What someone has made unreadable is a letter as it is."""
    kind = next(kind for ending, kind in _KINDS.items() if path.name.endswith(ending))
    set_aside = datetime.fromtimestamp(written / 1e9, UTC)

    def letter(text: str, reason: str, **others: Any) -> DeadLetter:
        return DeadLetter(stream, kind, text, reason, set_aside, **others)

    for chunk in chunks(Split(str(path))):
        lines = chunk.decode(errors="replace").removesuffix("\n").split("\n")
        yield from _malformed(lines, letter) if kind == "malformed" else _elements(stream, lines, letter)


def _malformed(lines: Sequence[str], letter: _Make) -> Iterator[DeadLetter]:
    for line in lines:
        try:
            malformed = Malformed(**json.loads(line))
        except (ValueError, TypeError) as error:
            yield letter(line, f"the file of dead letters is damaged here: {error}")
        else:
            yield letter(malformed.text, malformed.reason, source=malformed.source, line=malformed.line)


def _elements(stream: str, lines: Sequence[str], letter: _Make) -> Iterator[DeadLetter]:
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    matches = [_LATE_LINE.fullmatch(line) for line in lines]
    bare = [line if match is None else match["line"] for line, match in zip(lines, matches, strict=True)]
    parsed = parse("\n".join(bare).encode(), stream)
    damaged = {bad.line: bad.reason for bad in parsed.bad}
    rows = iter(parsed.elements.to_pylist())
    labels = scope(stream)
    for number, (line, match) in enumerate(zip(bare, matches, strict=True), start=1):
        if number in damaged:
            yield letter(line, f"the file of dead letters is damaged here: {damaged[number]}")
        else:
            row = {name: _as_it_came(value, labels) for name, value in next(rows).items()}
            reason = (match and match["reason"]) or _NO_REASON
            yield letter(line_of(**row).removesuffix("\n"), reason, time=to_datetime(row["ts"]))


def _as_it_came(value: Any, labels: str) -> Any:
    """A blank node with the label that it came with: reading prefixed it with those of the stream, now and before."""
    mine = f"_:{labels}"
    if not isinstance(value, str) or not value.startswith(mine):
        return value
    return f"_:{value.removeprefix(mine).removeprefix(labels)}"

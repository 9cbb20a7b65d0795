"""Reads `expect` blocks: the query, the instant or interval, and the expected answer."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace

from penstock.logic.blocks import Block, Wrong, sure
from penstock.logic.model import Expectation, Kind, LogicTest
from penstock.logic.terms import read_cells
from penstock.logic.times import INTERVAL, is_time, read_time, write_when

__all__ = ["expect"]

_SAYINGS: dict[str, dict[str, object]] = {
    "rows": {"kind": Kind.rows},
    "empty": {"kind": Kind.rows},
    "nothing": {"kind": Kind.nothing},
    "true": {"kind": Kind.boolean, "boolean": True},
    "false": {"kind": Kind.boolean, "boolean": False},
    "error": {"kind": Kind.error},
    "warning": {"kind": Kind.warning},
}
_AS_INTERVAL = f"write an interval as: expect 1:00 {INTERVAL} 2:00, or expect 1:00 {INTERVAL} if it is still open"


def expect(test: LogicTest, block: Block, prefixes: Mapping[str, str]) -> LogicTest:
    """The test with the expectation of the block added."""
    words = sure(block.line, shlex.split, block.rest)
    query = len(test.queries) - 1
    if words and not _is_when(words[0]) and words[0] not in _SAYINGS:
        query = _named(test, block.line, words.pop(0))
    if query < 0:
        raise Wrong(block.line, "an expect block has to follow its query")
    since, time = _when(words, block.line)
    saying = words.pop(0) if words else "rows"
    if saying not in _SAYINGS:
        raise Wrong(block.line, f"{saying} is none of {', '.join(_SAYINGS)}")
    expected = Expectation(block.line, query, time=time, since=since, text=" ".join(words), **_SAYINGS[saying])  # type: ignore[arg-type]
    rows = tuple(sure(line, read_cells, text, prefixes) for line, text in block.lines())
    if rows and expected.kind is not Kind.rows:
        raise Wrong(block.line, f"after {saying} there are no rows")
    return replace(test, expectations=(*test.expectations, _checked(replace(expected, rows=rows))))


def _is_when(word: str) -> bool:
    return is_time(word) or INTERVAL in word


def _when(words: list[str], line: int) -> tuple[int | None, int | None]:
    """The bounds of an interval, or None and an instant, taken from the front of the words."""
    if words and INTERVAL in words[0]:
        raise Wrong(line, _AS_INTERVAL)
    time = read_time(words.pop(0)) if words and is_time(words[0]) else None
    if time is None or not words or words[0] != INTERVAL:
        return None, time
    words.pop(0)
    end = read_time(words.pop(0)) if words and is_time(words[0]) else None
    if end is not None and end < time:  # events may begin and end at once
        raise Wrong(line, f"an interval does not end before it begins: {write_when(time, end)}")
    return time, end


def _checked(expected: Expectation) -> Expectation:
    """The expectation, checked: an interval always has solutions."""
    tells_none = expected.kind is Kind.rows and not expected.rows
    if expected.since is not None and (tells_none or expected.boolean is False):
        interval = write_when(expected.since, expected.time)
        reason = f"{interval}: an interval has rows, or is true; where none is expected, write: nothing"
        raise Wrong(expected.line, reason)
    return expected


def _named(test: LogicTest, line: int, name: str) -> int:
    """The position of the query of that name: the word after `query`, or the one that it is registered by."""
    registered = re.compile(rf"\bREGISTER\s+(?:QUERY|RULE|[RID]?STREAM)\s+<?{re.escape(name)}\b", re.IGNORECASE)
    for place, query in enumerate(test.queries):
        if query.name == name or (query.name is None and registered.search(query.text)):
            return place
    raise Wrong(line, f"{name} is neither a time nor a query above")

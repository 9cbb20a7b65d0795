"""The formats of files of answers, by their endings: how answers are appended, and the kinds that a file can hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from penstock.answer import Answer
from penstock.io.message_logs.log_writer import log_text
from penstock.io.results import time_literal, to_jsonld, to_trig, to_tsv
from penstock.io.results.jelly import to_jelly
from penstock.io.sinks.arrow_stream import arrow_stream
from penstock.io.sinks.files import Writer, csv_text, ndjson_text, nquads_text

__all__ = ["FILES", "file_ending"]


def tsv_text(answers: Iterable[Answer], fresh: bool = True) -> Iterator[str]:
    """A line a solution, below one heading, with terms as Turtle has them; the instant or the interval comes first."""
    for answer in answers:
        when = answer.when or {"time": None}
        times = "\t".join("" if time is None else time_literal(time) for time in when.values())
        heading, *rows = to_tsv(answer).split("\n")[:-1]
        if fresh:
            yield "\t".join([*(f"?{name}" for name in when), heading]) + "\n"
            fresh = False
        yield "".join(f"{times}\t{row}\n" for row in rows)


def trig_text(answers: Iterable[Answer], _fresh: bool = True) -> Iterator[str]:
    """A graph an answer, and when it was."""
    return map(to_trig, answers)


def jsonld_text(answers: Iterable[Answer], _fresh: bool = True) -> Iterator[str]:
    """A document a line, which is an answer."""
    return (f"{to_jsonld(answer)}\n" for answer in answers)


def jelly_frames(answers: Iterable[Answer], fresh: bool = True) -> Iterator[bytes]:
    """A frame an answer."""
    for answer in answers:
        yield to_jelly(answer, fresh=fresh)
        fresh = False


def _log(format: str, answers: Iterable[Answer], fresh: bool = True) -> Iterator[str]:
    return log_text(format, answers, fresh=fresh)


_ALL, _ROWS, _GRAPH = ("solutions", "boolean", "graph"), ("solutions",), ("graph",)
FILES: dict[str, tuple[Writer, tuple[str, ...]]] = {
    ".messages.nq": (partial(_log, "nquads-messages"), _GRAPH),
    ".messages.trig": (partial(_log, "trig-messages"), _GRAPH),
    ".ndjson": (ndjson_text, _ALL),
    ".jsonl": (ndjson_text, _ALL),
    ".csv": (csv_text, _ROWS),
    ".tsv": (tsv_text, _ROWS),
    ".arrows": (arrow_stream, _ROWS),
    ".nq": (nquads_text, _GRAPH),
    ".trig": (trig_text, _GRAPH),
    ".ndjsonld": (jsonld_text, _GRAPH),
    ".jelly": (jelly_frames, _GRAPH),
}
"""Longer endings come first."""


def file_ending(path: str) -> str | None:
    """The ending that names the format of a file, None if it names none."""
    return next((ending for ending in FILES if path.lower().endswith(ending)), None)

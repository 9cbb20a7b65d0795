"""Output of the command line: answers in each format, once or as they come, and the table of `penstock doctor`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from threading import Lock
from typing import TYPE_CHECKING

from penstock.errors import OptionError

if TYPE_CHECKING:
    from penstock.answer import Answer
    from penstock.cli.diagnosis.doctor import Check
    from penstock.cli.progress_line import ProgressLine
    from penstock.tuning import Tuning

__all__ = ["Format", "Printer", "check", "print_checks", "print_tuning", "write"]


class Format(StrEnum):
    """The values of `--format`."""

    table = "table"
    ndjson = "ndjson"
    json = "json"
    csv = "csv"
    tsv = "tsv"
    xml = "xml"
    ntriples = "ntriples"
    nquads = "nquads"


@dataclass(frozen=True, slots=True)
class _Writer:
    """The writer of a format, the kinds of answer that it supports, and whether it writes the instant of an answer."""

    write: Callable[[Answer], str]
    kinds: frozenset[str]
    timed: bool = False


_ALL = frozenset({"solutions", "boolean", "graph"})
_RESULTS = frozenset({"solutions", "boolean"})
_TABULAR = frozenset({"solutions"})
_GRAPH = frozenset({"graph"})
_QUERY_FORM = {"solutions": "a SELECT", "boolean": "an ASK", "graph": "a CONSTRUCT or DESCRIBE"}


def _nquads(answer: Answer) -> str:
    from penstock.io.sinks.files import nquads_text

    return "".join(nquads_text([answer]))


_WRITERS: dict[Format, _Writer] = {
    Format.table: _Writer(str, _ALL, timed=True),
    Format.ndjson: _Writer(lambda answer: answer.to_ndjson(), _ALL, timed=True),
    Format.json: _Writer(lambda answer: answer.to_json(), _RESULTS),
    Format.csv: _Writer(lambda answer: answer.to_csv(), _TABULAR, timed=True),
    Format.tsv: _Writer(lambda answer: answer.to_tsv(), _TABULAR),
    Format.xml: _Writer(lambda answer: answer.to_xml(), _RESULTS),
    Format.ntriples: _Writer(lambda answer: answer.to_ntriples(), _GRAPH),
    Format.nquads: _Writer(_nquads, _GRAPH, timed=True),
}


def check(format: Format, kind: str, *, timed: bool = False) -> None:
    """Raise an error if the format cannot hold answers of that kind, or their instants if they are `timed`."""
    writer = _WRITERS[format]
    fitting = ", ".join(
        other.value for other, one in _WRITERS.items() if kind in one.kinds and (one.timed or not timed)
    )
    if kind not in writer.kinds:
        raise OptionError(f"{format.value} cannot hold the answer to {_QUERY_FORM[kind]} query: use {fitting}")
    if timed and not writer.timed:
        raise OptionError(f"{format.value} has no column for the instant of an answer: for streams use {fitting}")


def write(answer: Answer, format: Format, name: str) -> str:
    """The answer to the query called `name` as text that ends its last line."""
    check(format, answer.kind)
    text = _WRITERS[format].write(replace(answer, query=name))
    return text if not text or text.endswith("\n") else f"{text}\n"


class Printer:
    """Writes the answers of continuous queries as they come, from whatever thread they come.

    An error of standard output (a closed pipe, a full disk) is kept in `error`, since the engine takes the failure of a
    sink for one of the query.
    """

    def __init__(self, format: Format, *, screen: ProgressLine) -> None:
        self.error: OSError | None = None
        self.answered: set[str | None] = set()  # the queries that had an answer which is not empty
        self._format, self._screen = format, screen
        self._lock = Lock()
        self._headed: str | None = None  # the query whose heading stands above, in CSV

    def __call__(self, answer: Answer) -> None:
        with self._lock:
            text = self._text(answer)
            self.answered |= {answer.query} if answer else set()
            self._screen.clear()
            try:
                sys.stdout.write(text)
                sys.stdout.flush()
            except OSError as error:
                self.error = error
                raise
            self._screen.draw()

    def _text(self, answer: Answer) -> str:
        if self._format is Format.csv:
            return self._csv(answer)
        text = _WRITERS[self._format].write(answer)
        text = text if not text or text.endswith("\n") else f"{text}\n"
        return f"{self._heading(answer)}\n{text}\n" if self._format is Format.table else text

    def _heading(self, answer: Answer) -> str:
        from penstock.io.results import when_text

        return " ".join(filter(None, [answer.query, when_text(answer)]))

    def _csv(self, answer: Answer) -> str:
        """The rows, after a heading where the query is another one than before."""
        from penstock.io.sinks.files import csv_text

        fresh = self._headed != answer.query or self._headed is None
        gap = "\r\n" if fresh and self._headed is not None else ""
        self._headed = answer.query
        return gap + "".join(csv_text([answer], fresh))


_COLOURS = {"OK": "green", "missing": "red", "optional": "yellow"}


def print_checks(checks: Iterable[Check]) -> None:
    """The doctor's table, with colours where a terminal shows them."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("", "", "found", "how to get it", box=None, pad_edge=False)
    for check in checks:
        mark = Text(check.status, style=_COLOURS[check.status])
        table.add_row(mark, check.name, Text(check.found), Text(check.remedy or ""))
    # A pipe has no width of its own, and a command that is to be copied must not be wrapped.
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def print_tuning(tuning: Tuning) -> None:
    """The doctor's section "tuning": every threshold with its value and explanation."""
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    table = Table("tuning", Column("value", justify="right"), "explanation", box=None, pad_edge=False)
    for section, settings in groupby(tuning.settings(), key=lambda setting: setting.section):
        table.add_row("")
        table.add_row(Text(section, style="bold"))
        for setting in settings:
            table.add_row(setting.name, setting.text, Text(setting.explanation))
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print()
    console.print(table)

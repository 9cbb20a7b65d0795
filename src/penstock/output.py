"""What the command line prints: an answer in each format, and the table of `penstock doctor`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.answer import Answer
    from penstock.doctor import Check

__all__ = ["Format", "print_checks", "write"]


class Format(StrEnum):
    """The values of `--format`."""

    table = "table"
    ndjson = "ndjson"
    json = "json"
    csv = "csv"
    tsv = "tsv"
    xml = "xml"
    ntriples = "ntriples"


@dataclass(frozen=True, slots=True)
class _Writer:
    """How a format is written, and the kinds of answer that it can hold."""

    write: Callable[[Answer, str], str]
    kinds: frozenset[str]


_ALL = frozenset({"solutions", "boolean", "graph"})
_RESULTS = frozenset({"solutions", "boolean"})
_TABULAR = frozenset({"solutions"})
_GRAPH = frozenset({"graph"})
_QUERY_FORM = {"solutions": "a SELECT", "boolean": "an ASK", "graph": "a CONSTRUCT or DESCRIBE"}


def _ndjson(answer: Answer, name: str) -> str:
    """One line: SPARQL JSON results with the query's name, or the triples as lines of N-Triples."""
    graph = answer.triples is not None
    members = {"triples": answer.to_ntriples().splitlines()} if graph else json.loads(answer.to_json())
    return json.dumps({"query": name, **members}, ensure_ascii=False)


_WRITERS: dict[Format, _Writer] = {
    Format.table: _Writer(lambda answer, _: str(answer), _ALL),
    Format.ndjson: _Writer(_ndjson, _ALL),
    Format.json: _Writer(lambda answer, _: answer.to_json(), _RESULTS),
    Format.csv: _Writer(lambda answer, _: answer.to_csv(), _TABULAR),
    Format.tsv: _Writer(lambda answer, _: answer.to_tsv(), _TABULAR),
    Format.xml: _Writer(lambda answer, _: answer.to_xml(), _RESULTS),
    Format.ntriples: _Writer(lambda answer, _: answer.to_ntriples(), _GRAPH),
}


def write(answer: Answer, format: Format, name: str) -> str:
    """The answer to the query called `name` as text that ends its last line."""
    writer = _WRITERS[format]
    if answer.kind not in writer.kinds:
        fitting = ", ".join(other.value for other, one in _WRITERS.items() if answer.kind in one.kinds)
        raise PenstockError(f"{format.value} cannot hold the answer to {_QUERY_FORM[answer.kind]} query: use {fitting}")
    text = writer.write(answer, name)
    return text if not text or text.endswith("\n") else f"{text}\n"


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

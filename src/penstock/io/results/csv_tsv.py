"""https://www.w3.org/TR/sparql11-results-csv-tsv/"""

from __future__ import annotations

import csv
import re
from io import StringIO
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode, Literal

from penstock.io.results.require import require
from penstock.io.results.vocabulary import XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER

if TYPE_CHECKING:
    from penstock.answer import Answer, Term

__all__ = ["cell_value", "to_csv", "to_tsv"]

# Numbers go bare where Turtle reads the bare form as the same literal (productions [19] to [21]).
_BARE = {
    XSD_INTEGER: re.compile(r"[+-]?[0-9]+"),
    XSD_DECIMAL: re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    XSD_DOUBLE: re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+"),
}


def to_csv(answer: Answer) -> str:
    """Values without their types. An unbound variable and an empty string are both an empty field."""
    require(answer, "CSV", "solutions")
    out = StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(answer.variables)
    writer.writerows([cell_value(row.get(name)) for name in answer.variables] for row in answer.rows)
    return out.getvalue()


def to_tsv(answer: Answer) -> str:
    """Terms as Turtle writes them, in which no tab or newline is left; an unbound variable is an empty field."""
    require(answer, "TSV", "solutions")
    lines = ["\t".join(f"?{name}" for name in answer.variables)]
    lines += ["\t".join(_turtle(row.get(name)) for name in answer.variables) for row in answer.rows]
    return "".join(f"{line}\n" for line in lines)


def cell_value(term: Term | None) -> str:
    if term is None:
        return ""
    return str(term) if isinstance(term, BlankNode) else term.value


def _turtle(term: Term | None) -> str:
    if term is None:
        return ""
    if isinstance(term, Literal) and (bare := _BARE.get(term.datatype)) and bare.fullmatch(term.value):
        return term.value
    return str(term)

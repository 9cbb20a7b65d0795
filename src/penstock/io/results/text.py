"""Answers for people at a terminal: a table, a word, or Turtle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.io.results.cells import cell, clip, is_number, width
from penstock.io.results.rdf import to_turtle

if TYPE_CHECKING:
    from penstock.answer import Answer, Row

__all__ = ["summary", "to_text"]

_WIDEST = 60


def to_text(answer: Answer) -> str:
    """The whole answer; only cells wider than sixty columns are cut."""
    if answer.boolean is not None:
        return str(answer.boolean).lower()
    if answer.triples is not None:
        return to_turtle(answer).rstrip("\n")
    return _table(answer.variables, answer.rows) if answer.variables else summary(answer)


def summary(answer: Answer) -> str:
    """The answer in a few words."""
    if answer.boolean is not None:
        return str(answer.boolean).lower()
    if answer.triples is not None:
        return _count(len(answer.triples), "triple")
    names = " ".join(f"?{name}" for name in answer.variables)
    return f"{_count(len(answer.rows), 'row')} of {names or 'no variables'}"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _table(names: Sequence[str], rows: Sequence[Row]) -> str:
    columns = [_column(name, rows) for name in names]
    head, *body = (f"│ {' │ '.join(cells)} │" for cells in zip(*columns, strict=True))
    rules = ["─" * (width(column[0]) + 2) for column in columns]
    return "\n".join([f"┌{'┬'.join(rules)}┐", head, f"├{'┼'.join(rules)}┤", *body, f"└{'┴'.join(rules)}┘"])


def _column(name: str, rows: Sequence[Row]) -> list[str]:
    """The cells below their heading, all of one width; numbers to the right."""
    terms = [row.get(name) for row in rows]
    cells = [clip(name, _WIDEST), *(clip(cell(term), _WIDEST) for term in terms)]
    widest = max(map(width, cells))
    gaps = [" " * (widest - width(text)) for text in cells]
    right = [bool(rows) and all(is_number(term) for term in terms if term is not None), *map(is_number, terms)]
    return [gap + text if to_right else text + gap for text, gap, to_right in zip(cells, gaps, right, strict=True)]

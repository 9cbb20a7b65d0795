"""Answers in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from penstock.io.results.cells import cell, clip, is_number
from penstock.io.results.text import summary, to_text

if TYPE_CHECKING:
    from penstock.answer import Answer, Row, Term

__all__ = ["to_html"]

_MOST_ROWS = 200
_WIDEST = 120
_RIGHT = ' style="text-align: right"'
_LEFT = ' style="text-align: left"'


def to_html(answer: Answer) -> str:
    """A table of the first rows and a line that counts them all; a truth value or a graph as text."""
    if answer.kind != "solutions":
        return f"<pre>{escape(to_text(answer))}</pre>"
    head = "".join(f"<th{_LEFT}>{escape(name)}</th>" for name in answer.variables)
    body = "".join(_row(answer.variables, row) for row in answer.rows[:_MOST_ROWS])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{escape(_caption(answer))}</p>"


def _row(names: tuple[str, ...], row: Row) -> str:
    return f"<tr>{''.join(_cell(row.get(name)) for name in names)}</tr>"


def _cell(term: Term | None) -> str:
    style = _RIGHT if is_number(term) else _LEFT
    whole, short = cell(term), clip(cell(term), _WIDEST)
    title = f' title="{escape(whole)}"' if short != whole else ""
    return f"<td{style}{title}>{escape(short)}</td>"


def _caption(answer: Answer) -> str:
    shown = f"first {_MOST_ROWS} of " if len(answer.rows) > _MOST_ROWS else ""
    return shown + summary(answer)

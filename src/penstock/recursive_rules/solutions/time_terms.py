"""Intervals of rows as RDF terms, and xsd:duration literals as microseconds."""

from __future__ import annotations

from datetime import datetime, timedelta

from pyoxigraph import Literal

from penstock.algebra.durations import lengths, written
from penstock.model.term_encoding import tail_of
from penstock.recursive_rules.solutions.rows import Row

__all__ = ["micros", "occurrence"]

_SECOND = 1_000_000
_EPOCH = datetime(1970, 1, 1)


def occurrence(kind: str, row: Row) -> str | None:
    """getDURATION(), getSTARTTIME() or getENDTIME() of a row, as the log writes terms."""
    if row[0] is None:
        return None
    if kind == "duration":
        return f'"{written(row[1] - row[0])}"{tail_of("duration")}'
    return f'"{_moment(row[0] if kind == "start" else row[1])}"{tail_of("dateTime")}'


def _moment(time: int) -> str:
    whole, fraction = divmod(time, _SECOND)
    after = f".{fraction:06}".rstrip("0") if fraction else ""
    day = (_EPOCH + timedelta(seconds=whole)).isoformat()
    return f"{day}{after}Z"


def micros(literal: Literal) -> int | None:
    """The length of an xsd:duration without years and months; None for other literals."""
    measured = lengths(literal)
    return None if measured is None or measured[0] != measured[1] else measured[0]

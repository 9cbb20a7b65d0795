"""Penstock's log records: the standard `logging`, under the logger `penstock`, silent until an application listens.

penstock
├── session      starts and ends: of Spark, of runs, of live engines
├── ingest       dead letters, and sources in trouble
├── rounds       rounds, slow ones with the reason, and queries that fail
├── sinks        deliveries that are tried again, and functions of yours that raise
└── optimiser    plans that were not used, with the reason

A message is a sentence, and what it says in numbers and names is also in fields of the record (`record.query`, …), as
`JsonFormatter` writes them. This module imports nothing of Penstock, so every part may write records.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

__all__ = ["JsonFormatter", "TextFormatter", "about", "fallback", "fields", "ingest", "optimiser", "rounds", "session",
           "sinks"]  # fmt: skip

ROOT = logging.getLogger("penstock")
ROOT.addHandler(logging.NullHandler())  # else Python prints warnings of a library that nobody has asked for

session, ingest, rounds, sinks, optimiser = map(
    ROOT.getChild, ("session", "ingest", "rounds", "sinks", "optimiser")
)  # fmt: skip

_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}
_query: ContextVar[str | None] = ContextVar("penstock_query", default=None)


@contextmanager
def about(query: str) -> Iterator[None]:
    """Name the query that the records of the block are about, where the code that writes them does not know it."""
    token = _query.set(query)
    try:
        yield
    finally:
        _query.reset(token)


def fallback(query: str | None, choice: str, reason: str) -> None:
    """Log that the optimiser falls back to the plan that always works: which choice it did not take, and the reason.

    Without a query it is the one that `about` names.
    """
    query = query or _query.get()
    optimiser.info(
        "%s: %s is not used: %s",
        query or "a query",
        choice,
        reason,
        extra={"query": query, "choice": choice, "reason": reason},
    )


def fields(record: logging.LogRecord) -> dict[str, object]:
    """The fields that a record has beside those of every record."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


class TextFormatter(logging.Formatter):
    """Writes a record as a line, `2026-01-01T08:00:00.000Z warning penstock.rounds: …`, with a traceback below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter.formatMessage`; the time is in UTC, as all times of Penstock are."""
        return f"{_time(record)} {record.levelname.lower()} {record.name}: {record.message}"


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of JSON: time, level, logger, message, its fields, and its traceback if it has one.

    handler = logging.StreamHandler()
    handler.setFormatter(penstock.JsonFormatter())
    logging.getLogger("penstock").addHandler(handler)
    """

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter.format`."""
        own = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        trace = {"traceback": self.formatException(record.exc_info)} if record.exc_info else {}
        return json.dumps(own | fields(record) | own | trace, ensure_ascii=False, default=str)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

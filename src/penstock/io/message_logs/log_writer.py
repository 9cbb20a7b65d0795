"""Writes answers as logs of RDF Messages: each is a message, and an empty one stays one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from penstock.io.message_logs.syntax import MESSAGE, VERSION
from penstock.io.results import to_nquads, to_trig

if TYPE_CHECKING:
    from penstock.answer import Answer

__all__ = ["WRITERS", "log_text"]

WRITERS: dict[str, Callable[[Answer], str]] = {"nquads-messages": to_nquads, "trig-messages": to_trig}
"""The formats of logs that hold graphs with a time, and how a message is written in them."""


def log_text(format: str, answers: Iterable[Answer], *, fresh: bool = True) -> Iterator[str]:
    """The text of a log, which more may be appended to; one that is fresh begins with its version."""
    write = WRITERS[format]
    if fresh:
        yield f'VERSION "{VERSION}"\n'
    for answer in answers:
        message = write(answer)
        yield f"{message if answer.triples else ''}{MESSAGE}\n"

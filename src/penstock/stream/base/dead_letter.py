"""The record of a dead letter, as users read it back."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from penstock.io.results import time_text

__all__ = ["DeadLetter", "Kind"]

Kind: TypeAlias = Literal["late", "ahead", "malformed"]
"""A late element, one too far ahead of the clock, or a malformed line."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A late element, one too far ahead of the clock, or a malformed line: what came, and why it is in no answer.

    The `text` of an element is a line of timestamped N-Quads, from whatever format it came, and `time` its time;
    `engine.push(letter.stream, letter.text, format="nquads")` pushes it again. That of a malformed line or document is
    what came, with the `source` (a file, or the stream's IRI for pushed lines) and the number of the `line` there;
    corrected, it can be pushed too. `set_aside` is when the letter was written.
    """

    stream: str
    kind: Kind
    text: str
    reason: str
    set_aside: datetime
    time: datetime | None = None
    source: str | None = None
    line: int | None = None

    def to_json(self) -> str:
        """The letter as a line of JSON, with times as in xsd:dateTime."""
        record = asdict(self)
        record |= {name: time_text(value) for name, value in record.items() if isinstance(value, datetime)}
        return json.dumps(record, ensure_ascii=False)

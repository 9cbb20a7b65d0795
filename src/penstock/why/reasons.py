"""The reasons why a query has no answer, as users read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

__all__ = ["ORDER", "Reason", "Why", "in_order"]

ORDER = (
    "failed",  # the query or its sink
    "paused",
    "waiting",  # for its sink, which is slow, or is missing after a restart
    "nothing",  # has come
    "malformed",  # most lines are
    "late",  # most elements are
    "watermark",  # it stands still
    "first instant",  # none has been evaluated
    "dropped",  # no element is held any more
    "windows",  # they never hold elements at the same instant
    "window",  # it is empty at every instant
    "pattern",  # an operator has no rows
    "entailment",
    "unchanged",  # a report of changes has nothing new
    "behind",
    "some malformed",
    "some late",
    "empty now",  # a window has become empty
    "next instant",
    "answered",  # there is an answer
    "unknown",
)
"""The kinds of reasons, the most likely first."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason why a query has no answer: its kind, a sentence with the numbers, and a sentence with the remedy."""

    kind: str
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.remedy}".rstrip()


@dataclass(frozen=True, slots=True)
class Why:
    """Why a query has no answer: the reasons that were found, the most likely first. It prints as a numbered list."""

    query: str
    reasons: tuple[Reason, ...]

    def top(self, number: int) -> Why:
        """The most likely ones."""
        return Why(self.query, self.reasons[:number])

    def __iter__(self) -> Iterator[Reason]:
        return iter(self.reasons)

    def __len__(self) -> int:
        return len(self.reasons)

    def __str__(self) -> str:
        return "\n".join(f"{number}. {reason}" for number, reason in enumerate(self.reasons, start=1))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def in_order(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """The reasons by likelihood; those of one kind stay as they are."""
    return tuple(sorted(reasons, key=lambda reason: ORDER.index(reason.kind)))

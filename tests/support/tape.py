"""Choices read off a tape of bytes that hypothesis generates, shrinks and replays.

One byte string instead of thousands of small strategies: hypothesis then varies everything in every example, where
with small strategies five examples in six are near copies of the one before (too dear when each is a Spark job).
Zero always means the first, simplest option, and an exhausted tape reads as zeros, so shrinking makes queries simple.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tests.oracle.blocks import Blocks

T = TypeVar("T")


class Tape:
    """A source of choices, the variables that the query text has used so far, and the windows that it may read."""

    def __init__(self, data: bytes) -> None:
        self._bytes = iter(data)
        self.scope: set[str] = set()
        self.blocks: Blocks | None = None

    def pick(self, options: Sequence[T]) -> T:
        return options[next(self._bytes, 0) % len(options)]

    def chance(self, one_in: int) -> bool:
        """True once in so many times."""
        return next(self._bytes, 0) % one_in == one_in - 1

    def count(self, least: int, most: int) -> int:
        return least + next(self._bytes, 0) % (most - least + 1)

    def some(self, options: Sequence[T], least: int, most: int) -> list[T]:
        """Some of the options, each at most once, in any order."""
        rest = list(options)
        return [rest.pop(next(self._bytes, 0) % len(rest)) for _ in range(min(len(rest), self.count(least, most)))]

    def saw(self, text: str) -> str:
        """Remember the variables of a piece of query text."""
        self.scope |= set(re.findall(r"\?([a-z])\b", text))
        return text

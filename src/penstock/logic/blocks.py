"""The shape of a logic test's file: blocks, each begun by a line that starts in the first column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ParamSpec, TypeVar

__all__ = ["Block", "Wrong", "split", "sure"]

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Block:
    """A line in the first column and the indented lines below it, each with its number."""

    line: int
    word: str
    rest: str
    body: tuple[tuple[int, str], ...] = ()

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines that are neither empty nor comments."""
        return ((line, text.strip()) for line, text in self.body if text.strip() and text.lstrip()[0] != "#")


class Wrong(Exception):
    """Something in the file is wrong on that line."""

    def __init__(self, line: int, reason: object) -> None:
        super().__init__(reason)
        self.line = line


def split(text: str) -> Iterator[Block]:
    """The blocks of a file. Lines that start with # are comments, wherever they stand."""
    block: Block | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        if not line.strip() or line[0].isspace():
            block = _continued(block, number, line)
            continue
        if block:
            yield block
        word, _, rest = line.strip().partition(" ")
        block = Block(number, word, rest.partition(" #")[0].strip())
    if block:
        yield block


def _continued(block: Block | None, number: int, line: str) -> Block | None:
    if block is None and line.strip():
        raise Wrong(number, "this line belongs to no block: blocks such as stream and query start in the first column")
    return block and replace(block, body=(*block.body, (number, line)))


def sure(line: int, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """The result of the function; its errors are reported with that line."""
    try:
        return work(*arguments, **named)
    except ValueError as error:
        raise Wrong(line, error) from None

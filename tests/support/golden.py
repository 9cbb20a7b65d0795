"""Golden files of plans: `case NAME`, a plan, `----`, and the plan it becomes or `same`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["GoldenCase", "golden_cases"]


class GoldenCase(NamedTuple):
    """A case of a file, whose name without its ending is the `subject`; `after` is None for `same`."""

    subject: str
    name: str
    before: str
    after: str | None


def golden_cases(folder: Path) -> Iterator[GoldenCase]:
    """The cases of all files of a folder."""
    for path in sorted(folder.glob("*.test")):
        for text in path.read_text("utf-8").split("\ncase ")[1:]:
            name, _, plans = text.partition("\n")
            before, _, after = plans.partition("----")
            yield GoldenCase(path.stem, name, before, None if after.strip() == "same" else after)

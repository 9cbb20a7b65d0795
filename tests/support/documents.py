"""The project's documents: their fenced blocks, and the runnable examples among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def pages_with(language: str, folder: Path = DOCS) -> list[Path]:
    """The pages below a folder that have a block in the language, by name."""
    return [page for page in sorted(folder.rglob("*.md")) if blocks(page, language)]


def blocks(page: Path, language: str) -> list[str]:
    """The page's blocks in a language, in their order."""
    return [text for tag, text in BLOCK.findall(page.read_text("utf-8")) if tag == language]


def examples(page: Path) -> Iterator[tuple[str, str]]:
    """Each Python block with the output shown below it: the next block, if that has no language."""
    found = [*BLOCK.findall(page.read_text("utf-8")), ("end", "")]
    for (language, code), (following, output) in pairwise(found):
        if language == "python":
            yield code, "" if following else output


def name_of(page: Path) -> str:
    """The page as tests show it."""
    return str(page.relative_to(ROOT))

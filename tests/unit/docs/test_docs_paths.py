"""The source files that pages name exist, in the package or in the project."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.documents import DOCS, ROOT, name_of

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_source_files_exist(page: Path) -> None:
    named = re.findall(r"`((?:\w+/)+\w+\.py)`", page.read_text("utf-8"))
    assert [
        path for path in named if not any((folder / path).exists() for folder in (ROOT, ROOT / "src/penstock"))
    ] == []

"""Every path in the glossary's last column leads to a module, class or function. No JVM is started."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec

import pytest

from tests.support.documents import DOCS, ROOT

ROWS = re.findall(r"^\|.*\| `(penstock[\w.]*)` \|$", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)
HOPS = re.findall(r"^\| \d+ \| `(penstock[\w.]*)` \|", (DOCS / "architecture.md").read_text("utf-8"), re.MULTILINE)


def test_rows_are_found() -> None:
    assert len(ROWS) >= 50
    assert len(HOPS) >= 20


@pytest.mark.parametrize("path", sorted({*ROWS, *HOPS}))
def test_path_resolves(path: str) -> None:
    module, names = path, list[str]()
    while not _is_module(module):
        module, _, name = module.rpartition(".")
        names.insert(0, name)
        assert module, f"{path}: no such module"
    found: object = import_module(module)
    for name in names:
        assert hasattr(found, name), f"{path}: {module} has no {name}"
        found = getattr(found, name)


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def test_paths_of_contributing_exist() -> None:
    """The table of questions and the recipes name files; those of the recipes are relative to the package."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    found = re.findall(r"`(src/penstock/[\w./]+)`", text)
    recipes = text[text.index("## Recipes") : text.index("## Tests")]
    found += [
        f"src/penstock/{path}"
        for path in re.findall(r"`([a-z]\w+/[\w./]*)`", recipes)
        if path.split("/")[0] not in ("tests", "docs")
    ]
    assert len(found) >= 20
    assert [path for path in found if not (ROOT / path).exists()] == []

"""The architecture page names every module of the rooms, and its two walks name functions that exist."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

from tests.support.documents import DOCS, ROOT

PAGE = (DOCS / "architecture.md").read_text("utf-8")
SOURCE = ROOT / "src/penstock"
PARTS = ("compile", "spark", "stream", "model", "recursive_rules", "lift", "project")
HOP = re.compile(r"^\| \d+ \| `(penstock[\w.]*)` \| `([\w.]+)` \|", re.MULTILINE)


def modules(folder: Path) -> set[str]:
    return {file.name for file in folder.glob("*.py")} - {"__init__.py"}


def rooms() -> list[str]:
    folders = [folder for part in PARTS for folder in (SOURCE / part, *(SOURCE / part).rglob("*")) if folder.is_dir()]
    return sorted(str(folder.relative_to(SOURCE)) for folder in folders if modules(folder))


def section(heading: str) -> str:
    """The text from a heading to the next one."""
    assert f"\n{heading}\n" in PAGE, f"no heading {heading}"
    return re.split(r"^#", PAGE.split(f"\n{heading}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("room", rooms())
def test_every_module_of_a_room_has_a_row(room: str) -> None:
    rows = re.findall(r"^\| `(\w+\.py)` \|", section(f"### `{room}/`"), re.MULTILINE)
    assert sorted(rows) == sorted(modules(SOURCE / room))


@pytest.mark.parametrize(("walk", "most"), [("From push to the log", 12), ("From a due instant to the sink", 20)])
def test_walk_is_short_and_names_existing_functions(walk: str, most: int) -> None:
    hops = HOP.findall(section(f"## {walk}"))
    assert len(hops) == len(re.findall(r"^\| \d", section(f"## {walk}"), re.MULTILINE))
    assert most / 2 < len({module for module, _ in hops}) <= most
    for module, function in hops:
        assert callable(reduce(getattr, function.split("."), import_module(module))), (module, function)

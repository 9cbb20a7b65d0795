"""The page of thresholds has every field of `Tuning`, in its section, with its default and explanation."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, replace
from itertools import groupby
from pathlib import Path

import pytest

import penstock
from penstock.tuning import DEFAULT, SECTIONS, Tuning
from tests.support.documents import DOCS

TESTS = Path(__file__).parents[2]
PAGE = (DOCS / "reference" / "tuning.md").read_text("utf-8")
SOURCE = "".join(
    file.read_text("utf-8") for file in Path(penstock.__path__[0]).rglob("*.py") if file.name != "tuning.py"
)


def test_the_page_has_every_field_with_its_default() -> None:
    shown = re.findall(r"^\| `(\w+)` \| (\S+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert shown == [(setting.name, setting.text, setting.explanation) for setting in DEFAULT.settings()]


def test_the_page_has_the_sections() -> None:
    sections = [section for section, _ in groupby(DEFAULT.settings(), key=lambda setting: setting.section)]
    assert re.findall(r"^## (.+)$", PAGE, re.MULTILINE) == sections == list(SECTIONS.values())


@pytest.mark.parametrize("name", [setting.name for setting in DEFAULT.settings()])
def test_every_threshold_is_read(name: str) -> None:
    assert re.search(rf"(tuning|DEFAULT)\.{name}\b", SOURCE)


def test_no_test_patches_a_constant() -> None:
    """A test that needs another threshold passes a record."""
    patched = re.compile(r"""setattr\([^)]*["'.]_?[A-Z][A-Z_]+["']|__defaults__["']""")
    files = [file for file in TESTS.rglob("*.py") if file != Path(__file__)]
    assert [str(file) for file in files if patched.search(file.read_text("utf-8"))] == []


def test_the_record_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        DEFAULT.task_rows = 1  # type: ignore[misc]
    assert penstock.Tuning is Tuning
    assert replace(DEFAULT, task_rows=1) == Tuning(task_rows=1)

"""The public names: imported when they are used, and the same as in their modules."""

from __future__ import annotations

import subprocess
import sys

import pytest

import penstock


@pytest.mark.parametrize("name", penstock.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(penstock, name) is getattr(penstock, name)
    assert name in dir(penstock)


def test_there_is_no_other_name() -> None:
    with pytest.raises(AttributeError, match="module 'penstock' has no attribute 'Motor'"):
        penstock.Motor  # noqa: B018


EXPLAIN = """
import penstock.explain.explanation
from penstock.explain import explain
from penstock import explain as public
assert penstock.explain is explain is public
"""


def test_explain_is_the_function_though_its_folder_was_imported() -> None:
    subprocess.run([sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{EXPLAIN}"], check=True)

"""The version stands in pyproject.toml; all other places agree with it."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version

import penstock
from tests.support.documents import ROOT


def test_the_package_has_the_installed_version() -> None:
    assert penstock.__version__ == version("penstock")


def test_the_citation_has_the_projects_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == project["version"]

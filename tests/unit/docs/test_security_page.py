"""Every threat on the page about security has a test, and the test exists."""

from __future__ import annotations

import ast
import re

import pytest

from tests.support.documents import DOCS, ROOT

PAGE = (DOCS / "security.md").read_text("utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def test_each_threat_names_a_test() -> None:
    tables = re.findall(r"^\| threat .*\n\|[- |]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    threats = [row for table in tables for row in table.splitlines()]
    assert len(threats) == len(NAMED) > 15


@pytest.mark.parametrize(("file", "test"), NAMED, ids=[test for _, test in NAMED])
def test_the_test_of_a_threat_exists(file: str, test: str) -> None:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}

"""The optimiser's page lists all rules, in their order, with their directions, and all physical choices."""

from __future__ import annotations

import re

from penstock.compile.physical import nodes
from penstock.optimise import ALL_RULES, PHYSICAL_CHOICES
from penstock.optimise.rule import Direction
from tests.support.documents import DOCS

WORKS = {Direction.UP: "bottom-up", Direction.DOWN: "top-down", Direction.ROOT: "at the root"}


def test_rules_of_the_page() -> None:
    page = (DOCS / "concepts" / "optimiser.md").read_text("utf-8")
    rules, _, choices = page.partition("## The physical plan")
    shown = re.findall(r"^\| `(\w+)` \| ([\w -]+) \|", rules, re.MULTILINE)
    assert shown == [(rule.name, WORKS[rule.direction]) for rule in ALL_RULES]
    assert set(re.findall(r"^\| `(\w+)` \|", choices, re.MULTILINE)) == set(PHYSICAL_CHOICES)


def test_physical_operators_of_the_page() -> None:
    _, _, choices = (DOCS / "concepts" / "optimiser.md").read_text("utf-8").partition("## The physical plan")
    shown = {
        name for row in re.findall(r"^\| `\w+` \| (.*?) \|", choices, re.MULTILINE) for name in row.split("`")[1::2]
    }
    assert shown
    assert shown <= set(nodes.__all__)

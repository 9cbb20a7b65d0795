"""The optimiser's page lists all rules, in their order, with the direction in which they work."""

from __future__ import annotations

import re

from penstock.optimise import ALL_RULES
from penstock.optimise.rule import Direction
from tests.support.documents import DOCS

WORKS = {Direction.UP: "bottom-up", Direction.DOWN: "top-down", Direction.ROOT: "at the root"}


def test_rules_of_the_page() -> None:
    page = (DOCS / "concepts" / "optimiser.md").read_text("utf-8")
    shown = re.findall(r"^\| `(\w+)` \| ([\w -]+) \|", page, re.MULTILINE)
    assert shown == [(rule.name, WORKS[rule.direction]) for rule in ALL_RULES]

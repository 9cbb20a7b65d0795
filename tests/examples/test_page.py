"""What docs/tutorial/examples.md shows is what there is: the queries, and lines of what the commands print."""

from __future__ import annotations

import re
from pathlib import Path

from examples.delivery.dispatch import Dispatched
from examples.delivery.shift import Shift, work
from examples.delivery.story import story as told_by_couriers
from examples.tsunami.ocean import Day
from examples.tsunami.story import story as told_at_sea
from tests.examples import rounds, tide

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial" / "examples.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_page_shows_all_queries() -> None:
    shown = [text for language, text in BLOCKS if language == "sparql"]
    assert shown == [path.read_text("utf-8") for folder in ("tsunami", "delivery") for path in _queries(folder)]


def _queries(folder: str) -> list[Path]:
    return sorted((ROOT / "examples" / folder).glob("*.rq"))


def test_the_page_shows_what_is_printed() -> None:
    day, shift = Day(), Shift()
    found = Dispatched(rounds.quick_ways(shift), rounds.hindrances(shift))
    printed = "\n".join([*told_at_sea(day, tide.watched(day)), *told_by_couriers(work(shift), shift.closures, found)])
    shown = [line for language, text in BLOCKS if not language for line in text.splitlines() if line != "…"]
    assert len(shown) > 12
    assert set(shown) <= set(printed.splitlines())

"""Tsunami detection: the queries find what plain arithmetic finds, and the picture shows it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from pyspark.sql import SparkSession

from examples.tsunami.ocean import BUOYS, Day
from examples.tsunami.picture import draw
from examples.tsunami.story import story
from examples.tsunami.watch import Watched, watch
from penstock import Engine
from tests.examples import tide

# The first predictions are due after 3 hours and 10 minutes; the wave is at the first buoy at 3:20, at the other later.
SMALL = Day(hours=3.6, quake=3.05, buoys=BUOYS[:2])
DOCS = Path(__file__).parents[2] / "docs"


def test_the_queries_find_the_computed_warnings(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        found = watch(engine, SMALL)
    expected = tide.watched(SMALL)
    assert {warned.buoy for warned in expected.warnings} == {"B1"}
    assert found.warnings == expected.warnings
    assert found.deviations.keys() == expected.deviations.keys() == {"B1", "B2"}
    for buoy, deviations in expected.deviations.items():
        assert found.deviations[buoy] == pytest.approx(deviations, abs=1e-9)


def test_a_calm_sea_warns_nobody() -> None:
    calm = tide.watched(Day(hours=5, quake=100))
    assert max(abs(mm) for found in calm.deviations.values() for mm in found.values()) < 20
    assert not calm.warnings


@pytest.fixture(scope="module")
def watched() -> Watched:
    return tide.watched(Day())


def test_every_buoy_is_heard_and_the_picture_in_the_docs_says_when(watched: Watched) -> None:
    day = Day()
    alarms = {warned.buoy: f"alarm at {warned.time:%H:%M:%S}" for warned in watched.warnings}
    assert alarms.keys() == {buoy.name for buoy in day.buoys}
    for picture in (draw(day, watched), (DOCS / "tutorial" / "tsunami.svg").read_text("utf-8")):
        words = [element.text for element in ElementTree.fromstring(picture).iter() if element.text]
        assert set(alarms.values()) <= set(words)
        assert len(picture) < 150_000


def test_the_story_is_told_in_the_order_of_time(watched: Watched) -> None:
    day = Day()
    lines = "\n".join(story(day, watched)).splitlines()
    told = [line.split()[0] for line in lines if " off its prediction" in line]
    assert told == sorted(told)
    assert len(told) == len(day.buoys)
    assert lines[-1] == "13 of 17 places were warned, 12 of them before the wave came."

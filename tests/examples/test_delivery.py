"""Goods delivery: the queries find the ways that trying all of them finds, and whose road is blocked."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from pyspark.sql import SparkSession

from examples.delivery.dispatch import Dispatched, dispatch
from examples.delivery.picture import draw
from examples.delivery.shift import Shift, work
from examples.delivery.story import story
from penstock import Engine
from tests.examples.rounds import all_ways, hindrances, quick_ways

SMALL = Shift(minutes=20, couriers=5, blocked=2.5, seed=8)
DOCS = Path(__file__).parents[2] / "docs"


def test_the_queries_find_the_ways_of_an_exhaustive_search(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        found = dispatch(engine, SMALL)
    asked = [time for trip in work(SMALL) for time in trip.asked]
    assert found.ways == all_ways(SMALL)
    assert 5 < len(found.ways) < len(asked)  # some had to wait
    assert found.hindrances == hindrances(SMALL) != []


def test_couriers_take_open_roads_only() -> None:
    shift = Shift()
    for trip in work(shift):
        for road, time in zip(trip.roads, trip.entered, strict=False):
            assert not any(one.road == road and one.at(time) for one in shift.closures)


def test_the_whole_shift_in_words_and_in_a_picture() -> None:
    shift = Shift()
    trips, found = work(shift), Dispatched(quick_ways(shift), hindrances(shift))
    *_, counted, followed = story(trips, shift.closures, found)
    assert counted.endswith(f"{len(found.hindrances)} times a road was blocked that someone was to take.")
    assert followed == f"{len(trips)} of {len(trips)} trips went where the answers lead."
    picture = draw(trips, shift.closures, found)
    assert ElementTree.fromstring(picture) is not None
    assert picture == (DOCS / "tutorial" / "delivery.svg").read_text("utf-8")
    assert len(picture) < 150_000

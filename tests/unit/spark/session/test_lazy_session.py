"""A session that its first use starts, with a stand-in for Spark."""

from __future__ import annotations

from typing import cast

from pyspark.sql import SparkSession

from penstock.spark.session.catalog import catalog
from penstock.spark.session.jobs import Jobs
from penstock.spark.session.lazy_session import add_job_tag, has_started, lazy_session, remove_job_tag
from penstock.spark.session.session import is_running


class StandIn:
    """Notes the settings and tags that it is given."""

    version = "4"

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.tags: list[str] = []
        self.conf = self.sparkContext = self

    def set(self, name: str, value: str) -> None:
        self.settings[name] = value

    def get(self, name: str, default: str | None = None) -> str | None:
        return self.settings.get(name, default)

    def addJobTag(self, tag: str) -> None:
        self.tags.append(tag)

    def removeJobTag(self, tag: str) -> None:
        self.tags.remove(tag)


def of(starts: list[StandIn]) -> SparkSession:
    def start() -> SparkSession:
        starts.append(StandIn())
        return cast(SparkSession, starts[-1])

    return lazy_session(start)


def test_the_first_use_starts_it_once() -> None:
    starts: list[StandIn] = []
    session = of(starts)
    assert not has_started(session)
    assert [session.version, session.version] == ["4", "4"]
    assert has_started(session)
    assert len(starts) == 1


def test_settings_and_tags_of_before_are_there_when_it_has_started() -> None:
    starts: list[StandIn] = []
    session = of(starts)
    session.conf.set("spark.sql.shuffle.partitions", "3")
    add_job_tag(session, "kept")
    add_job_tag(session, "removed")
    remove_job_tag(session, "removed")
    assert session.conf.get("spark.sql.shuffle.partitions") == "3"
    assert starts == []
    assert session.version == "4"
    assert starts[0].settings == {"spark.sql.shuffle.partitions": "3"}
    assert starts[0].tags == ["kept"]
    add_job_tag(session, "later")
    remove_job_tag(session, "kept")
    assert starts[0].tags == ["later"]


def test_planning_and_closing_do_not_start_it() -> None:
    starts: list[StandIn] = []
    session = of(starts)
    jobs = Jobs(session)
    jobs.tune_for(10)
    with jobs.isolated(1_000_000):
        assert jobs.cores > 0
    assert jobs.java >= 17
    catalog(session).drop("not_there")
    assert is_running(session)
    assert starts == []

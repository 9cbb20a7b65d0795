"""A session without Spark: enough to plan continuous queries for DuckDB. Whatever needs a job of Spark is an error."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Never, cast

from pyspark.sql import SparkSession

__all__ = ["planning_session"]

_CORES, _JAVA = 2, "17"


class _Settings(dict[str, str]):
    set = dict.__setitem__
    unset = dict.pop


class _PlanningSession:
    def __init__(self) -> None:
        properties = SimpleNamespace(getProperty=lambda _: _JAVA)
        java = SimpleNamespace(java=SimpleNamespace(lang=SimpleNamespace(System=properties)))
        self.sparkContext = SimpleNamespace(defaultParallelism=_CORES, _jvm=java)
        self.catalog = SimpleNamespace(dropTempView=lambda _: None)
        self.conf = _Settings()

    def __getattr__(self, name: str) -> Never:
        raise AttributeError(f"there is no Spark here: {name}")


def planning_session() -> SparkSession:
    """Return a new session with two cores, whose tables are Arrow tables in this process."""
    return cast(SparkSession, cast(Any, _PlanningSession()))

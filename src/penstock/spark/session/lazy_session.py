"""A Spark session that its first use starts: rounds that are evaluated in the driver may never need one."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["add_job_tag", "has_started", "lazy_session", "remove_job_tag"]


def lazy_session(start: Callable[[], SparkSession]) -> SparkSession:
    """Return a session that stands for the one of `start`, which is called when it is first used."""
    return cast("SparkSession", _LazySession(start))


def has_started(session: SparkSession) -> bool:
    """Whether a session is one of a running Spark, and not one that its first use would start."""
    return not isinstance(session, _LazySession) or session._started is not None


def add_job_tag(session: SparkSession, tag: str) -> None:
    """Tag the jobs of this thread, also if one of them starts Spark."""
    if has_started(session):
        session.sparkContext.addJobTag(tag)
    else:
        cast(_LazySession, session)._tags.append(tag)


def remove_job_tag(session: SparkSession, tag: str) -> None:
    """Remove a tag of `add_job_tag`."""
    if has_started(session):
        session.sparkContext.removeJobTag(tag)
    else:
        cast(_LazySession, session)._tags.remove(tag)


class _KeptSettings:
    """Settings of a session that has not started: it is given them when it starts."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def get(self, name: str, default: str | None = None) -> str | None:
        return self.values.get(name, default)

    def set(self, name: str, value: str) -> None:
        self.values[name] = value


class _LazySession:
    """Passes every use but that of its settings on to the session that it starts."""

    def __init__(self, start: Callable[[], SparkSession]) -> None:
        self._start, self._lock = start, RLock()
        self._started: SparkSession | None = None
        self._kept = _KeptSettings()
        self._tags: list[str] = []

    @property
    def conf(self) -> Any:
        return self._kept if self._started is None else self._started.conf

    def __getattr__(self, name: str) -> Any:
        with self._lock:
            if self._started is None:
                self._started = self._start_session()
        return getattr(self._started, name)

    def _start_session(self) -> SparkSession:
        started = self._start()
        for name, value in self._kept.values.items():
            started.conf.set(name, value)
        for tag in self._tags:
            started.sparkContext.addJobTag(tag)
        return started

"""Spark as the engine of a plan: scans, evaluation instants and united windows are views that queries share."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from penstock.compile import sql
from penstock.compile.sql import Query
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.session.jobs import Jobs
from penstock.spark.views.background_tables import BackgroundTables

__all__ = ["SparkTarget"]


class SparkTarget:
    """The views of one query, which is their user."""

    def __init__(self, background: BackgroundTables, jobs: Jobs, user: object) -> None:
        self._background, self._jobs, self._user = background, jobs, user

    is_prepared = False

    def span(self, span: Span) -> Span:
        return span

    def scan(self, stream: StreamFiles, iri: str, ordered: bool, times: tuple[Span, ...] | None) -> str:
        return self._background.scans.view(stream, ordered, times)

    def change_instants(self, key: Hashable, make: Callable[[str], str]) -> str:
        views = self._background.change_instants
        views.release(self._user, kept=key)  # the view of an older span
        return views.get(key, self._user) or views.put(key, make, self._user)

    def window_union(self, rows: Query) -> str:
        views, key = self._background.window_unions, sql.write(rows)  # the SQL names the scans
        return views.get(key, self._user) or views.put(key, lambda name: self._stored(rows, name), self._user)

    def _stored(self, rows: Query, name: str) -> str:
        self._jobs.materialise(rows, name)
        return name

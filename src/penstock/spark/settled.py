"""Joins on the background alone: computed once, kept until the background changes."""

from __future__ import annotations

from itertools import count

from penstock.spark.background import Background
from penstock.spark.jobs import Jobs

_FEW = 100_000  # rows that are sent along with a plan, so that Spark knows how many there are and broadcasts them
_numbers = count()


class Settled:
    """The rows of a SELECT on the background: a small table where they are few, else kept where they were computed."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._jobs = Jobs(background.session)
        self._version: int | None = None
        self._views: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """The view of its rows."""
        if self._version != self._background.version:
            self.clear()
            self._version = self._background.version
        if text not in self._views:
            self._views[text] = self._computed(text)
        return self._views[text]

    def clear(self) -> None:
        self._jobs.drop(self._views.values())
        self._views.clear()

    def _computed(self, text: str) -> str:
        name = f"penstock_settled_{next(_numbers)}"
        table = self._jobs.session.sql(f"SELECT * FROM ({text}) LIMIT {_FEW + 1}").toArrow()
        if table.num_rows <= _FEW:
            self._jobs.session.createDataFrame(table).createOrReplaceTempView(name)
        else:
            self._jobs.compute(text, name)
        return name

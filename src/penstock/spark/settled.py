"""Joins on the background alone: computed once, kept until the background changes."""

from __future__ import annotations

from itertools import count

import pyarrow as pa

from penstock.algebra.build import translate
from penstock.spark.background import Background
from penstock.spark.encoding import encode
from penstock.spark.jobs import Jobs
from penstock.spark.relation import Relation

_FEW = 100_000  # rows that are sent along with a plan, so that Spark knows how many there are and broadcasts them
_numbers = count()


class Settled:
    """The rows of a SELECT on the background: a small table where they are few, else kept where they were computed."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._jobs = Jobs(background.session)
        self._version: int | None = None
        self._views: dict[str, str] = {}

    def __call__(self, relation: Relation, sparql: str | None) -> str:
        """The view of its rows. `sparql` asks for the same variables, where plain SPARQL can."""
        if self._version != self._background.version:
            self.clear()
            self._version = self._background.version
        if relation.sql not in self._views:
            self._views[relation.sql] = self._computed(relation, sparql)
        return self._views[relation.sql]

    def clear(self) -> None:
        self._jobs.drop(self._views.values())
        self._views.clear()

    def _computed(self, relation: Relation, sparql: str | None) -> str:
        name, text = f"penstock_settled_{next(_numbers)}", relation.sql
        by_spark = sparql is None or self._background.is_spark
        table = self._by_spark(text) if by_spark else self._by_store(relation.vars, str(sparql))
        if table.num_rows <= _FEW:
            self._jobs.session.createDataFrame(table).createOrReplaceTempView(name)
        else:
            self._jobs.compute(text, name)
        return name

    def _by_spark(self, text: str) -> pa.Table:
        return self._jobs.session.sql(f"SELECT * FROM ({text}) LIMIT {_FEW + 1}").toArrow()

    def _by_store(self, names: tuple[str, ...], sparql: str) -> pa.Table:
        """A store answers at once what would take Spark a job."""
        answer = self._background.answer(translate(sparql), sparql)
        cells = [[encode(row[v]) for row in answer.rows] for v in answer.variables]
        if not cells:
            return pa.table({".unit": pa.array([1] * len(answer.rows), pa.int32())})
        return pa.table([pa.array(column, pa.string()) for column in cells], names=list(names))

"""The Spark store: background knowledge as DataFrames, every query compiled and run by Spark."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from pyoxigraph import NamedNode, Triple
from pyspark.sql import DataFrame, SparkSession

from penstock.algebra import ops
from penstock.answer import Answer
from penstock.io.formats import Source
from penstock.knowledge.store import check_dataset
from penstock.optimise import optimise
from penstock.spark import forms, iris, session
from penstock.spark.context import Context, Plan
from penstock.spark.encoding import decode
from penstock.spark.expressions import now_term
from penstock.spark.lets import naming
from penstock.spark.triples import Triples

_CONSTRAINTS = "spark.sql.constraintPropagation.enabled"


class SparkStore:
    """Triples as DataFrames. Given a session it shares that; without one it starts Spark when first needed."""

    def __init__(
        self, *, spark: SparkSession | None = None, master: str | None = None, rules: Collection[str] | None = None
    ) -> None:
        self._given = spark
        self._session = spark or session.start(master)
        self._rules = rules
        self._ours = session.private(self._session)
        iris.register(self._ours)
        self._triples = Triples(self._ours)

    @property
    def spark(self) -> SparkSession:
        """The session that was given, or the embedded one."""
        return self._session

    @property
    def version(self) -> int:
        return self._triples.version

    def load(
        self,
        source: Source,
        graph: str | NamedNode | None = None,
        base: str | None = None,
        format: str | None = None,
    ) -> int:
        """See `Store.load`. A Parquet file (columns s, p, o and perhaps g, of distinct triples) is read where it lies."""
        if _is_parquet(source, format):
            return self._triples.add_parquet(Path(source), graph)  # type: ignore[arg-type]
        return self._triples.add(source, graph, base, format)

    def answer(self, query: ops.Query, text: str, base: str | None = None) -> Answer:
        """See `Store.answer`."""
        with self._running(query) as (planned, context):
            match planned.form:
                case ops.Select():
                    return self._solutions(planned, forms.select_rows(planned, context))
                case ops.Ask():
                    return Answer.ask(not self._ours.sql(forms.any_row(planned, context)).isEmpty())
                case ops.Construct() as form:
                    return self._graph(forms.template(form, planned, context))
                case ops.Describe() as form:
                    return self._graph(forms.description(form, planned, context))

    def frame(self, query: ops.Query) -> DataFrame:
        """The DataFrame of a SELECT, one column of encoded terms per variable."""
        with self._running(query) as (planned, context):
            return self._ours.sql(forms.select_rows(planned, context))

    def close(self) -> None:
        """See `Store.close`. A session that was given is not stopped."""
        self._triples.clear()
        if self._given is None:
            session.stop(self._session)

    @contextmanager
    def _running(self, query: ops.Query) -> Iterator[tuple[ops.Query, Context]]:
        if query.dataset is not None:
            check_dataset(query.dataset, self._triples.graph_names)
        planned = optimise(query, self._triples.statistics, self._rules).query
        plan = Plan(self._triples.tables(query.dataset), self._compute, query.base, now_term(datetime.now(UTC)))
        try:
            with naming():
                yield planned, Context(plan)
        finally:
            for view in plan.views:
                self._ours.catalog.dropTempView(view)

    def _compute(self, text: str, name: str) -> int:
        """Checkpointed rows remember constraints of the plan they came from, on columns that a later UNION of them does
        not find (Spark 4.3); so no constraints."""
        self._ours.conf.set(_CONSTRAINTS, "false")
        try:
            frame = self._ours.sql(text).localCheckpoint()
        finally:
            self._ours.conf.set(_CONSTRAINTS, "true")
        frame.createOrReplaceTempView(name)
        return frame.count()

    def _solutions(self, query: ops.Query, text: str) -> Answer:
        names = tuple(v.name for v in query.variables)
        table = self._ours.sql(text).toArrow()
        if not names:
            return Answer.solutions((), ({} for _ in range(table.num_rows)))
        columns = [[None if cell is None else decode(cell) for cell in column.to_pylist()] for column in table.columns]
        rows = zip(*columns, strict=True)
        return Answer.solutions(names, ({n: t for n, t in zip(names, row, strict=True) if t is not None} for row in rows))

    def _graph(self, text: str) -> Answer:
        table = self._ours.sql(text).toArrow()
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return Answer.graph(Triple(*map(decode, row)) for row in rows)  # type: ignore[arg-type]


def _is_parquet(source: Source, format: str | None) -> bool:
    return isinstance(source, str | PathLike) and (format == "parquet" or Path(source).suffix == ".parquet")

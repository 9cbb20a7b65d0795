"""One-shot queries on tables of triples: optimised, compiled to one SELECT, and run."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from pyspark.sql import DataFrame, SparkSession

from penstock.algebra import ops
from penstock.answer import Answer
from penstock.compile import probe
from penstock.compile.context import Context, Plan
from penstock.compile.expressions.expressions import now_term
from penstock.compile.operators import query_forms
from penstock.compile.operators.operators import compile_op
from penstock.compile.physical import physical_plan
from penstock.compile.sql import Query
from penstock.knowledge.store import check_dataset
from penstock.model.term_encoding import decode, decode_triple
from penstock.optimise import enabled, optimise
from penstock.optimise.cost import rows_made
from penstock.spark.session.jobs import Jobs
from penstock.spark.store.entailed_triples import EntailedTriples
from penstock.spark.store.triples import Triples
from penstock.tuning import DEFAULT, Tuning


class OneShotQuery:
    """The evaluation of queries that read no stream."""

    def __init__(
        self,
        session: SparkSession,
        triples: Triples | EntailedTriples,
        rules: Collection[str] | None,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self._session = session
        self._triples = triples
        self._rules, self._tuning = rules, tuning
        self._jobs = Jobs(session, tuning)

    def answer(self, query: ops.Query) -> Answer:
        with self._running(query) as (planned, context):
            match planned.form:
                case ops.Select():
                    return self._solutions(planned, query_forms.select_rows(planned, context))
                case ops.Ask():
                    return Answer.ask(not self._jobs.rows(query_forms.any_row(planned, context)).isEmpty())
                case ops.Construct() as form:
                    return self._graph(query_forms.template(form, planned, context))
                case ops.Describe() as form:
                    return self._graph(query_forms.description(form, planned, context))

    def frame(self, query: ops.Query) -> DataFrame:
        """Return the DataFrame of a SELECT, one column of encoded terms per variable."""
        with self._running(query) as (planned, context):
            return self._jobs.rows(query_forms.select_rows(planned, context))

    @contextmanager
    def _running(self, query: ops.Query) -> Iterator[tuple[ops.Query, Context]]:
        if query.dataset is not None:
            check_dataset(query.dataset, self._triples.graph_names)
        rows, statistics = self._triples.known_rows, self._triples.statistics
        self._jobs.tune_for(rows)
        optimised = optimise(query, statistics, self._rules, self._tuning)
        tables, now = self._triples.tables(query.dataset), now_term(datetime.now(UTC))
        plan = Plan(tables, self._jobs.materialise, query.base, now, self._jobs.fetch, self._jobs.publish)
        plan.tuning = self._tuning
        try:
            physical = physical_plan(optimised.query, Context(plan), enabled(self._rules), compile_op)
            probe.planned(optimised, physical.query, statistics)
            made = rows_made(optimised.query.pattern, statistics, self._tuning, physical.selectivity)
            self._jobs.tune_for(rows, made=made)
            yield physical.query, Context(plan)
        finally:
            self._jobs.drop(plan.views)

    def _solutions(self, query: ops.Query, rows_query: Query) -> Answer:
        names = tuple(v.name for v in query.variables)
        table = self._jobs.rows(rows_query).toArrow()
        if not names:
            return Answer.solutions((), ({} for _ in range(table.num_rows)))
        columns = [[None if cell is None else decode(cell) for cell in column.to_pylist()] for column in table.columns]
        rows = (zip(names, row, strict=True) for row in zip(*columns, strict=True))
        return Answer.solutions(names, ({name: term for name, term in row if term is not None} for row in rows))

    def _graph(self, triples: Query) -> Answer:
        table = self._jobs.rows(triples).toArrow()
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return Answer.graph(decode_triple(*row) for row in rows)

"""The rows of each operator of a plan, counted or sampled when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from penstock.algebra.expressions import Term
from penstock.algebra.ops import Op, Query, StreamWindow
from penstock.compile import sql
from penstock.compile.probe import probing
from penstock.compile.relation import FROM, TO, Relation
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.model.term_encoding import decode
from penstock.optimise import Optimised, Statistics
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.query.profile import at_once, step_of
from penstock.spark.session.catalog import catalog

__all__ = ["OperatorRows", "operator_rows"]


@dataclass(slots=True)
class OperatorRows:
    """The rows of the operators of the physical plan `query` in a span. Operators are told apart by identity."""

    span: Span
    query: Query
    _frames: dict[int, list[DataFrame]] = field(default_factory=dict)
    _windows: dict[StreamWindow, DataFrame] = field(default_factory=dict)
    _counted: dict[int, int] = field(default_factory=dict)

    def count(self, op: Op) -> int | None:
        """The number of rows of an operator; None if it was not compiled by itself."""
        if id(op) not in self._frames:
            return None
        if id(op) not in self._counted:
            self._counted[id(op)] = sum(frame.count() for frame in self._frames[id(op)])
        return self._counted[id(op)]

    def values(self, op: Op, variable: str, most: int) -> list[Term]:
        """The different values of a variable in the rows of an operator, so many at most."""
        frames = [frame.select(col(f"`{variable}`")) for frame in self._frames[id(op)] if variable in frame.columns]
        if not frames:
            return []
        rows = reduce(DataFrame.unionAll, frames).distinct().limit(most).collect()
        return [decode(row[0]) for row in rows if row[0] is not None]

    def is_always_empty(self, window: StreamWindow) -> bool:
        """Whether the window holds no element at any instant."""
        return window in self._windows and not self._windows[window].collect()[0][0]


def operator_rows(
    query: ContinuousQuery, session: SparkSession, streams: Mapping[str, StreamFiles], span: Span
) -> OperatorRows:
    """Compile a query for a span, and return the rows of its operators. Nothing is computed yet."""
    probe = _Probe(session, span)
    with probing(probe):
        query.evaluate(Evaluation(streams, span, final=True))
    assert probe.rows is not None
    return probe.rows


class _Probe:
    """Makes a frame of every relation, while the views that the relation reads exist."""

    def __init__(self, session: SparkSession, span: Span) -> None:
        self._catalog, self._span = catalog(session), span
        self.rows: OperatorRows | None = None

    def planned(
        self, optimised: Optimised, physical: Query, statistics: Statistics, contents: Sequence[WindowRelation]
    ) -> None:
        self.rows = OperatorRows(self._span, physical)
        average = sql.alias(at_once((FROM, TO), self._span, step_of(physical)), "at_once")
        for content in contents:
            self.rows._windows[content.source] = self._catalog.rows(sql.Select([average], content.sql))

    def compiled(self, op: Op, relation: Relation) -> None:
        assert self.rows is not None
        self.rows._frames.setdefault(id(op), []).append(self._catalog.rows(relation.sql))

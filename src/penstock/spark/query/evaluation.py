"""The input of one evaluation: a plan's answers are a function of it and of the background."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles

if TYPE_CHECKING:
    from penstock.compile.parameter_table import ParameterTable
    from penstock.spark.query.open_intervals import OpenIntervalFiles
    from penstock.spark.query.sliced_rows import SliceJob

__all__ = ["Evaluation"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The streams that a plan reads, by IRI, and the span of instants to evaluate.

    A plan with operator state continues from the files `before`, which its last evaluation has written. `final` says
    that time ends with the span. With `members` the plan is that of a query family, and answers for each member. `job`
    is the Spark job of all queries that are due together; None if the query has one of its own.
    """

    streams: Mapping[str, StreamFiles]
    span: Span
    before: OpenIntervalFiles = None
    final: bool = False
    members: ParameterTable | None = None
    job: SliceJob | None = None

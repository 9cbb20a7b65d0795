"""Evaluates a registered query, or variants of it, again over the elements that are held: for `why`.

`operator_rows` imports PySpark, and is imported when rows are counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

from pyoxigraph import NamedNode, Triple

from penstock.algebra.build import translate
from penstock.algebra.expressions import Var, terms_of, triple_of
from penstock.algebra.ops import RULES, Bgp, Graph, Join, Op, Query, Select, StreamWindow, Table, TriplePattern
from penstock.algebra.windows import SlideWindow
from penstock.answer import Row
from penstock.compile.kernels.slice_kernel import ROW
from penstock.compile.reports.validity import SINCE
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.model.term_encoding import decode
from penstock.spark.query.evaluation import Evaluation
from penstock.stream.evaluation.plan_cache import PlanCache
from penstock.stream.ingest.stream_view import StreamView
from penstock.stream.registry import due_instants
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.stream.runtime.held_elements import HeldElement, held_elements
from penstock.tuning import Tuning

if TYPE_CHECKING:
    from penstock.spark.query.continuous_query import ContinuousQuery
    from penstock.spark.query.operator_rows import OperatorRows

__all__ = ["Reevaluation", "Solution"]

_TRIPLE = Var("s"), Var("p"), Var("o")


class Solution(NamedTuple):
    """A solution of a query; `start` is that of its first event, None if it is not of events."""

    row: Row
    start: int | None = None


class Reevaluation:
    """Evaluations of one query over the elements that are held. Its answers and progress stay as they are.

    It reads the same tables as rounds: use it only while no round is evaluated.
    """

    def __init__(self, task: RegisteredQuery, plans: PlanCache, inputs: StreamView) -> None:
        self._plans, self._inputs = plans, inputs
        self.task, self.query = task, _with_own_rules(task)
        emit = None if task.query.emit == "events" else "rstream"
        self._entry = replace(task.entry, emit=emit)  # type: ignore[arg-type]  # each instant by itself, not changes
        self.segments = {window.iri.value: inputs.segments(window.iri.value) for window in self.query.streams}

    @property
    def tuning(self) -> Tuning:
        """The thresholds of the engine."""
        return self._plans.background.tuning

    @property
    def is_possible(self) -> bool:
        """Whether there is an element."""
        return any(self.segments.values())

    @property
    def predicates(self) -> Mapping[str, Mapping[str, int]]:
        """The number of elements with each predicate in each stream, by IRI."""
        return {name: self._stream_predicates(name) for name in self.segments}

    def _stream_predicates(self, name: str) -> dict[str, int]:
        total: dict[str, int] = {}
        for part in self.segments[name]:
            for predicate, count in (part.predicates or {}).items():
                total[predicate[1:-1]] = total.get(predicate[1:-1], 0) + count
        return total

    @property
    def background_predicates(self) -> Mapping[str, int]:
        """The number of background triples with each predicate, by IRI."""
        counts = self._plans.background.statistics.predicates
        return {predicate: round(count) for predicate, (count, *_) in counts.items()}

    def axioms(self, predicates: frozenset[NamedNode]) -> Iterator[Triple]:
        """The triples of the background's default graph with any of these predicates."""
        values = " ".join(map(str, predicates))
        text = f"SELECT ?s ?p ?o {{ VALUES ?p {{ {values} }} ?s ?p ?o }}"
        for row in self._plans.background.answer(translate(text), text).rows:
            yield triple_of(row["s"], row["p"], row["o"])

    def operators(self, query: Query) -> OperatorRows:
        """The rows of each operator of a query, as written, at all instants that see an element."""
        from penstock.spark.query.operator_rows import operator_rows

        with self._plan(query, as_written=True) as plan:
            lasts = [part.last for parts in self.segments.values() for part in parts]
            span = due_instants.span(None, plan.schedule.last_instant(max(lasts)), self.segments)
            assert span is not None
            return operator_rows(plan, self._plans.background.session, self._streams(plan, span), span)

    def solutions(self, query: Query, instant: int, most: int) -> list[Solution]:
        """The solutions of a SELECT at an instant, or of events those that end then; so many at most."""
        with self._plan(query) as plan:
            span = Span(instant - 1, instant)
            table = plan.evaluate(Evaluation(self._streams(plan, span), span, final=True)).collect()
        names = [var.name for var in query.variables]
        rows = table.filter(table.column(ROW)).slice(0, most)
        starts = rows.column(SINCE).to_pylist() if SINCE in rows.column_names else [None] * rows.num_rows
        columns = [column.to_pylist() for column in rows.columns[1 : len(names) + 1]]
        cells = zip(*columns, strict=True) if columns else ((),) * rows.num_rows
        decoded = ({n: decode(c) for n, c in zip(names, row, strict=True) if c is not None} for row in cells)
        return [Solution(row, start) for row, start in zip(decoded, starts, strict=True)]

    # What made a solution

    def dropped(self, stream: str) -> int:
        """The number of elements of a stream that are no longer in the log."""
        return self._inputs.dropped(stream)

    def elements(self, window: StreamWindow, instant: int, wanted: Collection[Triple]) -> list[HeldElement]:
        """The elements that a window holds at an instant and that are such triples; with entailment, all of them."""
        name, among = window.iri.value, None if self._plans.entails else wanted
        return held_elements(self.segments.get(name, ()), window.window, instant, self.dropped(name), among)

    def entailed(self, triple: Triple) -> Collection[Triple]:
        """The triple, and with entailment those that it entails."""
        rewriter = self._plans.background.entailed
        return (triple,) if rewriter is None else rewriter.ontology.entailed(triple)

    def background_triples(self, triples: Sequence[Triple], graph: NamedNode | None) -> list[Triple]:
        """The given triples that are in the background, in its default graph or in that graph."""
        rows = tuple(map(terms_of, triples))
        pattern: Op = Bgp((TriplePattern(*_TRIPLE),))
        pattern = Join(Table(_TRIPLE, rows), pattern if graph is None else Graph(graph, pattern))
        rows_there = self._plans.computed(Query(Select(), pattern, _TRIPLE, self.query.dataset)).rows
        present = {triple_of(row["s"], row["p"], row["o"]) for row in rows_there}
        return [triple for triple in triples if triple in present]

    @contextmanager
    def _plan(self, query: Query, *, as_written: bool = False) -> Iterator[ContinuousQuery]:
        plan = self._plans.compiled(query, self._entry, as_written=as_written)
        try:
            yield cast("ContinuousQuery", plan)
        finally:
            self._plans.release(plan)

    def _streams(self, plan: ContinuousQuery, span: Span) -> dict[str, StreamFiles]:
        return due_instants.visible_segments(plan, span, self.segments, self._inputs.dropped)


def _with_own_rules(task: RegisteredQuery) -> Query:
    """The query, which for a recursive rule also reads what the rules of its cycle have derived, itself included."""
    derived = (NamedNode(f"{RULES.value}:{rule.name}") for rule in task.rules)
    own = {window.iri for window in task.query.streams}
    windows = (StreamWindow(iri, SlideWindow(None)) for iri in derived if iri not in own)
    return replace(task.query, streams=(*task.query.streams, *windows))

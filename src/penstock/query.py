"""A registered query, as its user holds it.

`explain` and `why` are imported when they are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, overload

from pyoxigraph import Triple

from penstock.answer import Answer, Row

if TYPE_CHECKING:
    from penstock.explain import Explanation
    from penstock.stream.base.time_values import Moment
    from penstock.stream.registry.registered_query import RegisteredQuery
    from penstock.stream.runtime.progress import QueryStatus
    from penstock.stream.runtime.runtime import Runtime
    from penstock.why import Provenance, Why

__all__ = ["Query"]


class Query:
    """A registered query, which `Engine.register` returns: it is evaluated at every instant while the engine runs."""

    def __init__(self, task: RegisteredQuery, runtime: Runtime) -> None:
        self._task = task
        self._runtime = runtime

    @property
    def name(self) -> str:
        return self._task.name

    @property
    def text(self) -> str:
        """The query as it was registered."""
        return self._task.entry.text

    @property
    def output(self) -> str | None:
        """The IRI of the stream that it derives, if it does."""
        return self._task.output

    @property
    def status(self) -> QueryStatus:
        """The state of the query, its progress, and its error if it failed."""
        return self._runtime.query_status(self._task)

    def answers(self, timeout: float | None = None) -> Iterator[Answer]:
        """The answers that are kept, oldest first; those of a query that was registered with a sink are there alone.

        After `run()` these are all. While the engine is live, the iterator waits for the next answer until the engine
        stops or the query is dropped; if the query fails, it raises the error as a `PenstockError`. With a `timeout` it
        simply ends when no answer has come for so many seconds (of the engine's clock); 0 gives what is there now. A
        further call begins with the oldest answer again. While live, the newest million rows are kept: a reader that is
        slower than that misses the oldest.
        """
        return self._runtime.answers(self._task, timeout)

    def latest(self) -> Answer | None:
        """The newest answer, without waiting; None before the first. A query with a sink has it there alone."""
        return self._runtime.latest(self._task)

    def explain(self, *, run: bool = False) -> Explanation:
        """Return the plan of the query for the elements that are held now, as an explanation.

        With `run` each part of the plan is computed by itself as well, over all of them, so that estimated rows stand
        beside actual ones. Answers and progress stay as they are.
        """
        from penstock.explain.execution_figures import of_registered

        examined = self._runtime.examine(self._task, run=run)
        return of_registered(self.name, self._task.query, self.text, examined)

    @overload
    def why(self) -> Why: ...
    @overload
    def why(self, *, at: Moment) -> list[Provenance]: ...
    @overload
    def why(self, row: Row | Triple, *, at: Moment | None = None) -> Provenance: ...
    def why(self, row: Row | Triple | None = None, *, at: Moment | None = None) -> Why | Provenance | list[Provenance]:
        """Why it has no answer: the reasons that were found, the most likely first, each with numbers and a remedy.

        It looks at the streams, the watermark and the windows, and then evaluates the query again over the elements
        that are held, to find the first part of it without a row. Answers and progress stay as they are.

        With a row of an answer, or a triple of a CONSTRUCT's, it is the other way round: the elements and the triples
        of the background that made it at the instant `at`, found by evaluating that instant again. Without `at` it is
        the newest instant with that row among the answers that are kept in memory; with `at` alone it is all
        solutions of that instant.
        """
        if row is None and at is None:
            from penstock.why.absence import why_no_answer

            return why_no_answer(self._runtime, self._task)
        from penstock.stream.base.time_values import moment
        from penstock.why.presence import why_answer, why_answers

        instant = None if at is None else moment(at)
        if row is None and instant is not None:
            return why_answers(self._runtime, self._task, instant)
        assert row is not None
        return why_answer(self._runtime, self._task, row, instant)

    def pause(self) -> None:
        """Stand still. The streams' elements that it will need are kept until it is resumed or dropped."""
        self._task.pause()

    def resume(self) -> None:
        """Continue where it stopped, without a gap; a query that failed tries again."""
        self._runtime.resume(self._task)

    def drop(self) -> None:
        """Forget the query. Nothing is delivered to its sink after this."""
        self._runtime.drop(self._task)

    def __repr__(self) -> str:
        return f"<Query {self.name}: {self._task.state}>"

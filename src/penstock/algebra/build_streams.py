"""Tree → algebra, streams: windows, REGISTER and AGGREGATE of C-SPARQL."""

from __future__ import annotations

from functools import reduce
from typing import NoReturn

from penstock.algebra import ops
from penstock.algebra.build_expressions import ExpressionBuilder
from penstock.algebra.expressions import Aggregate, Call, Expr, Var
from penstock.algebra.windows import UNITS, CountWindow, TimeWindow, Window
from penstock.errors import QueryError
from penstock.syntax import tree

__all__ = ["StreamBuilder", "conjunction"]

LONGEST = 10_000 * 366 * UNITS["d"]  # times and durations can then be added without leaving 64 bits

_UNSEEN = "some elements would never be seen"


class StreamBuilder(ExpressionBuilder):
    # Windows

    def streams(self, clauses: tuple[tree.StreamClause, ...]) -> tuple[ops.StreamWindow, ...]:
        """One window a stream. A clause given twice counts once; it is in the default graph if one of them says so."""
        found: dict[object, ops.StreamWindow] = {}
        for clause in clauses:
            made = ops.StreamWindow(self.iri(clause.iri), self.window(clause.window), clause.named)
            known = found.get(made.iri, made)
            if known.window != made.window:
                hint = "register two queries, or use one window for both"
                self.fail("this stream has another window already", clause.iri.span, hint)
            found[made.iri] = ops.StreamWindow(made.iri, made.window, made.named and known.named)
        return tuple(found.values())

    def window(self, window: tree.TimeWindow | tree.CountWindow) -> Window:
        return self.time_window(window) if isinstance(window, tree.TimeWindow) else self.count_window(window)

    def time_window(self, window: tree.TimeWindow) -> TimeWindow:
        range_ = self.microseconds(window.range, "a window of length 0 holds nothing")
        step = self.microseconds(window.step, "a window with step 0 never moves")
        if range_ < step:
            reason = f"the window is shorter than its step, so {_UNSEEN}"
            self.fail(reason, window.span, "write TUMBLING, or a smaller STEP")
        return TimeWindow(range_, step)

    def count_window(self, window: tree.CountWindow) -> CountWindow:
        size = self.count(window.size, "a window of 0 triples holds nothing")
        step = 1 if window.step is None else self.count(window.step, "a window with step 0 never moves")
        if size < step:
            reason = f"the window holds fewer triples than its step, so {_UNSEEN}"
            self.fail(reason, window.span, "write TUMBLING, or a smaller STEP")
        return CountWindow(size, step)

    def microseconds(self, duration: tree.Duration, if_zero: str) -> int:
        value = duration.amount * UNITS[duration.unit]
        if value == 0:
            self.fail(if_zero, duration.span)
        if value > LONGEST:
            self.fail("this is longer than 10000 years", duration.span)
        return value

    def count(self, count: tree.Count, if_zero: str) -> int:
        if count.amount == 0:
            self.fail(if_zero, count.span)
        return count.amount

    # REGISTER

    def registration(self, query: tree.Query) -> ops.Registration | None:
        given = query.registration
        if given is None:
            return None
        every = None if given.every is None else self.microseconds(given.every, "a query cannot be computed every 0")
        derives = given.derives and isinstance(query.form, tree.Construct | tree.Describe)
        return ops.Registration(given.name, every, self.iri(given.iri) if derives else None)

    # AGGREGATE

    def annotated(self, pattern: ops.Op, modifiers: tree.Modifiers) -> ops.Op:
        """Each annotation sees what WHERE binds, whatever the others add; the filters see all of them."""
        for annotation in modifiers.annotations:
            keys = tuple(dict.fromkeys(Var(key.name) for key in annotation.keys))
            aggregate = self.aggregate(annotation.aggregate, None)
            assert isinstance(aggregate, Aggregate), "there are no groups that could share it"
            pattern = ops.Annotate(Var(annotation.variable.name), aggregate, keys, pattern)
        conditions = [self.expression(filter_.condition) for filter_ in modifiers.annotation_filters]
        return ops.Filter(conjunction(conditions), pattern) if conditions else pattern

    def fail(self, reason: str, span: tree.Span, hint: str | None = None) -> NoReturn:
        raise span.error(QueryError, reason, self.text, hint)


def conjunction(conditions: list[Expr]) -> Expr:
    """All of them, in their order; there has to be one."""
    return reduce(lambda left, right: Call("&&", (left, right)), conditions)

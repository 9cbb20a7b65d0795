"""Deltas: ISTREAM and DSTREAM from the rows that start or end in a span, without operator state.

    instants        10        20        30        40
    row of :a       [-------------------)                 +1 at 10, -1 at 30
    row of :a                 [-------------------)       +1 at 20, -1 at 40
    row of :b                 [---------)                 +1 at 20, -1 at 30
    ISTREAM         :a        :a :b
    DSTREAM                             :a :b     :a

A solution is inserted at an instant as often as more of its rows start there than end; it is deleted as often as more
end than start. Where every row has a validity interval, this needs no state from the evaluation before, and no row that
neither starts nor ends in the span is read.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.algebra import ops
from penstock.algebra.ops import Op
from penstock.algebra.scope import exists_in, expressions_of
from penstock.algebra.windows import CountWindow, TimeWindow, Window
from penstock.compile import sql
from penstock.compile.expressions.expressions import asks_now
from penstock.compile.relation import FROM, TO, Relation, nothing
from penstock.compile.sql import Query, Select
from penstock.compile.windows.evaluation_instants import PeriodicInstants
from penstock.compile.windows.plan_span import within
from penstock.model.span import Span
from penstock.optimise.walk import nodes

__all__ = ["applies", "delta_times", "deltas", "of_one_element"]

_EMITTED = ("istream", "dstream")
_ROW_BY_ROW = (
    ops.Bgp, ops.Extend, ops.Filter, ops.Graph, ops.InWindow, ops.Join, ops.StaticView, ops.WindowOverride,
    ops.Path, ops.Project, ops.Reduced, ops.Table, ops.Union,
)  # fmt: skip


def applies(query: ops.Query, emit: str) -> bool:
    """Whether the report can be computed from deltas: every solution contains a row of a window, and so has an
    interval.

    All windows must be of one kind: sliding windows have an instant wherever an element enters or leaves, time windows
    at their steps.
    """
    if emit not in _EMITTED or not isinstance(query.form, ops.Select) or not query.streams:
        return False
    return _is_row_by_row(query.pattern) and _has_window(query.pattern) and _of_one_kind(query)


def _is_row_by_row(op: Op) -> bool:
    """Whether each solution is independent of all others, and of time but for its validity interval."""
    own = isinstance(op, _ROW_BY_ROW) and not any(asks_now(e) or exists_in(e) for e in expressions_of(op))
    return own and all(map(_is_row_by_row, op.children))


def _has_window(op: Op) -> bool:
    """Whether every solution contains a row of a window."""
    if isinstance(op, ops.InWindow):
        return True
    operands = map(_has_window, op.children)
    return all(operands) and bool(op.children) if isinstance(op, ops.Union) else any(operands)


def _of_one_kind(query: ops.Query) -> bool:
    """Whether all windows have the same instants of change."""
    windows = [stream.window for stream in query.streams]
    stepping = [window for window in windows if isinstance(window, TimeWindow)]
    if not stepping:
        return True
    every = query.registration is not None and query.registration.every is not None
    overlapping = all(window.range > window.step == stepping[0].step for window in stepping)
    return len(stepping) == len(windows) and overlapping and not every


def of_one_element(query: ops.Query) -> bool:
    """Whether each solution contains exactly one stream element, so that only elements that enter or leave matter."""
    inside = [op.pattern for op in nodes(query.pattern) if isinstance(op, ops.InWindow)]
    single = len(inside) == 1 and isinstance(inside[0], ops.Bgp) and len(inside[0].patterns) == 1
    return single and all(stream.name is not None and not stream.merge for stream in query.streams)


def delta_times(window: Window, span: Span) -> tuple[Span, ...] | None:
    """Return the timestamps of the elements that enter, and of those that leave, in the span; None if any may.

    The ranges are one step larger on each side, which does no harm.
    """
    if isinstance(window, CountWindow) or window.range is None:
        return None
    delay, step = (window.delay, window.step) if isinstance(window, TimeWindow) else (0, window.slide)
    late = (delay, delay + window.range)
    return tuple(Span(span.after - step - back, span.through + step - back) for back in late)


def deltas(emit: str, relation: Relation, columns: Sequence[str], lattice: PeriodicInstants) -> Query:
    """Return the inserted or deleted solutions with the instant of the change, in the column `time`."""
    names = [sql.name(column) for column in columns]
    if not relation.timed:  # no window holds an element
        return Select([sql.alias(sql.long(0), "time"), *(sql.alias(nothing(c), c) for c in columns)], None, sql.FALSE)
    begins, ends = (lattice.rounded(sql.name(bound)) for bound in (FROM, TO))
    bounded = Select([*names, sql.alias(begins, ".b"), sql.alias(ends, ".e")], relation.sql)
    b, e, t, n = (sql.name(c) for c in (".b", ".e", ".t", ".n"))
    either = (b < e) & (within(b, lattice.span) | within(e, lattice.span))
    both = (sql.struct(**{".t": at, ".d": sql.long(by)}) for at, by in ((b, 1), (e, -1)))
    events = Select([*names, sql.call("inline", sql.array(*both))], bounded, either)
    by = [t, *names]
    total = sql.call("sum", sql.name(".d"))
    number = sql.alias(-total if emit == "dstream" else total, ".n")
    summed = Select([*by, number], events, within(t, lattice.span), group=by)
    copy = sql.alias(sql.call("explode", sql.call("sequence", sql.long(1), n)), ".c")
    return Select([sql.alias(t, "time"), *names], Select([sql.STAR, copy], summed, n > 0))

"""Validity intervals of solutions, from which ISTREAM, DSTREAM and interval output are reported with operator state.

    rows of a solution   [------)
                              [---------)     [---- …
    copy 1               [--------------)     [---- …    [since, until); until is NULL while it is open
    copy 2                    [-)
    ISTREAM              ^    ^               ^
    DSTREAM                     ^       ^

A solution that an answer has n times has n copies, with one interval each. Intervals continue from one evaluation to
the next, so those that are open at the end of a span are the state that the next evaluation reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.relation import ALWAYS, FROM, INSTANT, TO, Relation
from penstock.compile.sql import Derived, Expr, Join, Over, Query, Scalar, Select, Table
from penstock.compile.windows.evaluation_instants import EvaluationInstants, PeriodicInstants
from penstock.compile.windows.plan_span import PlanSpan, Time, moment, within

SINCE, UNTIL = ".since", ".until"  # columns of an interval, before those of the solution
AT, REPORTED = ".at", ".reported"  # the instant of a row, and whether it is reported
_HASH = ".hash"

Names = Sequence[Expr]


def reported_intervals(emit: str, intervals: Query, columns: Sequence[str], span: PlanSpan, final: bool) -> Query:
    """Return the intervals that a span reports, and those that are open at its end, each with its instant.

    The instant is the start for ISTREAM, else the end, which of an open interval is `ALWAYS`. `final`: time ends with
    the span, so open intervals are reported too.
    """
    since, until = sql.name(SINCE), sql.name(UNTIL)
    at = since if emit == "istream" else sql.coalesce(until, sql.long(ALWAYS))
    reported = within(at, span)
    if emit == "intervals" and final:
        reported = reported | until.is_null()
    items = [sql.alias(at, AT), *map(sql.name, columns), since, until, sql.alias(reported, REPORTED)]
    return Select(items, intervals, reported | until.is_null())


def validity_intervals(
    relation: Relation, columns: Sequence[str], before: str | None, once: bool, alike: bool, context: Context
) -> Query:
    """Return the validity intervals of a relation in the span, continuing those of the view `before`.

    An interval that is open at the end has no `until` (NULL). With `once`, copies of a solution count as one. With
    `alike`, many copies are expected, and they are counted before they are sorted.
    """
    streaming = context.plan.streaming
    assert streaming is not None
    timeline, names = streaming.timeline, [sql.name(c) for c in columns]
    rows = [_with_bounds(relation, names, timeline, context)]
    if before is not None:
        bounds = [sql.alias(sql.name(SINCE), FROM), sql.alias(_first(timeline), TO)]
        rows.append(Select([*names, *bounds], Table(before)))
    return _merged(names, sql.union_all(rows), timeline.span.through, once, alike)


def joined_intervals(rows: str, columns: Sequence[str], through: Time) -> Query:
    """Return the intervals of a table of solutions with `FROM` and `TO`; those that touch are one interval."""
    names = [sql.name(c) for c in columns]
    return _merged(names, Select([*names, _FROM, _TO], Table(rows)), through, once=False, alike=False)


def first_instant(context: Context) -> Query:
    """Return the first instant of the span; no row if the span has none."""
    streaming = context.plan.streaming
    assert streaming is not None
    first = Select([sql.alias(_first(streaming.timeline), AT)])
    return Select([sql.STAR], first, within(sql.name(AT), streaming.timeline.span))


def _merged(names: Names, rows: Query, through: Time, once: bool, alike: bool) -> Query:
    """Return the intervals of each copy of a solution, from rows with `FROM` and `TO`."""
    levels = _levels(names, _changes(names, _mark_lone(names, _counted(names, rows, through, once, alike))))
    return _paired(names, Select([sql.STAR], levels, sql.name(".level").eq(1)) if once else levels)


def _first(timeline: EvaluationInstants) -> Expr:
    """Return the first instant of the span: an interval that was open before lasts at least until then."""
    if isinstance(timeline, PeriodicInstants):
        return moment(timeline.first)
    t = sql.name("t")
    return Scalar(Select([sql.alias(sql.call("min", t), "t")], Table(timeline.view), t > moment(timeline.span.after)))


def _with_bounds(relation: Relation, names: Names, timeline: EvaluationInstants, context: Context) -> Query:
    """Return the rows of each solution with an interval whose bounds are instants."""
    if not relation.timed or relation.sql.holds_always:
        rows = context.expand(relation, frozenset((INSTANT,))).sql
        return _until_next(names, at_non_empty_instants(rows, context) if rows.holds_always else rows, timeline)
    start, end = (timeline.rounded(bound) for bound in (_FROM, _TO))
    bounds = [sql.alias(sql.call("greatest", start, _first(timeline)), FROM), sql.alias(end, TO)]
    return Select([sql.STAR], Select([*names, *bounds], relation.sql), _FROM < _TO)


def at_non_empty_instants(rows: Query, context: Context) -> Query:
    """Return the rows at the instants at which some window holds an element.

    Rows of the background alone hold at all instants; only those with a non-empty window have answers.
    """
    same = sql.column("l", INSTANT).eq(sql.column("r", INSTANT))
    joined = Join(Derived(rows, "l"), Derived(context.universes[0].sql, "r"), same, "LEFT SEMI JOIN")
    return Select([sql.Star("l")], joined)


def _until_next(names: Names, rows: Query, timeline: EvaluationInstants) -> Query:
    """Return the rows with the interval from their instant to the next."""
    instant = sql.name(INSTANT)
    if isinstance(timeline, PeriodicInstants):
        bounds = [sql.alias(instant, FROM), sql.alias(timeline.rounded(instant + 1), TO)]
        return Select([*names, *bounds], rows)
    t = sql.name("t")
    following = Select([t, sql.alias(Over(sql.call("lead", t), (), [t]), ".n")], Table(timeline.view))
    at = sql.column("l", INSTANT)
    joined = Join(Derived(rows, "l"), Derived(following, "i"), at.eq(sql.column("i", "t")))
    own = [sql.column("l", name.data[0]) for name in names]
    return Select([*own, sql.alias(at, FROM), sql.alias(sql.column("i", ".n"), TO)], joined)


def _counted(names: Names, held: Query, through: Time, once: bool, alike: bool) -> Query:
    """Return the intervals with their number of copies; an end beyond the span is `ALWAYS`.

    A hash of the solution is the first sort key: terms have long common prefixes.
    """
    key = sql.call("xxhash64", *names) if names else sql.long(0)
    end = sql.case((moment(through) < _TO, sql.long(ALWAYS)), otherwise=_TO)
    items = [sql.alias(key, _HASH), *names, _FROM, sql.alias(end, TO)]
    rows = Select(items, held, moment(through) >= _FROM)
    if not alike:
        return Select([sql.STAR, sql.alias(sql.long(1), ".c")], rows)
    by = [sql.name(_HASH), *names, _FROM, _TO]
    return Select([*by, sql.alias(sql.long(1) if once else sql.call("count", 1), ".c")], rows, group=by)


def _mark_lone(names: Names, counted: Query) -> Query:
    """Add whether an interval neither overlaps nor touches another of its solution: then it is final already."""
    reach = Over(sql.call("max", _TO), _by(names), [_FROM], sql.BEFORE)
    following = Over(sql.call("lead", _FROM), _by(names), [_FROM])
    lone = sql.coalesce(reach < _FROM, sql.TRUE) & sql.coalesce(following > _TO, sql.TRUE)
    return Select([sql.STAR, sql.alias(lone, ".lone")], counted)


def _change(at: Expr, by: Expr, until: Expr) -> Expr:
    return sql.struct(**{".t": at, ".d": by, ".u": until})


def _changes(names: Names, counted: Query) -> Query:
    """Return the changes in the number of copies of each solution; a lone interval is one change with its end."""
    copies, none = sql.name(".c"), sql.null("BIGINT")
    alone = sql.array(_change(_FROM, copies, _TO))
    both = sql.array(_change(_FROM, copies, none), _change(_TO, -copies, none))
    events = sql.call("inline", sql.case((sql.name(".lone"), alone), otherwise=both))
    by = [sql.name(_HASH), *names, sql.name(".t")]
    changes = Select([sql.name(_HASH), *names, events], counted)
    sums = sql.call("sum", _D), sql.call("max", _U)
    return Select([*by, sql.alias(sums[0], ".d"), sql.alias(sums[1], ".u")], changes, group=by, having=sums[0].ne(0))


def _levels(names: Names, changes: Query) -> Query:
    """Return each change once for every copy that it inserts or deletes; `.level` is the number of the copy."""
    total = Over(sql.call("sum", sql.case((_U.is_null(), _D), otherwise=sql.long(0))), _by(names), [_T])
    own = [sql.name(_HASH), *names, _T, _D, _U]
    number = total + sql.case((_U.is_null(), sql.long(0)), otherwise=_D)
    summed = Select([*own, sql.alias(number, ".n")], changes)
    n = sql.name(".n")
    ends = sql.call("least", n, n - _D) + 1, sql.call("greatest", n, n - _D)
    return Select([*own, sql.alias(sql.call("explode", sql.call("sequence", *ends)), ".level")], summed)


def _paired(names: Names, levels: Query) -> Query:
    """Return the intervals: the insertion of a copy is paired with the next deletion of the same copy."""
    until = sql.coalesce(_U, Over(sql.call("lead", _T), [*_by(names), sql.name(".level")], [_T]))
    bounds = [sql.alias(_T, SINCE), sql.alias(sql.call("nullif", until, sql.long(ALWAYS)), UNTIL)]
    paired = Select([*bounds, *names, _D], levels)
    return Select([sql.name(SINCE), sql.name(UNTIL), *names], paired, _D > 0)


def _by(names: Names) -> list[Expr]:
    return [sql.name(_HASH), *names]


_FROM, _TO = sql.name(FROM), sql.name(TO)
_T, _D, _U = sql.name(".t"), sql.name(".d"), sql.name(".u")

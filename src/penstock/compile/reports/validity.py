"""Output other than the whole answer at each instant: what becomes true, what ceases to be, and for how long it was.

All three are read from *spells*: a solution, when it became true and when it ceased to be. A solution that an answer
has n times is n spells side by side. Spells go on from one evaluation to the next, so those that are open at the end of
one are handed to the following.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.relation import ALWAYS, FROM, INSTANT, TO, Relation
from penstock.compile.sql import Derived, Expr, Join, Over, Query, Scalar, Select, Table
from penstock.compile.windows.evaluation_instants import EvaluationInstants, PeriodicInstants, within
from penstock.model.span import Span

SINCE, UNTIL = ".since", ".until"  # columns of intervals, before those of the solution
AT, REPORTED = ".at", ".reported"  # of those that an evaluation gives: its instant, and whether it is to be reported
_HASH = ".hash"


def reported_intervals(emit: str, intervals: Query, columns: Sequence[str], span: Span, final: bool) -> Query:
    """The spells that a span tells of, and those that are open at its end, each with its instant: where it
    begins, or ends, which for one without an end is `ALWAYS`.

    `final`: time ends with the span, so intervals that are still open are reported too.
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
    """The spells of a relation in the span, from those that were open before (a view) and its own rows.

    One that is open at the end has no end yet (NULL). `once`: of a solution's copies only the first counts. `alike`:
    there may well be many copies, which are counted before they are sorted.
    """
    streaming = context.plan.streaming
    assert streaming is not None
    timeline, names = streaming.timeline, [sql.name(c) for c in columns]
    held = [_held(relation, names, timeline, context)]
    if before is not None:
        bounds = [sql.alias(sql.name(SINCE), FROM), sql.alias(_first(timeline), TO)]
        held.append(Select([*names, *bounds], Table(before)))
    counted = _counted(names, sql.union_all(held), timeline.span.through, once, alike)
    levels = _levels(names, _changes(names, _lone(names, counted)))
    return _paired(names, Select([sql.STAR], levels, sql.name(".level").eq(1)) if once else levels)


def _first(timeline: EvaluationInstants) -> Expr:
    """The first instant of the span: until then everything is as it was at the end of the span before."""
    if isinstance(timeline, PeriodicInstants):
        return sql.long(timeline.first)
    t = sql.name("t")
    return Scalar(Select([sql.alias(sql.call("min", t), "t")], Table(timeline.view), t > timeline.span.after))


Names = Sequence[Expr]


def _held(relation: Relation, names: Names, timeline: EvaluationInstants, context: Context) -> Query:
    """When each solution holds, in bounds that are instants."""
    if not relation.timed or relation.sql.holds_always:
        found = context.expand(relation, frozenset((INSTANT,))).sql
        return _until_next(names, occupied(found, context) if found.holds_always else found, timeline)
    start, end = (timeline.rounded(bound) for bound in (_FROM, _TO))
    bounds = [sql.alias(sql.call("greatest", start, _first(timeline)), FROM), sql.alias(end, TO)]
    return Select([sql.STAR], Select([*names, *bounds], relation.sql), _FROM < _TO)


def occupied(rows: Query, context: Context) -> Query:
    """The rows at instants at which some window holds something. Rows that hold always, from the background alone, were
    copied to all instants; only those have answers."""
    same = sql.column("l", INSTANT).eq(sql.column("r", INSTANT))
    joined = Join(Derived(rows, "l"), Derived(context.universes[0].sql, "r"), same, "LEFT SEMI JOIN")
    return Select([sql.Star("l")], joined)


def _until_next(names: Names, rows: Query, timeline: EvaluationInstants) -> Query:
    """What holds at an instant holds until the next."""
    instant = sql.name(INSTANT)
    if isinstance(timeline, PeriodicInstants):
        bounds = [sql.alias(instant, FROM), sql.alias(timeline.rounded(instant + 1), TO)]
        return Select([*names, *bounds], rows)
    t = sql.name("t")
    following = Select([t, sql.alias(Over(sql.call("lead", t), (), [t]), ".n")], Table(timeline.view))
    at = sql.column("l", INSTANT)
    found = Join(Derived(rows, "l"), Derived(following, "i"), at.eq(sql.column("i", "t")))
    own = [sql.column("l", name.data[0]) for name in names]
    return Select([*own, sql.alias(at, FROM), sql.alias(sql.column("i", ".n"), TO)], found)


def _counted(names: Names, held: Query, through: int, once: bool, alike: bool) -> Query:
    """Intervals, and of how many copies. What does not end within the span ends at `ALWAYS`.

    A hash of the solution leads wherever rows are sorted: terms have long beginnings in common.
    """
    key = sql.call("xxhash64", *names) if names else sql.long(0)
    end = sql.case((sql.long(through) < _TO, sql.long(ALWAYS)), otherwise=_TO)
    items = [sql.alias(key, _HASH), *names, _FROM, sql.alias(end, TO)]
    rows = Select(items, held, sql.long(through) >= _FROM)
    if not alike:
        return Select([sql.STAR, sql.alias(sql.long(1), ".c")], rows)
    by = [sql.name(_HASH), *names, _FROM, _TO]
    return Select([*by, sql.alias(sql.long(1) if once else sql.call("count", 1), ".c")], rows, group=by)


def _lone(names: Names, counted: Query) -> Query:
    """Whether an interval neither overlaps nor touches another of its solution, so that it is a spell already."""
    reach = Over(sql.call("max", _TO), _by(names), [_FROM], sql.BEFORE)
    following = Over(sql.call("lead", _FROM), _by(names), [_FROM])
    lone = sql.coalesce(reach < _FROM, sql.TRUE) & sql.coalesce(following > _TO, sql.TRUE)
    return Select([sql.STAR, sql.alias(lone, ".lone")], counted)


def _change(at: Expr, by: Expr, until: Expr) -> Expr:
    return sql.struct(**{".t": at, ".d": by, ".u": until})


def _changes(names: Names, counted: Query) -> Query:
    """By how much a solution's number grows or shrinks, where it does; a lone interval is one change with its end."""
    copies, none = sql.name(".c"), sql.null("BIGINT")
    alone = sql.array(_change(_FROM, copies, _TO))
    both = sql.array(_change(_FROM, copies, none), _change(_TO, -copies, none))
    events = sql.call("inline", sql.case((sql.name(".lone"), alone), otherwise=both))
    by = [sql.name(_HASH), *names, sql.name(".t")]
    found = Select([sql.name(_HASH), *names, events], counted)
    sums = sql.call("sum", _D), sql.call("max", _U)
    return Select([*by, sql.alias(sums[0], ".d"), sql.alias(sums[1], ".u")], found, group=by, having=sums[0].ne(0))


def _levels(names: Names, changes: Query) -> Query:
    """Each change, once for every copy of the solution that comes or goes with it; `.level` is the copy's number."""
    total = Over(sql.call("sum", sql.case((_U.is_null(), _D), otherwise=sql.long(0))), _by(names), [_T])
    own = [sql.name(_HASH), *names, _T, _D, _U]
    number = total + sql.case((_U.is_null(), sql.long(0)), otherwise=_D)
    summed = Select([*own, sql.alias(number, ".n")], changes)
    n = sql.name(".n")
    ends = sql.call("least", n, n - _D) + 1, sql.call("greatest", n, n - _D)
    return Select([*own, sql.alias(sql.call("explode", sql.call("sequence", *ends)), ".level")], summed)


def _paired(names: Names, levels: Query) -> Query:
    """A copy comes, and the next thing that happens to it is that it goes."""
    until = sql.coalesce(_U, Over(sql.call("lead", _T), [*_by(names), sql.name(".level")], [_T]))
    bounds = [sql.alias(_T, SINCE), sql.alias(sql.call("nullif", until, sql.long(ALWAYS)), UNTIL)]
    paired = Select([*bounds, *names, _D], levels)
    return Select([sql.name(SINCE), sql.name(UNTIL), *names], paired, _D > 0)


def _by(names: Names) -> list[Expr]:
    return [sql.name(_HASH), *names]


_FROM, _TO = sql.name(FROM), sql.name(TO)
_T, _D, _U = sql.name(".t"), sql.name(".d"), sql.name(".u")

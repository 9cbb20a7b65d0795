"""OPTIONAL, MINUS, EXISTS and DISTINCT on validity intervals, without a row for each instant.

    left row        [-------------------------)
    partners           [----)   [-------)
    with_partners      [----)   [-------)           semi-join
    anti_join       [--)    [---)       [-----)     the gaps

A row meets its partners in the order in which they begin. The latest end of the earlier partners (`reach`) splits the
row's interval into parts with a partner and gaps without.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.operators import joins
from penstock.compile.relation import ENDS, FROM, INSTANT, TO, Relation, nothing, shared_variables
from penstock.compile.sql import Expr, Over, Query, Select

_ROW, _BEGIN, _END, _REACH, _LAST = ".sweep", ".begin", ".end", ".reach", ".last"
_FROM, _TO = sql.name(FROM), sql.name(TO)
_UNMET = sql.coalesce(sql.name(_REACH), _FROM)  # the end of the part of a row's interval that is done


def on_intervals(left: Relation, right: Relation, context: Context) -> tuple[Relation, Relation]:
    """Return both sides of a semi-join, anti-join or left join on intervals; the left one has the keys of the right."""
    check_ends(left, right, context)
    left = context.expand(left, right.keys)
    assert left.timed, "the left side has no validity intervals"
    assert right.timed, "the right side has no validity intervals"
    return left, right


def at_instants(left: Relation, right: Relation, context: Context) -> tuple[Relation, Relation]:
    """Return both sides of a semi-join, anti-join or left join that is evaluated instant by instant.

    A right side of the background alone is the same at all instants; then the left one may keep its intervals.
    """
    check_ends(left, right, context)
    right = context.pointwise(right)
    return context.expand(left, right.keys), right


def check_ends(left: Relation, right: Relation, context: Context) -> None:
    """Check that no row of `left` without an occurrence time can lose a row to `right`, unless instants are evaluated.

    A row is compared with `right` at its end, whatever comes later. A row of the background has the end of the row that
    it is joined with further up. `complex_events.needs_instants` has decided this before anything was compiled.
    """
    instants = any(INSTANT in universe.keys for universe in context.universes)
    timeless = context.plan.streaming is not None and not instants
    assert not (timeless and ENDS in right.vars and ENDS not in left.certain), (
        "a row without an occurrence time was compared without instants"
    )


def semi(left: Relation, right: Relation, on: Expr, anti: bool) -> Relation:
    """Return the semi-join of two relations on intervals, or with `anti` the anti-join."""
    return anti_join(left, right, on) if anti else with_partners(left, right, on)


def anti_join(left: Relation, right: Relation, on: Expr) -> Relation:
    """Return the rows of `left` during the parts of their interval without a partner."""
    met = _met("LEFT JOIN", left, right, on, {})
    gaps = sql.call("inline", sql.array(*(_piece({}, *gap) for gap in _GAPS)))
    return _pieces(left, Select([sql.STAR, gaps], _reaching(met, left, right)))


def with_partners(left: Relation, right: Relation, on: Expr) -> Relation:
    """Return the rows of `left` during the parts of their interval with a partner; these parts do not overlap."""
    met = _met("JOIN", left, right, on, {})
    begin = sql.call("greatest", sql.name(_BEGIN), _UNMET)
    items = [sql.STAR, sql.alias(begin, ".f"), sql.alias(sql.name(_END), ".t")]
    return _pieces(left, Select(items, _reaching(met, left, right)))


def optional(left: Relation, right: Relation, on: Expr) -> Relation:
    """Return joined rows during the overlap of their intervals, and rows of `left` alone during the gaps."""
    columns = {v: read for v, read in joins.merged(left, right).items() if v not in (FROM, TO)}
    together = {v: f".with:{v}" for v in columns if columns[v] != sql.column("l", v)}
    met = _met("LEFT JOIN", left, right, on, {together[v]: columns[v] for v in together})
    both: dict[str, Expr] = {v: sql.name(together.get(v, v)) for v in columns}
    alone = {v: sql.name(v) if v in left.vars else nothing(v) for v in columns}
    rows = [_piece(both, sql.name(_BEGIN), sql.name(_END)), *(_piece(alone, *gap) for gap in _GAPS)]
    intervals = Select([sql.call("inline", sql.array(*rows))], _reaching(met, left, right))
    return _pieces(Relation(intervals, (*columns, FROM, TO), left.certain | {FROM, TO}), intervals)


def distinct(relation: Relation) -> Relation:
    """Return each solution once at a time: the interval of a copy begins where the earlier copies end."""
    by = [sql.name(v) for v in relation.vars if v not in (FROM, TO)]
    reach = Over(sql.call("max", _TO), by, [_FROM], sql.BEFORE)
    swept = Select([sql.STAR, sql.alias(reach, _REACH)], relation.sql)
    begin = sql.call("greatest", _FROM, _UNMET)
    return _pieces(relation, Select([sql.STAR, sql.alias(begin, ".f"), sql.alias(_TO, ".t")], swept))


_AFTER_LAST = sql.coalesce(sql.call("greatest", sql.name(_REACH), sql.name(_END)), _FROM)
# The gap before a partner, if the earlier ones end before it begins, and the gap after the last.
_GAPS: tuple[tuple[Expr, Expr], ...] = (
    (_UNMET, sql.name(_BEGIN)),
    (sql.when(sql.name(_LAST), _AFTER_LAST), _TO),
)


def _piece(values: dict[str, Expr], begin: Expr, end: Expr) -> Expr:
    return sql.struct(**values, **{".f": begin, ".t": end})


def _met(kind: str, left: Relation, right: Relation, on: Expr, further: dict[str, Expr]) -> Query:
    """Return each row with each of its partners, and the overlap of their intervals."""
    numbered = Select([sql.STAR, sql.alias(sql.call("monotonically_increasing_id"), _ROW)], left.sql)
    column = sql.column
    both = {
        _BEGIN: sql.call("greatest", column("l", FROM), column("r", FROM)),
        _END: sql.call("least", column("l", TO), column("r", TO)),
    }
    times = [sql.alias(sql.when(column("r", FROM).not_null(), when), name) for name, when in both.items()]
    own = [column("l", c) for c in (*left.columns, _ROW)]
    items = [*own, *times, *(sql.alias(read, name) for name, read in further.items())]
    return Select(items, joins.sides(replace(left, sql=numbered), right, on, kind))


def _reaching(met: Query, left: Relation, right: Relation) -> Query:
    """Add the latest end of the earlier partners of a row.

    With the keys of the hash join in the partitioning nothing is shuffled again. The row's number comes first, since it
    is sorted faster than terms.
    """
    keys = [v for v in shared_variables(left, right) if v in left.certain and v in right.certain]
    by, order = [sql.name(v) for v in (_ROW, *keys)], [sql.name(_BEGIN)]
    reach = Over(sql.call("max", sql.name(_END)), by, order, sql.BEFORE)
    last = Over(sql.call("lead", sql.name(_ROW)), by, order).is_null()
    return Select([sql.STAR, sql.alias(reach, _REACH), sql.alias(last, _LAST)], met)


def _pieces(relation: Relation, intervals: Query) -> Relation:
    """Return the relation with new bounds from the columns `.f` and `.t`, without empty intervals."""
    begin, end = sql.name(".f"), sql.name(".t")
    bounds = {FROM: begin, TO: end}
    items = [sql.alias(bounds[c], c) if c in bounds else sql.name(c) for c in relation.columns]
    return replace(relation, sql=Select(items, intervals, begin < end), length=None)

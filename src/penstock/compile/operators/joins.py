"""Joining relations on compatible solutions: https://www.w3.org/TR/sparql11-query/#defn_algCompatibleMapping.

Variables that both sides surely bind are plain equi-join keys; only one that may be unbound costs an OR. Rows that hold
during an interval join where their intervals overlap, and the result holds in the overlap; the latest stamp wins. What
they make together occurred from the first start to the last end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from penstock.compile import notes, sql
from penstock.compile.operators.physical import time_buckets
from penstock.compile.relation import ENDS, FROM, INSTANT, STARTS, TO, Relation, is_time, items_or_one, nothing
from penstock.compile.sql.common_subexpressions import inline, tokens_in
from penstock.model.span import Span

HASHED = "/*+ SHUFFLE_HASH(r) */ "
SURELY_FEW = 10_000  # elements that are sent to all others
FEW = 100_000  # rows of a part that was answered before and that Spark broadcasts by itself


def way(left: Relation, right: Relation, many: bool) -> str:
    """How Spark is to join: the hint, where more is known of the sides than it can see.

    Of many elements it would guess from the size of compressed files, and broadcast what is many times as large: a hash
    join of shuffled rows needs no sorting, and the partitions are cut so that they fit (`Jobs.partition`). Beside a
    large part that was answered before, a few elements are broadcast, so that the part stays where it lies. Elements
    that are known to be few are always: no other side then goes from core to core.
    """
    if shared(left, right) and (fewer := _fewer(left, right)) is not None:
        return f"/*+ BROADCAST({fewer}) */ "
    kept = [(side.kept or 0) > FEW for side in (left, right)]
    if not shared(left, right) or all(kept) or (any((left.kept, right.kept)) and not any(kept)):
        return ""
    if not many:
        return f"/*+ BROADCAST({'r' if kept[0] else 'l'}) */ " if any(kept) else ""
    return "/*+ SHUFFLE_HASH(l) */ " if any(kept) and _rows(left) < _rows(right) else HASHED


def _fewer(left: Relation, right: Relation) -> str | None:
    """The side that surely has few rows."""
    counted = [(side.most, name) for side, name in ((left, "l"), (right, "r")) if side.most is not None]
    most, name = min(counted, default=(SURELY_FEW + 1, ""))
    return name if most <= SURELY_FEW else None


def _rows(relation: Relation) -> float:
    return float("inf") if relation.size is None else relation.size.estimate().rows


def shared(left: Relation, right: Relation) -> tuple[str, ...]:
    return tuple(v for v in left.vars if v in right.vars and not is_time(v))


def compatible(left: Relation, right: Relation) -> str:
    """The condition of the join, with the sides named l and r."""
    return sql.all_of([*(_agree(v, left, right) for v in shared(left, right)), *_together(left, right)])


def _together(left: Relation, right: Relation) -> list[str]:
    """When both hold: intervals overlap, or the instant of one lies in the interval of the other."""
    if left.timed and right.timed:
        return [f"l.`{FROM}` < r.`{TO}`", f"r.`{FROM}` < l.`{TO}`"]
    for one, other, a, b in ((left, right, "l", "r"), (right, left, "r", "l")):
        if one.timed and INSTANT in other.keys:
            return [f"{a}.`{FROM}` <= {b}.`{INSTANT}`", f"{b}.`{INSTANT}` < {a}.`{TO}`"]
    return []


def _agree(var: str, left: Relation, right: Relation) -> str:
    here, there = sql.column("l", var), sql.column("r", var)
    unbound = [f"{side} IS NULL" for side, relation in ((here, left), (there, right)) if var not in relation.certain]
    return sql.any_of([f"{here} = {there}", *unbound]) if unbound else f"{here} = {there}"


def merged(left: Relation, right: Relation) -> dict[str, str]:
    """How each variable of the joined solution is read."""
    columns = {v: sql.column("l", v) for v in left.vars}
    for var in right.vars:
        r = sql.column("r", var)
        if var not in columns:
            columns[var] = r
        elif is_time(var):
            columns[var] = sql.call("least" if var in (TO, STARTS) else "greatest", columns[var], r)
        elif var not in left.certain:
            columns[var] = sql.coalesce(columns[var], r)
    if INSTANT in columns:
        columns = {v: c for v, c in columns.items() if v not in (FROM, TO)}
    return columns


def _joined(kind: str, left: Relation, right: Relation, on: str, certain: frozenset[str], hint: str = "") -> Relation:
    columns = merged(left, right)
    items = items_or_one(sql.alias(expression, var) for var, expression in columns.items())
    text = f"SELECT {hint}{items} FROM ({left.sql}) l {kind} ({right.sql}) r ON {on}"
    return Relation(text, tuple(columns), certain & set(columns))


def join(
    left: Relation, right: Relation, hint: str = "", span: Span | None = None, order: Sequence[str] = ()
) -> Relation:
    """`hint` names Spark's way to do it, where more is known of the sides than Spark can see. With the span in which
    rows are wanted, those that hold during intervals may be joined in buckets of time. `order` are conditions on when
    the sides occurred."""
    on, certain = sql.all_of([*order, compatible(left, right)]), left.certain | right.certain
    size = time_buckets.both(left.size, right.size, span)
    chosen = time_buckets.choose(left, right, span)
    if chosen is not None:
        notes.note(f"{_by(left, right)}in buckets of {notes.about(chosen.width)}")
        left, right, hint = chosen.spread(left), chosen.spread(right), HASHED
        on = f"{chosen.meeting()} AND {on}"
    return replace(_joined("JOIN", left, right, on, certain, hint), size=size)


def _by(left: Relation, right: Relation) -> str:
    """The variables of a join, for people."""
    names = [f"?{v}" for v in shared(left, right) if not v.startswith(".")]
    return f"on {' '.join(names)}: " if names else ""


def left_join(left: Relation, right: Relation, on: str) -> Relation:
    return _joined("LEFT JOIN", left, right, on, left.certain)


def so_far(left: Relation, right: Relation) -> list[str]:
    """What comes later than a row neither completes it nor takes it away: a partner has ended when the row does."""
    if ENDS not in left.vars or ENDS not in right.vars:
        return []
    return [f"coalesce(r.`{ENDS}` <= l.`{ENDS}`, true)"]


def on_condition(
    left: Relation, right: Relation, condition: str | None, order: Sequence[str]
) -> tuple[Relation, Relation, str]:
    """The sides, and when they join: if they are compatible, in order, and the condition holds, which reads both."""
    on = sql.all_of([*order, compatible(left, right)]) if order else compatible(left, right)
    if condition is None:
        return left, right, on
    for side in "lr":
        condition, names = _of_side(side, condition)
        left, right = (_computing(left, names), right) if side == "l" else (left, _computing(right, names))
    return left, right, f"{on} AND ({inline(condition)})"


def _of_side(side: str, condition: str) -> tuple[str, dict[str, str]]:
    """The condition reading columns of that side in place of expressions on it alone, and those columns."""
    names: dict[str, str] = {}
    pending = list(tokens_in(condition))
    while pending:
        token = pending.pop()
        if _sides_in(inline(token)) == {side}:
            names[f".on{side}{len(names)}"] = token
            condition = condition.replace(token, f"{side}.`.on{side}{len(names) - 1}`")
    return condition, names


def _computing(relation: Relation, names: dict[str, str]) -> Relation:
    """The relation with further columns, which nobody above the join reads."""
    if not names:
        return relation
    own = (f"{_without_sides(inline(token))} AS {sql.name(n)}" for n, token in names.items())
    return replace(relation, sql=f"SELECT *, {', '.join(own)} FROM ({relation.sql})")


def _sides_in(text: str) -> set[str]:
    return {match[1] for match in _SIDE_OR_STRING.finditer(text) if match[1]}


def _without_sides(text: str) -> str:
    return _SIDE_OR_STRING.sub(lambda match: "`" if match[1] else match[0], text)


_SIDE_OR_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\b([lr])\.`", re.DOTALL)


def semi(left: Relation, right: Relation, on: str, anti: bool = False) -> Relation:
    """The rows of `left` that have a partner, or with `anti` that have none."""
    items = items_or_one(sql.column("l", c) for c in left.columns)
    kind = "LEFT ANTI JOIN" if anti else "LEFT SEMI JOIN"
    text = f"SELECT {items} FROM ({left.sql}) l {kind} ({right.sql}) r ON {on}"
    return Relation(text, left.vars, left.certain, left.order, left.row)


def partners(left: Relation, right: Relation) -> str:
    """When a row of `right` counts for one of `left` that it is not joined with."""
    return sql.all_of([*so_far(left, right), compatible(left, right)])


def excluding(left: Relation, right: Relation, common: list[str]) -> str:
    """When MINUS takes a row away: it agrees with one of the others in a variable that both bind. `common` are those
    that both patterns name: a key that only says for what a row holds is none."""
    on = partners(left, right)
    if any(v in left.certain and v in right.certain for v in common):
        return on
    both = (f"{sql.column('l', v)} IS NOT NULL AND {sql.column('r', v)} IS NOT NULL" for v in common)
    return f"{on} AND ({sql.any_of(both)})"


def same(left: Relation, vars: tuple[str, ...]) -> str:
    """Equality of l and r in these variables, where unbound equals unbound."""
    return sql.all_of(f"{sql.column('l', v)} {'=' if v in left.certain else '<=>'} {sql.column('r', v)}" for v in vars)


def union(left: Relation, right: Relation) -> Relation:
    """As bags. A side that holds always is padded with bounds that say so."""
    vars = left.vars + tuple(v for v in right.vars if v not in left.vars)
    bounds = {FROM, TO} & set(vars)
    sides = (f"SELECT {items_or_one(_padded(side, vars))} FROM ({side.sql})" for side in (left, right))
    size = time_buckets.either(left.size, right.size)
    return Relation(" UNION ALL ".join(sides), vars, left.certain & right.certain | bounds, size=size)


def _padded(relation: Relation, vars: tuple[str, ...]) -> list[str]:
    return [sql.name(v) if v in relation.vars else sql.alias(nothing(v), v) for v in vars]

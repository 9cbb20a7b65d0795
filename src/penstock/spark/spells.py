"""Output other than the whole answer at each instant: what becomes true, what ceases to be, and for how long it was.

All three are read from *spells*: a solution, when it became true and when it ceased to be. A solution that an answer
has n times is n spells side by side. Spells go on from one evaluation to the next, so those that are open at the end of
one are handed to the following.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.spark import sql
from penstock.spark.context import Context
from penstock.spark.relation import ALWAYS, FROM, INSTANT, TO, Relation, nothing
from penstock.spark.timeline import Lattice, Span, Timeline

SINCE, UNTIL = ".since", ".until"  # columns of spells, before those of the solution


def emitted(emit: str, spells: str, columns: Sequence[str], span: Span, final: bool) -> str:
    """The rows of a span, first each one's instant: where a spell begins, or ends; for intervals also its beginning.

    `final`: time ends with the span, so intervals that are still open are told too, and end at `ALWAYS`.
    """
    at = f"`{SINCE}`" if emit == "istream" else f"`{UNTIL}`"
    told = f"{at} > {span.after}L AND {at} <= {span.through}L"
    if emit != "intervals":
        return f"SELECT {', '.join([f'{at} AS time', *map(sql.name, columns)])} FROM {spells} WHERE {told}"
    items = [f"coalesce({at}, {ALWAYS}L) AS time", *map(sql.name, columns), f"`{SINCE}`"]
    return f"SELECT {', '.join(items)} FROM {spells} WHERE {told}{f' OR {at} IS NULL' if final else ''}"


def spells_of(relation: Relation, columns: Sequence[str], before: str | None, once: bool, context: Context) -> str:
    """The spells of a relation in the span, from those that were open before (an item of FROM) and its own rows.

    One that is open at the end has no end yet (NULL). `once`: of a solution's copies only the first counts.
    """
    streaming = context.plan.streaming
    assert streaming is not None
    timeline, names = streaming.timeline, list(map(sql.name, columns))
    held = [_held(relation, names, timeline, context)]
    if before is not None:
        bounds = [f"`{SINCE}` AS `{FROM}`", f"{_first(timeline)} AS `{TO}`"]
        held.append(f"SELECT {', '.join([*names, *bounds])} FROM {before}")
    levels = _levels(names, _changes(names, " UNION ALL ".join(held)), timeline.span.through)
    return _paired(names, f"SELECT * FROM ({levels}) WHERE `.level` = 1" if once else levels)


def _first(timeline: Timeline) -> str:
    """The first instant of the span: until then everything is as it was at the end of the span before."""
    if isinstance(timeline, Lattice):
        return f"{timeline.first}L"
    return f"(SELECT min(t) FROM {timeline.view} WHERE t > {timeline.span.after})"


def _held(relation: Relation, names: list[str], timeline: Timeline, context: Context) -> str:
    """When each solution holds, in bounds that are instants."""
    if not relation.timed or nothing(FROM) in relation.sql:
        at = context.expand(relation, frozenset((INSTANT,)))
        occupied = context.universes[0].sql
        text = f"SELECT l.* FROM ({at.sql}) l LEFT SEMI JOIN ({occupied}) r ON l.`{INSTANT}` = r.`{INSTANT}`"
        return _until_next(names, text, timeline)
    start, end = (timeline.rounded(sql.name(bound)) for bound in (FROM, TO))
    bounds = [f"greatest({start}, {_first(timeline)}) AS `{FROM}`", f"{end} AS `{TO}`"]
    return f"SELECT * FROM (SELECT {', '.join([*names, *bounds])} FROM ({relation.sql})) t WHERE `{FROM}` < `{TO}`"


def _until_next(names: list[str], rows: str, timeline: Timeline) -> str:
    """What holds at an instant holds until the next."""
    if isinstance(timeline, Lattice):
        bounds = [f"`{INSTANT}` AS `{FROM}`", f"{timeline.rounded(f'(`{INSTANT}` + 1)')} AS `{TO}`"]
        return f"SELECT {', '.join([*names, *bounds])} FROM ({rows})"
    following = f"SELECT t, lead(t) OVER (ORDER BY t) AS n FROM {timeline.view}"
    items = [*(f"l.{name}" for name in names), f"l.`{INSTANT}` AS `{FROM}`", f"i.n AS `{TO}`"]
    return f"SELECT {', '.join(items)} FROM ({rows}) l JOIN ({following}) i ON l.`{INSTANT}` = i.t"


def _changes(names: list[str], held: str) -> str:
    """By how much a solution's number grows or shrinks, where it does."""
    bounds = f"struct(`{FROM}` AS `.t`, 1 AS `.d`), struct(`{TO}` AS `.t`, -1 AS `.d`)"
    events = f"SELECT {', '.join([*names, f'inline(array({bounds}))'])} FROM ({held})"
    by = ", ".join([*names, "`.t`"])
    return f"SELECT {by}, sum(`.d`) AS `.d` FROM ({events}) GROUP BY {by} HAVING sum(`.d`) <> 0"


def _levels(names: list[str], changes: str, through: int) -> str:
    """Each change, once for every copy of the solution that comes or goes with it; `.level` is the copy's number."""
    items = [*names, "`.t`", "`.d`", f"sum(`.d`) OVER ({_by(names)}ORDER BY `.t`) AS `.n`"]
    summed = f"SELECT {', '.join(items)} FROM ({changes}) WHERE `.t` <= {through}L"
    level = "explode(sequence(least(`.n`, `.n` - `.d`) + 1, greatest(`.n`, `.n` - `.d`))) AS `.level`"
    return f"SELECT {', '.join([*names, '`.t`', '`.d`', level])} FROM ({summed})"


def _paired(names: list[str], levels: str) -> str:
    """A copy comes, and the next thing that happens to it is that it goes."""
    until = f"lead(`.t`) OVER ({_by([*names, '`.level`'])}ORDER BY `.t`) AS `{UNTIL}`"
    paired = f"SELECT {', '.join([f'`.t` AS `{SINCE}`', until, *names, '`.d`'])} FROM ({levels})"
    return f"SELECT {', '.join([f'`{SINCE}`', f'`{UNTIL}`', *names])} FROM ({paired}) t WHERE `.d` > 0"


def _by(names: list[str]) -> str:
    return f"PARTITION BY {', '.join(names)} " if names else ""

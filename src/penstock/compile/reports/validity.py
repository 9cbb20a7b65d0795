"""Output other than the whole answer at each instant: what becomes true, what ceases to be, and for how long it was.

All three are read from *spells*: a solution, when it became true and when it ceased to be. A solution that an answer
has n times is n spells side by side. Spells go on from one evaluation to the next, so those that are open at the end of
one are handed to the following.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.relation import ALWAYS, FROM, INSTANT, TO, Relation, nothing
from penstock.compile.windows.evaluation_instants import EvaluationInstants, PeriodicInstants
from penstock.model.span import Span

SINCE, UNTIL = ".since", ".until"  # columns of spells, before those of the solution
AT, TOLD = ".at", ".told"  # of those that an evaluation gives: its instant, and whether it is to be reported
_HASH = ".hash"


def emitted(emit: str, spells: str, columns: Sequence[str], span: Span, final: bool) -> str:
    """The spells that a span tells of, and those that are open at its end, each with its instant: where it
    begins, or ends, which for one without an end is `ALWAYS`.

    `final`: time ends with the span, so intervals that are still open are told too.
    """
    at = f"`{SINCE}`" if emit == "istream" else f"coalesce(`{UNTIL}`, {ALWAYS}L)"
    told = f"{at} > {span.after}L AND {at} <= {span.through}L"
    if emit == "intervals" and final:
        told += f" OR `{UNTIL}` IS NULL"
    items = [f"{at} AS `{AT}`", *map(sql.name, columns), f"`{SINCE}`", f"`{UNTIL}`", f"{told} AS `{TOLD}`"]
    return f"SELECT {', '.join(items)} FROM ({spells}) WHERE {told} OR `{UNTIL}` IS NULL"


def spells_of(
    relation: Relation, columns: Sequence[str], before: str | None, once: bool, alike: bool, context: Context
) -> str:
    """The spells of a relation in the span, from those that were open before (an item of FROM) and its own rows.

    One that is open at the end has no end yet (NULL). `once`: of a solution's copies only the first counts. `alike`:
    there may well be many copies, which are counted before they are sorted.
    """
    streaming = context.plan.streaming
    assert streaming is not None
    timeline, names = streaming.timeline, list(map(sql.name, columns))
    held = [_held(relation, names, timeline, context)]
    if before is not None:
        bounds = [f"`{SINCE}` AS `{FROM}`", f"{_first(timeline)} AS `{TO}`"]
        held.append(f"SELECT {', '.join([*names, *bounds])} FROM {before}")
    counted = _counted(names, " UNION ALL ".join(held), timeline.span.through, once, alike)
    levels = _levels(names, _changes(names, _lone(names, counted)))
    return _paired(names, f"SELECT * FROM ({levels}) WHERE `.level` = 1" if once else levels)


def _first(timeline: EvaluationInstants) -> str:
    """The first instant of the span: until then everything is as it was at the end of the span before."""
    if isinstance(timeline, PeriodicInstants):
        return f"{timeline.first}L"
    return f"(SELECT min(t) FROM {timeline.view} WHERE t > {timeline.span.after})"


def _held(relation: Relation, names: list[str], timeline: EvaluationInstants, context: Context) -> str:
    """When each solution holds, in bounds that are instants."""
    if not relation.timed or nothing(FROM) in relation.sql:
        text = context.expand(relation, frozenset((INSTANT,))).sql
        if nothing(FROM) in text:
            occupied = context.universes[0].sql
            text = f"SELECT l.* FROM ({text}) l LEFT SEMI JOIN ({occupied}) r ON l.`{INSTANT}` = r.`{INSTANT}`"
        return _until_next(names, text, timeline)
    start, end = (timeline.rounded(sql.name(bound)) for bound in (FROM, TO))
    bounds = [f"greatest({start}, {_first(timeline)}) AS `{FROM}`", f"{end} AS `{TO}`"]
    return f"SELECT * FROM (SELECT {', '.join([*names, *bounds])} FROM ({relation.sql})) t WHERE `{FROM}` < `{TO}`"


def _until_next(names: list[str], rows: str, timeline: EvaluationInstants) -> str:
    """What holds at an instant holds until the next."""
    if isinstance(timeline, PeriodicInstants):
        bounds = [f"`{INSTANT}` AS `{FROM}`", f"{timeline.rounded(f'(`{INSTANT}` + 1)')} AS `{TO}`"]
        return f"SELECT {', '.join([*names, *bounds])} FROM ({rows})"
    following = f"SELECT t, lead(t) OVER (ORDER BY t) AS n FROM {timeline.view}"
    items = [*(f"l.{name}" for name in names), f"l.`{INSTANT}` AS `{FROM}`", f"i.n AS `{TO}`"]
    return f"SELECT {', '.join(items)} FROM ({rows}) l JOIN ({following}) i ON l.`{INSTANT}` = i.t"


def _counted(names: list[str], held: str, through: int, once: bool, alike: bool) -> str:
    """Intervals, and of how many copies. What does not end within the span ends at `ALWAYS`.

    A hash of the solution leads wherever rows are sorted: terms have long beginnings in common.
    """
    key = f"xxhash64({', '.join(names)})" if names else "0L"
    end = f"CASE WHEN `{TO}` > {through}L THEN {ALWAYS}L ELSE `{TO}` END"
    items = [f"{key} AS `{_HASH}`", *names, f"`{FROM}`", f"{end} AS `{TO}`"]
    rows = f"SELECT {', '.join(items)} FROM ({held}) WHERE `{FROM}` <= {through}L"
    if not alike:
        return f"SELECT *, 1L AS `.c` FROM ({rows})"
    by = ", ".join([f"`{_HASH}`", *names, f"`{FROM}`", f"`{TO}`"])
    return f"SELECT {by}, {'1L' if once else 'count(1)'} AS `.c` FROM ({rows}) GROUP BY {by}"


def _lone(names: list[str], counted: str) -> str:
    """Whether an interval neither overlaps nor touches another of its solution, so that it is a spell already."""
    over = f"{_by(names)}ORDER BY `{FROM}`"
    reach = f"max(`{TO}`) OVER ({over} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    following = f"lead(`{FROM}`) OVER ({over})"
    lone = f"coalesce({reach} < `{FROM}`, true) AND coalesce({following} > `{TO}`, true)"
    return f"SELECT *, {lone} AS `.lone` FROM ({counted})"


def _changes(names: list[str], counted: str) -> str:
    """By how much a solution's number grows or shrinks, where it does; a lone interval is one change with its end."""
    alone = f"struct(`{FROM}` AS `.t`, `.c` AS `.d`, `{TO}` AS `.u`)"
    begins, ends = (
        f"struct(`{b}` AS `.t`, {d} AS `.d`, CAST(NULL AS BIGINT) AS `.u`)" for b, d in ((FROM, "`.c`"), (TO, "-`.c`"))
    )
    events = f"inline(CASE WHEN `.lone` THEN array({alone}) ELSE array({begins}, {ends}) END)"
    by = ", ".join([f"`{_HASH}`", *names, "`.t`"])
    text = f"SELECT {', '.join([f'`{_HASH}`', *names, events])} FROM ({counted})"
    return f"SELECT {by}, sum(`.d`) AS `.d`, max(`.u`) AS `.u` FROM ({text}) GROUP BY {by} HAVING sum(`.d`) <> 0"


def _levels(names: list[str], changes: str) -> str:
    """Each change, once for every copy of the solution that comes or goes with it; `.level` is the copy's number."""
    total = f"sum(CASE WHEN `.u` IS NULL THEN `.d` ELSE 0L END) OVER ({_by(names)}ORDER BY `.t`)"
    own = [f"`{_HASH}`", *names, "`.t`", "`.d`", "`.u`"]
    number = f"{total} + CASE WHEN `.u` IS NULL THEN 0L ELSE `.d` END AS `.n`"
    summed = f"SELECT {', '.join([*own, number])} FROM ({changes})"
    level = "explode(sequence(least(`.n`, `.n` - `.d`) + 1, greatest(`.n`, `.n` - `.d`))) AS `.level`"
    return f"SELECT {', '.join([*own, level])} FROM ({summed})"


def _paired(names: list[str], levels: str) -> str:
    """A copy comes, and the next thing that happens to it is that it goes."""
    until = f"lead(`.t`) OVER ({_by(names)[:-1]}, `.level` ORDER BY `.t`)"
    items = [f"`.t` AS `{SINCE}`", f"nullif(coalesce(`.u`, {until}), {ALWAYS}L) AS `{UNTIL}`", *names, "`.d`"]
    paired = f"SELECT {', '.join(items)} FROM ({levels})"
    return f"SELECT {', '.join([f'`{SINCE}`', f'`{UNTIL}`', *names])} FROM ({paired}) t WHERE `.d` > 0"


def _by(names: list[str]) -> str:
    return f"PARTITION BY {', '.join([f'`{_HASH}`', *names])} "

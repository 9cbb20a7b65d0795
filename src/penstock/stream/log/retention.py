"""Which segments of a stream nobody will see again."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.stream.log.segment import Segment

__all__ = ["droppable"]


def droppable(segments: Mapping[str, Segment], horizon: int, keep_last: int = 0) -> list[str]:
    """The names of the segments that can go: as many as possible, so that

    - all they hold has ts ≤ horizon,
    - all they hold is older than all that stays (windows that count elements number them by time), and
    - of the elements with ts ≤ horizon, `keep_last` stay, if there are so many.
    """
    full = {name: segment for name, segment in segments.items() if segment.rows}
    by_age = sorted(full, key=lambda name: full[name].last)
    old = [name for name in by_age if full[name].last <= horizon]
    oldest_kept = min((full[name].first for name in by_age[len(old) :]), default=horizon + 1)
    kept = 0
    while old and (kept < keep_last or full[old[-1]].last >= oldest_kept):
        segment = full[old.pop()]
        kept += segment.rows
        oldest_kept = min(oldest_kept, segment.first)
    return [*old, *(segments.keys() - full.keys())]

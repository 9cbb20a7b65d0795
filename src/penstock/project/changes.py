"""The difference between two projects: what has to be ended, begun, or begun again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from penstock.io.sinks import ParquetSink, open_sink
from penstock.project.records import LoadTable, Project, QueryTable, StreamTable
from penstock.stream.registry.dependency_order import in_order

__all__ = ["Changes", "compare"]


@dataclass(frozen=True, slots=True)
class Changes:
    """The steps from one project to another; `refused` has a sentence for each change that needs a new start."""

    dropped: tuple[QueryTable, ...] = ()
    removed: tuple[StreamTable, ...] = ()
    changed: tuple[StreamTable, ...] = ()
    added: tuple[StreamTable, ...] = ()
    loaded: tuple[LoadTable, ...] = ()
    registered: tuple[QueryTable, ...] = ()
    refused: tuple[str, ...] = ()


def compare(old: Project, new: Project) -> Changes:
    """The changes; queries that read a stream of a query that is begun again are begun again as well."""
    before = {query.name: query for query in old.queries}
    after = {query.name: query for query in new.queries}
    fixed = {name for name, query in after.items() if _keeps_folder(before.get(name), query)}
    dropped = {name for name, query in before.items() if name not in fixed and after.get(name) != query}
    dropped = _with_readers(dropped, old.queries)
    registered = {name for name in after if name in dropped or name not in before}
    was = {stream.iri: stream for stream in old.streams}
    now = {stream.iri: stream for stream in new.streams}
    return Changes(
        tuple(reversed([query for query in in_order(old.queries) if query.name in dropped])),
        tuple(stream for iri, stream in was.items() if iri not in now),
        tuple(stream for iri, stream in now.items() if iri in was and was[iri] != stream),
        tuple(stream for iri, stream in now.items() if iri not in was),
        tuple(load for load in new.loads if load not in old.loads),
        tuple(query for query in in_order(new.queries) if query.name in registered),
        tuple(_refusals(old, new, fixed)),
    )


def _with_readers(names: set[str], queries: Iterable[QueryTable]) -> set[str]:
    """The names, and those of the queries that read streams of theirs, and so on."""
    known = list(queries)
    while True:
        outputs = {query.output for query in known if query.name in names and query.output is not None}
        more = {query.name for query in known if outputs.intersection(query.inputs)} - names
        if not more:
            return names
        names = names | more


def _keeps_folder(old: QueryTable | None, new: QueryTable) -> bool:
    """Whether a query has changed, and its folder of Parquet, which has to be empty at the beginning, has not."""
    if old is None or old == new or new.sink is None or old.sink != new.sink:
        return False
    return isinstance(open_sink(new.sink, new.kind), ParquetSink)


def _refusals(old: Project, new: Project, fixed: Iterable[str]) -> Iterator[str]:
    if old.engine != new.engine:
        yield "[engine] has changed: its options hold from the next start on."
    for load in old.loads:
        if load not in new.loads:
            yield f"{load.source} is loaded, and is not taken back before the next start."
    for name in sorted(fixed):
        yield f"The query {name} goes on as it was: its folder has answers already, so give the new one another folder."

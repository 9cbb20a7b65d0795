"""Brings a running engine from one project to another: only what differs is ended and begun again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock.engine import Engine
from penstock.errors import PenstockError
from penstock.project.changes import Changes, compare
from penstock.project.check_project import check_files
from penstock.project.open_project import register
from penstock.project.read_project import read_project
from penstock.project.records import Project, QueryTable

__all__ = ["Reloader"]


class Reloader:
    """A running project. `reload` reads its file again; `is_changed` tells whether that, or a file of it, has changed.

    `sink` is for queries that name none, and `tell` is called with a sentence for each step.
    """

    def __init__(self, engine: Engine, project: Project, sink: Any, tell: Callable[[str], None]) -> None:
        self._engine, self._sink, self._tell = engine, sink, tell
        self.project = project
        self._seen = _stamps(project)

    def is_changed(self) -> bool:
        """Whether a file has changed since the last call, or since the start."""
        before, self._seen = self._seen, _stamps(self.project)
        return before != self._seen

    def reload(self) -> bool:
        """Read the file again and do what has changed; whether the file was right. A wrong one changes nothing."""
        try:
            new = read_project(self.project.text.name)
            check_files(new)
        except PenstockError as error:
            self._tell(f"{error}\nThe project runs on as it was.")
            return False
        self._apply(compare(self.project, new), new)
        self._seen = _stamps(self.project)
        return True

    def _apply(self, changes: Changes, new: Project) -> None:
        for sentence in changes.refused:
            self._tell(sentence)
        old = {query.name: query for query in self.project.queries}
        for query in changes.dropped:
            self._engine[query.name].drop()
        kept = {name: one for name, one in self._streams(changes)}
        for load in changes.loaded:
            self._try(f"{load.source} is loaded.", lambda: self._engine.load(**load.options))
        for query in changes.registered:
            self._register(query, old.get(query.name))
        for query in changes.dropped:
            if query.name not in {one.name for one in changes.registered}:
                self._tell(f"The query {query.name} is dropped.")
        streams = tuple(kept.get(stream.iri, stream) for stream in new.streams)
        self.project = replace(new, engine=self.project.engine, streams=streams, queries=self._running(new, old))

    def _streams(self, changes: Changes) -> Iterator[tuple[str, Any]]:
        """Change the streams; those that could not be changed, as they were."""
        runtime = self._engine._runtime
        was = {stream.iri: stream for stream in self.project.streams}
        for stream in changes.removed:
            self._try(f"The stream <{stream.iri}> is removed.", lambda: runtime.undeclare(stream.iri))
        for stream in changes.changed:
            said = f"The stream <{stream.iri}> is declared again."
            if not self._try(said, lambda: runtime.redeclare(stream.iri, stream.declared)):
                yield stream.iri, was[stream.iri]
        for stream in changes.added:
            self._try(f"The stream <{stream.iri}> is declared.", lambda: self._engine.stream(**stream.options))

    def _register(self, query: QueryTable, old: QueryTable | None) -> None:
        again = "" if old is None else " again"
        done = f"The query {query.name} is registered{again}."
        if not self._try(done, lambda: register(self._engine, query, self._sink)) and old is not None:
            self._try(f"The query {old.name} goes on as it was.", lambda: register(self._engine, old, self._sink))

    def _running(self, new: Project, old: dict[str, QueryTable]) -> tuple[QueryTable, ...]:
        """The queries of the new project as they run: one that could not be changed is the old one."""
        texts = {query.name: query.text for query in self._engine.queries}
        both = ((query, old.get(query.name)) for query in new.queries if query.name in texts)
        return tuple(
            before if before is not None and texts[query.name] != query.options["text"] else query
            for query, before in both
        )

    def _try(self, done: str, step: Callable[[], object]) -> bool:
        """Do a step and say so, or say why it could not be done."""
        try:
            step()
        except PenstockError as error:
            self._tell(f"{error}\nThis part of the project runs on as it was.")
            return False
        self._tell(done)
        return True


def _stamps(project: Project) -> dict[Path, tuple[int, int] | None]:
    """The time of change and the size of each file of the project; None: it is not there."""
    return {path: _stamp(path) for path in project.files}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size

"""Brings a running engine from one project to another: only what differs is ended and begun again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from penstock.engine import Engine
from penstock.errors import PenstockError
from penstock.project.changes import Changes, compare
from penstock.project.check_project import check_files
from penstock.project.open_project import register
from penstock.project.read_project import read_project
from penstock.project.records import LoadTable, Project, QueryTable, StreamTable

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
        """Do the changes. Afterwards `project` is that which runs: a part that could not be changed is the old one."""
        for sentence in changes.refused:
            self._tell(sentence)
        old = {query.name: query for query in self.project.queries}
        queries = dict(old)
        for query in changes.dropped:
            self._engine[query.name].drop()
            del queries[query.name]
        streams = self._change_streams(changes)
        loads = self._load(changes)
        for query in changes.registered:
            queries |= self._register(query, old.get(query.name))
        for query in changes.dropped:
            if query.name not in queries:
                self._tell(f"The query {query.name} is dropped.")
        self.project = Project(new.text, self.project.engine, loads, streams, tuple(queries.values()))

    def _change_streams(self, changes: Changes) -> tuple[StreamTable, ...]:
        """The streams that are declared after the changes."""
        runtime = self._engine._runtime
        running = {stream.iri: stream for stream in self.project.streams}
        for stream in changes.removed:
            if self._try(f"The stream <{stream.iri}> is removed.", partial(runtime.undeclare, stream.iri)):
                del running[stream.iri]
        for stream in changes.changed:
            done = f"The stream <{stream.iri}> is declared again."
            if self._try(done, partial(runtime.redeclare, stream.iri, stream.declared)):
                running[stream.iri] = stream
        for stream in changes.added:
            if self._try(f"The stream <{stream.iri}> is declared.", partial(self._engine.stream, **stream.options)):
                running[stream.iri] = stream
        return tuple(running.values())

    def _load(self, changes: Changes) -> tuple[LoadTable, ...]:
        """The background that is loaded after the changes."""
        done = (
            load
            for load in changes.loaded
            if self._try(f"{load.source} is loaded.", partial(self._engine.load, **load.options))
        )
        return (*self.project.loads, *done)

    def _register(self, query: QueryTable, old: QueryTable | None) -> dict[str, QueryTable]:
        """The query that runs by that name afterwards: the new one, else the old one, else none."""
        again = "" if old is None else " again"
        if self._try(
            f"The query {query.name} is registered{again}.", partial(register, self._engine, query, self._sink)
        ):
            return {query.name: query}
        if old is None or not self._try(
            f"The query {old.name} is registered as it was.", partial(register, self._engine, old, self._sink)
        ):
            return {}
        return {old.name: old}

    def _try(self, done: str, step: Callable[[], object]) -> bool:
        """Do a step and say so, or say why it could not be done."""
        try:
            step()
        except PenstockError as error:
            self._tell(f"{error}\nThis change of the project is not made.")
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

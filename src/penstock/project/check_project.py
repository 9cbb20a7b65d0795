"""Checks what a project needs from outside: files and folders, secrets, and the peers of sources and sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError, ProjectError, SetupError
from penstock.io.connect.secrets import hidden
from penstock.io.sinks import open_sink, sink_text
from penstock.project.project_text import ProjectText
from penstock.project.records import LoadTable, Project, QueryTable, StreamTable
from penstock.project.toml_places import KeyPath
from penstock.stream.ingest import sources

__all__ = ["CheckResult", "check_files", "check_project"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check: the table, its name, a sentence, and the error if there is one."""

    table: str
    name: str
    found: str
    error: ProjectError | None = None


def check_project(project: Project) -> Iterator[CheckResult]:
    """The result for every table, one by one as it is made; nothing is read, written or started."""
    for load in project.loads:
        yield _result(project.text, "load", _short(project, load.source), (*load.path, "source"), partial(_file, load))
    for stream in project.streams:
        yield _result(project.text, "stream", stream.iri, (*stream.path, "source"), partial(_source, stream))
    for query in project.queries:
        yield _result(project.text, "register", query.name, (*query.path, "sink"), partial(_sink, query))


def check_files(project: Project) -> None:
    """Raise the error of a file or folder that is not there. No attempt is made to connect."""
    for load in project.loads:
        _at(project.text, (*load.path, "source"), partial(_file, load))
    for stream in project.streams:
        if not stream.declared.is_endless:
            _at(project.text, (*stream.path, "source"), partial(_source, stream))


def _result(text: ProjectText, table: str, name: str, path: KeyPath, check: Callable[[], str]) -> CheckResult:
    try:
        return CheckResult(table, name, _at(text, path, check))
    except ProjectError as error:
        return CheckResult(table, name, error.reason, error)


def _at(text: ProjectText, path: KeyPath, check: Callable[[], str]) -> str:
    """The result of the check; an error of it is one of the value."""
    try:
        return check()
    except PenstockError as error:
        raise text.value_error(path, hidden(str(error))) from None


def _file(load: LoadTable) -> str:
    if "://" in load.source:
        return "it is not looked at"
    path = Path(load.source)
    if not path.exists():
        raise SetupError(f"{path} does not exist")
    return f"{path.stat().st_size:,} bytes" if path.is_file() else "a folder"


def _source(stream: StreamTable) -> str:
    declared = stream.declared
    if declared.path is None:
        return "elements are pushed"
    if declared.is_endless:
        return _connection(sources.open(declared.path))
    if "://" in declared.path:
        return "it is not looked at"
    path = Path(declared.path)
    if not path.exists():
        raise SetupError(f"{path} does not exist")
    return f"{path.stat().st_size:,} bytes" if path.is_file() else "a folder"


def _sink(query: QueryTable) -> str:
    if query.sink is None:
        return "answers are printed, or kept in memory"
    spec = sink_text(query.sink) or ""
    if "://" in spec:
        return _connection(open_sink(query.sink, query.kind))
    folder = next(parent for parent in Path(spec).parents if parent.exists())
    if not folder.is_dir():
        raise SetupError(f"{folder} is not a folder")
    return f"answers go to {spec}"


def _connection(peer: Any) -> str:
    """Connect to the peer of a source or sink, if it knows how to try that."""
    check = getattr(peer, "check_connection", None)
    return "no attempt is made to connect" if check is None else str(check())


def _short(project: Project, path: str) -> str:
    return path.removeprefix(f"{project.text.folder}/")

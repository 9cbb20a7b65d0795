"""The records of a project: one for each table of its file, with the parameters of the call that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.project.project_text import ProjectText
from penstock.project.toml_places import KeyPath
from penstock.stream.ingest.stream_declaration import Declared

__all__ = ["EngineTable", "LoadTable", "Project", "QueryTable", "StreamTable"]


@dataclass(frozen=True, slots=True)
class EngineTable:
    """`[engine]`: the parameters of `Engine`, and Spark's settings by their full names."""

    options: Mapping[str, Any] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoadTable:
    """`[[load]]`: the parameters of `Engine.load`."""

    options: Mapping[str, Any]
    path: KeyPath = field(compare=False)

    @property
    def source(self) -> str:
        return str(self.options["source"])


@dataclass(frozen=True, slots=True)
class StreamTable:
    """`[[stream]]`: the parameters of `Engine.stream`, and their declaration, which has the mapping's text."""

    options: Mapping[str, Any] = field(compare=False)
    declared: Declared
    path: KeyPath = field(compare=False)

    @property
    def iri(self) -> str:
        return str(self.options["iri"])


@dataclass(frozen=True, slots=True)
class QueryTable:
    """`[[register]]`: the parameters of `Engine.register`, the streams that the query reads, and the one it derives."""

    options: Mapping[str, Any]
    inputs: tuple[str, ...]
    output: str | None
    kind: str  # of its answers
    path: KeyPath = field(compare=False)
    file: Path | None = None

    @property
    def name(self) -> str:
        return str(self.options["name"])

    @property
    def sink(self) -> Any:
        return self.options.get("sink")


@dataclass(frozen=True, slots=True)
class Project:
    """A project file that has been read and checked. Nothing in it has been opened or started."""

    text: ProjectText = field(compare=False)
    engine: EngineTable
    loads: tuple[LoadTable, ...] = ()
    streams: tuple[StreamTable, ...] = ()
    queries: tuple[QueryTable, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """The file itself, and the files of queries and mappings: a change of one of them changes the project."""
        queries = [query.file for query in self.queries if query.file is not None]
        mappings = [Path(stream.options["mapping"]) for stream in self.streams if "mapping" in stream.options]
        return (Path(self.text.name).absolute(), *queries, *mappings)

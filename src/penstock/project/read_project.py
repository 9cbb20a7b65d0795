"""Reads a project file: every table is checked, and every query parsed, before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from penstock.project.calls import CALLS, Call, check_engine, check_load, declare_stream, tuning_keys
from penstock.project.project_text import ProjectText
from penstock.project.query_reader import check_queries, read_query_table
from penstock.project.records import EngineTable, LoadTable, Project, StreamTable
from penstock.project.table_reader import check_values, checked, read_table, resolved_path
from penstock.project.toml_places import KeyPath
from penstock.syntax.suggest import did_you_mean
from penstock.tuning import Tuning

__all__ = ["read_project"]

Table = TypeVar("Table")


def read_project(path: str | Path) -> Project:
    """The project of a file; a `ProjectError` shows the place of a mistake. Nothing is opened or started."""
    text = ProjectText.read(Path(path))
    for name in text.values:
        if name not in CALLS:
            near = did_you_mean(name, CALLS)
            raise text.key_error((name,), f"there is no table {name}", near or f"there are {', '.join(CALLS)}")
    project = Project(
        text,
        _engine(text),
        tuple(_tables(text, "load", _load)),
        tuple(_tables(text, "stream", _stream)),
        tuple(_tables(text, "register", read_query_table)),
    )
    _check_twice(text, [(stream.iri, stream.path) for stream in project.streams], "the stream {} is declared")
    _check_twice(text, [(query.name, query.path) for query in project.queries], "the query {} is registered")
    check_queries(project)
    return project


def _tables(
    text: ProjectText, name: str, read: Callable[[ProjectText, KeyPath, dict[str, Any]], Table]
) -> Iterator[Table]:
    """The tables of an array, each read; a single table is an array of one."""
    given = text.values.get(name, [])
    if not isinstance(given, list):
        raise text.key_error((name,), f"there may be several of these: write [[{name}]]")
    for number, table in enumerate(given):
        path = (name, number)
        yield read(text, path, read_table(text, path, table, CALLS[name]))


def _engine(text: ProjectText) -> EngineTable:
    call: Call = CALLS["engine"]
    options = read_table(text, ("engine",), text.values.get("engine", {}), call)
    spark = dict(_settings(text, ("engine", "spark"), options.pop("spark", {})))
    if "tuning" in options:
        check_values(text, ("engine", "tuning"), options["tuning"], tuning_keys())
        options["tuning"] = Tuning(**options["tuning"])
    store, colon, folder = str(options.get("background", "")).partition(":")
    if store == "oxigraph" and colon:
        options["background"] = f"oxigraph:{resolved_path(text.folder, folder)}"
    checked(text, ("engine",), options, lambda: check_engine(options))
    return EngineTable(options, spark)


def _settings(text: ProjectText, path: KeyPath, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Spark's settings by their full names: `driver.memory = "4g"` of `[engine.spark]` is spark.driver.memory."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _settings(text, (*path, name), value)
        elif isinstance(value, list):
            raise text.value_error((*path, name), "a setting of Spark is a text, a number, true or false")
        else:
            full = ".".join(map(str, (*path[2:], name)))
            told = str(value).lower() if isinstance(value, bool) else str(value)
            yield full if full.startswith("spark.") else f"spark.{full}", told


def _load(text: ProjectText, path: KeyPath, options: dict[str, Any]) -> LoadTable:
    checked(text, path, options, lambda: check_load(options))
    return LoadTable(options, path)


def _stream(text: ProjectText, path: KeyPath, options: dict[str, Any]) -> StreamTable:
    return StreamTable(options, checked(text, path, options, lambda: declare_stream(options)), path)


def _check_twice(text: ProjectText, named: list[tuple[str, KeyPath]], sentence: str) -> None:
    first: dict[str, KeyPath] = {}
    for name, path in named:
        if (other := first.setdefault(name, path)) is not path:
            raise text.key_error(path, f"{sentence.format(name)} in line {text.line(other)} already")

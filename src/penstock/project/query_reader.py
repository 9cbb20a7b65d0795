"""Reads the queries of a project file: each is parsed, and its streams and sink are checked."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from penstock.algebra.build import translate
from penstock.algebra.ops import RULES, Query
from penstock.engine import iri_option
from penstock.errors import PenstockError, ProjectError, QueryError
from penstock.io.sinks import open_sink
from penstock.project.project_text import ProjectText
from penstock.project.records import Project, QueryTable
from penstock.project.table_reader import checked
from penstock.project.toml_places import KeyPath
from penstock.stream.answers.answer_batch import AnswerSchema
from penstock.stream.registry.catalogue import entry_of
from penstock.stream.registry.dependency_order import check_streams, in_order
from penstock.stream.registry.load_shedding import check as check_overload

__all__ = ["check_queries", "read_query_table"]

T = TypeVar("T")


def read_query_table(text: ProjectText, path: KeyPath, given: dict[str, Any]) -> QueryTable:
    """The query of a table: its text is there, or in a file."""
    options, file = _with_text(text, path, given)
    if "base" in given:
        checked(text, path, given, lambda: iri_option("base", given["base"]))
    query = _located(text, path, options, file, lambda: _parsed(options))
    registration = query.registration
    options["name"] = _name(text, path, options, file, None if registration is None else registration.name)
    defaults = {"base": None, "duplicates": "keep", "emit": None, "sink": None}
    checked(text, path, given, lambda: entry_of(**defaults | options))
    _located(text, path, options, file, lambda: check_overload(query, options.get("overload", "catch-up")))
    kind = AnswerSchema.of(options["name"], query).kind
    checked(text, path, {"sink": 0}, lambda: _check_sink(text, path, options.get("sink"), kind))
    inputs = tuple(one.iri.value for one in query.streams)
    return QueryTable(options, inputs, _output(query, options["name"]), kind, path, file)


def check_queries(project: Project) -> None:
    """Raise an error if a query reads a stream that is not there, or if queries derive in a cycle or share a sink."""
    streams = [stream.iri for stream in project.streams]
    outputs = [RULES.value, *(query.output for query in project.queries if query.output is not None)]
    sinks: dict[str, str] = {}
    for query in project.queries:
        _located(
            project.text, query.path, query.options, query.file, partial(check_streams, [query], [*streams, *outputs])
        )
        other = sinks.setdefault(str(query.sink), query.name)
        if query.sink is not None and other != query.name:
            reason = f"this is the sink of the query {other}: give each query its own"
            raise project.text.value_error((*query.path, "sink"), reason)
        if query.output in streams:
            raise project.text.key_error(query.path, f"this query derives <{query.output}>, which has a source as well")
    try:
        in_order(project.queries)
    except QueryError as error:
        raise project.text.key_error(("register",), error.reason) from None


def _with_text(text: ProjectText, path: KeyPath, given: Mapping[str, Any]) -> tuple[dict[str, Any], Path | None]:
    """The options with the query's text, and the file that has it."""
    options = dict(given)
    file = Path(options.pop("file")) if "file" in options else None
    if ("text" in options) == (file is not None):
        raise text.key_error(path, "a query has either a text or a file", 'write file = "cars.rq", or text = """…"""')
    if file is not None:
        try:
            options["text"] = file.read_text("utf-8-sig").replace("\r\n", "\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or "it is not text in UTF-8"
            raise text.value_error((*path, "file"), f"the query cannot be read: {reason}") from None
        options.setdefault("base", file.resolve().as_uri())
    return options, file


def _parsed(options: Mapping[str, Any]) -> Query:
    with warnings.catch_warnings():  # the registration warns of the same
        warnings.simplefilter("ignore")
        return translate(options["text"], options.get("base"))


def _name(text: ProjectText, path: KeyPath, options: Mapping[str, Any], file: Path | None, own: str | None) -> str:
    name = options.get("name") or own or (file.stem if file is not None else None)
    if name is None:
        raise text.key_error(path, "this query has no name", 'give it one, as in name = "cars"')
    return str(name)


def _output(query: Query, name: str) -> str | None:
    """The stream that a query derives; the triples of a rule are a stream of its own."""
    output = None if query.registration is None else query.registration.output
    if output is None:
        return None
    return f"{RULES.value}:{name}" if output == RULES and query.emit == "events" else output.value


def _check_sink(text: ProjectText, path: KeyPath, sink: Any, kind: str) -> None:
    try:
        open_sink(sink, kind)  # it connects to nothing, and makes no file, before its `begin`
    except QueryError as error:
        raise text.value_error((*path, "sink"), error.reason, error.hint) from None
    except PenstockError as error:
        raise text.value_error((*path, "sink"), str(error)) from None


def _located(
    text: ProjectText, path: KeyPath, options: Mapping[str, Any], file: Path | None, work: Callable[[], T]
) -> T:
    """The result of `work`; an error of the query is shown in its file, or in the project's text."""
    try:
        return work()
    except QueryError as error:
        if file is not None:
            raise ProjectError(str(error), file=str(file)) from None
        raise text.query_error((*path, "text"), options["text"], error) from None

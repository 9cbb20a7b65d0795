"""The one table from the tables of a project file to calls of Python. Keys and types are those of the signatures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, get_type_hints

from penstock import options
from penstock.engine import Engine, iri_option
from penstock.io.sinks import SinkSpec
from penstock.knowledge.store import STORES
from penstock.lift.event_time import TimeUnit
from penstock.optimise import enabled
from penstock.stream.base.time_values import Duration, duration_option
from penstock.stream.ingest.stream_declaration import SourceSpec, declare
from penstock.tuning import Tuning

__all__ = ["CALLS", "Call", "check_engine", "check_load", "declare_stream", "tuning_keys"]

# Names that the signatures of `Engine` have for type checkers alone.
_NAMES = vars(options) | {
    "Clock": object, "Duration": Duration, "Progress": object, "Query": object, "SinkSpec": SinkSpec,
    "SourceSpec": SourceSpec, "SparkSession": Mapping[str, Any], "TimeUnit": TimeUnit,
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """A call that a table stands for. `without` are parameters that only Python objects can be, `own` keys beside the
    parameters with their types, `needed` those that have to be given, `paths` those that name a file or folder."""

    function: Callable[..., Any]
    is_array: bool = True
    needed: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    connects: str | None = None  # the parameter that may be an address, with secrets by reference
    without: tuple[str, ...] = ()
    own: Mapping[str, Any] | None = None

    @cached_property
    def keys(self) -> dict[str, Any]:
        """The types of all keys of the table."""
        hints = get_type_hints(self.function, localns=_NAMES)
        names = [name for name in inspect.signature(self.function).parameters if name not in ("self", *self.without)]
        return {name: hints[name] for name in names} | dict(self.own or {})


CALLS: dict[str, Call] = {
    "engine": Call(Engine.__init__, is_array=False, paths=("checkpoint",), without=("clock", "on_progress")),
    "load": Call(Engine.load, needed=("source",), paths=("source",)),
    "stream": Call(Engine.stream, needed=("iri",), paths=("mapping",), connects="source"),
    "register": Call(Engine.register, paths=("file",), connects="sink", own={"file": str}),
}


def tuning_keys() -> dict[str, Any]:
    """The types of the keys of `[engine.tuning]`."""
    hints = get_type_hints(Tuning)
    return {field.name: hints[field.name] for field in fields(Tuning)}


def check_engine(given: Mapping[str, Any]) -> None:
    """Raise the errors that `Engine(**given)` would raise, without making one."""
    enabled(given.get("rules"))
    duration_option("retention", given.get("retention"))
    STORES.load(given.get("background", "oxigraph").partition(":")[0])


def check_load(given: Mapping[str, Any]) -> None:
    """Raise the errors of the options of `engine.load(**given)`."""
    for name in ("graph", "base"):
        if name in given:
            iri_option(name, given[name])


def declare_stream(given: Mapping[str, Any]) -> Any:
    """The declaration of `engine.stream(**given)`, checked as that checks it, without an engine."""
    bound = inspect.signature(Engine.stream).bind(None, **given)
    bound.apply_defaults()
    iri_option("iri", given["iri"])
    arguments = {name: value for name, value in bound.arguments.items() if name not in ("self", "iri")}
    return declare(**arguments)

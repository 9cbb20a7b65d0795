"""Penstock: continuous SPARQL over RDF streams and background knowledge, on Apache Spark.

A name is imported when it is used first: the command line asks Java to start before it imports the compiler.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.answer import Answer
    from penstock.engine import Engine
    from penstock.errors import (
        LoadError,
        MappingError,
        OptionError,
        OverloadError,
        PenstockError,
        PenstockWarning,
        ProjectError,
        QueryError,
        RefusedError,
        SetupError,
        StoreError,
    )
    from penstock.explain import Explanation, explain
    from penstock.io.sinks import Batch, Sink
    from penstock.lift import Failure, Lifted, Lifting
    from penstock.log import JsonFormatter
    from penstock.project import load_project
    from penstock.query import Query
    from penstock.stream.base.dead_letter import DeadLetter
    from penstock.stream.runtime.progress import EngineStatus, Progress, QueryStatus
    from penstock.tuning import Tuning
    from penstock.why import Provenance, Reason, SourceElement, Why

__all__ = [
    "Answer", "Batch", "DeadLetter", "Engine", "EngineStatus", "Explanation", "Failure", "JsonFormatter", "Lifted",
    "Lifting", "LoadError", "MappingError", "OptionError", "OverloadError", "PenstockError", "PenstockWarning",
    "Progress", "ProjectError", "Provenance", "Query", "QueryError", "QueryStatus", "Reason", "RefusedError",
    "SetupError", "Sink", "SourceElement", "StoreError", "Tuning", "Why", "explain", "load_project",
]  # fmt: skip

_NAMES = {
    "answer": ("Answer",),
    "engine": ("Engine",),
    "errors": (
        "LoadError", "MappingError", "OptionError", "OverloadError", "PenstockError", "PenstockWarning",
        "ProjectError", "QueryError", "RefusedError", "SetupError", "StoreError",
    ),
    "explain": ("Explanation",),
    "io.sinks": ("Batch", "Sink"),
    "lift": ("Failure", "Lifted", "Lifting"),
    "log": ("JsonFormatter",),
    "project": ("load_project",),
    "query": ("Query",),
    "stream.base.dead_letter": ("DeadLetter",),
    "stream.runtime.progress": ("EngineStatus", "Progress", "QueryStatus"),
    "tuning": ("Tuning",),
    "why": ("Provenance", "Reason", "SourceElement", "Why"),
}  # fmt: skip
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is used first. The version is asked of the installed package."""
    if name == "__version__":
        found: object = _version()
    elif name in _MODULES:
        found = getattr(import_module(f"penstock.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("penstock")
    except PackageNotFoundError:  # a folder on the path that was never installed
        return "0+unknown"


class _Package(ModuleType):
    """The package. `penstock.explain` is a function, and also a folder: importing that would put it in its place."""

    @property
    def explain(self) -> object:
        return import_module("penstock.explain").explain

    @explain.setter
    def explain(self, _folder: object) -> None: ...


sys.modules[__name__].__class__ = _Package

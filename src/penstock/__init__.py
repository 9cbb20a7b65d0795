"""Penstock: continuous SPARQL over RDF streams and background knowledge, on Apache Spark."""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from penstock.answer import Answer
from penstock.engine import Engine
from penstock.errors import (
    LoadError,
    MappingError,
    OptionError,
    OverloadError,
    PenstockError,
    PenstockWarning,
    QueryError,
    RefusedError,
    SetupError,
    StoreError,
)
from penstock.explain import Explanation, explain
from penstock.io.sinks import Batch, Sink
from penstock.log import JsonFormatter
from penstock.query import Query
from penstock.stream.base.dead_letter import DeadLetter
from penstock.stream.runtime.progress import EngineStatus, Progress, QueryStatus
from penstock.tuning import Tuning
from penstock.why import Provenance, Reason, SourceElement, Why

if TYPE_CHECKING:
    from penstock.lift import Failure, Lifted, Lifting

__all__ = [
    "Answer", "Batch", "DeadLetter", "Engine", "EngineStatus", "Explanation", "Failure", "JsonFormatter", "Lifted",
    "Lifting", "LoadError", "MappingError", "OptionError", "OverloadError", "PenstockError", "PenstockWarning",
    "Progress", "Provenance", "Query", "QueryError", "QueryStatus", "Reason", "RefusedError", "SetupError", "Sink",
    "SourceElement", "StoreError", "Tuning", "Why", "explain",
]  # fmt: skip

try:
    __version__ = version("penstock")
except PackageNotFoundError:  # a folder on the path that was never installed
    __version__ = "0+unknown"


def __getattr__(name: str) -> object:
    """Lifting is imported when it is used: it needs Arrow, which a query on the embedded store does without."""
    if name in ("Failure", "Lifted", "Lifting"):
        from penstock import lift  # imports Arrow

        return getattr(lift, name)
    raise AttributeError(f"module 'penstock' has no attribute {name!r}")

"""Penstock: continuous SPARQL over RDF streams and background knowledge, on Apache Spark."""

from importlib.metadata import PackageNotFoundError, version

from penstock.answer import Answer
from penstock.engine import Engine
from penstock.errors import (
    LoadError,
    PenstockError,
    PenstockWarning,
    QueryError,
    RefusedError,
    SetupError,
    StoreError,
)
from penstock.explain import Explanation, explain
from penstock.io.sinks import Batch, Sink
from penstock.query import Query
from penstock.stream.runtime.progress import EngineStatus, Progress, QueryStatus
from penstock.tuning import Tuning

__all__ = [
    "Answer", "Batch", "Engine", "EngineStatus", "Explanation", "LoadError", "PenstockError", "PenstockWarning",
    "Progress", "Query", "QueryError", "QueryStatus", "RefusedError", "SetupError", "Sink", "StoreError", "Tuning",
    "explain",
]  # fmt: skip

try:
    __version__ = version("penstock")
except PackageNotFoundError:  # a folder on the path that was never installed
    __version__ = "0+unknown"

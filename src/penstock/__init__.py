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
from penstock.query import Query

__all__ = [
    "Answer", "Engine", "Explanation", "LoadError", "PenstockError", "PenstockWarning", "Query", "QueryError",
    "RefusedError", "SetupError", "StoreError", "explain",
]  # fmt: skip

try:
    __version__ = version("penstock")
except PackageNotFoundError:  # a folder on the path that was never installed
    __version__ = "0+unknown"

"""IRI(…): absolute ones as they are, relative ones resolved by an Arrow function, since SQL has no RFC 3986."""

from __future__ import annotations

import sys

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udf

from penstock.spark import encoding, sql
from penstock.syntax.iri import resolve

RESOLVE = "penstock_resolve_iri"
_ABSOLUTE = "^[A-Za-z][A-Za-z0-9+.-]*:"
_FORBIDDEN = r'[\x00-\x20<>"{}|\\^`]'


def resolved(reference: str, base: str | None) -> str:
    """The encoded IRI of a reference (SQL of its text); NULL where it is none."""
    relative = sql.NULL if base is None else f"{RESOLVE}({reference}, {sql.text(base)})"
    absolute = sql.case((f"{reference} RLIKE {sql.text(_ABSOLUTE)}", reference), otherwise=relative)
    return sql.when(f"NOT ({reference} RLIKE {sql.text(_FORBIDDEN)})", encoding.iri(absolute))


def register(session: SparkSession) -> None:
    """Make the resolver known to a session. It travels by value: a worker need not have Penstock installed."""
    for name in (__name__, resolve.__module__):
        cloudpickle.register_pickle_by_value(sys.modules[name])
    session.udf.register(RESOLVE, arrow_udf(_resolve, "string"))


def _resolve(references: pa.Array, bases: pa.Array) -> pa.Array:
    pairs = zip(references.to_pylist(), bases.to_pylist(), strict=True)
    return pa.array([None if reference is None else resolve(reference, base) for reference, base in pairs], pa.string())

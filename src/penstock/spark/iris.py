"""IRI(…): absolute ones as they are, relative ones resolved by an Arrow function, since SQL has no RFC 3986."""

from __future__ import annotations

import sys

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]

from penstock.spark import encoding, sql
from penstock.spark.functions import regex
from penstock.spark.lets import let
from penstock.syntax.iri import resolve

RESOLVE = "penstock_resolve_iri"
_SCHEME = "[A-Za-z][A-Za-z0-9+.-]*:"
_UCS = r"\x{A0}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFEF}\x{10000}-\x{1FFFD}\x{20000}-\x{2FFFD}\x{30000}-\x{3FFFD}"
_NAME = rf"A-Za-z0-9._~!$&'()*+,;=%{_UCS}\-"
_PATH = rf"[{_NAME}:@/]*"
_HOST = rf"//(?:[{_NAME}:]*@)?[{_NAME}]*(?::[0-9]*)?(?![^/?#])"
# RFC 3987, without addresses in brackets and without the planes that nobody writes with.
_IRI = rf"^(?!.*%(?![0-9A-Fa-f]{{2}})){_SCHEME}(?:{_HOST}|(?!//)){_PATH}(?:\?[{_NAME}:@/?]*)?(?:#[{_NAME}:@/?]*)?\z"


def resolved(reference: str, base: str | None) -> str:
    """The encoded IRI of a reference (SQL of its text); NULL where it is none."""
    if base is not None:
        relative = f"{RESOLVE}({reference}, {sql.text(base)})"
        reference = let(sql.case((f"{reference} RLIKE '^{_SCHEME}'", reference), otherwise=relative))
    return sql.when(f"{reference} RLIKE {sql.text(_IRI)}", encoding.iri(reference))


def register(session: SparkSession) -> None:
    """Make the resolver, and the translator of patterns, known to a session.

    They travel by value: a worker need not have Penstock installed.
    """
    for name in (__name__, resolve.__module__):
        cloudpickle.register_pickle_by_value(sys.modules[name])  # type: ignore[no-untyped-call]
    session.udf.register(RESOLVE, arrow_udf(_resolve, "string"))
    regex.register(session)


def _resolve(references: pa.Array, bases: pa.Array) -> pa.Array:  # type: ignore[type-arg]
    pairs = zip(references.to_pylist(), bases.to_pylist(), strict=True)
    return pa.array([None if reference is None else resolve(reference, base) for reference, base in pairs], pa.string())

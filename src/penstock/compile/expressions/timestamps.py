"""Timestamps of bindings: hidden columns beside the variables in `timestamp()` calls.

`.ts:v` is the latest timestamp among the triples that bound ?v, NULL if none came from a stream; `.ts:v:<iri>` is that
of the triples of one stream, for queries that name the stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Var, walk
from penstock.algebra.scope import exists_in, expressions_of
from penstock.compile import sql
from penstock.compile.relation import STAMP
from penstock.optimise.walk import nodes

NONE = sql.null("BIGINT")


def column(variable: str, stream: str | None = None) -> str:
    return f"{STAMP}{variable}" if stream is None else f"{STAMP}{variable}:{stream}"


def variable(stamp: str) -> str:
    """Return the variable of a timestamp column."""
    return stamp.removeprefix(STAMP).partition(":")[0]


def by_stream(variable: str, columns: Mapping[str, sql.Expr]) -> list[tuple[str, sql.Expr]]:
    """Return the streams that a variable has timestamps of, each with its column."""
    prefix = column(variable, "")
    return [(name.removeprefix(prefix), read) for name, read in columns.items() if name.startswith(prefix)]


def asked(op: ops.Op) -> dict[str, bool]:
    """Return the variables in `timestamp()` calls, and whether a call names the stream."""
    by_stream: dict[str, bool] = {}
    for call in _calls(op):
        if isinstance(call.args[0], Var):
            name = call.args[0].name
            by_stream[name] = by_stream.get(name, False) or len(call.args) > 1
    return by_stream


def calls(op: ops.Op) -> int:
    """Return the number of `timestamp()` calls."""
    return sum(1 for _ in _calls(op))


def _calls(op: ops.Op) -> Iterator[Call]:
    for node in nodes(op):
        for expr in expressions_of(node):
            yield from (part for part in walk(expr) if isinstance(part, Call) and part.name == "TIMESTAMP")
            for exists in exists_in(expr):
                yield from _calls(exists.pattern)

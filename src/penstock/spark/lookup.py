"""Which terms a variable can have, as far as the few elements of a window tell: then a part that was answered before
need not be read, its rows with these terms are looked up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyoxigraph import NamedNode
from pyspark.sql import DataFrame

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.ops import Op
from penstock.spark import encoding
from penstock.spark.contents import Content
from penstock.spark.context import Context
from penstock.spark.patterns import can_match, streams_of

__all__ = ["Known", "beside", "brought", "only", "packed", "terms", "unknown", "with_terms"]

Terms: TypeAlias = frozenset[str]
Known: TypeAlias = Callable[[Var], Terms | None]
"""The terms that a variable can have; None: any."""


def unknown(var: Var) -> Terms | None:
    return None


def beside(op: Op, context: Context, known: Known) -> Known:
    """What is known of rows that are joined with those of a pattern."""
    return cache(lambda var: _least([known(var), terms(op, var, context)]))


def only(vars: Collection[Var], known: Known) -> Known:
    """Below a projection: others of the same name are other variables."""
    return lambda var: known(var) if var in vars else None


def terms(op: Op, var: Var, context: Context) -> Terms | None:
    """No solution of `op` has another term for the variable; None: nobody knows, or it may be unbound."""
    match op:
        case ops.Bgp(patterns):
            found = [_of_pattern(pattern, var, context) for pattern in patterns]
        case ops.Join(left, right):
            found = [terms(left, var, context), terms(right, var, context)]
        case ops.Union(left, right):
            one, other = terms(left, var, context), terms(right, var, context)
            found = [None if one is None or other is None else one | other]
        case ops.LeftJoin() | ops.Minus():
            found = [terms(op.left, var, context)]
        case ops.Filter(_, pattern) | ops.Reduced(pattern) | ops.Distinct(pattern):
            found = [terms(pattern, var, context)]
        case ops.Project(vars, pattern) if var in vars:
            found = [terms(pattern, var, context)]
        case ops.Overridden(tag, pattern):
            found = [terms(pattern, var, context.overridden(tag))]
        case ops.InWindow(NamedNode() as name, pattern):
            found = [terms(pattern, var, context.in_window(encoding.encode(name)))]
        case _:
            return None
    return _least(found)


def _least(found: Collection[Terms | None]) -> Terms | None:
    return min((some for some in found if some is not None), key=len, default=None)


def _of_pattern(pattern: ops.TriplePattern, var: Var, context: Context) -> Terms | None:
    """The subjects, or objects, of the elements that have its predicate."""
    columns = [column for column, term in zip("spo", pattern.terms, strict=True) if term == var]
    streaming = context.plan.streaming
    if not columns or streaming is None or streaming.entailed is not None:
        return None
    if can_match(pattern.predicate, context.background()):
        return None
    parts = [_in_content(pattern, columns[0], content) for content in streams_of(pattern, context)]
    known = [part for part in parts if part is not None]
    return frozenset().union(*known) if len(known) == len(parts) else None


def _in_content(pattern: ops.TriplePattern, column: str, content: Content) -> Terms | None:
    table = content.elements()
    if table is None:
        return None
    if isinstance(pattern.predicate, NamedNode):
        table = table.filter(pc.equal(table.column("p"), pa.scalar(encoding.encode(pattern.predicate))))
    return frozenset(str(term) for term in pc.unique(table.column(column)).to_pylist())


def brought(frame: DataFrame, rows: int) -> pa.Table | None:
    """The so many rows of a frame, packed on their way through a file; None where that is not one that both can see."""
    names = frame.columns
    with TemporaryDirectory(prefix="penstock-") as folder:
        frame.toDF(*map(str, range(len(names)))).write.mode("overwrite").parquet(folder)
        try:
            table = pq.read_table(folder, read_dictionary=[str(i) for i in range(len(names))])
        except (OSError, pa.ArrowException):
            return None
    found = table.rename_columns(names).unify_dictionaries().combine_chunks()
    return found if found.num_rows == rows else None


def packed(table: pa.Table) -> pa.Table:
    """Each term once: rows have its number."""
    columns = [column.combine_chunks().dictionary_encode() for column in table.columns]
    return pa.table(columns, names=table.column_names)


def with_terms(table: pa.Table, wanted: Mapping[str, Terms]) -> pa.Table:
    """The rows of what was packed that have one of these terms in each of these columns, unpacked."""
    found = np.ones(table.num_rows, bool)
    for column, some in wanted.items():
        coded = table.column(column).combine_chunks()
        assert isinstance(coded, pa.DictionaryArray)
        among = np.asarray(pc.is_in(coded.dictionary, value_set=pa.array(some, pa.string())))
        found &= among[coded.indices.to_numpy()]
    rows = table.filter(pa.array(found))
    return pa.table([part.cast(pa.string()) for part in rows.columns], names=table.column_names)

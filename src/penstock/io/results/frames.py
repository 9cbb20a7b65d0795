"""Answers as pandas and Arrow tables; both are imported only when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from penstock.io.results.require import require
from penstock.io.results.values import text, value

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from penstock.answer import Answer, Term
    from penstock.io.results.values import Value

__all__ = ["to_arrow", "to_pandas"]


def to_pandas(answer: Answer, *, terms: bool = False) -> pandas.DataFrame:
    """See `Answer.to_pandas`. Columns start as objects, so that None stays None and integers stay exact."""
    require(answer, "data frame", "solutions")
    import pandas

    convert = (lambda term: term) if terms else _for_pandas
    rows = [[convert(row[name]) if name in row else None for name in answer.variables] for row in answer.rows]
    frame = pandas.DataFrame(rows, columns=list(answer.variables), dtype=object)
    return frame if terms else frame.infer_objects()


def to_arrow(answer: Answer) -> pyarrow.Table:
    """See `Answer.to_arrow`."""
    require(answer, "Arrow table", "solutions")
    import pyarrow

    columns = [_arrow_column([row.get(name) for row in answer.rows]) for name in answer.variables]
    return pyarrow.Table.from_arrays(columns, names=list(answer.variables))


def _for_pandas(term: Term) -> Value:
    """Decimals as floats: pandas counts, plots and averages those, and `terms=True` has the exact ones."""
    python_value = value(term)
    return float(python_value) if isinstance(python_value, Decimal) else python_value


def _arrow_column(terms: Sequence[Term | None]) -> pyarrow.Array[Any]:
    import pyarrow

    values = [None if term is None else value(term) for term in terms]
    if len({_arrow_kind(each) for each in values if each is not None}) == 1:
        try:
            return pyarrow.array(values)
        except (pyarrow.ArrowInvalid, OverflowError):  # an integer of more than 64 bits, say
            pass
    return pyarrow.array([None if term is None else text(term) for term in terms], pyarrow.string())


def _arrow_kind(value: Value) -> object:
    """Instants and local times are different columns, though Python has one type for both."""
    return (datetime, value.tzinfo is None) if isinstance(value, datetime) else type(value)

"""Solutions as a stream of Arrow's IPC format, to which batches of rows can be appended.

pyarrow is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from penstock.answer import Answer
from penstock.io.results.require import require

__all__ = ["arrow_stream"]


def arrow_stream(answers: Iterable[Answer], fresh: bool = True) -> Iterator[bytes]:
    """A record batch an answer: the instant or the interval first, then a column a variable, with terms as N-Triples
    has them, so that all answers of a query have the same columns. A fresh stream begins with these."""
    for answer in answers:
        require(answer, "Arrow", "solutions")
        rows = _rows(answer)
        if fresh:
            yield rows.schema.serialize().to_pybytes()
            fresh = False
        yield rows.serialize().to_pybytes()


def _rows(answer: Answer) -> Any:
    import pyarrow as pa

    time, text = pa.timestamp("us", "UTC"), pa.string()
    times = [pa.array([when] * len(answer.rows), time) for when in answer.when.values()]
    terms = [[None if name not in row else str(row[name]) for row in answer.rows] for name in answer.variables]
    arrays: list[Any] = [*times, *(pa.array(column, text) for column in terms)]
    return pa.RecordBatch.from_arrays(arrays, names=[*answer.when, *answer.variables])

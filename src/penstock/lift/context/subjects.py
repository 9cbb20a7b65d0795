"""The IRIs of objects by templates, a column of objects at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from penstock.lift.columns import joined, repeated, strings
from penstock.lift.context.mapping import IdTemplate
from penstock.lift.lift_result import Batch
from penstock.lift.message_references import MessageReference
from penstock.lift.records.json_records import JsonRecords
from penstock.lift.records.jsonpath import JsonPath
from penstock.lift.records.reference_values import ReferenceValues
from penstock.lift.terms import absolute_iris, percent_encoded
from penstock.syntax.suggest import did_you_mean

__all__ = ["template_iris"]


def template_iris(
    template: IdTemplate, objects: JsonRecords, batch: Batch, fail: Callable[[int, str], None]
) -> pa.StringArray:
    """The IRI of each object; `fail` is told the row and the reason of an object that has none."""
    count = len(objects.messages)
    if not template.values:
        return repeated(template.texts[0], count)
    parts: list[pa.StringArray | str] = [template.texts[0]]
    wrong: set[int] = set()
    for reference, values, text in zip(
        template.values, _found(template, objects, batch), template.texts[1:], strict=True
    ):
        parts += [percent_encoded(_values(reference, values, objects, wrong, fail)), text]
    iris = joined(*parts)
    for row in np.flatnonzero(~absolute_iris(iris)[1]).tolist():
        if row not in wrong:
            fail(row, f"the template of @id makes {str(iris[row])!r}, which is not an absolute IRI")
    return iris


def _found(template: IdTemplate, objects: JsonRecords, batch: Batch) -> Iterator[ReferenceValues]:
    """The values of the template's references, in the objects or of the messages that these are in."""
    paths = [reference for reference in template.values if isinstance(reference, JsonPath)]
    inside = iter(objects.find(paths) if paths else ())
    for reference in template.values:
        if isinstance(reference, MessageReference):
            yield batch.find(reference, objects.messages)
        else:
            yield next(inside)


def _values(
    path: JsonPath | MessageReference,
    values: ReferenceValues,
    objects: JsonRecords,
    wrong: set[int],
    fail: Callable[[int, str], None],
) -> pa.StringArray:
    """The value of each object, empty where it has not exactly one."""
    count, rows = len(objects.messages), values.column.rows
    if len(rows) == count and not len(values.object_rows) and (np.diff(rows) == 1).all():
        return values.column.texts
    counts = np.bincount(rows, minlength=count)
    counts[values.object_rows] = -1
    for row in np.flatnonzero(counts != 1).tolist():
        wrong.add(row)
        fail(row, _reason(path, int(counts[row]), objects, row))
    places = np.full(count, len(rows))
    places[rows] = np.arange(len(rows))
    return pa.concat_arrays([values.column.texts, strings([""])]).take(places)


def _reason(path: JsonPath | MessageReference, count: int, objects: JsonRecords, row: int) -> str:
    if count > 1:
        return f"the template of @id needs one value at {path}, and there are {count}"
    if count < 0:
        return f"the template of @id needs a value at {path}, and there is an object"
    near = did_you_mean(str(path), objects.take(np.array([row])).names())
    return f"the template of @id needs {path}, and the message has none" + (f"; {near}" if near else "")

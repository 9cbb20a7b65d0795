"""Records of JSON: texts whose values DuckDB extracts, or values that Python has read; both find the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa

from penstock.io.nquads_block import slices
from penstock.lift.columns import (
    BOOLEAN,
    DOUBLE,
    INTEGER,
    TEXT,
    Column,
    Ints,
    Kinds,
    first_bytes,
    mapped,
    matching,
    replaced,
    strings,
)
from penstock.lift.numbers import plain_number
from penstock.lift.records import json_extraction
from penstock.lift.records.json_messages import Checked, Float, load
from penstock.lift.records.jsonpath import JsonPath
from penstock.lift.records.reference_values import NO_ROWS, Records, ReferenceValues

__all__ = ["FastJson", "JsonRecords", "ReadJson", "records_of"]

_QUOTE, _OBJECT, _ARRAY, _NULL, _TRUE, _FALSE = b'"{[ntf'
_KINDS: Kinds = np.full(256, INTEGER, np.uint8)
_KINDS[[_QUOTE, _TRUE, _FALSE]] = TEXT, BOOLEAN, BOOLEAN
_TYPES = {str: TEXT, int: INTEGER, Float: DOUBLE, bool: BOOLEAN}


def records_of(checked: Checked, first: int = 0) -> list[JsonRecords]:
    """The valid messages as records, numbered from `first` on: those for DuckDB, and those that Python has read."""
    batches: list[JsonRecords] = []
    if len(checked.fast_messages):
        batches.append(FastJson(checked.texts, checked.fast_messages + first))
    if len(checked.careful_messages):
        batches.append(ReadJson(checked.values, checked.careful_messages + first))
    return batches


class JsonRecords(Records):
    """Records of JSON, in one of two forms."""

    def iterate(self, path: JsonPath) -> JsonRecords:
        """The records that an iterator finds in these."""
        raise NotImplementedError

    def key_lists(self) -> list[list[str]]:
        """The different lists of names that the objects among the records have."""
        raise NotImplementedError

    def all_keys(self) -> list[list[str]]:
        """The list of names of each record, all of which are objects."""
        raise NotImplementedError

    def value(self, row: int) -> Any:
        """A record as Python reads it."""
        raise NotImplementedError

    def take(self, rows: Ints) -> JsonRecords:
        """Some of the records."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class FastJson(JsonRecords):
    """Texts of valid JSON that DuckDB reads exactly."""

    texts: pa.StringArray
    messages: Ints

    def iterate(self, path: JsonPath) -> JsonRecords:
        if not path.steps:
            return self
        if not json_extraction.can_extract(path):
            return self._read().iterate(path)
        ((rows, texts),) = json_extraction.extract(self.texts, [path])
        return FastJson(texts, self.messages[rows])

    def find(self, references: Sequence[Any]) -> list[ReferenceValues]:
        paths = cast(Sequence[JsonPath], references)
        fast = [path for path in paths if path.steps and json_extraction.can_extract(path)]
        values = json_extraction.extract(self.texts, fast) if fast else []
        results = {path: self._found(*value) for path, value in zip(fast, values, strict=True)}
        for path in paths:
            if not path.steps:
                results[path] = self._found(np.arange(len(self.texts)), self.texts)
            elif path not in results:
                (results[path],) = self._read().find([path])
        return [results[path] for path in paths]

    def _found(self, rows: Ints, texts: pa.StringArray) -> ReferenceValues:
        """The values among some texts of JSON."""
        if not rows.size:
            return ReferenceValues.plain(Column.empty())
        firsts = first_bytes(texts)
        arrays, objects = np.flatnonzero(firsts == _ARRAY), np.flatnonzero(firsts == _OBJECT)
        simple = firsts != _NULL
        nulls = rows[~simple]
        simple[arrays] = simple[objects] = False
        if simple.all():
            return ReferenceValues.plain(_column(rows, texts, firsts))
        places = np.flatnonzero(simple)
        column = _column(rows[places], texts.take(places), firsts[places])
        nested = texts.take(objects)
        if len(arrays):
            return self._with_items(rows[arrays], texts.take(arrays), column, rows[objects], nested, nulls)
        return self._of_parts(column, rows[objects], nested, NO_ROWS, nulls)

    def _with_items(
        self,
        rows: Ints,
        arrays: pa.StringArray,
        column: Column,
        object_rows: Ints,
        nested: pa.StringArray,
        nulls: Ints,
    ) -> ReferenceValues:
        """The values, objects and nulls, together with those that are items of arrays in these rows."""
        parents, texts = json_extraction.items(arrays)
        inner = self._found(rows[parents], texts)
        if isinstance(inner.objects, FastJson):
            object_rows = np.concatenate([object_rows, inner.object_rows])
            order = np.argsort(object_rows, kind="stable")
            object_rows = object_rows[order]
            nested = pa.concat_arrays([nested, inner.objects.texts]).take(order)
        array_rows, nulls = np.union1d(rows, inner.array_rows), np.union1d(nulls, inner.null_rows)
        return self._of_parts(Column.merged([column, inner.column]), object_rows, nested, array_rows, nulls)

    def _of_parts(
        self, column: Column, rows: Ints, nested: pa.StringArray, arrays: Ints, nulls: Ints
    ) -> ReferenceValues:
        objects = FastJson(nested, self.messages[rows]) if len(rows) else None
        return ReferenceValues(column, rows, objects, arrays, nulls)

    def key_lists(self) -> list[list[str]]:
        return json_extraction.distinct_keys(self.texts)

    def all_keys(self) -> list[list[str]]:
        return json_extraction.keys(self.texts)

    def names(self) -> list[str]:
        return _names(self.value(0)) if len(self.texts) else []

    def value(self, row: int) -> Any:
        return load(str(self.texts[row]))

    def take(self, rows: Ints) -> JsonRecords:
        return FastJson(self.texts.take(rows), self.messages[rows])

    def _read(self) -> ReadJson:
        return ReadJson([load(str(text)) for text in self.texts.to_pylist()], self.messages)


def _column(rows: Ints, texts: pa.StringArray, firsts: Kinds) -> Column:
    """The column of texts of JSON, none of which is null, an array or an object."""
    kinds = _KINDS[firsts]
    different = np.unique(kinds)
    if len(different) == 1:
        return _of_kind(Column(rows, texts), int(different[0]))
    column = Column(rows, texts, kinds)
    return Column.merged([_of_kind(column.of_kind(int(kind)), int(kind)) for kind in different])


def _of_kind(column: Column, kind: int) -> Column:
    if kind == TEXT:
        return Column(column.rows, _unquoted(column.texts))
    if kind != INTEGER:
        return Column(column.rows, column.texts, np.full(len(column.rows), kind, np.uint8))
    doubles = matching(column.texts, "[.eE]")
    texts, exponents = column.texts, np.flatnonzero(matching(column.texts, "[eE]"))
    if len(exponents):
        texts = replaced(texts, exponents, mapped(texts.take(exponents), plain_number))
    return Column(column.rows, texts, np.where(doubles, DOUBLE, INTEGER).astype(np.uint8))


def _unquoted(texts: pa.StringArray) -> pa.StringArray:
    """The texts of JSON strings."""
    _, offsets, data = cast(list[pa.Buffer], texts.buffers())
    bounds = np.frombuffer(memoryview(offsets), np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.intp)
    inner = slices(data, bounds[:-1] + 1, bounds[1:] - 1)
    escaped = np.flatnonzero(matching(inner, r"\\"))
    if not len(escaped):
        return inner
    return replaced(inner, escaped, mapped(texts.take(escaped), json.loads))


@dataclass(frozen=True, slots=True)
class ReadJson(JsonRecords):
    """Values that Python has read, with numbers as they are written."""

    values: list[Any]
    messages: Ints

    def iterate(self, path: JsonPath) -> JsonRecords:
        items = [(row, value) for row, record in enumerate(self.values) for value in path.values(record)]
        return ReadJson([value for _, value in items], self.messages[np.array([row for row, _ in items], np.int64)])

    def find(self, references: Sequence[Any]) -> list[ReferenceValues]:
        return [self._found(path) for path in references]

    def _found(self, path: JsonPath) -> ReferenceValues:
        simple: list[tuple[int, Any]] = []
        objects: list[tuple[int, Any]] = []
        arrays, nulls = set[int](), set[int]()
        for row, record in enumerate(self.values):
            for value in path.values(record):
                if isinstance(value, list):
                    arrays.add(row)
                for item in _flattened(value):
                    if item is None:
                        nulls.add(row)
                    else:
                        (objects if isinstance(item, dict) else simple).append((row, item))
        rows = np.array([row for row, _ in objects], np.int64)
        nested = ReadJson([item for _, item in objects], self.messages[rows]) if objects else None
        array_rows, null_rows = (np.array(sorted(numbers), np.int64) for numbers in (arrays, nulls))
        return ReferenceValues(_read_column(simple), rows, nested, array_rows, null_rows)

    def key_lists(self) -> list[list[str]]:
        return [list(names) for names in {tuple(value) for value in self.values if isinstance(value, dict)}]

    def all_keys(self) -> list[list[str]]:
        return [list(value) for value in self.values]

    def names(self) -> list[str]:
        return _names(self.values[0]) if self.values else []

    def value(self, row: int) -> Any:
        return self.values[row]

    def take(self, rows: Ints) -> JsonRecords:
        return ReadJson([self.values[row] for row in rows.tolist()], self.messages[rows])


def _flattened(value: Any) -> list[Any]:
    """The value, or the items of an array, at any depth."""
    if isinstance(value, list):
        return [item for inner in value for item in _flattened(inner)]
    return [value]


def _read_column(values: list[tuple[int, Any]]) -> Column:
    kinds = np.array([_TYPES[type(value)] for _, value in values], np.uint8)
    texts = strings([_read_text(value) for _, value in values])
    return Column(np.array([row for row, _ in values], np.int64), texts, kinds if kinds.any() else None)


def _read_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return plain_number(value) if isinstance(value, Float) else str(value)


def _names(record: Any) -> list[str]:
    return [str(JsonPath((name,))) for name in record] if isinstance(record, dict) else []

"""Messages of JSON: DuckDB and Python agree on which are valid and what is in them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.lift.columns import TEXT
from penstock.lift.numbers import canonical_double, json_ld_number, plain_number
from penstock.lift.records.json_messages import check
from penstock.lift.records.json_records import ReadJson, records_of
from penstock.lift.records.jsonpath import JsonPath, parse
from penstock.lift.records.reference_values import ReferenceValues

PIECES = st.sampled_from(
    ['{', '}', '[', ']', ',', ':', '"a"', '"b"', '"\\u00e9"', '"\\ud800"', "1", "-0", "1.50", "1e400", "5e-324", "0.1",
     "01", "NaN", "inf", "-Infinity", "null", "true", "tru", " ", "\n", "\t", "//", "\x00", "\ufeff",
     "12345678901234567890"]
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=6)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=8,
)
PATHS = [parse(text) for text in ("$", "a", "$.a.b", "$['b'][0]", "$.a[*]", "$[*].b", "$.a[*].c[*]")]


@given(st.lists(st.lists(PIECES, max_size=9).map("".join), min_size=1, max_size=6))
def test_duckdb_takes_nothing_that_is_not_json(texts: list[str]) -> None:
    messages = [text.encode() for text in texts]
    assert check(messages, few=0).reasons == check(messages, few=1_000).reasons


def shown(found: ReferenceValues) -> Any:
    kinds = found.column.kinds if found.column.kinds is not None else np.full(len(found.column.rows), TEXT)
    objects = [] if found.objects is None else [found.objects.value(row) for row in range(len(found.object_rows))]  # type: ignore[attr-defined]
    return (
        sorted(zip(found.column.rows.tolist(), found.column.texts.to_pylist(), kinds.tolist(), strict=True)),
        sorted(zip(found.object_rows.tolist(), map(repr, objects), strict=True)),
        found.array_rows.tolist(),
        sorted(set(found.null_rows.tolist())),
    )


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_both_find_the_same(values: list[Any]) -> None:
    messages = [json.dumps(value).encode() for value in values]
    checked = check(messages, few=0)
    careful = check(messages, few=1_000)
    (read,) = records_of(careful)
    for records in records_of(checked):
        rows = records.messages
        same = ReadJson([careful.values[row] for row in rows.tolist()], rows)
        assert [shown(found) for found in records.find(PATHS)] == [shown(found) for found in same.find(PATHS)]
        for path in PATHS:
            one, other = records.iterate(path), same.iterate(path)
            assert one.messages.tolist() == other.messages.tolist()
    assert len(read.messages) == len(values)


@pytest.mark.parametrize(
    ("text", "plain", "canonical", "integer"),
    [
        ("21.50", "21.5", "2.15E1", None),
        ("1e3", "1000.0", "1.0E3", "1000"),
        ("-0.0", "-0.0", "-0.0E0", "0"),
        ("0.000001", "0.000001", "1.0E-6", None),
        ("1e-7", "1.0E-7", "1.0E-7", None),
        ("1E20", "100000000000000000000.0", "1.0E20", None),
        ("1e21", "1.0E21", "1.0E21", None),
        ("99999999999999999999", "99999999999999999999.0", "9.9999999999999999999E19", "99999999999999999999"),
    ],
)
def test_numbers(text: str, plain: str, canonical: str, integer: str | None) -> None:
    assert (plain_number(text), canonical_double(text), json_ld_number(text)) == (plain, canonical, integer)


def test_paths_are_written_as_they_are_read() -> None:
    for text in ("$", "$.a.b", '$["a b"]', "$.a[0][*].b"):
        assert str(parse(text)) == text
    assert parse("a.b") == JsonPath(("a", "b"))


@pytest.mark.parametrize("text", ["", "$.*", "$..a", "$[-1]", "$[0,1]", "$[a]", "$.a[", "$.a.", "$[?(@.x)]"])
def test_other_paths_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="JSONPath"):
        parse(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
def test_any_name_stays_a_name_in_duckdb(name: str) -> None:
    record = {"other": 1, name: "found", "more": 2}
    (records,) = records_of(check([json.dumps(record).encode()] * 2, few=0))
    (found,) = records.find([JsonPath((name,))])
    assert found.column.texts.to_pylist() == ["found", "found"]

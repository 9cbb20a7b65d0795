"""Rows of a static view, dictionary-encoded in the driver and looked up by term."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.compile.views import packed_view

ROWS = pa.table({"x": ["<a:1>", "<a:2>", "<a:2>", "<a:3>"], "y": ["<b:1>", "<b:1>", "<b:2>", None]})


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"x": frozenset(("<a:2>", "<a:9>"))}, [1, 2]),
        ({"x": frozenset(("<a:2>", "<a:3>"))}, [1, 2, 3]),
        ({"x": frozenset(("<a:1>", "<a:2>")), "y": frozenset(("<b:1>",))}, [0, 1]),
        ({"x": frozenset()}, []),
    ],
)
def test_rows_with_terms(wanted: dict[str, frozenset[str]], found: list[int]) -> None:
    rows = ROWS if "y" not in wanted else ROWS.slice(0, 3)  # only what all rows have is asked for
    told = rows.to_pylist()
    assert packed_view.dictionary_encoded(rows).with_terms(wanted).to_pylist() == [told[i] for i in found]


def test_terms_in_columns() -> None:
    assert packed_view.distinct_terms(ROWS, ["x"]) == {"x": frozenset(("<a:1>", "<a:2>", "<a:3>"))}


def test_terms_with_the_same_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        packed_view, "_hashes", lambda terms: np.array([len(str(term)) % 2 for term in terms], np.uint64)
    )
    rows = packed_view.dictionary_encoded(ROWS.slice(0, 3))
    assert rows.with_terms({"x": frozenset(("<a:2>",))}).to_pylist() == ROWS.slice(1, 2).to_pylist()
    assert rows.with_terms({"x": frozenset(("<a:9>", "<b>"))}).num_rows == 0


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=20), st.sets(st.integers(0, 12)))
def test_rows_as_a_search_finds_them(numbers: list[tuple[int, int]], wanted: set[int]) -> None:
    rows = [{"a": f"<x:{a}>", "b": f'"{b}"'} for a, b in numbers]
    table = pa.Table.from_pylist(rows, pa.schema([("a", pa.string()), ("b", pa.string())]))
    terms = {"a": frozenset(f"<x:{i}>" for i in wanted), "b": frozenset(('"1"', '"2"'))}
    found = packed_view.dictionary_encoded(table).with_terms(terms).to_pylist()
    assert found == [row for row in rows if row["a"] in terms["a"] and row["b"] in terms["b"]]

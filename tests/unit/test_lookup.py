"""Rows of a part that was answered before, looked up by the terms that somebody asks for."""

from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.spark import lookup

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
    assert lookup.with_terms(lookup.packed(rows), wanted).to_pylist() == [told[i] for i in found]


def test_terms_in_columns() -> None:
    assert lookup.terms_in(ROWS, ["x"]) == {"x": frozenset(("<a:1>", "<a:2>", "<a:3>"))}

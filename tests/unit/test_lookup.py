"""Rows of a part that was answered before, looked up by the terms that somebody asks for."""

from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.algebra.expressions import Var
from penstock.spark import lookup

X, Y = Var("x"), Var("y")
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


def test_below_a_projection_a_name_may_be_another_variable() -> None:
    known = lookup.only((X,), lambda var: frozenset((f"<{var.name}>",)))
    assert (known(X), known(Y)) == (frozenset(("<x>",)), None)

"""Which answers without rows an evaluation reports."""

from __future__ import annotations

from typing import Any, cast

import pyarrow as pa

from penstock.compile.windows.evaluation_instants import PeriodicInstants
from penstock.model.span import Span
from penstock.spark.query.snapshot_result import SnapshotResult
from tests.support.runtime import FakeDataFrame


class Asked:
    """The instants at which windows hold something, and for which spans they were asked."""

    def __init__(self, *instants: int) -> None:
        self.instants, self.spans = instants, list[Span]()

    def __call__(self, span: Span) -> Any:
        self.spans.append(span)
        return FakeDataFrame(
            pa.table({"t": pa.array([t for t in self.instants if span.after < t <= span.through], pa.int64())})
        )


def evaluated(rows: list[tuple[int, int, str]], asked: Asked) -> list[dict[str, Any]]:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    types = (pa.int64(), pa.int64(), pa.string())
    table = pa.table([pa.array(c, t) for c, t in zip(columns, types, strict=True)], names=["time", ".km", "x"])
    found = SnapshotResult(cast(Any, FakeDataFrame(table)), [2, 4, 6, 8], cast(Any, asked)).collect()
    assert found.column_names == ["time", ".km", "x", ".row"]
    return found.to_pylist()


def silent(found: list[dict[str, Any]]) -> list[int]:
    assert all(row["x"] is None and row[".km"] is None for row in found if not row[".row"])
    return [row["time"] for row in found if not row[".row"]]


def test_an_instant_at_which_no_member_has_a_row_is_a_row() -> None:
    asked = Asked(2, 4, 6)
    found = evaluated([(2, 7, "a"), (2, 7, "b"), (4, 9, "c")], asked)
    assert [(row["time"], row[".km"], row["x"]) for row in found if row[".row"]] == [
        (2, 7, "a"), (2, 7, "b"), (4, 9, "c"),
    ]  # fmt: skip
    assert silent(found) == [6]
    assert asked.spans == [Span(5, 8)]  # only instants at which nobody has a row


def test_no_empty_instants_are_computed_if_every_instant_has_rows() -> None:
    asked = Asked(2, 4, 6, 8)
    assert silent(evaluated([(t, 7, "a") for t in (2, 4, 6, 8)], asked)) == []
    assert asked.spans == []


def test_a_result_without_rows() -> None:
    assert evaluated([], Asked()) == []
    assert silent(evaluated([], Asked(4))) == [4]


def test_the_empty_instants_of_thousands_of_years_are_not_listed() -> None:
    rows, asked = pa.table({"time": pa.array([6, 10**17], pa.int64())}), Asked(6, 8, 10**17)
    instants = PeriodicInstants((2, 6), Span(4, 10**17))
    found = SnapshotResult(cast(Any, FakeDataFrame(rows)), instants, cast(Any, asked)).collect()
    assert found.to_pylist() == [
        {"time": 6, ".row": True}, {"time": 10**17, ".row": True}, {"time": 8, ".row": False},
    ]  # fmt: skip
    assert asked.spans == [Span(7, 10**17 - 2)]

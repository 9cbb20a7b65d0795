"""The answers of a family by query: few, which become lists, and many, which stay tables, are the same."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.stream.answers.answer_batch import AnswerSchema
from penstock.stream.answers.split_by_query import QueryAnswers, split_by_query

SHAPE = AnswerSchema("q", "solutions", ("x",))
MEMBERS = (3, 5, 900_000)
ROWS = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from(MEMBERS), st.sampled_from(("<http://e/a>", "<http://e/b>", None)))
)


def fetched(rows: list[tuple[int, int, str | None]], silent: set[int]) -> pa.Table:
    """The rows of all queries, and the instants at which none has one."""
    marks = sorted(silent - {time for time, _, _ in rows})
    return pa.table({
        "time": pa.array([*(row[0] for row in rows), *marks], pa.int64()),
        ".km": pa.array([*(row[1] for row in rows), *(None for _ in marks)], pa.int64()),
        "x": pa.array([*(row[2] for row in rows), *(None for _ in marks)], pa.string()),
        ".row": pa.array([*(True for _ in rows), *(False for _ in marks)], pa.bool_()),
    })  # fmt: skip


def told(batch: QueryAnswers) -> list[tuple[int, list[str]]]:
    times = [(answer.time, answer.rows) for answer in batch.answers]
    return [(int(t.timestamp() * 1e6), sorted(str(row.get("x", "")) for row in rows)) for t, rows in times if t]


@pytest.mark.parametrize("list_rows", [0, 1_000])
@given(rows=ROWS, silent=st.sets(st.integers(1, 6)))
def test_every_member_has_an_answer_at_every_instant(
    list_rows: int, rows: list[tuple[int, int, str | None]], silent: set[int]
) -> None:
    expected: dict[int, dict[int, list[str]]] = {m: {} for m in MEMBERS} if rows or silent else {}
    for time in {*silent, *(time for time, _, _ in rows)}:
        for member in MEMBERS:
            expected[member][time] = sorted(x or "" for t, m, x in rows if (t, m) == (time, member))
    check(split(fetched(rows, silent), MEMBERS, list_rows), expected, rows)


@pytest.mark.parametrize("list_rows", [0, 1_000])
@given(rows=ROWS)
def test_changes_have_answers_where_they_have_rows(list_rows: int, rows: list[tuple[int, int, str | None]]) -> None:
    expected: defaultdict[int, defaultdict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for time, member, x in rows:
        expected[member][time] = sorted([*expected[member][time], x or ""])
    check(split(fetched(rows, set()), None, list_rows), expected, rows)


def split(table: pa.Table, members: Any, list_rows: int) -> dict[int, QueryAnswers]:
    return {cut.number: QueryAnswers(SHAPE, 0, cut) for cut in split_by_query(table, 1, members, list_rows)}


def check(found: dict[int, QueryAnswers], expected: Any, rows: list[tuple[int, int, str | None]]) -> None:
    assert {member: dict(told(batch)) for member, batch in found.items()} == expected
    for member, batch in found.items():
        answers = expected[member]
        assert [time for time, _ in told(batch)] == sorted(answers)
        assert batch.instants == len(answers)
        assert batch.size == sum(max(1, len(xs)) for xs in answers.values())
        shown = [(int(row["time"].timestamp() * 1e6), row["x"]) for row in batch.rows.to_pylist()]
        assert sorted(map(str, shown)) == sorted(str((t, x)) for t, m, x in rows if m == member)

"""Shares of slices as bytes: a share is evaluated where it arrives, and its answers come back in parts."""

from __future__ import annotations

import pyarrow as pa

from penstock.compile.kernels import slice_share
from penstock.compile.kernels.slice_kernel import Program, Slice
from penstock.compile.kernels.slice_share import Work, evaluate, pack, unpack_rows

SCHEMA = pa.schema([("c0", pa.int64())])
NUMBERS = pa.table({"n": [1, 2, 3, 4, 5]})
SETTINGS = (256, 17, 4)  # memory, Java, programs


def work(query: str) -> Work:
    return Work(0, Program(query, SCHEMA), {"numbers": NUMBERS}, Slice(0, 9))


def test_an_answer_is_sent_in_parts_of_so_many_rows() -> None:
    parts = [
        part for _, part, _ in evaluate(pack([work("SELECT n FROM numbers")], SETTINGS, 2), {}) if part is not None
    ]
    assert len(parts) == 3
    assert unpack_rows(parts).column("c0").to_pylist() == [1, 2, 3, 4, 5]


def test_an_answer_without_rows_is_one_part() -> None:
    (found,) = evaluate(pack([work("SELECT n FROM numbers WHERE n > 9")], SETTINGS, 2), {})
    assert found[1] is not None
    assert unpack_rows([found[1]]).num_rows == 0


def test_a_query_that_duckdb_fails_leaves_the_others_their_answers() -> None:
    failed, answered = evaluate(pack([work("SELECT error('no')"), work("SELECT n FROM numbers")], SETTINGS, 9), {})
    assert failed[1] is None
    assert "no" in failed[2]
    assert answered[1] is not None


def test_a_worker_keeps_as_many_programs_as_the_settings_say() -> None:
    settings = (256, 17, 2)
    works = [work(f"SELECT n + {number} FROM numbers") for number in range(5)]
    assert len(list(evaluate(pack(works, settings, 9), {}))) == 5
    assert len(slice_share._kernels[settings]._prepared) == 2

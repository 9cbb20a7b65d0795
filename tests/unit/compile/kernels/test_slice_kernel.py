"""The kernel of a sliced plan: tables, files, variables, temporary tables and empty answers."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.compile.kernels.slice_kernel import Kernel, Program, Scan, Slice, run

TYPES: dict[str, pa.DataType] = {"c0": pa.int64(), "c1": pa.string()}
SCHEMA = pa.schema(TYPES)
ELEMENTS = pa.table({"s": ["<a>", "<b>", "<c>"], "p": ["<p>"] * 3, "o": ["<x>"] * 3, "ts": [1, 2, 3]})
SEEN = "SELECT ts, s FROM stream WHERE ts > span_after() AND ts <= span_through() ORDER BY ts"


def kernel() -> Kernel:
    return Kernel(256, 17)


def test_the_span_is_two_variables() -> None:
    program, scans = Program(SEEN, SCHEMA), {"stream": Scan(ELEMENTS)}
    one = kernel()
    assert [one.evaluate(program, {}, Slice(a, a + 1, scans)).column("c1").to_pylist() for a in (0, 1, 2)] == [
        ["<a>"],
        ["<b>"],
        ["<c>"],
    ]


def test_files_are_read_where_they_lie_in_their_order(tmp_path: Path) -> None:
    paths = []
    for name, rows in (("spool-9", ELEMENTS.slice(0, 2)), ("spool-10", ELEMENTS.slice(2))):
        paths.append(str(tmp_path / f"{name}.parquet"))
        pq.write_table(rows, paths[-1])
    program = Program('SELECT ts, concat(s, "file", "row") FROM stream ORDER BY "file", "row"', SCHEMA)
    ordered = Program(program.query, SCHEMA, ordered=frozenset(("stream",)))
    found = kernel().evaluate(ordered, {}, Slice(0, 9, {"stream": Scan(None, tuple(paths), 1, 3)}))
    assert found.column("c1").to_pylist() == ["<b>11", "<c>20"]


def test_a_stream_without_files_has_no_elements() -> None:
    assert kernel().evaluate(Program(SEEN, SCHEMA), {}, Slice(0, 9, {"stream": Scan(None)})).num_rows == 0


def test_an_ordered_stream_without_files_has_no_elements() -> None:
    ordered = Program('SELECT ts, s FROM stream ORDER BY "file", "row"', SCHEMA, ordered=frozenset(("stream",)))
    assert kernel().evaluate(ordered, {}, Slice(0, 9, {"stream": Scan(None)})).num_rows == 0


def test_a_text_that_duckdb_refuses_is_found_without_rows() -> None:
    one, good, bad = kernel(), Program("SELECT ts, s FROM stream", SCHEMA), Program("SELECT u.ts", SCHEMA)
    assert one.refusal(good, {"other": ELEMENTS}, ("stream",)) is None
    assert one.refusal(bad, {}, ()) == 'Binder Error: Referenced table "u" not found!'


def test_temporary_tables_are_made_anew_for_each_slice() -> None:
    program = Program("SELECT ts, s FROM kept", SCHEMA, (("kept", SEEN),))
    one, scans = kernel(), {"stream": Scan(ELEMENTS)}
    counts = [one.evaluate(program, {}, Slice(after, 3, scans)).num_rows for after in (0, 2)]
    assert counts == [3, 1]


def test_an_instant_with_an_empty_answer_is_marked() -> None:
    program = Program(f"{SEEN} LIMIT 1", SCHEMA, instants="SELECT unnest([1, 5])")
    found = kernel().evaluate(program, {}, Slice(0, 3, {"stream": Scan(ELEMENTS)}))
    assert found.to_pylist() == [{"c0": 1, "c1": "<a>", ".row": True}, {"c0": 5, "c1": None, ".row": False}]


def test_no_instant_is_looked_for_if_all_have_rows() -> None:
    program = Program(SEEN, SCHEMA, instants="SELECT error('not needed')")
    found = kernel().evaluate(program, {}, Slice(0, 3, {"stream": Scan(ELEMENTS)}, 3))
    assert found.num_rows == 3


def test_a_task_returns_batches() -> None:
    (batch,) = run(Program(SEEN, SCHEMA), {}, 256, 17, 0, Slice(0, 1, {"stream": Scan(ELEMENTS)}))
    assert batch.to_pylist() == [{"c0": 1, "c1": "<a>", ".row": True}]


# A program that comes again.


def test_kept_plans_read_the_elements_and_the_span_of_each_slice() -> None:
    one, program = kernel(), Program(SEEN, SCHEMA)
    slices = [Slice(after, 3, {"stream": Scan(ELEMENTS.slice(0, size))}) for after in (0, 1) for size in (1, 2, 3)]
    found = [one.evaluate(program, {}, piece).column("c1").to_pylist() for piece in slices]
    assert found == [["<a>"], ["<a>", "<b>"], ["<a>", "<b>", "<c>"], [], ["<b>"], ["<b>", "<c>"]]


def test_kept_plans_read_other_tables_and_steps_anew() -> None:
    program = Program("SELECT ts, s FROM kept JOIN known USING (s)", SCHEMA, (("kept", SEEN),))
    one, scans = kernel(), {"stream": Scan(ELEMENTS)}
    terms: list[list[str]] = [["<a>"], ["<b>", "<c>"], ["<c>"], []]
    tables = [{"known": pa.table({"s": pa.array(known, pa.string())})} for known in terms]
    assert [one.evaluate(program, table, Slice(0, 3, scans)).num_rows for table in tables] == [1, 2, 1, 0]


def test_kept_plans_mark_empty_answers() -> None:
    program = Program(SEEN, SCHEMA, instants="SELECT unnest([span_through(), 9])")
    one, scans = kernel(), {"stream": Scan(ELEMENTS)}
    for through in (1, 2, 3):
        found = one.evaluate(program, {}, Slice(through - 1, through, scans, 2))
        assert found.column("c0").to_pylist() == [through, 9]


def test_a_table_with_another_schema_is_planned_anew() -> None:
    one, program = kernel(), Program("SELECT ts, concat(s, x) FROM stream, other", SCHEMA)
    found = []
    for other in (pa.table({"x": [1]}), pa.table({"x": ["y"]}), pa.table({"x": [2]}), pa.table({"x": ["z"]})) * 2:
        rows = one.evaluate(program, {"other": other}, Slice(0, 9, {"stream": Scan(ELEMENTS.slice(0, 1))}))
        found += rows.column("c1").to_pylist()
    assert found == ["<a>1", "<a>y", "<a>2", "<a>z"] * 2


def test_temporary_tables_that_differ_in_arrow_stay_in_the_database() -> None:
    """A HUGEINT becomes a decimal in Arrow, and other text when it is written."""
    program = Program(
        "SELECT 1, CAST(x / 2 AS VARCHAR) FROM kept", SCHEMA, (("kept", "SELECT sum(ts)::HUGEINT x FROM stream"),)
    )
    one, scans = kernel(), {"stream": Scan(ELEMENTS)}
    assert {one.evaluate(program, {}, Slice(0, 9, scans)).column("c1")[0].as_py() for _ in range(3)} == {"3.0"}


def test_an_error_of_kept_plans_is_that_of_the_text() -> None:
    one, program = kernel(), Program("SELECT ts, CASE WHEN s = '<c>' THEN error('no') ELSE s END FROM stream", SCHEMA)
    for size in (1, 2):
        assert one.evaluate(program, {}, Slice(0, 9, {"stream": Scan(ELEMENTS.slice(0, size))})).num_rows == size
    with pytest.raises(duckdb.Error, match="no"):
        one.evaluate(program, {}, Slice(0, 9, {"stream": Scan(ELEMENTS)}))
    assert one.evaluate(program, {}, Slice(0, 9, {"stream": Scan(ELEMENTS.slice(0, 2))})).num_rows == 2


def test_a_string_that_looks_like_a_bound_stays() -> None:
    one, program = kernel(), Program("SELECT ts, 'span_after()' FROM stream", SCHEMA)
    scans = {"stream": Scan(ELEMENTS.slice(0, 1))}
    for _ in range(3):
        assert one.evaluate(program, {}, Slice(0, 9, scans)).column("c1").to_pylist() == ["span_after()"]

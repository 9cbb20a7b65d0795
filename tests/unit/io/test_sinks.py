"""Sinks: what they write, and that a batch which comes again is there once."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from penstock.answer import Answer
from penstock.compile.relation import ALWAYS
from penstock.errors import QueryError, StoreError
from penstock.io.sinks import MemorySink, Sink, SinkSpec, open_sink, sink_text
from penstock.stream.answers.answer_batch import AnswerBatch, AnswerSchema, Uncollected, collect, single_answer
from penstock.testing import ManualClock
from tests.support.runtime import Frame

A, P = NamedNode("http://e/a"), NamedNode("http://e/p")
SHAPE = AnswerSchema("q", "solutions", ("x", "n"))


def at(second: int) -> datetime:
    return datetime(2009, 7, 20, 22, 50, second, tzinfo=UTC)


@dataclass(frozen=True)
class Given:
    """A batch of answers that are here already."""

    number: int
    given: list[Answer] = field(default_factory=list)
    query: str = "cars"

    @property
    def instants(self) -> int:
        return len(self.given)

    @property
    def size(self) -> int:
        return self.rows.num_rows

    @property
    def answers(self) -> Iterator[Answer]:
        return iter(self.given)

    @property
    def rows(self) -> pa.Table:
        return pa.table({"n": [0] * sum(map(len, self.given))})

    def write_parquet(self, folder: str) -> None:
        Path(folder).mkdir()
        parquet.write_table(self.rows, f"{folder}/part.parquet")


def solutions(second: int, *numbers: int) -> Answer:
    rows = [{"x": A, "n": Literal(number)} for number in numbers]
    return Answer(("x", "n"), rows, time=at(second), query="q")  # type: ignore[arg-type]


def graph(second: int | None, *triples: Triple) -> Answer:
    return Answer(triples=list(triples), time=None if second is None else at(second), query="q")


def test_ndjson_is_a_line_an_answer(tmp_path: Path) -> None:
    sink = open_sink(tmp_path / "new" / "a.ndjson", "solutions")
    sink.begin()
    sink.deliver(Given(0, [solutions(0, 5), solutions(1)]))
    lines = (tmp_path / "new" / "a.ndjson").read_text().splitlines()
    assert [json.loads(line)["time"] for line in lines] == ["2009-07-20T22:50:00Z", "2009-07-20T22:50:01Z"]
    assert json.loads(lines[0])["query"] == "q"
    assert json.loads(lines[1])["results"] == {"bindings": []}


def test_csv_has_one_heading_and_the_instant_first(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    sink = open_sink(str(path), "solutions")
    sink.begin()
    sink.deliver(Given(0, [solutions(0, 5, 6), solutions(1)]))
    sink.deliver(Given(1, [solutions(2, 7)]))
    assert path.read_bytes().decode().split("\r\n") == [
        "time,x,n",
        "2009-07-20T22:50:00Z,http://e/a,5",
        "2009-07-20T22:50:00Z,http://e/a,6",
        "2009-07-20T22:50:02Z,http://e/a,7",
        "",
    ]


def test_csv_has_the_bounds_of_intervals(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    sink = open_sink(path, "solutions")
    sink.begin()
    ended = replace(solutions(9, 5, 6), valid_from=at(3), valid_to=at(9))
    sink.deliver(Given(0, [ended, replace(solutions(9, 7), valid_from=at(4), time=None)]))
    assert path.read_bytes().decode().split("\r\n") == [
        "valid_from,valid_to,x,n",
        "2009-07-20T22:50:03Z,2009-07-20T22:50:09Z,http://e/a,5",
        "2009-07-20T22:50:03Z,2009-07-20T22:50:09Z,http://e/a,6",
        "2009-07-20T22:50:04Z,,http://e/a,7",
        "",
    ]


def test_nquads_have_the_beginning_of_intervals(tmp_path: Path) -> None:
    path = tmp_path / "a.nq"
    sink = open_sink(path, "graph")
    sink.begin()
    ended = replace(graph(9, Triple(A, P, A)), valid_from=at(3), valid_to=at(9))
    sink.deliver(Given(0, [ended, replace(graph(None, Triple(A, P, A)), valid_from=at(4))]))
    lines = path.read_text().splitlines()
    assert [line.split('"')[1] for line in lines] == ["2009-07-20T22:50:03Z", "2009-07-20T22:50:04Z"]


def test_nquads_have_the_interval_of_events(tmp_path: Path) -> None:
    path = tmp_path / "a.nq"
    triple = Triple(A, P, Literal(1))
    answers = [Answer(triples=[triple], time=at(2), starts=at(start), ends=at(2)) for start in (1, 2)]
    open_sink(path, "graph").deliver(Given(0, answers))
    lasting, point = path.read_text().splitlines()
    assert lasting.endswith('"2009-07-20T22:50:01Z/2009-07-20T22:50:02Z"^^<urn:penstock:interval> .')
    assert point.endswith('"2009-07-20T22:50:02Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .')


def test_nquads_can_be_read_as_a_stream_again(tmp_path: Path) -> None:
    from penstock.io.nquads import parse

    path = tmp_path / "a.nq"
    sink = open_sink(path, "graph")
    sink.begin()
    sink.deliver(Given(0, [graph(3, Triple(A, P, Literal("x\n\u2028."))), graph(4), graph(5, Triple(A, P, A))]))
    parsed = parse(path.read_bytes(), "http://e/s")
    assert parsed.bad == []
    assert parsed.elements.column("o").to_pylist() == ['"x\n\u2028."', "<http://e/a>"]
    assert parsed.elements.column("ts").to_pylist() == [at(3).timestamp() * 1e6, at(5).timestamp() * 1e6]


def test_an_answer_without_an_instant_is_plain(tmp_path: Path) -> None:
    path = tmp_path / "a.nq"
    sink = open_sink(path, "graph")
    sink.begin()
    sink.deliver(single_answer(graph(1, Triple(A, P, A)), "q"))
    assert path.read_text() == "<http://e/a> <http://e/p> <http://e/a> .\n"


@pytest.mark.parametrize("name", ["a.ndjson", "a.csv"])
def test_a_file_is_cut_back_to_where_it_stood(tmp_path: Path, name: str) -> None:
    whole, cut = tmp_path / "whole" / name, tmp_path / "cut" / name
    batches = [Given(n, [solutions(n, n)]) for n in range(3)]
    undisturbed = open_sink(whole, "solutions")
    undisturbed.begin()
    for batch in batches:
        undisturbed.deliver(batch)
    first = open_sink(cut, "solutions")
    position = first.begin()
    for batch in batches[:2]:
        position, before = first.deliver(batch), position
    second = open_sink(cut, "solutions")
    second.rewind(before)
    for batch in batches[1:]:
        second.deliver(batch)
    assert cut.read_bytes() == whole.read_bytes()


def test_the_former_content_of_a_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text("mine\n")
    sink = open_sink(path, "solutions")
    position = sink.begin()
    sink.deliver(Given(0, [solutions(0, 1)]))
    sink.rewind(position)
    assert path.read_text() == "mine\n"


def test_rewinding_a_truncated_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text("short")
    with pytest.raises(StoreError, match=r"a\.ndjson has lost answers"):
        open_sink(path, "solutions").rewind(100)
    assert path.read_text() == "short"


def test_a_folder_has_a_sub_folder_a_batch_and_repeated_ones_are_replaced(tmp_path: Path) -> None:
    sink = open_sink(f"{tmp_path}/out/", "solutions")
    assert sink.begin() == 0
    assert [sink.deliver(Given(n, [solutions(n, 1)])) for n in range(3)] == [1, 2, 3]
    again = open_sink(f"{tmp_path}/out/", "solutions")
    again.rewind(1)
    again.deliver(Given(1, [solutions(1, 1, 2)]))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["batch-00000000", "batch-00000001"]
    assert parquet.read_table(tmp_path / "out").num_rows == 3


def test_a_folder_has_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "somebody's").touch()
    with pytest.raises(StoreError, match="is not empty"):
        open_sink(tmp_path, "solutions").begin()


def test_a_function_is_called_with_each_answer() -> None:
    seen: list[Answer] = []
    answers = [solutions(0, 1), solutions(1)]
    open_sink(seen.append, "solutions").deliver(Given(0, answers))
    assert seen == answers


@pytest.mark.parametrize(
    ("spec", "kind", "message"),
    [
        (
            "a.txt",
            "solutions",
            r"no format of answers\nhint: end it in \.ndjson, \.jsonl, \.csv, \.tsv, \.arrows, or a folder \(DIR/\)",
        ),
        ("a.csv", "graph", r"a \.csv file cannot hold these answers\nhint: end it in \.messages\.nq,.* \.trig,"),
        ("a.trig", "solutions", r"a \.trig file cannot hold these answers\nhint: end it in \.ndjson,"),
        ("a.nq", "boolean", r"a \.nq file cannot hold these answers\nhint: end it in \.ndjson, \.jsonl,"),
        (5, "graph", "5 is not a sink"),
    ],
)
def test_an_invalid_sink_is_an_error_with_a_hint(spec: SinkSpec, kind: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        open_sink(spec, kind)


def test_paths_are_remembered_as_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert sink_text("a.csv") == str(tmp_path / "a.csv")
    assert sink_text("out/") == f"{tmp_path}/out/"
    assert sink_text(print) is None
    assert sink_text(MemorySink()) is None
    assert isinstance(MemorySink(), Sink)


def test_memory_gives_all_after_a_run_however_often_it_is_asked() -> None:
    sink = MemorySink(most=1)
    for n in range(5):
        sink.deliver(Given(n, [solutions(n, 1, 2)]))
    assert [answer.time for answer in sink.answers()] == [at(n) for n in range(5)]
    assert len(list(sink.answers())) == 5


def test_memory_of_a_live_engine_is_bounded() -> None:
    sink = MemorySink(most=4)
    sink.live(True)
    for n in range(5):
        sink.deliver(Given(n, [solutions(n, 1, 2)]))
    sink.live(False)
    assert [answer.time for answer in sink.answers()] == [at(3), at(4)]
    assert sink.forgotten == 6


def test_a_reader_of_a_live_engine_waits_for_the_next_answer_until_it_stops() -> None:
    sink = MemorySink()
    sink.live(True)
    seen: list[Answer] = []
    reader = Thread(target=lambda: seen.extend(sink.answers()))
    reader.start()
    for n in range(3):
        sink.deliver(Given(n, [solutions(n, 1)]))
    sink.close()
    reader.join(timeout=60)
    assert not reader.is_alive()
    assert [answer.time for answer in seen] == [at(0), at(1), at(2)]


def test_a_reader_with_a_timeout_ends_when_no_answer_has_come_for_so_long() -> None:
    sink, clock = MemorySink(), ManualClock()
    sink.live(True)
    sink.deliver(Given(0, [solutions(0, 1)]))
    answers = sink.answers(clock, 5_000_000)
    assert next(answers).time == at(0)
    seen: Queue[Answer] = Queue()
    reader = Thread(target=lambda: deque(map(seen.put, answers)))
    reader.start()
    clock.await_waiter()
    clock.advance(4_999_999)
    sink.deliver(Given(1, [solutions(1, 1)]))
    assert seen.get(timeout=60).time == at(1)
    clock.await_waiter()
    clock.advance(5_000_000)
    reader.join(timeout=60)
    assert (reader.is_alive(), seen.empty()) == (False, True)


def test_a_reader_without_patience_gets_the_answers_that_are_there() -> None:
    sink = MemorySink()
    sink.live(True)
    sink.deliver(Given(0, [solutions(0, 1), solutions(1, 1)]))
    assert [answer.time for answer in sink.answers(ManualClock(), 0)] == [at(0), at(1)]


def test_the_latest_answer_is_the_last_of_the_newest_batch() -> None:
    sink = MemorySink()
    assert sink.latest() is None
    sink.deliver(Given(0, [solutions(0, 1), solutions(1, 1)]))
    newest = sink.latest()
    assert newest == solutions(1, 1)
    assert sink.latest() is newest, "it is decoded once"
    sink.deliver(Given(1, [solutions(2, 5)]))
    assert sink.latest() == solutions(2, 5)


# What comes out of Spark


def results(**columns: list[object]) -> AnswerBatch:
    table = pa.table({name.replace("dot_", "."): values for name, values in columns.items()})
    return collect(Frame(table), SHAPE, 3)


def test_rows_without_an_order_are_sorted_and_an_empty_answer_is_one() -> None:
    batch = results(
        time=[2, 1, 2, 1, 3], x=["<urn:b>", "<urn:c>", None, None, None], n=['"1"', None, '"2"', None, None],
        dot_row=[True, True, True, False, False],
    )  # fmt: skip
    answers = [(answer.time.microsecond, answer.rows, answer.query) for answer in batch.answers if answer.time]
    c, b, one, two = NamedNode("urn:c"), NamedNode("urn:b"), Literal("1"), Literal("2")
    assert answers == [(1, [{"x": c}], "q"), (2, [{"x": b, "n": one}, {"n": two}], "q"), (3, [], "q")]
    assert batch.instants == 3
    assert set(batch.rows.column("x").to_pylist()) == {"<urn:c>", "<urn:b>", None}
    assert batch.rows.schema.field("time").type == pa.timestamp("us", "UTC")


def test_the_order_of_the_query_is_kept() -> None:
    batch = results(
        time=[1, 1, 1],
        x=["<urn:a>", "<urn:b>", "<urn:c>"],
        n=['"1"', '"1"', '"1"'],
        dot_order=[3, 1, 2],
        dot_row=[True] * 3,
    )
    assert [row["x"].value for row in next(batch.answers).rows] == ["urn:b", "urn:c", "urn:a"]


def test_a_variable_may_be_called_time() -> None:
    columns: list[pa.Array[Any]] = [pa.array([7]), pa.array(["<urn:a>"]), pa.array([True])]
    table = pa.Table.from_arrays(columns, names=["time", "time", ".row"])
    batch = collect(Frame(table), AnswerSchema("q", "solutions", ("time",)), 0)
    assert next(batch.answers).rows == [{"time": NamedNode("urn:a")}]
    assert batch.rows.column_names == [".time", "time"]


def test_ask_and_construct() -> None:
    ask = pa.table({"time": [1, 1, 2], ".row": [False, True, False]})
    batch = collect(Frame(ask), AnswerSchema("q", "boolean"), 0)
    assert [answer.boolean for answer in batch.answers] == [True, False]
    assert batch.rows.to_pydict()["boolean"] == [True, False]
    triple = {"s": ["_:b", "_:b", None], "p": ["<urn:p>", "<urn:p>", None], "o": ['"x"@en', '"x"@en', None]}
    graphs = pa.table({"time": [1, 1, 2], **triple, ".row": [True, True, False]})
    answers = list(collect(Frame(graphs), AnswerSchema("q", "graph"), 0).answers)
    assert [answer.triples for answer in answers] == [
        [Triple(BlankNode("b"), NamedNode("urn:p"), Literal("x", language="en"))],
        [],
    ]


def test_intervals_keep_their_bounds() -> None:
    ask = pa.table({"time": [5, 5, ALWAYS], ".since": [1, 2, 5], ".row": [True, True, True]})
    rows = collect(Frame(ask), AnswerSchema("q", "boolean"), 0).rows
    assert rows.column_names == ["valid_from", "valid_to", "boolean"]
    assert rows.column("valid_from").cast(pa.int64()).to_pylist() == [1, 2, 5]
    assert rows.column("valid_to").cast(pa.int64()).to_pylist() == [5, 5, None]
    columns: list[pa.Array[Any]] = [pa.array([5]), pa.array(["<urn:a>"]), pa.array([1]), pa.array([True])]
    table = pa.Table.from_arrays(columns, names=["time", "valid_to", ".since", ".row"])
    shape = AnswerSchema("q", "solutions", ("valid_to",))
    assert collect(Frame(table), shape, 0).rows.column_names == ["valid_from", ".valid_to", "valid_to"]


def test_select_of_no_variables_counts() -> None:
    table = pa.table({"time": [1, 1, 1], ".row": [True, True, False]})
    assert len(next(collect(Frame(table), AnswerSchema("q", "solutions"), 0).answers)) == 2


def test_answers_stay_with_spark_until_a_sink_reads_them() -> None:
    table = pa.table({"time": [1, 2], "x": ["<urn:a>", None], "n": [None, None], ".row": [True, False]})
    batch = Uncollected(SHAPE, 3, Frame(table))
    assert batch.instants == 0
    assert [answer.rows for answer in batch.answers] == [[{"x": NamedNode("urn:a")}], []]
    assert (batch.instants, batch.size, batch.rows.num_rows) == (2, 2, 1)


def test_writing_a_collected_batch_to_parquet_twice_keeps_one_copy(tmp_path: Path) -> None:
    batch = results(time=[5, 5], x=["<urn:b>", None], n=[None, None], dot_row=[True, False])
    assert batch.table.num_rows == 2
    batch.write_parquet(str(tmp_path / "b"))
    batch.write_parquet(str(tmp_path / "b"))
    assert parquet.read_table(tmp_path / "b").column("x").to_pylist() == ["<urn:b>"]


def test_an_answer_without_a_stream_is_a_batch_too(tmp_path: Path) -> None:
    batch = single_answer(Answer.solutions(["x", "n"], [{"x": A}]), "static")
    assert next(batch.answers).query == "static"
    batch.write_parquet(str(tmp_path / "b"))
    assert parquet.read_table(tmp_path / "b").to_pydict() == {"x": ["<http://e/a>"], "n": [None]}
    assert single_answer(Answer.ask(True), "a").rows.to_pydict() == {"boolean": [True]}
    assert single_answer(Answer.graph([Triple(A, P, A)]), "g").rows.column("p").to_pylist() == ["<http://e/p>"]

"""SQLite: exactly once, columns for variables, several queries of one table, and failures in one sentence."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from penstock.answer import Answer
from penstock.errors import OptionError, StoreError
from penstock.io.sinks import Sink, open_sink
from tests.support.batches import answer_at, batch_of
from tests.support.table_sinks import Rows, check_restarts, check_round_trip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "answers.db"


@pytest.fixture
def rows(file: Path) -> Rows:
    def ask(text: str) -> Sequence[tuple[Any, ...]]:
        with closing(sqlite3.connect(file)) as connection:
            return connection.execute(text).fetchall()

    return ask


def opened(file: Path) -> Sink:
    return open_sink(f"sqlite://{file}?table=answers", "solutions")


def test_round_trip(file: Path, rows: Rows) -> None:
    check_round_trip(lambda: opened(file), rows)
    assert rows("SELECT DISTINCT time, until FROM answers") == [("1970-01-01T00:01:00Z", None)]
    assert rows("SELECT DISTINCT typeof(v_number) FROM answers") == [("null",), ("integer",), ("real",)]


def test_restarts(file: Path, rows: Rows) -> None:
    check_restarts(lambda: opened(file), rows)


def test_a_batch_is_there_as_a_whole_or_not_at_all(file: Path, rows: Rows) -> None:
    class Broken:
        query, number = "cars", 1

        @property
        def answers(self) -> Iterator[Answer]:
            yield from (answer_at(120 + second, [Literal(str(second))]) for second in range(3000))
            raise ConnectionError("the kernel is gone")

    sink = opened(file)
    sink.rewind(sink.begin())
    sink.deliver(batch_of(0, answer_at(60, [Literal("a")])))
    with pytest.raises(StoreError, match="the kernel is gone"):
        sink.deliver(Broken())  # type: ignore[arg-type]
    assert rows("SELECT v_text FROM answers") == [("a",)]
    sink.deliver(batch_of(1, answer_at(120, [Literal("b")])))
    assert rows("SELECT v_text FROM answers") == [("a",), ("b",)]
    sink.close()


def test_names_that_are_taken_get_an_underscore(file: Path, rows: Rows) -> None:
    row = {"time": Literal("t"), "a": Literal("1"), "a_text": Literal("2"), "A": Literal("3")}
    sink = opened(file)
    sink.rewind(sink.begin())
    sink.deliver(batch_of(0, replace(Answer.solutions(row, [row]), time=datetime(2026, 1, 1, tzinfo=UTC))))
    sink.close()
    assert rows("SELECT time, time__text, a_text, a_text__text, A__text FROM answers") == [
        ("2026-01-01T00:00:00Z", "t", "1", "2", "3")
    ]


def test_queries_may_share_a_table(file: Path, rows: Rows) -> None:
    graph = replace(Answer.graph([Triple(NamedNode("http://e/s"), NamedNode("http://e/p"), Literal("o"))]))
    for query, answer in (("a", answer_at(60, [Literal("x")])), ("b", Answer.ask(True)), ("c", graph)):
        sink = opened(file)
        sink.rewind(sink.begin())
        sink.deliver(batch_of(0, answer, query=query))
        sink.close()
    assert rows("SELECT query, v_text, boolean_text, s_text, o FROM answers ORDER BY query") == [
        ("a", "x", None, None, None), ("b", None, "true", None, None), ("c", None, None, "http://e/s", '"o"'),
    ]  # fmt: skip


def test_events_have_a_beginning_and_an_end(file: Path, rows: Rows) -> None:
    sink = opened(file)
    sink.rewind(sink.begin())
    starts, ends = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
    sink.deliver(batch_of(0, replace(answer_at(60, [Literal("x")]), starts=starts, ends=ends)))
    sink.close()
    assert rows("SELECT time, until FROM answers") == [("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z")]


def test_failures_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"^sqlite:///.*: unable to open database file$"):
        opened(tmp_path / "nowhere" / "answers.db").begin()
    (tmp_path / "text.db").write_text("this is no database" * 100)
    with pytest.raises(StoreError, match=r"^sqlite:///.*text.db: file is not a database$"):
        opened(tmp_path / "text.db").begin()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("sqlite://answers.db", "the option table is missing"),
        ("sqlite://answers.db?table=a%20b", "the option table is a name of letters"),
        ("sqlite:///?table=a", "which file"),
        ("sqlite://answers.db?tabel=a", "did you mean table"),
    ],
)
def test_mistakes_are_those_of_the_registration(address: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        open_sink(address, "solutions")


KILLED = """
import os, signal, sys
from pyoxigraph import Literal
from penstock.io.sinks import open_sink
from tests.support.batches import answer_at, batch_of
sink = open_sink(f"sqlite://{sys.argv[1]}?table=answers", "solutions")
position = sink.begin()
sink.rewind(position)
class Batch:
    query, number = "cars", 1
    @property
    def answers(self):
        yield from (answer_at(60 + second, [Literal(str(second))]) for second in range(3000))
        os.kill(os.getpid(), signal.SIGKILL)
print(sink.deliver(batch_of(0, answer_at(0, [Literal("a")]))), flush=True)
sink.deliver(Batch())
"""


def test_killed_in_a_transaction(file: Path, rows: Rows) -> None:
    child = subprocess.run([sys.executable, "-c", KILLED, str(file)], stdout=subprocess.PIPE, text=True, env=os.environ)
    assert child.returncode == -signal.SIGKILL
    assert rows("SELECT v_text FROM answers") == [("a",)]
    sink = opened(file)
    sink.rewind(child.stdout.strip())
    sink.deliver(batch_of(1, answer_at(60, [Literal("b")])))
    sink.close()
    assert rows("SELECT batch, v_text FROM answers") == [(0, "a"), (1, "b")]

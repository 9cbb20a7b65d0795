"""PostgreSQL: exactly once, restarts of the server, a kill in a transaction, and failures in one sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pyoxigraph import Literal
from pyspark.sql import SparkSession

from penstock import Engine
from penstock.errors import OptionError, StoreError
from penstock.io.sinks import Sink, open_sink
from penstock.testing import ManualClock
from tests.connect.postgresql import PASSWORD, Cluster
from tests.support.batches import answer_at, batch_of
from tests.support.table_sinks import Rows, check_restarts, check_round_trip

OPTIONS = "table=answers&username=penstock&password=${env:PENSTOCK_PG}"


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_PG", PASSWORD)


@pytest.fixture
def rows(postgresql: Cluster) -> Rows:
    def ask(text: str) -> Sequence[tuple[Any, ...]]:
        with psycopg.connect(postgresql.conninfo) as connection:
            answer: Sequence[tuple[Any, ...]] = connection.execute(text.encode()).fetchall()
            return answer

    with psycopg.connect(postgresql.conninfo) as connection:
        connection.execute("DROP TABLE IF EXISTS answers, penstock_batches")
    return ask


def opened(cluster: Cluster) -> Sink:
    return open_sink(f"{cluster.address}?{OPTIONS}", "solutions")


def test_round_trip(postgresql: Cluster, rows: Rows) -> None:
    check_round_trip(lambda: opened(postgresql), rows)
    assert rows("SELECT DISTINCT time = timestamptz '1970-01-01T00:01:00Z', until FROM answers") == [(True, None)]
    assert rows("SELECT sum(v_number) FROM answers")[0][0] == 1008.5


def test_restarts(postgresql: Cluster, rows: Rows) -> None:
    check_restarts(lambda: opened(postgresql), rows)


def test_the_server_is_restarted_in_the_middle(postgresql: Cluster, rows: Rows) -> None:
    sink = opened(postgresql)
    sink.rewind(sink.begin())
    saved = sink.deliver(batch_of(0, answer_at(60, [Literal("a")])))
    postgresql.stop()
    try:
        for _ in range(2):
            with pytest.raises(StoreError, match=r"^postgresql://127\.0\.0\.1:\d+/postgres: "):
                sink.deliver(batch_of(1, answer_at(120, [Literal("b")])))
    finally:
        postgresql.start()
    sink.rewind(saved)
    sink.deliver(batch_of(1, answer_at(120, [Literal("b")])))
    sink.close()
    assert rows("SELECT batch, v_text FROM answers ORDER BY batch") == [(0, "a"), (1, "b")]


KILLED = """
import os, signal, sys
from pyoxigraph import Literal
from penstock.io.sinks import open_sink
from tests.support.batches import answer_at, batch_of
sink = open_sink(sys.argv[1], "solutions")
sink.rewind(sink.begin())
class Batch:
    query, number = "cars", 1
    @property
    def answers(self):
        yield from (answer_at(60 + second, [Literal(str(second))]) for second in range(3000))
        os.kill(os.getpid(), signal.SIGKILL)
print(sink.deliver(batch_of(0, answer_at(0, [Literal("a")]))), flush=True)
sink.deliver(Batch())
"""


def test_killed_in_a_transaction(postgresql: Cluster, rows: Rows) -> None:
    command = [sys.executable, "-c", KILLED, f"{postgresql.address}?{OPTIONS}"]
    child = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=os.environ)
    assert child.returncode == -signal.SIGKILL
    sink = opened(postgresql)
    sink.rewind(child.stdout.strip())
    assert rows("SELECT v_text FROM answers") == [("a",)]
    sink.deliver(batch_of(1, answer_at(60, [Literal("b")])))
    sink.close()
    assert rows("SELECT batch, v_text FROM answers ORDER BY batch") == [(0, "a"), (1, "b")]


def test_failures_are_one_sentence(postgresql: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match=r'^postgresql://.*/nowhere: .*database "nowhere" does not exist'):
        open_sink(f"postgresql://127.0.0.1:{postgresql.port}/nowhere?{OPTIONS}", "solutions").begin()
    monkeypatch.setenv("PENSTOCK_PG", "wrong-password-here")
    with pytest.raises(StoreError, match="password authentication failed for user") as caught:
        opened(postgresql).begin()
    assert "\n" not in str(caught.value)
    assert "wrong-password-here" not in str(caught.value)
    with pytest.raises(StoreError, match=r"^postgresql://127\.0\.0\.1:1/postgres: .*refused"):
        open_sink(f"postgresql://127.0.0.1:1/postgres?{OPTIONS}", "solutions").begin()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("postgresql://h/d", "the option table is missing"),
        ("postgresql://h?table=a", "which database"),
        ("postgresql://u:p@h/d?table=a", "neither user nor password"),
        ("postgresql://h/d?table=a&password=x", "would be stored"),
    ],
)
def test_mistakes_are_those_of_the_registration(address: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        open_sink(address, "solutions")


STREAM = "http://e/readings"
QUERY = f"SELECT ?s ?v FROM STREAM <{STREAM}> [RANGE 1m STEP 1m] WHERE {{ ?s <http://e/v> ?v }}"


def element(second: int) -> str:
    xsd = "http://www.w3.org/2001/XMLSchema#"
    time = f"1970-01-01T00:{second // 60:02}:{second % 60:02}Z"
    return f'<http://e/{second}> <http://e/v> "{second}"^^<{xsd}integer> "{time}"^^<{xsd}dateTime> .'


def test_a_live_engine_writes_each_answer_once(
    postgresql: Cluster, rows: Rows, spark: SparkSession, tmp_path: Path
) -> None:
    for part in range(3):
        with Engine(spark=spark, checkpoint=tmp_path / "state", clock=ManualClock(1_000_000_000)) as engine:
            engine.stream(STREAM)
            engine.register(QUERY, name="all", sink=f"{postgresql.address}?{OPTIONS}", retry=2)
            engine.start()
            for second in (part * 60 + 10, part * 60 + 20):
                engine.push(STREAM, element(second))
            engine.stop()
    found = rows("SELECT s_text, v_number FROM answers ORDER BY time, v_number")
    assert [(text, int(number)) for text, number in found] == [
        (f"http://e/{second}", second) for second in (10, 20, 70, 80)
    ]

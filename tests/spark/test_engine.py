"""Engines on Spark: who stops the session, what fails how, and what Ctrl-C leaves."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from penstock import Engine, LoadError, RefusedError, StoreError

ONE = b"<http://e/a> <http://e/p> 1 ."
ALL = "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    with Engine(background="spark", spark=spark) as opened:
        opened.load(ONE, format="ttl")
        yield opened


def write(path: Path, **columns: list[str]) -> Path:
    parquet.write_table(pyarrow.table(columns), path)
    return path


def test_a_shared_session_is_the_one_given_and_is_not_stopped(spark: SparkSession) -> None:
    settings = dict(spark.conf.getAll)
    with Engine(background="spark", spark=spark) as compiled, Engine(spark=spark) as embedded:
        assert compiled.spark is spark
        assert embedded.spark is spark
        assert compiled.query("ASK {}").boolean
    assert spark.range(3).count() == 3
    assert dict(spark.conf.getAll) == settings
    assert [table.name for table in spark.catalog.listTables()] == []


def test_two_engines_on_one_session_hold_their_own_data(engine: Engine, spark: SparkSession) -> None:
    with Engine(background="spark") as other:
        assert other.spark.sparkContext is spark.sparkContext
        assert (len(engine.query(ALL)), len(other.query(ALL))) == (1, 0)
    assert len(engine.query(ALL)) == 1


def test_a_closed_engine_says_so(engine: Engine) -> None:
    store = engine._store
    engine.close()
    engine.close()
    with pytest.raises(StoreError, match="This engine has been closed"):
        engine.query("ASK {}")
    with pytest.raises(StoreError, match="store has been closed"):
        store.load(ONE, format="ttl")


def test_an_exception_inside_with_gets_out(spark: SparkSession) -> None:
    with pytest.raises(KeyError, match="mine"), Engine(background="spark", spark=spark):
        raise KeyError("mine")
    assert spark.range(3).count() == 3


def test_a_malformed_file_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    bad = tmp_path / "bad.ttl"
    bad.write_text("@prefix : <http://e/> .\n:b :p 2 .\n:c :p ;;: .\n")
    with pytest.raises(LoadError, match=r"bad\.ttl, line 3, column \d+: "):
        engine.load(bad, graph="http://e/g")
    assert len(engine.query(ALL)) == 1
    with pytest.raises(RefusedError, match="names no graph"):
        engine.query("ASK FROM <http://e/g> {}")


@pytest.mark.parametrize("content", [None, b"no Parquet at all"], ids=["absent", "damaged"])
def test_a_parquet_file_that_cannot_be_read_changes_nothing(
    engine: Engine, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "triples.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LoadError, match=r"^.*triples\.parquet: [^\n]+$"):
        engine.load(path)
    assert len(engine.query(ALL)) == 1


def test_a_parquet_file_needs_its_columns(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"columns s, p, o; p, o missing"):
        engine.load(write(tmp_path / "t.parquet", s=["<http://e/a>"]))
    assert len(engine.query(ALL)) == 1


def test_a_job_that_fails_is_one_sentence(engine: Engine, tmp_path: Path) -> None:
    path = write(tmp_path / "gone.parquet", s=["<http://e/s>"], p=["<http://e/p>"], o=["<http://e/o>"])
    assert engine.load(path) == 1
    path.unlink()
    with pytest.raises(StoreError, match=r"^Spark could not answer: [^\n]*gone\.parquet[^\n]*$") as caught:
        engine.query(ALL)
    assert caught.value.__cause__ is not None


def test_an_interrupt_cancels_the_query_and_the_next_one_runs(engine: Engine, spark: SparkSession) -> None:
    slow = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f FILTER (?b + ?d + ?f < 0) }"
    triples = "".join(f"<http://e/{n}> <http://e/p> {n} .\n" for n in range(2000))
    engine.load(triples.encode(), format="ttl")
    tracker = spark.sparkContext.statusTracker()

    def interrupt() -> None:
        while not tracker.getActiveJobsIds():
            pass
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        engine.query(slow)
    assert tracker.getActiveJobsIds() == []
    assert engine.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }").rows[0]["n"].value == "2001"

"""The engine from first to last: what it shares, what it refuses once closed, and what Ctrl-C does. No JVM."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from pathlib import Path

import pytest
from pyoxigraph import NamedNode, Quad

import penstock
from penstock import Answer, Engine, LoadError, RefusedError, StoreError
from penstock.algebra.ops import Query
from penstock.io.formats import Source, Target
from penstock.knowledge.store import Store
from penstock.stream.evaluation.plan_cache import PlanCache
from penstock.threads import interruptible

ONE = b"<http://e/a> <http://e/p> 1 ."
ALL = "SELECT * { ?s ?p ?o }"


class Recorder:
    """A store of somebody's own."""

    version = 0

    def __init__(self) -> None:
        self.closed = 0

    def load(self, source: Source, graph: Target = None, base: str | None = None, format: str | None = None) -> int:
        return 0

    def answer(self, query: Query, text: str, base: str | None = None) -> Answer:
        return Answer.ask(True)

    def quads(self) -> Iterable[Quad]:
        return ()

    def graphs(self) -> frozenset[NamedNode]:
        return frozenset()

    def close(self) -> None:
        self.closed += 1


def after_close(engine: Engine) -> Iterable[str]:
    engine.close()
    for use in (lambda: engine.query("ASK {}"), lambda: engine.load(ONE, format="ttl"), lambda: engine.spark):
        with pytest.raises(StoreError) as caught:
            use()
        yield str(caught.value)


@pytest.mark.parametrize("background", ["oxigraph", "sparql:http://localhost/none", Recorder()])
def test_a_closed_engine_says_so(background: str | Store) -> None:
    engine = Engine(background=background)
    assert set(after_close(engine)) == {"This engine has been closed: make a new one."}
    engine.close()


def test_an_exception_inside_with_gets_out_and_closes() -> None:
    store = Recorder()
    with pytest.raises(KeyError, match="mine"), Engine(background=store):
        raise KeyError("mine")
    assert store.closed == 1


def test_engines_inside_each_other_know_nothing_of_each_other() -> None:
    with Engine() as outer, Engine() as inner:
        outer.load(ONE, format="ttl")
        assert (len(outer.query(ALL)), len(inner.query(ALL))) == (1, 0)
        inner.close()
        assert len(outer.query(ALL)) == 1


def test_a_malformed_file_is_named_with_its_line_and_changes_nothing(tmp_path: Path) -> None:
    bad = tmp_path / "bad.ttl"
    bad.write_text("@prefix : <http://e/> .\n:b :p 2 .\n:c :p ;;: .\n")
    with Engine() as engine:
        engine.load(ONE, format="ttl")
        with pytest.raises(LoadError, match=r"bad\.ttl, line 3, column \d+: "):
            engine.load(bad, graph="http://e/g")
        assert len(engine.query("SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }")) == 1
        with pytest.raises(RefusedError, match="names no graph"):
            engine.query("ASK FROM <http://e/g> {}")


def test_loading_a_directory_is_an_error(tmp_path: Path) -> None:
    with Engine() as engine, pytest.raises(LoadError, match="Is a directory"):
        engine.load(tmp_path)


def test_work_beside_gives_its_result_and_its_error() -> None:
    assert interruptible(lambda: threading.current_thread().name) == "penstock"
    with pytest.raises(KeyError, match="mine"):
        interruptible(lambda: dict[str, int]()["mine"])


def test_an_interrupt_is_heard_while_work_goes_on() -> None:
    going, finish = threading.Event(), threading.Event()
    told: list[Future[str]] = []

    def work() -> str:
        going.set()
        os.kill(os.getpid(), signal.SIGINT)
        finish.wait()
        return "done"

    with pytest.raises(KeyboardInterrupt):
        interruptible(work, told.append)
    assert going.is_set()
    assert not told[0].done()
    finish.set()
    assert told[0].result() == "done"


SLOW = """
import os, signal, threading
import penstock
slow = "ASK { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?t ?h . ?i ?j ?k FILTER (STRLEN(CONCAT(STR(?b), STR(?k))) < 0) }"
engine = penstock.Engine()
engine.load(FILE)
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    engine.query(slow)
except KeyboardInterrupt:
    print("interrupted", len(engine.query("SELECT * { ?s ?p ?o }")))
"""


def test_a_query_that_would_take_forever_can_be_interrupted() -> None:
    """The store's own code does not hear signals, and is left to itself."""
    city = Path(penstock.__file__).with_name("data") / "city.ttl"
    code = f"import sys; sys.path[:] = {sys.path!r}\n{SLOW.replace('FILE', repr(str(city)))}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "interrupted 120\n", "")


# One owner of a checkpoint


def test_a_checkpoint_has_one_engine_at_a_time(tmp_path: Path) -> None:
    with Engine(checkpoint=tmp_path / "state") as first, Engine(checkpoint=tmp_path / "state") as second:
        first.stream("http://e/s")
        with pytest.raises(StoreError, match=rf"The checkpoint {tmp_path}/state is in use by another engine"):
            second.stream("http://e/t")
        first.close()
        second.stream("http://e/t")
        assert set(second.status.streams) == {"http://e/s", "http://e/t"}


def test_an_engine_that_could_not_open_a_checkpoint_does_not_own_it(tmp_path: Path) -> None:
    with Engine(checkpoint=tmp_path) as engine:
        engine.stream("http://e/s")
    with sqlite3.connect(tmp_path / "registry" / "registry.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    for _ in range(2):
        with Engine(checkpoint=tmp_path) as engine, pytest.raises(StoreError, match="has format 99"):
            engine.stream("http://e/s")


def test_an_engine_whose_close_fails_does_not_own_its_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(checkpoint=tmp_path)
    engine.stream("http://e/s")
    with monkeypatch.context() as patch:
        patch.setattr(PlanCache, "close", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            engine.close()
    with Engine(checkpoint=tmp_path) as engine:
        assert list(engine.status.streams) == ["http://e/s"]


def test_engines_without_streams_do_not_open_their_checkpoint(tmp_path: Path) -> None:
    with Engine(checkpoint=tmp_path / "state") as first, Engine(checkpoint=tmp_path / "state") as second:
        assert first.query("ASK {}").boolean
        assert second.query("ASK {}").boolean
    assert not (tmp_path / "state").exists()

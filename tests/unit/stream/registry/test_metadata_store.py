"""The metadata of queries and streams, and registering a query again."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from penstock.algebra.build import translate
from penstock.answer import Answer
from penstock.errors import PenstockError, QueryError, StoreError
from penstock.io.sinks import MemorySink, SinkSpec
from penstock.stream.registry.catalogue import Catalogue, entry_of
from penstock.stream.registry.metadata_store import GroupProgress, MetadataStore, QueryProgress, QueryRecord
from penstock.stream.registry.registered_query import RegisteredQuery
from tests.support import runtime
from tests.support.runtime import NoPlanner

FROM = "FROM STREAM <http://e/{}> [RANGE 1m STEP 1m]"
READS = f"SELECT * {FROM.format('s')} {{ ?s ?p ?o }}"
OTHER = f"SELECT ?s {FROM.format('s')} {{ ?s ?p ?o }}"


def derives(name: str, reads: str) -> str:
    return f"REGISTER STREAM <http://e/{name}> AS CONSTRUCT {{ ?s ?p ?o }} {FROM.format(reads)} {{ ?s ?p ?o }}"


def register(
    catalogue: Catalogue, text: str, name: str | None = None, sink: SinkSpec = None, begin: int | None = None
) -> RegisteredQuery:
    query = translate(text)
    entry = entry_of(catalogue.name_for(text, name, query), text, None, "keep", None, sink)
    return runtime.register(catalogue, entry, query, sink, ["http://e/s"], begin)


def test_entries_survive(tmp_path: Path) -> None:
    registry = MetadataStore(tmp_path / "registry")
    entries = [
        QueryRecord("b/ü", "…", paused=True, batches=3, group=2),
        QueryRecord("a", "…", sink="/x.csv", position=17, group=1),
    ]
    reached = GroupProgress(-5, (("x.parquet", None), ("y.parquet", 7)), 3, 2, 11)
    b, a = (registry.add(entry, reached) for entry in entries)
    assert ([a.number, b.number], MetadataStore(tmp_path / "registry").load()) == ([2, 1], [a, b])
    moved = replace(a, batches=1, position="p", group=2, skipped=4)
    registry.save_all([QueryProgress(2, 1, "p", 4, a.number)], {2: GroupProgress(9)}, gone=[1])
    registry.remove(b)
    again = MetadataStore(tmp_path / "registry")
    assert (again.load(), again.load_groups()) == ([moved], {2: GroupProgress(9)})
    again.remove(moved)
    assert (again.load(), again.load_groups()) == ([], {})
    assert again.add(a, GroupProgress()).number == 3  # files may still hold something of 1 and 2


def test_saved_delivery_does_not_undo_a_pause(tmp_path: Path) -> None:
    registry = MetadataStore(tmp_path)
    entry = registry.add(QueryRecord("a", "…", group=1), GroupProgress())
    registry.pause(entry.number, True)
    registry.save_all([QueryProgress(1, 1, None, 0, entry.number)], {})
    assert MetadataStore(tmp_path).load() == [replace(entry, batches=1, paused=True)]


def test_progress_is_saved_in_one_transaction(tmp_path: Path) -> None:
    registry = MetadataStore(tmp_path)
    entry = registry.add(QueryRecord("a", "…", group=1), GroupProgress(1))
    with pytest.raises(sqlite3.Error):
        registry.save_all(
            [QueryProgress(1, 1, None, 0, entry.number)], {1: GroupProgress(2), 2: GroupProgress(cast(Any, object()))}
        )
    assert (registry.load(), registry.load_groups()) == ([entry], {1: GroupProgress(1)})


def test_streams_survive(tmp_path: Path) -> None:
    streams: dict[str, dict[str, Any]] = {
        "http://e/t": {"source": None},
        "http://e/s": {"source": "x.nq", "lateness": 5},
    }
    MetadataStore(tmp_path).save_streams(streams)
    assert list(MetadataStore(tmp_path).load_streams().items()) == list(streams.items())
    assert MetadataStore(tmp_path).load() == []


def test_without_a_folder_it_is_held_in_memory() -> None:
    registry = MetadataStore(None)
    entry = registry.add(QueryRecord("a", "…"), GroupProgress())
    assert (registry.load(), MetadataStore(None).load()) == ([entry], [])


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    MetadataStore(tmp_path).close()
    with sqlite3.connect(tmp_path / "registry.sqlite") as file:
        file.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match=r"The checkpoint has format 99; this Penstock reads format \d"):
        MetadataStore(tmp_path)


def test_a_name_is_given_or_in_the_text_or_a_number() -> None:
    catalogue = Catalogue(MetadataStore(None), NoPlanner())
    assert register(catalogue, READS).name == "query-1"
    assert register(catalogue, READS).name == "query-2"
    assert register(catalogue, f"REGISTER QUERY cars AS {READS}").name == "cars"
    assert register(catalogue, READS, name="mine").name == "mine"


def test_the_same_text_is_the_same_query_after_a_restart(tmp_path: Path) -> None:
    first = register(Catalogue(MetadataStore(tmp_path), NoPlanner()), READS, begin=42)
    again = Catalogue(MetadataStore(tmp_path), NoPlanner())
    assert [(task.name, task.progress, task.state) for task in again] == [("query-1", 42, "running")]
    assert register(again, READS) is again["query-1"]
    assert register(again, READS).name == "query-2"
    assert first.entry == again["query-1"].entry


def test_another_text_under_the_same_name_is_refused() -> None:
    catalogue = Catalogue(MetadataStore(None), NoPlanner())
    known = register(catalogue, READS, name="a")
    assert register(catalogue, READS, name="a") is known
    with pytest.raises(QueryError, match=r'a query a already.*\nhint: drop it first, engine\["a"\]\.drop\(\)'):
        register(catalogue, OTHER, name="a")
    catalogue.drop(known)
    assert register(catalogue, OTHER, name="a").entry.text == OTHER
    assert known.state == "dropped"


def test_a_query_with_a_function_waits_for_it_after_a_restart(tmp_path: Path) -> None:
    register(Catalogue(MetadataStore(tmp_path), NoPlanner()), READS, name="a", sink=print)
    again = Catalogue(MetadataStore(tmp_path), NoPlanner())
    assert again["a"].state == "waiting for its sink"
    with pytest.raises(QueryError, match="delivers to another sink"):
        register(again, READS, name="a")
    assert register(again, READS, name="a", sink=repr).state == "running"


def test_query_with_a_memory_sink_continues_after_a_restart(tmp_path: Path) -> None:
    register(Catalogue(MetadataStore(tmp_path), NoPlanner()), READS, name="a")
    assert isinstance(Catalogue(MetadataStore(tmp_path), NoPlanner())["a"].sink, MemorySink)


def test_pauses_survive(tmp_path: Path) -> None:
    task = register(Catalogue(MetadataStore(tmp_path), NoPlanner()), READS, name="a")
    task.pause()
    assert Catalogue(MetadataStore(tmp_path), NoPlanner())["a"].state == "paused"
    task.resume()
    assert Catalogue(MetadataStore(tmp_path), NoPlanner())["a"].state == "running"


def test_a_sink_belongs_to_one_query(tmp_path: Path) -> None:
    catalogue = Catalogue(MetadataStore(None), NoPlanner())
    register(catalogue, READS, name="a", sink=tmp_path / "a.csv")
    with pytest.raises(QueryError, match="is the sink of the query a"):
        register(catalogue, READS, name="b", sink=tmp_path / "a.csv")


def test_query_that_closes_a_cycle_is_refused_without_a_trace(tmp_path: Path) -> None:
    catalogue = Catalogue(MetadataStore(tmp_path), NoPlanner())
    register(catalogue, derives("d", "e"))
    with pytest.raises(QueryError, match="in a cycle"):
        register(catalogue, derives("e", "d"))
    assert len(list(catalogue)) == len(MetadataStore(tmp_path).load()) == 1


def test_a_declared_stream_is_not_derived_and_a_derived_one_not_twice() -> None:
    catalogue = Catalogue(MetadataStore(None), NoPlanner())
    with pytest.raises(QueryError, match="derives <http://e/s>, which is declared as a source"):
        register(catalogue, derives("s", "x"))
    register(catalogue, derives("d", "s"), name="one")
    with pytest.raises(QueryError, match="one and two both derive the stream <http://e/d>"):
        register(catalogue, derives("d", "s"), name="two")


def test_a_producer_cannot_be_dropped_before_its_readers() -> None:
    catalogue = Catalogue(MetadataStore(None), NoPlanner())
    producer = register(catalogue, derives("d", "s"), name="producer")
    reader = register(catalogue, f"ASK {FROM.format('d')} {{ ?s ?p ?o }}", name="reader")
    with pytest.raises(PenstockError, match="reader reads the stream that producer derives: drop it first"):
        catalogue.drop(producer)
    catalogue.drop(reader)
    catalogue.drop(producer)
    assert list(catalogue) == []


def test_a_dropped_query_cannot_be_paused() -> None:
    catalogue = Catalogue(MetadataStore(None), NoPlanner())
    task = register(catalogue, READS, name="a")
    catalogue.drop(task)
    with pytest.raises(PenstockError, match="The query a has been dropped"):
        task.pause()


def test_duplicates_are_kept_or_merged() -> None:
    with pytest.raises(ValueError, match='duplicates is "keep" or "merge", not \'drop\''):
        entry_of("a", READS, None, "drop", None, None)  # type: ignore[arg-type]


def test_a_sink_of_ones_own_is_one(tmp_path: Path) -> None:
    mine = MemorySink()
    assert register(Catalogue(MetadataStore(None), NoPlanner()), READS, sink=mine).sink is mine
    assert mine.answers().__class__.__name__ == "generator"
    assert list(mine.answers()) == list[Answer]()


def test_unknown_report_is_an_error() -> None:
    """That events are told one by one is for queries of events alone."""
    for emit in ("events", "all"):
        with pytest.raises(ValueError, match=f"emit is one of rstream, istream, dstream, intervals, not '{emit}'"):
            entry_of("q", READS, None, "keep", emit, None)  # type: ignore[arg-type]

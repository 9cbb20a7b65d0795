"""What is remembered of queries and streams, and what registering a query again means."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.algebra.build import translate
from penstock.answer import Answer
from penstock.errors import PenstockError, QueryError
from penstock.io.sinks import MemorySink, SinkSpec
from penstock.stream.catalogue import Catalogue, entry_of
from penstock.stream.registry import Entry, Registry
from penstock.stream.task import Task

FROM = "FROM STREAM <http://e/{}> [RANGE 1m STEP 1m]"
READS = f"SELECT * {FROM.format('s')} {{ ?s ?p ?o }}"
OTHER = f"SELECT ?s {FROM.format('s')} {{ ?s ?p ?o }}"


def derives(name: str, reads: str) -> str:
    return f"REGISTER STREAM <http://e/{name}> AS CONSTRUCT {{ ?s ?p ?o }} {FROM.format(reads)} {{ ?s ?p ?o }}"


def register(
    catalogue: Catalogue, text: str, name: str | None = None, sink: SinkSpec = None, begin: int | None = None
) -> Task:
    query = translate(text)
    entry = entry_of(catalogue.name_for(text, name, query), text, None, "keep", None, sink)
    return catalogue.register(entry, query, sink, ["http://e/s"], lambda _: begin)


def test_entries_survive(tmp_path: Path) -> None:
    entries = [Entry("a", "…", sink="/x.csv", progress=-5, position=17), Entry("b/ü", "…", paused=True, batches=3)]
    registry = Registry(tmp_path / "registry")
    for entry in reversed(entries):
        registry.save(entry)
    assert Registry(tmp_path / "registry").load() == entries
    registry.save(replace(entries[0], progress=9))
    registry.remove("b/ü")
    assert Registry(tmp_path / "registry").load() == [replace(entries[0], progress=9)]


def test_streams_survive(tmp_path: Path) -> None:
    Registry(tmp_path).save_streams({"http://e/s": {"source": "x.nq", "lateness": 5}})
    assert Registry(tmp_path).load_streams() == {"http://e/s": {"source": "x.nq", "lateness": 5}}
    assert Registry(tmp_path).load() == []


def test_without_a_folder_nothing_is_written() -> None:
    registry = Registry(None)
    registry.save(Entry("a", "…"))
    registry.save_streams({"s": {}})
    registry.remove("a")
    assert (registry.load(), registry.load_streams()) == ([], {})


def test_a_name_is_given_or_in_the_text_or_a_number() -> None:
    catalogue = Catalogue(Registry(None))
    assert register(catalogue, READS).name == "query-1"
    assert register(catalogue, READS).name == "query-2"
    assert register(catalogue, f"REGISTER QUERY cars AS {READS}").name == "cars"
    assert register(catalogue, READS, name="mine").name == "mine"


def test_the_same_text_is_the_same_query_after_a_restart(tmp_path: Path) -> None:
    first = register(Catalogue(Registry(tmp_path)), READS, begin=42)
    again = Catalogue(Registry(tmp_path))
    assert [(task.name, task.progress, task.state) for task in again] == [("query-1", 42, "running")]
    assert register(again, READS) is again["query-1"]
    assert register(again, READS).name == "query-2"
    assert first.entry == again["query-1"].entry


def test_another_text_under_the_same_name_is_refused() -> None:
    catalogue = Catalogue(Registry(None))
    known = register(catalogue, READS, name="a")
    assert register(catalogue, READS, name="a") is known
    with pytest.raises(QueryError, match=r'a query a already.*\nhint: drop it first, engine\["a"\]\.drop\(\)'):
        register(catalogue, OTHER, name="a")
    catalogue.drop(known)
    assert register(catalogue, OTHER, name="a").entry.text == OTHER
    assert known.state == "dropped"


def test_a_query_with_a_function_waits_for_it_after_a_restart(tmp_path: Path) -> None:
    register(Catalogue(Registry(tmp_path)), READS, name="a", sink=print)
    again = Catalogue(Registry(tmp_path))
    assert again["a"].state == "waiting for its sink"
    with pytest.raises(QueryError, match="delivers to another sink"):
        register(again, READS, name="a")
    assert register(again, READS, name="a", sink=repr).state == "running"


def test_a_query_that_keeps_its_answers_simply_goes_on(tmp_path: Path) -> None:
    register(Catalogue(Registry(tmp_path)), READS, name="a")
    assert isinstance(Catalogue(Registry(tmp_path))["a"].sink, MemorySink)


def test_pauses_survive(tmp_path: Path) -> None:
    task = register(Catalogue(Registry(tmp_path)), READS, name="a")
    task.pause()
    assert Catalogue(Registry(tmp_path))["a"].state == "paused"
    task.resume()
    assert Catalogue(Registry(tmp_path))["a"].state == "running"


def test_a_sink_belongs_to_one_query(tmp_path: Path) -> None:
    catalogue = Catalogue(Registry(None))
    register(catalogue, READS, name="a", sink=tmp_path / "a.csv")
    with pytest.raises(QueryError, match="is the sink of the query a"):
        register(catalogue, READS, name="b", sink=tmp_path / "a.csv")


def test_a_circle_is_refused_when_it_closes_and_nothing_is_left_of_the_query(tmp_path: Path) -> None:
    catalogue = Catalogue(Registry(tmp_path))
    register(catalogue, derives("d", "e"))
    with pytest.raises(QueryError, match="in a circle"):
        register(catalogue, derives("e", "d"))
    assert len(list(catalogue)) == len(Registry(tmp_path).load()) == 1


def test_a_declared_stream_is_not_derived_and_a_derived_one_not_twice() -> None:
    catalogue = Catalogue(Registry(None))
    with pytest.raises(QueryError, match="derives <http://e/s>, which is declared as a source"):
        register(catalogue, derives("s", "x"))
    register(catalogue, derives("d", "s"), name="one")
    with pytest.raises(QueryError, match="one and two both derive the stream <http://e/d>"):
        register(catalogue, derives("d", "s"), name="two")


def test_a_producer_cannot_be_dropped_before_its_readers() -> None:
    catalogue = Catalogue(Registry(None))
    producer = register(catalogue, derives("d", "s"), name="producer")
    reader = register(catalogue, f"ASK {FROM.format('d')} {{ ?s ?p ?o }}", name="reader")
    with pytest.raises(PenstockError, match="reader reads the stream that producer derives: drop it first"):
        catalogue.drop(producer)
    catalogue.drop(reader)
    catalogue.drop(producer)
    assert list(catalogue) == []


def test_a_dropped_query_cannot_be_paused() -> None:
    catalogue = Catalogue(Registry(None))
    task = register(catalogue, READS, name="a")
    catalogue.drop(task)
    with pytest.raises(PenstockError, match="The query a has been dropped"):
        task.pause()


def test_duplicates_are_kept_or_merged() -> None:
    with pytest.raises(ValueError, match='duplicates is "keep" or "merge", not \'drop\''):
        entry_of("a", READS, None, "drop", None, None)


def test_a_sink_of_ones_own_is_one(tmp_path: Path) -> None:
    mine = MemorySink()
    assert register(Catalogue(Registry(None)), READS, sink=mine).sink is mine
    assert mine.answers().__class__.__name__ == "generator"
    assert list(mine.answers()) == list[Answer]()


def test_only_reports_can_be_asked_for() -> None:
    """That events are told one by one is for queries of events alone."""
    for emit in ("events", "all"):
        with pytest.raises(ValueError, match=f"emit is one of rstream, istream, dstream, intervals, not '{emit}'"):
            entry_of("q", READS, None, "keep", emit, None)

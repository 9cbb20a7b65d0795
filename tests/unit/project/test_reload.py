"""A project that changes: only what differs is begun again. A wrong file changes nothing. No JVM."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import Engine, load_project
from penstock.project import read_project
from penstock.project.reload import Reloader

S = "http://e/s"
QUERY = f"SELECT ?s FROM STREAM <{S}> [RANGE {{}} STEP 1m] WHERE {{{{ ?s ?p ?o }}}}"
DERIVED = QUERY.replace("SELECT ?s", "REGISTER STREAM d AS CONSTRUCT {{ ?s ?p ?o }}")


class Running:
    """A project on an engine that is not started, with the sentences that were told."""

    def __init__(self, folder: Path, text: str) -> None:
        self.file = folder / "p.toml"
        self.file.write_text(text)
        self.told: list[str] = []
        self.engine: Engine = load_project(self.file)
        self.reloader = Reloader(self.engine, read_project(self.file), None, self.told.append)

    def becomes(self, text: str) -> list[str]:
        """The sentences of a change."""
        self.file.write_text(text)
        self.told.clear()
        self.reloader.reload()
        return self.told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def stream(iri: str = S, more: str = "") -> str:
    return f"[[stream]]\niri = '{iri}'\n{more}"


def query(name: str, range: str = "1m", more: str = "") -> str:
    return f"[[register]]\nname = '{name}'\ntext = '{QUERY.format(range)}'\n{more}"


def test_queries_come_change_and_go(folder: Path) -> None:
    running = Running(folder, stream() + query("a") + query("b") + query("c"))
    with running.engine as engine:
        kept = engine["b"]._task
        assert running.becomes(stream() + query("a", "2m") + query("b") + query("d")) == [
            "The query a is registered again.",
            "The query d is registered.",
            "The query c is dropped.",
        ]
        assert [one.name for one in engine.queries] == ["b", "a", "d"]
        assert "[RANGE 2m" in engine["a"].text
        assert engine["b"]._task is kept
        assert running.becomes(stream() + query("a", "2m", "emit = 'istream'\n") + query("b") + query("d")) == [
            "The query a is registered again."
        ]
        assert running.becomes(stream() + query("a", "2m", "emit = 'istream'\n") + query("b") + query("d")) == []


def test_a_wrong_file_is_refused_and_the_old_project_runs_on(folder: Path) -> None:
    running = Running(folder, stream() + query("a"))
    with running.engine as engine:
        (sentence,) = running.becomes(stream() + query("a", "0m") + query("b"))
        assert sentence.startswith(f"{folder}/p.toml, line 5, column ")
        assert sentence.endswith("The project runs on as it was.")
        assert [one.name for one in engine.queries] == ["a"]
        assert running.becomes(stream() + query("a")) == []


def test_streams_come_change_and_go(folder: Path) -> None:
    running = Running(folder, stream() + stream("http://e/t") + query("a"))
    with running.engine as engine:
        assert running.becomes(stream(S, "lateness = '5s'\n") + stream("http://e/u") + query("a")) == [
            "The stream <http://e/t> is removed.",
            f"The stream <{S}> is declared again.",
            "The stream <http://e/u> is declared.",
        ]
        assert set(engine.status.streams) == {S, "http://e/u"}


def test_a_reader_of_a_derived_stream_is_begun_again_with_it(folder: Path) -> None:
    def text(range: str) -> str:
        derives = f"[[register]]\ntext = '{DERIVED.format(range)}'\n"
        return stream() + query("z").replace(f"<{S}>", "<urn:penstock:stream:d>") + derives

    running = Running(folder, text("1m"))
    with running.engine:
        assert running.becomes(text("2m")) == ["The query d is registered again.", "The query z is registered again."]


def test_changes_that_need_a_new_start_are_told(folder: Path) -> None:
    (folder / "a.nt").write_text("<http://e/a> <http://e/b> <http://e/c> .\n")
    (folder / "b.nt").write_text("<http://e/a> <http://e/b> <http://e/d> .\n")
    parquet = query("a", "1m", "sink = 'out/'\n")
    running = Running(folder, "[[load]]\nsource = 'a.nt'\n" + stream() + parquet)
    with running.engine as engine:
        tables = "[engine]\nrounds = 'auto'\n[[load]]\nsource = 'b.nt'\n"
        new = tables + stream() + query("a", "3m", "sink = 'out/'\n")
        assert running.becomes(new) == [
            "[engine] has changed: its options hold from the next start on.",
            f"{folder}/a.nt is loaded, and is not taken back before the next start.",
            "The query a goes on as it was: its folder has answers already, so give the new one another folder.",
            f"{folder}/b.nt is loaded.",
        ]
        assert len(engine.query("SELECT * { ?s ?p ?o }").rows) == 2
        assert "[RANGE 1m" in engine["a"].text


def test_a_query_whose_new_sink_cannot_be_opened_runs_as_it_was(folder: Path) -> None:
    running = Running(folder, stream() + query("a", "1m", "sink = 'a.csv'\n"))
    with running.engine as engine:
        (folder / "file").touch()
        told = running.becomes(stream() + query("a", "1m", "sink = 'file/a.csv'\n"))
        assert told[0].startswith("The sink of a cannot be opened: ")
        assert told[1:] == ["The query a is registered as it was."]
        assert [one.name for one in engine.queries] == ["a"]


def test_a_change_of_any_of_its_files_is_seen_once(folder: Path) -> None:
    (folder / "q.rq").write_text(QUERY.format("1m"))
    running = Running(folder, stream() + "[[register]]\nfile = 'q.rq'\n")
    with running.engine as engine:
        assert not running.reloader.is_changed()
        (folder / "q.rq").write_text(QUERY.format("20m"))
        assert running.reloader.is_changed()
        assert not running.reloader.is_changed()
        assert running.reloader.reload()
        assert running.told == ["The query q is registered again."]
        assert "[RANGE 20m" in engine["q"].text

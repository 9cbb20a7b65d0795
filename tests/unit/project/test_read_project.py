"""A project file is read by the signatures of `Engine`, and every mistake in it is shown at its place. No JVM."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine, MappingError, ProjectError, Tuning
from penstock.project import Project, read_project
from penstock.project.calls import CALLS

S = "http://e/s"
QUERY = f"SELECT ?s FROM STREAM <{S}> [RANGE 1m STEP 1m] WHERE {{ ?s ?p ?o }}"
STREAM = f'[[stream]]\niri = "{S}"\n'


def project(folder: Path, text: str) -> Project:
    (folder / "p.toml").write_text(text)
    return read_project(folder / "p.toml")


def told(folder: Path, text: str) -> str:
    """The error, with the bare name of the file."""
    with pytest.raises(ProjectError) as caught:
        project(folder, text)
    return str(caught.value).replace(f"{folder}/", "")


def test_keys_are_the_parameters_of_the_calls() -> None:
    functions: dict[str, Callable[..., Any]] = {
        "load": Engine.load, "stream": Engine.stream, "register": Engine.register
    }  # fmt: skip
    for name, function in functions.items():
        parameters = {*inspect.signature(function).parameters} - {"self"}
        assert {*CALLS[name].keys} - {"file"} == parameters
    assert {*inspect.signature(Engine.__init__).parameters} - {*CALLS["engine"].keys} == {
        "self", "clock", "on_progress"
    }  # fmt: skip


def test_all_tables(tmp_path: Path) -> None:
    (tmp_path / "q.rq").write_text(QUERY)
    found = project(
        tmp_path,
        f"""
        [engine]
        background = "oxigraph:store"
        checkpoint = "state"
        tuning.tick_us = 5
        [engine.spark]
        driver.memory = "4g"
        "spark.ui.enabled" = false
        [[load]]
        source = "city.ttl"
        graph = "http://e/g"
        {STREAM}
        source = "tcp://127.0.0.1:7"
        lateness = "10s"
        advance = true
        time_property = ["http://e/a", "http://e/b"]
        [[register]]
        file = "q.rq"
        sink = "out/answers.csv"
        retry = 2
        [[register]]
        name = "two"
        text = '''{QUERY}'''
        """,
    )
    assert found.engine.options == {
        "background": f"oxigraph:{tmp_path}/store", "checkpoint": f"{tmp_path}/state", "tuning": Tuning(tick_us=5)
    }  # fmt: skip
    assert found.engine.spark == {"spark.driver.memory": "4g", "spark.ui.enabled": "false"}
    assert [load.options for load in found.loads] == [{"source": f"{tmp_path}/city.ttl", "graph": "http://e/g"}]
    (stream,) = found.streams
    assert (stream.iri, stream.declared.lateness, stream.declared.advance) == (S, 10_000_000, True)
    assert stream.declared.time_property == ("http://e/a", "http://e/b")
    assert [query.name for query in found.queries] == ["q", "two"]
    assert found.queries[0].options == {
        "text": QUERY, "name": "q", "sink": f"{tmp_path}/out/answers.csv", "retry": 2,
        "base": (tmp_path / "q.rq").as_uri(),
    }  # fmt: skip
    assert found.files == (tmp_path / "p.toml", tmp_path / "q.rq")


def test_secrets_stay_references_and_files_are_relative_to_the_project(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as caught:
        project(tmp_path, STREAM + 'source = { address = "kafak://h:9092/t", password = "${file:pw}" }\n')
    assert caught.value.line == 3
    assert "There is no source 'kafak'" in str(caught.value)
    from penstock.project.table_reader import _address

    given = {"address": "kafka://h:1/t", "password": "${file:pw}", "user": "${env:USER}"}
    assert _address(tmp_path, given) == given | {"password": f"${{file:{tmp_path}/pw}}"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[engine]\nrounds = 'auto\n",
            "p.toml, line 2, column 15: this is not TOML: Expected \"'\"\n  rounds = 'auto\n                ^",
        ),
        (
            "[[strem]]\niri = 'x'\n",
            "p.toml, line 1, column 3: there is no table strem\n  [[strem]]\n    ^^^^^\nhint: did you mean stream?",
        ),
        (
            "[stream]\niri = 'x'\n",
            "p.toml, line 1, column 2: there may be several of these: write [[stream]]\n  [stream]\n   ^^^^^^",
        ),
        (
            f"{STREAM}latenes = '10s'\n",
            "p.toml, line 3, column 1: there is no key latenes here\n  latenes = '10s'\n  ^^^^^^^\n"
            "hint: did you mean lateness?",
        ),
        (
            f"{STREAM}advance = 'yes'\n",
            "p.toml, line 3, column 11: advance is true or false\n  advance = 'yes'\n            ^^^^^",
        ),
        (
            f"{STREAM}when_full = 'refused'\n",
            "p.toml, line 3, column 13: when_full is one of block, refuse\n  when_full = 'refused'\n"
            "              ^^^^^^^^^\nhint: did you mean refuse?",
        ),
        (
            f"{STREAM}lateness = 'soon'\n",
            'p.toml, line 3, column 12: lateness: "soon" is not a duration: write one as 10s, 500ms, 5m, 2h, 1d, '
            "\"2 minutes\" or PT1H\n  lateness = 'soon'\n             ^^^^^^",
        ),
        (
            "[[stream]]\nsource = 'a.nq'\n",
            "p.toml, line 1, column 3: this table has no iri\n  [[stream]]\n    ^^^^^^",
        ),
        (
            f"{STREAM}{STREAM}",
            f"p.toml, line 3, column 3: the stream {S} is declared in line 1 already\n  [[stream]]\n    ^^^^^^",
        ),
        (
            "[engine.tuning]\ntick = 5\n",
            "p.toml, line 2, column 1: there is no key tick here\n  tick = 5\n  ^^^^\nhint: did you mean tick_us?",
        ),
        (
            "[engine]\ncheckpoint = '${env:HOME}'\n",
            "p.toml, line 2, column 14: checkpoint is no secret: write it out; references are for sources and sinks\n"
            "  checkpoint = '${env:HOME}'\n               ^^^^^^^^^^^^^",
        ),
        (
            "[[stream]]\niri = 'gates'\n",
            "p.toml, line 2, column 7: iri='gates' is not an absolute IRI: No scheme found in an absolute IRI\n"
            "  iri = 'gates'\n        ^^^^^^^",
        ),
        (
            "[engine]\nretention = 'long'\n",
            'p.toml, line 2, column 13: retention: "long" is not a duration: write one as 10s, 500ms, 5m, 2h, 1d, '
            "\"2 minutes\" or PT1H\n  retention = 'long'\n              ^^^^^^",
        ),
        (
            "[[load]]\nsource = 'a.nt'\ngraph = 'g'\n",
            "p.toml, line 3, column 9: graph='g' is not an absolute IRI: No scheme found in an absolute IRI\n"
            "  graph = 'g'\n          ^^^",
        ),
        (
            f"{STREAM}[[register]]\nname = 'n'\n",
            "p.toml, line 3, column 3: a query has either a text or a file\n  [[register]]\n    ^^^^^^^^\n"
            'hint: write file = "cars.rq", or text = """…"""',
        ),
        (
            f"{STREAM}[[register]]\nfile = 'none.rq'\n",
            "p.toml, line 4, column 8: the query cannot be read: No such file or directory\n  file = 'none.rq'\n"
            "         ^^^^^^^^^",
        ),
        (
            f"{STREAM}[[register]]\ntext = '{QUERY}'\n",
            "p.toml, line 3, column 3: this query has no name\n  [[register]]\n    ^^^^^^^^\n"
            'hint: give it one, as in name = "cars"',
        ),
        (
            f"{STREAM}[[register]]\nname = 'n'\nsink = 'answers.txt'\ntext = '{QUERY}'\n",
            "p.toml, line 5, column 8: answers.txt: the ending names no format of answers\n  sink = 'answers.txt'\n"
            "         ^^^^^^^^^^^^^\nhint: end it in .ndjson, .jsonl, .csv, .tsv, .arrows, or a folder (DIR/)",
        ),
        (
            f"{STREAM}[[register]]\nname = 'n'\nretry = -1\ntext = '{QUERY}'\n",
            "p.toml, line 5, column 9: retry is how often a sink is tried again, 0 or more, not -1\n  retry = -1\n"
            "          ^^",
        ),
    ],
)
def test_mistakes_are_shown_at_their_place(tmp_path: Path, text: str, message: str) -> None:
    assert told(tmp_path, text) == message


def test_a_wrong_query_in_the_file_is_shown_there(tmp_path: Path) -> None:
    text = f'{STREAM}[[register]]\nname = "n"\ntext = """\nSELECT ?s\nWHERE {{ ?s ?p ?o FLTER (?o > 1) }}"""\n'
    assert told(tmp_path, text) == (
        "p.toml, line 7, column 18: this word is not part of SPARQL\n"
        '  WHERE { ?s ?p ?o FLTER (?o > 1) }"""\n                   ^^^^^\nhint: did you mean FILTER?'
    )


def test_a_wrong_query_in_its_own_file_is_shown_there(tmp_path: Path) -> None:
    (tmp_path / "q.rq").write_text("SELECT ?s { ?s ?p ?o FLTER (?o > 1) }")
    message = told(tmp_path, f"{STREAM}[[register]]\nfile = 'q.rq'\n")
    assert message.startswith("q.rq: line 1, column 22: this word is not part of SPARQL\n")


def test_an_unknown_stream_names_the_near_one(tmp_path: Path) -> None:
    text = STREAM.replace("/s", "/streams") + f"[[register]]\nname = 'n'\ntext = '{QUERY.replace('/s>', '/stream>')}'\n"
    assert told(tmp_path, text).endswith("hint: did you mean <http://e/streams>?")


def test_queries_share_no_sink(tmp_path: Path) -> None:
    both = "".join(f"[[register]]\nname = '{n}'\nsink = 'a.csv'\ntext = '{QUERY}'\n" for n in "ab")
    assert "line 9, column 8: this is the sink of the query a: give each query its own" in told(tmp_path, STREAM + both)


def test_a_wrong_mapping_is_shown_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "m.jsonld").write_text('{"@context": {"a": 5}}')
    with pytest.raises(MappingError, match=r"m\.jsonld"):
        project(tmp_path, f"{STREAM}mapping = 'm.jsonld'\nformat = 'json'\ntime = 'arrival'\n")

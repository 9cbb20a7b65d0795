"""Wrong options and bad folders are errors of Penstock, of one sentence each. No JVM."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock import Engine, OptionError, PenstockError, StoreError

S = "http://e/s"
QUERY = f"SELECT ?s FROM STREAM <{S}> [RANGE 1m STEP 1m] WHERE {{ ?s ?p ?o }}"
DURATION = 'is not a duration: write one as 10s, 500ms, 5m, 2h, 1d, "2 minutes" or PT1H'
FORMATS = (
    "nq, nquads, nt, ntriples, parquet, ttl, turtle, trig, jsonld, json-ld, ndjsonld, ndjson-ld, "
    "ntriples-messages, nquads-messages, turtle-messages, trig-messages, jelly, cloudevents, "
    "json, ndjson, csv, xml"
)


def told(use: Callable[[], object], kind: type[PenstockError]) -> str:
    with pytest.raises(kind) as caught:
        use()
    return str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"retention": "long"}, f'retention: "long" {DURATION}'),
        ({"entailment": "rdf"}, "entailment is rdfs or owl-rl, not 'rdf'"),
        ({"rules": "push_filter"}, 'rules is a list of names, not a text: write ["push_filter"]'),
        (
            {"rules": ["push_filter", "-push_filter"]},
            "rules are either named, or left out with a minus before each name; not both",
        ),
    ],
)
def test_options_of_the_engine(options: dict[str, object], message: str) -> None:
    assert told(lambda: Engine(**options), OptionError) == message  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_ahead": "soon"}, f'max_ahead: "soon" {DURATION}'),
        ({"lateness": "soon"}, f'lateness: "soon" {DURATION}'),
        ({"idle": -5}, "idle: a duration must not be negative: -5"),
        ({"idle": 1.5}, "idle: 1.5 is not a duration: give a text such as 10s, a timedelta, or microseconds"),
        ({"format": "avro"}, f"format is one of {FORMATS}, not 'avro'"),
        ({"format": "csv"}, "format='csv' has to be lifted: give a mapping, mapping=FILE"),
        ({"time_path": "$.t"}, "time_path and header are for messages that are lifted: give a mapping, mapping=FILE"),
        ({"time": "noon"}, "time is one of data, broker, arrival, not 'noon'"),
        ({"iri": "gates"}, "iri='gates' is not an absolute IRI: No scheme found in an absolute IRI"),
    ],
)
def test_options_of_a_stream(options: dict[str, object], message: str) -> None:
    with Engine() as engine:
        assert told(lambda: engine.stream(**{"iri": S, **options}), OptionError) == message  # type: ignore[arg-type]
        assert dict(engine.status.streams) == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duplicates": "drop"}, 'duplicates is "keep" or "merge", not \'drop\''),
        ({"emit": "rows"}, "emit is one of rstream, istream, dstream, intervals, not 'rows'"),
        ({"overload": "shed"}, "overload is 'catch-up' or 'stretch', not 'shed'"),
        ({"base": "a b"}, "base='a b' is not an absolute IRI: Invalid IRI code point ' '"),
        ({"name": ""}, "the name of a query must not be empty"),
        ({"retry": -1}, "retry is how often a sink is tried again, 0 or more, not -1"),
        ({"retry": "often"}, "retry is how often a sink is tried again, 0 or more, not 'often'"),
    ],
)
def test_options_of_a_query(options: dict[str, object], message: str) -> None:
    with Engine() as engine:
        engine.stream(S)
        assert told(lambda: engine.register(QUERY, **options), OptionError) == message  # type: ignore[arg-type]
        assert engine.queries == []


def test_other_values() -> None:
    with Engine() as engine:
        engine.stream(S)
        text = "'soon' is not a time: give a datetime, or microseconds since 1970"
        assert told(lambda: engine.advance(S, "soon"), OptionError) == text  # type: ignore[arg-type]
        text = "base='x' is not an absolute IRI: No scheme found in an absolute IRI"
        assert told(lambda: engine.query("ASK {}", base="x"), OptionError) == text


def test_an_option_error_is_a_value_error() -> None:
    """Programs that catch ValueError, as it was before, still do."""
    assert issubclass(OptionError, ValueError)


NOT_WRITABLE = "Give a folder that can be written."


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("file", "File exists"),
        ("file/state", "{0.parent}: File exists"),
        ("locked", "{}/owner.lock: Is a directory"),
        ("registered", "{}/registry: File exists"),
    ],
)
def test_a_folder_that_cannot_be_a_checkpoint(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "locked" / "owner.lock").mkdir(parents=True)
    (tmp_path / "registered").mkdir()
    (tmp_path / "registered" / "registry").touch()
    folder = tmp_path / name
    with Engine(checkpoint=folder) as engine:
        message = f"The checkpoint {folder} cannot be opened: {reason.format(folder)}. {NOT_WRITABLE}"
        assert told(lambda: engine.stream(S), StoreError) == message


def test_a_damaged_checkpoint_has_no_owner(tmp_path: Path) -> None:
    file = tmp_path / "registry" / "registry.sqlite"
    file.parent.mkdir()
    file.write_text("no database" * 500)
    with Engine(checkpoint=tmp_path) as engine:
        message = (
            f"{file} is damaged: file is not a database. Put back a copy of the checkpoint, or start on an empty folder"
            " and replay the sources."
        )
        assert told(lambda: engine.stream(S), StoreError) == message
    assert (tmp_path / "owner.lock").read_text() == ""


@pytest.mark.parametrize(
    ("sink", "reason"),
    [
        ("file/answers.csv", "{}/file: File exists"),
        ("file/answers/", "{}/file/answers: Not a directory"),
        (f"{'a' * 300}.csv", f"{{}}/{'a' * 300}.csv: File name too long"),
    ],
)
def test_a_sink_that_cannot_be_opened(tmp_path: Path, sink: str, reason: str) -> None:
    (tmp_path / "file").touch()
    with Engine() as engine:
        engine.stream(S)
        message = f"The sink of cars cannot be opened: {reason.format(tmp_path)}."
        assert told(lambda: engine.register(QUERY, name="cars", sink=f"{tmp_path}/{sink}"), StoreError) == message
        assert engine.queries == []
        assert re.fullmatch(r"<Query cars: running>", repr(engine.register(QUERY, name="cars")))

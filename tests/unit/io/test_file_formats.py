"""Files of answers: what is written can be read as a stream again, and a batch that comes again is there once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse

from penstock.answer import Answer
from penstock.errors import OptionError, StoreError
from penstock.io.connect.clients import client
from penstock.io.graphs import GENERATED_AT
from penstock.io.message_logs.log_reader import read_log
from penstock.io.results import vocabulary
from penstock.io.sinks import open_sink
from penstock.stream.ingest.element_reader import of_file
from penstock.stream.ingest.sources.folder import Dropped
from penstock.stream.ingest.stream_declaration import declare
from tests.connect.term_kinds import ANSWERS, LINES, batch

A, P = NamedNode("http://e/a"), NamedNode("http://e/p")
GRAPHS = [".nq", ".trig", ".ndjsonld", ".jelly", ".messages.nq", ".messages.trig"]
TABLES = [".csv", ".tsv", ".arrows", ".ndjson"]


def at(second: int) -> datetime:
    return datetime(2009, 7, 20, 22, 50, second, tzinfo=UTC)


def graph(second: int, triples: Sequence[Triple], **others: Any) -> Answer:
    return Answer(triples=list(triples), time=at(second), query="speed & limits", **others)


def all_terms() -> list[Triple]:
    """A triple for each kind of term."""
    statements = b"".join(line.rsplit(b' "1970', 1)[0] + b" .\n" for line in LINES)
    return [quad.triple for quad in parse(statements, RdfFormat.N_TRIPLES)]


def rows(path: Path, **options: Any) -> list[tuple[Any, ...]]:
    """The elements of a file, of which labels of blank nodes are left out."""
    declared = declare(None, None, None, False, None, **options)
    readings = list(of_file(Dropped(str(path), 0, path.stat().st_size), "http://e/stream", declared))
    assert [bad for reading in readings for bad in reading.malformed] == []
    found = [row for reading in readings for row in reading.elements.to_pylist()]
    return [
        tuple("_" if str(row[name]).startswith("_:") else row[name] for name in ["s", "p", "o", "ts"]) for row in found
    ]


def write(path: Path, *batches: list[Answer], kind: str = "graph") -> None:
    sink = open_sink(path, kind)
    sink.begin()
    for number, answers in enumerate(batches):
        sink.deliver(batch(number, answers))
    sink.close()


@pytest.mark.parametrize("ending", GRAPHS[1:])
def test_terms_of_all_kinds_come_back_as_a_stream(tmp_path: Path, ending: str) -> None:
    answers = [graph(1, all_terms()), graph(2, []), graph(3, all_terms()[:3])]
    write(tmp_path / "a.nq", answers)
    write(tmp_path / f"a{ending}", answers[:1], answers[1:])
    assert len(rows(tmp_path / "a.nq")) == len(LINES) + 3
    assert sorted(rows(tmp_path / f"a{ending}")) == sorted(rows(tmp_path / "a.nq"))


@pytest.mark.parametrize("ending", [*GRAPHS, *TABLES])
def test_a_batch_that_comes_again_is_there_once(tmp_path: Path, ending: str) -> None:
    """Killed behind the second batch, before its position was saved: another process delivers it again."""
    kind = "graph" if ending in GRAPHS else "solutions"
    first, second = (_answers(kind, second) for second in (1, 2))
    whole, cut = tmp_path / f"whole{ending}", tmp_path / f"cut{ending}"
    write(whole, [first], [second], kind=kind)
    sink = open_sink(cut, kind)
    position = sink.begin()
    sink.deliver(batch(0, [first]))
    sink.close()
    for count, answer in enumerate((first, second, second)):
        again = open_sink(cut, kind)
        again.rewind(position)
        delivered = again.deliver(batch(count, [answer]))
        again.close()
        position = delivered if count == 0 else position
    assert cut.read_bytes() == whole.read_bytes()
    cut.write_bytes(b"")
    with pytest.raises(StoreError, match="has lost answers"):
        open_sink(cut, kind).rewind(position)


def _answers(kind: str, second: int) -> Answer:
    if kind == "graph":
        return graph(second, [Triple(A, P, Literal(second)), Triple(A, P, A)])
    return Answer(("x",), [{"x": Literal(second)}, {}], time=at(second), query="q")


def test_what_follows_a_cut_frame_of_jelly_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jelly"
    write(path, [graph(1, [Triple(A, P, Literal(1))])])
    length = path.stat().st_size
    write(path, [graph(2, [Triple(NamedNode("http://other/x"), P, Literal("x", language="en"))])])
    sink = open_sink(path, "graph")
    sink.rewind(length)
    sink.deliver(batch(1, [graph(3, [Triple(NamedNode("urn:plain"), P, Literal(3))])]))
    assert [(row[0], row[3] // 1_000_000 % 60) for row in rows(path)] == [("<http://e/a>", 1), ("<urn:plain>", 3)]


def test_every_answer_is_a_frame_of_jelly(tmp_path: Path) -> None:
    """Other readers see one stream with its options once."""
    path = tmp_path / "a.jelly"
    for second in (1, 2, 3):
        write(path, [graph(second, [Triple(A, P, Literal(second))] * (second != 2))])
    parser = client("pyjelly.integrations.generic.parse", "jelly", "a test")
    assert [len(list(frame)) for frame in parser.parse_jelly_grouped(BytesIO(path.read_bytes()))] == [2, 0, 2]
    frames = client("pyjelly.parse.ioutils", "jelly", "a test").frame_iterator(BytesIO(path.read_bytes()))
    assert [sum(row.HasField("options") for row in frame.rows) for frame in frames] == [1, 0, 0]


@pytest.mark.parametrize("spec", ["a.jelly", {"address": "webhook+https://example.org/x", "format": "jelly"}])
def test_a_missing_extra_is_told_at_the_registration(monkeypatch: pytest.MonkeyPatch, spec: Any) -> None:
    def missing(*_: object) -> None:
        raise OptionError("pip install penstock[jelly]")

    monkeypatch.setattr("penstock.io.results.jelly.check_client", missing)
    with pytest.raises(OptionError, match="jelly"):
        open_sink(spec, "graph")


def test_every_answer_is_a_message_of_a_log_and_an_empty_one_too(tmp_path: Path) -> None:
    path = tmp_path / "a.messages.trig"
    some = [Triple(A, P, Literal(1))]
    write(path, [graph(1, []), graph(2, some)], [graph(3, []), graph(4, some), graph(5, [])])
    assert path.read_text().count("VERSION") == 1
    assert [len(found.quads) for found in read_log(path.read_text(), "trig-messages")] == [0, 2, 0, 2, 0]


def test_an_empty_answer_leaves_its_time_in_trig(tmp_path: Path) -> None:
    write(tmp_path / "a.trig", [graph(1, [])])
    assert (tmp_path / "a.trig").read_text() == (
        "<urn:penstock:answer:speed%20%26%20limits:2009-07-20T22:50:01Z> <http://www.w3.org/ns/prov#generatedAtTime> "
        '"2009-07-20T22:50:01Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'
    )


@pytest.mark.parametrize("ending", GRAPHS[1:])
def test_events_have_a_start(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    write(path, [graph(5, [Triple(A, P, A)], starts=at(2), ends=at(5))])
    properties = {"start_property": vocabulary.STARTED_AT.value, "end_property": GENERATED_AT}
    declared = declare(None, None, None, False, None, **cast(Any, properties))
    (row,) = [
        row for reading in of_file(Dropped(str(path), 0, 0), "http://e/stream", declared)
        for row in reading.elements.to_pylist()
    ]  # fmt: skip
    assert (row["ts"] - row["start"]) == 3_000_000


@pytest.mark.parametrize("ending", GRAPHS[1:])
def test_answers_with_intervals_have_the_time_of_their_beginning(tmp_path: Path, ending: str) -> None:
    ended = graph(9, [Triple(A, P, A)], valid_from=at(3), valid_to=at(9))
    write(tmp_path / f"a{ending}", [ended, replace(ended, valid_from=at(4), valid_to=None)])
    assert [row[3] // 1_000_000 % 60 for row in rows(tmp_path / f"a{ending}")] == [3, 4]


def test_the_time_is_said_as_graph_streams_are_read() -> None:
    assert vocabulary.GENERATED_AT.value == GENERATED_AT


def test_tsv_has_one_heading_and_terms_with_their_types(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    write(path, [replace(ANSWERS[1], time=at(1))], [replace(ANSWERS[1], time=at(2))], kind="solutions")
    time = '"2009-07-20T22:50:0{}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    assert path.read_text().split("\n") == [
        "?time\t?a",
        *(
            f"{time.format(second)}\t{term}"
            for second in (1, 2)
            for term in ('"two\\nlines, \\"quoted\\""', '"servus"@de-at', "")
        ),
        "",
    ]


def test_arrow_is_one_stream_though_it_was_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "a.arrows"
    for second in (1, 2):
        write(
            path,
            [replace(ANSWERS[0], time=at(second)), replace(ANSWERS[0], rows=[], time=at(second))],
            kind="solutions",
        )
    with pa.ipc.open_stream(path.read_bytes()) as stream:
        table = stream.read_all()
    assert table.to_pylist() == [{"time": at(second), "a": "<http://e/ü>", "b": "_:b0"} for second in (1, 2)]

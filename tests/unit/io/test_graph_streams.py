"""Graphs on their way into the log: documents as blocks, files and pushes, and the names that stay with them."""

from __future__ import annotations

import gzip
import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyoxigraph import BlankNode, Dataset, DefaultGraph, Literal, NamedNode, Quad, Triple

from penstock.errors import LoadError, PenstockError
from penstock.io import graphs
from penstock.io.graphs import Properties
from penstock.io.nquads import BadLine, parse, scope
from penstock.io.splits import Split
from penstock.stream.base.watermark import Watermarks
from penstock.stream.ingest.bounded_sources import BoundedSources
from penstock.stream.ingest.dead_letters import DeadLetters, line_of
from penstock.stream.ingest.element_reader import of_blocks, of_file
from penstock.stream.ingest.elements import Block, Elements, pushed
from penstock.stream.ingest.load_task import write_part
from penstock.stream.ingest.log_writer import ArrivedBatch, LogWriter
from penstock.stream.ingest.sources.folder import Dropped
from penstock.stream.ingest.stream_declaration import Declared, declare
from penstock.stream.log.stream_log import Counts, StreamLog
from penstock.testing import ManualClock
from tests.support.arrivals import STREAM, elements, text
from tests.unit.stream.ingest.test_load_task import by_a_bare_worker

PROV = "http://www.w3.org/ns/prov#generatedAtTime"
A, P, AT = NamedNode("http://e/a"), NamedNode("http://e/p"), NamedNode(PROV)
SECOND = 1_000_000
G1 = "<http://e/g1>"
FIVE = f'<http://e/a> <http://e/p> <http://e/a> {G1} "1970-01-01T00:00:01Z" .\n'


def trig(graph: int, second: int, body: str = "<http://e/a> <http://e/p> _:b") -> str:
    return f'<http://e/g{graph}> {{ {body} }} <http://e/g{graph}> <{PROV}> "1970-01-01T00:00:{second:02}Z" .\n'


def rows(log: StreamLog) -> list[tuple[int, str | None]]:
    """Seconds and graphs, in the order of arrival."""
    paths = [path for segment in log.segments(STREAM) for path in segment.paths]
    found = [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]
    return [(row["ts"] // SECOND, row["g"]) for row in found]


# Lines with a graph's name.


def test_a_line_may_name_a_graph_before_its_time() -> None:
    parsed = parse((FIVE + FIVE.replace(f"{G1} ", "") + FIVE.replace(G1, "_:g")).encode(), STREAM)
    assert parsed.elements["g"].to_pylist() == [G1, None, f"_:{scope(STREAM)}g"]
    assert parsed.elements["ts"].to_pylist() == [SECOND] * 3
    assert parsed.bad == []


def test_lines_with_and_without_graphs_stay_in_order() -> None:
    """More than a few, so that the kernels read them."""
    parsed = parse((text([1, 2]) + FIVE.encode()) * 100, STREAM)
    assert parsed.elements["g"].to_pylist() == [None, None, G1] * 100
    assert parsed.elements["ts"].to_pylist() == [1, 2, SECOND] * 100


def test_lines_without_graphs_have_no_graph_column() -> None:
    assert parse(text(range(100)), STREAM).elements.equals(elements(range(100)))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"<http://e/a> <http://e/p> <http://e/a> {G1} .", "the fourth term must be a timestamp, not <http://e/g1>"),
        ('<http://e/a> <http://e/p> <http://e/a> "g" "1970-01-01T00:00:01Z" .', ""),
        ('<http://e/a> <http://e/p> <http://e/a> <g> "1970-01-01T00:00:01Z" .', "No scheme found in an absolute IRI"),
        (f'<http://e/a> <http://e/p> <http://e/a> {G1} "soon" .', 'the timestamp "soon" is not written like'),
    ],
)
def test_lines_that_name_no_graph(line: str, reason: str) -> None:
    parsed = parse(f"{FIVE}{line}\n{FIVE}".encode(), STREAM)
    assert parsed.elements.num_rows == 2
    assert [(bad.line, bad.text) for bad in parsed.bad] == [(2, line)]
    assert parsed.bad[0].reason.startswith(reason)


# What is pushed.


@pytest.mark.parametrize(
    ("given", "graphs"),
    [
        ([Quad(A, P, A, A), Quad(A, P, A), Triple(A, P, A)], ["<http://e/a>", None, None]),
        ([(Quad(A, P, Literal("\n"), BlankNode("g")), 7)], [f"_:{scope(STREAM)}g"]),
        (Quad(A, P, A, A), ["<http://e/a>"]),
        (Dataset([Quad(A, P, A, A)]), ["<http://e/a>"]),
    ],
)
def test_quads_keep_their_graphs(given: Elements, graphs: list[str | None]) -> None:
    data, kind = pushed(given, 7, 99, None)
    parsed = parse(data, STREAM)
    assert kind == "nquads"
    assert parsed.elements["g"].to_pylist() == graphs
    assert parsed.elements["ts"].to_pylist() == [7] * len(graphs)


def test_a_dataset_without_a_time_is_a_document() -> None:
    stamp = Quad(A, AT, Literal("1970-01-01T00:00:05Z"), DefaultGraph())
    data, kind = pushed(Dataset([Quad(A, P, A, A), stamp]), None, 99, None)
    (reading,) = of_blocks(STREAM, [Block(STREAM, data, kind=kind)])
    assert reading.elements.to_pylist() == [  # type: ignore[union-attr]
        {
            "s": "<http://e/a>",
            "p": "<http://e/p>",
            "o": "<http://e/a>",
            "ts": 5 * SECOND,
            "g": "<http://e/a>",
            "start": None,
        }
    ]


def test_pushed_text_has_the_given_format() -> None:
    assert pushed(trig(1, 1), None, 0, "TriG")[1] == "trig"  # type: ignore[arg-type]  # in any case of letters
    assert pushed("{}", None, 0, "json-ld")[1] == "jsonld"
    assert pushed(FIVE, None, 0, "nq")[1] == "nquads"
    assert pushed(FIVE, None, 0, None)[1] is None
    with pytest.raises(LoadError, match="Text of format 'ttl' cannot be pushed: there are nquads, trig, jsonld, ndjso"):
        pushed(FIVE, None, 0, "ttl")
    with pytest.raises(LoadError, match="Text brings its own times"):
        pushed(trig(1, 1), 5, 0, "trig")


# Blocks.


def test_blank_nodes_of_two_documents_never_meet() -> None:
    blocks = [Block(STREAM, trig(1, 1).encode(), kind="trig")] * 2

    def objects(batch: str) -> list[object]:
        return [o for item in of_blocks(STREAM, blocks, batch) for o in item.elements["o"].to_pylist()]  # type: ignore[union-attr]

    found = [*objects("folder-1"), *objects("folder-2")]
    assert len(set(found)) == 4
    assert objects("folder-1") == found[:2]  # the same again when a batch runs again


def test_documents_lines_and_time_come_in_their_order(tmp_path: Path) -> None:
    log = StreamLog(tmp_path / "log")
    log_writer = LogWriter(log, DeadLetters(tmp_path / "dead"), Watermarks(log, ManualClock(), {}))
    blocks = [
        Block(STREAM, text([SECOND])),
        Block(STREAM, trig(1, 2).encode(), kind="trig"),
        Block(STREAM, b"", 3 * SECOND),
        Block(STREAM, (trig(2, 2) + trig(3, 4) + "oops").encode(), kind="trig"),
        Block(STREAM, FIVE.encode()),
    ]
    log_writer.write(ArrivedBatch(STREAM, "folder", 0), of_blocks(STREAM, blocks, "folder-0"))
    log = StreamLog(tmp_path / "log")
    assert rows(log) == [(1, None), (2, G1), (4, "<http://e/g3>")]
    assert log.counts(STREAM) == Counts(3, late=2, malformed=1)
    (late,) = (tmp_path / "dead").rglob("*.late.nq")
    again = parse(late.read_bytes(), STREAM)
    assert (again.bad, again.elements["g"].to_pylist()) == ([], ["<http://e/g2>", G1])
    (bad,) = (tmp_path / "dead").rglob("*.malformed.ndjson")
    assert json.loads(bad.read_text())["text"] == "oops"


def test_a_late_line_names_its_graph() -> None:
    assert line_of("_:a", "<http://e/p>", '"\n"', SECOND, G1).startswith(f'_:a <http://e/p> "\\n" {G1} "1970-01-01T')


# Files.


def dropped(path: Path, **options: object) -> list[tuple[str | None, str]]:
    """Graphs of elements, and reasons of what is none."""
    found = list(of_file(Dropped(str(path), 77, 0), STREAM, Declared(**options)))  # type: ignore[arg-type]
    names = [(g, "") for one in found if one.elements.num_rows for g in one.elements["g"].to_pylist()]
    return names + [(None, bad.reason) for one in found for bad in one.malformed]


def test_dropped_files_by_their_ending(tmp_path: Path) -> None:
    (tmp_path / "a.trig").write_text(trig(1, 1))
    (tmp_path / "a.trig.gz").write_bytes(gzip.compress(trig(2, 1).encode()))
    (tmp_path / "a.txt").write_text(trig(3, 1).replace(PROV, "http://e/at"))
    assert dropped(tmp_path / "a.trig") == [(G1, "")]
    assert dropped(tmp_path / "a.trig.gz") == [("<http://e/g2>", "")]
    assert dropped(tmp_path / "a.txt", format="trig", time_property=("http://e/at",)) == [("<http://e/g3>", "")]


def test_a_truncated_file_keeps_its_complete_graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(_: Split, size: int) -> Iterator[bytes]:
        yield f"{trig(1, 1)}<http://e/g2> {{ <http://e/a> <http://e/p> 5 }}\n".encode()
        raise LoadError("a.trig.gz: truncated")

    monkeypatch.setattr(graphs, "chunks", cut)
    assert dropped(tmp_path / "a.trig.gz") == [
        (G1, ""),
        (None, f"its graph has no time (<{PROV}>)"),
        (None, "a.trig.gz: truncated; the element before that is kept"),
    ]


def test_parquet_with_graphs(tmp_path: Path) -> None:
    table = elements([1, 2])
    for type, name in ((pa.string(), "a"), (pa.large_string(), "b"), (pa.dictionary(pa.int32(), pa.string()), "c")):
        column = pa.array([G1, None], pa.string()).cast(type)
        pq.write_table(table.append_column("g", column), tmp_path / f"{name}.parquet")
        assert dropped(tmp_path / f"{name}.parquet") == [(G1, ""), (None, "")]


def test_a_task_writes_documents_as_a_part(tmp_path: Path) -> None:
    source = tmp_path / "a.trig"
    source.write_text(trig(1, 5) + trig(2, 3) + "oops\n")
    part = write_part(Split(str(source)), STREAM, f"{tmp_path}/0.parquet")
    assert (part.rows, part.first, part.last, part.disorder) == (2, 3 * SECOND, 5 * SECOND, 2 * SECOND)
    assert pq.read_table(part.path)["g"].to_pylist() == [G1, "<http://e/g2>"]
    assert [(bad.line, bad.text, bad.file) for bad in part.bad] == [(3, "oops", str(source))]
    assert all(isinstance(bad, BadLine) for bad in part.bad)


def test_a_worker_needs_no_penstock_for_documents(tmp_path: Path) -> None:
    (tmp_path / "a.trig").write_text(trig(1, 1))
    assert by_a_bare_worker(Split(str(tmp_path / "a.trig")), tmp_path)["rows"] == 1


# Sources that end.


def no_session() -> Any:
    raise AssertionError("small files need no Spark")


def bounded(root: Path, declared: Declared) -> BoundedSources:
    return BoundedSources(StreamLog(root / "log"), DeadLetters(root / "dead"), ManualClock(), {STREAM: declared})


def source(given: object, **options: Any) -> Declared:
    return declare(cast(Any, given), None, None, False, options.pop("format", None), **options)


def files(folder: Path) -> None:
    graph = {"@id": "http://e/g2", PROV: "1970-01-01T00:00:02Z", "@graph": {"@id": "http://e/a", "http://e/p": 1}}
    folder.mkdir()
    (folder / "1.trig").write_text(trig(1, 3))
    (folder / "2.nq").write_bytes(text([SECOND]))
    (folder / "3.ndjsonld").write_text(json.dumps(graph))
    (folder / "4.txt").write_text("no stream")


@pytest.mark.parametrize(
    ("given", "format", "expected"),
    [
        ("in", None, [(3, G1), (1, None), (2, "<http://e/g2>")]),
        ("in/1.trig", None, [(3, G1)]),
        ([trig(1, 1), trig(1, 2).encode()], "trig", [(1, G1), (2, G1)]),
    ],
)
def test_reading_a_source_to_its_end(
    tmp_path: Path, given: str | list[str | bytes], format: str | None, expected: list[tuple[int, str | None]]
) -> None:
    files(tmp_path / "in")
    for _ in range(2):  # again after a restart: nothing twice
        declared = source(tmp_path / given if isinstance(given, str) else given, format=format)
        bounded(tmp_path, declared).read(STREAM, no_session, in_place=False)
        assert rows(StreamLog(tmp_path / "log")) == expected


@pytest.mark.parametrize("name", ["1.trig", "2.nq", "3.ndjsonld"])
def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path, name: str) -> None:
    files(tmp_path / "in")
    marked = BOM_UTF8 + (tmp_path / "in" / name).read_bytes()
    (tmp_path / "in" / name).write_bytes(marked)
    (tmp_path / "in" / f"4.{name}.gz").write_bytes(gzip.compress(marked))
    bounded(tmp_path, source(tmp_path / "in")).read(STREAM, no_session, in_place=False)
    assert StreamLog(tmp_path / "log").counts(STREAM) == Counts(4, late=0, malformed=0)


@pytest.mark.parametrize(
    ("items", "format", "malformed"),
    [
        (["\ufeff" + FIVE, FIVE], None, 0),
        ([FIVE, "\ufeff" + FIVE], None, 1),  # an iterable of lines begins once
        (["\ufeff" + trig(1, 1), BOM_UTF8 + trig(1, 1).encode()], "trig", 0),  # and each document anew
    ],
)
def test_an_iterable_may_begin_with_a_byte_order_mark(
    tmp_path: Path, items: list[str | bytes], format: str | None, malformed: int
) -> None:
    bounded(tmp_path, source(items, format=format)).read(STREAM, no_session, in_place=False)
    assert StreamLog(tmp_path / "log").counts(STREAM) == Counts(2 - malformed, late=0, malformed=malformed)


def test_a_literal_that_is_too_long_for_the_parser(tmp_path: Path) -> None:
    long = trig(2, 2, f'<http://e/a> <http://e/p> "{"x" * 20_000_000}"')
    (tmp_path / "a.trig").write_text(trig(1, 1) + long)
    (reading,) = of_file(Dropped(str(tmp_path / "a.trig"), 0, 0), STREAM, Declared())
    assert reading.elements["g"].to_pylist() == [G1]
    (bad,) = reading.malformed
    assert (bad.source, bad.line) == (str(tmp_path / "a.trig"), 2)
    assert bad.reason == "a term in it is longer than the 16 MiB that the parser reads at once"


def test_a_file_without_any_time_is_the_wrong_file(tmp_path: Path) -> None:
    (tmp_path / "a.trig").write_text(trig(1, 1))
    reader = bounded(tmp_path, source(tmp_path / "a.trig", time_property="http://e/at"))
    with pytest.raises(LoadError, match=r"a\.trig: nothing in it is an element; line 1: its graph has no time"):
        reader.read(STREAM, no_session, in_place=False)
    reader = bounded(tmp_path, source(tmp_path / "a.trig"))
    reader.read(STREAM, no_session, in_place=False)
    assert rows(StreamLog(tmp_path / "log")) == [(1, G1)]


def test_pushes_before_the_start(tmp_path: Path) -> None:
    reader = bounded(tmp_path, source(None))
    assert reader.push(STREAM, trig(1, 1).encode(), "trig") == 1
    assert reader.push(STREAM, FIVE.encode() * 2) == 2
    assert rows(StreamLog(tmp_path / "log")) == [(1, G1)] * 3


# What cannot be.


@pytest.mark.parametrize(
    ("given", "options", "sentence"),
    [
        (None, {"time_property": "prov:generatedAtTime"}, "write out its IRI, as in http://www.w3.org/ns/prov#gen"),
        (None, {"time_property": "http://e/a b"}, "time_property='http://e/a b' is not an IRI"),
        (None, {"end_property": "http://e/a b"}, "end_property='http://e/a b' is not an IRI"),
        (None, {"start_property": "urn:a", "end_property": "<urn:a>"}, "start_property and end_property are the same"),
        ("tcp://localhost:1", {"format": "trig"}, "TriG has no lines to tell documents apart: send JSON-LD"),
    ],
)
def test_one_sentence_each(given: object, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(PenstockError, match=sentence):
        source(given, **options)


def test_a_source_of_documents_gives_text() -> None:
    with pytest.raises(LoadError, match=r"A source of trig must give each document as text\."):
        list(source([(Triple(A, P, A), 5)], format="trig").source)


def test_the_property_as_people_write_it() -> None:
    for one in (PROV, f"<{PROV}>", NamedNode(PROV)):
        assert source(None, time_property=one).live().documents.properties == Properties((PROV,))
    assert source(None).live().documents.properties == Properties((PROV,))
    given = {"time_property": "urn:at", "start_property": "urn:from", "end_property": "urn:to"}
    kept = Declared.from_json(source(None, **given).remembered())
    assert kept.bounded().documents.properties == Properties(("urn:at",), "urn:from", "urn:to")

"""Formats of answers in messages: one table for all sinks, which knows what each can hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, get_args

import pyarrow as pa
import pytest
from pyoxigraph import Literal, NamedNode, Triple

from penstock.answer import Answer
from penstock.errors import QueryError
from penstock.io.results.vocabulary import XSD
from penstock.io.sinks import open_sink
from penstock.io.sinks.answer_formats import ENCODINGS, AnswerFormat, check_kind, encoder
from penstock.stream.ingest.element_reader import of_blocks
from penstock.stream.ingest.elements import Block
from penstock.stream.ingest.late_filter import Reading
from penstock.stream.ingest.messages.message import Message
from penstock.stream.ingest.stream_declaration import declare
from tests.unit.io.test_file_formats import all_terms

TIME = datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)
EXAMPLES = {
    "solutions": Answer(("x",), [{"x": Literal("5", datatype=NamedNode(f"{XSD}integer"))}], time=TIME),
    "boolean": Answer(boolean=True, time=TIME),
    "graph": Answer(triples=[Triple(NamedNode("x:s"), NamedNode("x:p"), Literal("o"))], time=TIME),
}


def test_the_table_has_every_format() -> None:
    assert sorted(ENCODINGS) == sorted(get_args(AnswerFormat))


@pytest.mark.parametrize("format", get_args(AnswerFormat))
@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_format_writes_the_kinds_that_it_says_and_no_others(format: AnswerFormat, kind: str) -> None:
    if kind in ENCODINGS[format].kinds:
        assert encoder(format)(EXAMPLES[kind])
    else:
        with pytest.raises(ValueError, match="which has no"):
            encoder(format)(EXAMPLES[kind])


@pytest.mark.parametrize("format", ["nquads", "trig", "jsonld", "jelly", "nquads-messages", "trig-messages"])
def test_a_message_can_be_read_as_one_of_a_stream(format: AnswerFormat) -> None:
    payload = encoder(format)(Answer(triples=all_terms(), time=TIME, query="q"))
    declared = declare(None, None, None, False, format, time="data")  # type: ignore[arg-type]
    found = list(_elements(payload, declared))
    assert {row["ts"] for row in found} == {5_000_000}
    assert [row["p"] for row in found] == [str(triple.predicate) for triple in all_terms()]
    pairs = zip(found, all_terms(), strict=True)
    assert all(
        row["o"] == str(triple.object) for row, triple in pairs if "\\" not in str(triple.object) and row["o"][0] != "_"
    )


def _elements(payload: bytes, declared: object) -> Iterator[dict[str, Any]]:
    for item in of_blocks("http://e/s", [Block("http://e/s", messages=[Message(payload)])], "b", declared):  # type: ignore[arg-type]
        assert isinstance(item, Reading)
        assert list(item.malformed) == []
        yield from item.elements.to_pylist()


def test_arrow_has_the_time_and_terms_with_their_types() -> None:
    table = pa.ipc.open_stream(encoder("arrow")(EXAMPLES["solutions"])).read_all()
    assert table.to_pylist() == [{"time": TIME, "x": f'"5"^^<{XSD}integer>'}]


@dataclass
class Options:
    format: str


@dataclass
class Given:
    options: Options

    def __str__(self) -> str:
        return "queue://x"


def test_a_format_of_another_kind_is_an_error_when_the_query_is_registered() -> None:
    check_kind(Given(Options("trig")), "graph")
    check_kind(object(), "graph")
    with pytest.raises(QueryError, match="queue://x: the format trig cannot hold these answers") as caught:
        check_kind(Given(Options("trig")), "solutions")
    assert "format is one of ndjson, json, csv, tsv, xml, arrow" in str(caught.value)
    with pytest.raises(QueryError, match="the format csv cannot hold these answers"):
        open_sink({"address": "webhook+https://example.org/x", "format": "csv"}, "graph")

"""Pushed elements are encoded as lines of timestamped N-Quads."""

from __future__ import annotations

from codecs import BOM_UTF8
from datetime import UTC, datetime

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from penstock.errors import LoadError
from penstock.io.nquads import parse, scope
from penstock.options import StreamFormat
from penstock.stream.ingest.elements import Elements, lines, pushed

A, P = NamedNode("http://e/a"), NamedNode("http://e/p")
ONE, TWO = Triple(A, P, A), Triple(BlankNode("b"), P, Literal('x\n"\u2028', language="en"))


@pytest.mark.parametrize(
    ("elements", "time", "expected"),
    [
        ([ONE, TWO], None, [99, 99]),
        ([ONE, TWO], 7, [7, 7]),
        ([ONE], datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), [1_000_000]),
        ([(ONE, 3), TWO], 7, [3, 7]),
        ([(ONE, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC))], 7, [-1_000_000]),
        (ONE, 5, [5]),
        ((pair for pair in [(ONE, 1), (TWO, 2)]), None, [1, 2]),
        ([], None, []),
    ],
)
def test_triples(elements: Elements, time: int | None, expected: list[int]) -> None:
    parsed = parse(lines(elements, time, 99), "s")
    assert parsed.bad == []
    assert parsed.elements.column("ts").to_pylist() == expected


def test_terms_are_encoded_without_loss() -> None:
    parsed = parse(lines([TWO], 1, 0), "s")
    assert parsed.elements.drop_columns(["ts"]).to_pylist() == [
        {"s": f"_:{scope('s')}b", "p": "<http://e/p>", "o": '"x\n"\u2028"@en'}
    ]


def test_text_is_taken_as_it_is_with_its_last_line_ended() -> None:
    assert lines("a\nb", None, 0) == b"a\nb\n"
    assert lines(b"a\n", None, 0) == b"a\n"
    assert lines("", None, 0) == b""
    with pytest.raises(LoadError, match="Text brings its own times"):
        lines("a", 5, 0)


def test_pushing_other_objects_than_triples_is_an_error() -> None:
    with pytest.raises(LoadError, match="takes triples, alone or with a time or a start and an end, not NamedNode"):
        lines([A], None, 0)  # type: ignore[list-item]


@pytest.mark.parametrize("format", [None, "nquads", "trig", "jsonld", "ndjsonld"])
def test_pushed_text_may_begin_with_a_byte_order_mark(format: StreamFormat | None) -> None:
    for text in ("\ufeffa\n\ufeffb\n", BOM_UTF8 + b"a\n" + BOM_UTF8 + b"b\n"):
        assert pushed(text, None, 0, format)[0] == b"a\n" + BOM_UTF8 + b"b\n"

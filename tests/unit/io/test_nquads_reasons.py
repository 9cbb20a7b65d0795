"""What is said of a line that holds no element: what is wrong with it, and what a line looks like."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.io.nquads import parse
from penstock.io.nquads_reasons import LONGEST_LINE
from penstock.tuning import DEFAULT

XSD = "http://www.w3.org/2001/XMLSchema#"
LIKE = f'; a line looks like <s> <p> <o> "2026-01-01T00:00:00Z"^^<{XSD}dateTime> .'
TIME = '"2026-01-01T00:00:00Z"'
TRIPLE = "<http://e/s> <http://e/p> <http://e/o>"
GOOD = f"{TRIPLE} {TIME} .\n"
SUBJECT = "The subject of a triple must be an IRI or a blank node"


def reason(line: str) -> str:
    """Why a line between others is no element."""
    parsed = parse(f"{GOOD}{line}\n{GOOD}".encode(), "http://e/stream")
    assert parsed.elements.num_rows == 2
    (bad,) = parsed.bad
    assert (bad.line, bad.text) == (2, line)
    return bad.reason


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f"{TRIPLE} .", "the line has no timestamp"),
        ('<http://e/s> <http://e/p> "x" .', "the line has no timestamp"),
        (f"{TRIPLE} <http://e/g> .", "the fourth term must be a timestamp, not <http://e/g>"),
        ("gate,car,time", "this is CSV"),
        ("1;2;2026-01-01T00:00:00Z", "this is CSV"),
        ('"gate1"\t"car1"\t"2026-01-01"', "this is CSV"),
        ('{"@id": "http://e/s"}', "this is JSON"),
        ('  "http://e/p": 5,', "this is JSON"),
        ("}", "this is JSON"),
        ("@prefix e: <http://e/> .", "this is Turtle"),
        ("PREFIX e: <http://e/>", "this is Turtle"),
        ("e:s e:p e:o .", "this is Turtle"),
        (":s :p :o .", "this is Turtle"),
        ('<?xml version="1.0"?>', "this is XML"),
        (f'<rdf:RDF xmlns:xsd="{XSD}">', "this is XML"),
        ("</rdf:RDF>", "this is XML"),
        ("nonsense", SUBJECT),
        (
            f'{TRIPLE} "1700000000"^^<{XSD}integer> .',
            f'a timestamp must be an xsd:dateTime, not "1700000000"^^<{XSD}integer>',
        ),
        (
            f'{TRIPLE} "2026-01-01"^^<{XSD}date> .',
            f'a timestamp must be an xsd:dateTime, not "2026-01-01"^^<{XSD}date>',
        ),
        (f"{TRIPLE} 1700000000 .", "a timestamp must be an xsd:dateTime in quotation marks, not 1700000000"),
        (
            f"{TRIPLE} 2026-01-01T00:00:00Z .",
            "a timestamp must be an xsd:dateTime in quotation marks, not 2026-01-01T00:00:00Z",
        ),
        (f"{TRIPLE} {TIME}^^xsd:dateTime .", "a datatype must be an IRI in angle brackets, not xsd:dateTime"),
        (f'{TRIPLE} "2026-01-01" .', 'the timestamp "2026-01-01" is not written like 2009-07-20T22:48:52Z'),
        (f"{TRIPLE} {TIME}", "Triples must be followed by a dot"),
    ],
)
def test_reasons(line: str, problem: str) -> None:
    assert reason(line) == problem + LIKE


def test_an_element_that_ends_before_it_starts_looks_as_it_should() -> None:
    assert reason(f'{TRIPLE} "2026-01-01T00:00:00Z/2025-01-01T00:00:00Z"^^<urn:penstock:interval> .') == (
        "it ends before it starts"
    )


def test_lines_that_get_the_time_of_their_arrival_look_otherwise() -> None:
    (bad,) = parse(b"gate,car,time\n", "http://e/stream", stamp=7).bad
    assert bad.reason == "this is CSV; a line looks like <s> <p> <o> ."


@pytest.mark.parametrize("length", [100, 5_000_000])
def test_a_line_without_an_end(length: int) -> None:
    assert reason("x" * length) == SUBJECT + LIKE


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f'{TRIPLE} "{"9" * 5_000_000}" .', f'the timestamp "{"9" * 59}…" is not written like 2009-07-20T22:48:52Z'),
        (
            f'{TRIPLE} "{"9" * 5_000_000}-01-01T00:00:00Z" .',
            f'the timestamp "{"9" * 59}…" is not written like 2009-07-20T22:48:52Z',
        ),
        (
            f'{TRIPLE} "{"9" * 5_000_000}"^^<{XSD}integer> .',
            f'a timestamp must be an xsd:dateTime, not "{"9" * 198}…',
        ),
        (
            f"{TRIPLE} <http://e/{'g' * 5_000_000}> .",
            f"the fourth term must be a timestamp, not <http://e/{'g' * 189}…",
        ),
    ],
)
def test_a_reason_is_short_where_the_line_is_long(line: str, problem: str) -> None:
    assert reason(line) == problem + LIKE


@pytest.mark.parametrize("block", [DEFAULT.block_bytes, 1 << 26])
@pytest.mark.parametrize("before", [1, 100])
def test_a_literal_that_is_too_long(block: int, before: int) -> None:
    """The same whether kernels or the parser read the line, which refuses more than that."""
    line = f'<http://e/s> <http://e/p> "{"x" * 20_000_000}" {TIME} .'
    parsed = parse(
        f"{GOOD * before}{line}\n{GOOD}".encode(), "http://e/stream", tuning=replace(DEFAULT, block_bytes=block)
    )
    assert parsed.elements.num_rows == before + 1
    (bad,) = parsed.bad
    assert (bad.line, bad.text) == (before + 1, line)
    assert bad.reason == f"the line has {len(line):,} bytes, and 16,777,216 are the most that are read{LIKE}"


def test_the_longest_literal() -> None:
    line = f'<http://e/s> <http://e/p> "" {TIME} .'
    line = line.replace('""', '"' + "x" * (LONGEST_LINE - len(line)) + '"')
    parsed = parse(line.encode(), "http://e/stream")
    assert (parsed.elements.num_rows, parsed.bad) == (1, [])

"""Timestamped N-Quads, each case through the kernels and line by line: both ways give the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from penstock.io import nquads
from penstock.io.columns import ELEMENTS
from penstock.io.nquads import BadLine, Parsed, parse_ntriples, scope
from penstock.io.nquads_fast import Block, read_block
from penstock.io.nquads_grammar import DATE_TIME, TIMED_LINES
from penstock.tuning import DEFAULT, Tuning

STREAM = "http://example.org/stream"
TIME = f'"2009-07-20T22:48:52Z"^^<{DATE_TIME}>'
TS = int(datetime(2009, 7, 20, 22, 48, 52, tzinfo=UTC).timestamp()) * 1_000_000
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def same(read: Callable[[Tuning], Parsed], tuning: Tuning = DEFAULT) -> Parsed:
    """What is read through the kernels, which has to be what is read line by line."""
    kernels, one_by_one = (read(replace(tuning, slow_lines=few)) for few in (0, 1_000))
    assert kernels.elements.equals(one_by_one.elements)
    assert (kernels.bad, kernels.lines) == (one_by_one.bad, one_by_one.lines)
    return kernels


def parse(data: bytes, stream: str, stamp: int | None = None, tuning: Tuning = DEFAULT) -> Parsed:
    return same(lambda tuned: nquads.parse(data, stream, stamp, tuned), tuning)


def rows(parsed: Parsed) -> list[tuple[str, str, str, int]]:
    assert parsed.elements.schema == ELEMENTS
    return list(zip(*(parsed.elements[name].to_pylist() for name in ELEMENTS.names), strict=True))


def terms(text: str) -> tuple[str, str, str]:
    (row,) = rows(parse(f"{text} {TIME} .\n".encode(), STREAM))
    return row[:3]


def reason(line: str | bytes) -> str:
    parsed = parse(line if isinstance(line, bytes) else line.encode(), STREAM)
    assert rows(parsed) == []
    (bad,) = parsed.bad
    return bad.reason


def test_a_line() -> None:
    parsed = parse(f"<http://s> <http://p> <http://o> {TIME} .\n".encode(), STREAM)
    assert rows(parsed) == [("<http://s>", "<http://p>", "<http://o>", TS)]
    assert parsed.bad == []


def test_empty_input_and_comments_give_no_elements() -> None:
    assert rows(parse(b"", STREAM)) == []
    assert rows(parse(b"\n \n# no element\n\t# nor this\r\n", STREAM)) == []


@pytest.mark.parametrize(
    "line",
    [
        "<a:s> <a:p> <a:o> T .",
        "<a:s>\t<a:p>\t<a:o>\tT\t.",
        "  <a:s>   <a:p>\t \t<a:o>  T  .  ",
        "<a:s><a:p><a:o>T.",
        "<a:s> <a:p> <a:o> T.",
        '<a:s> <a:p> <a:o> T . # a "comment" .',
        "<a:s> <a:p> <a:o> T .#",
        "<a:s> <a:p> <a:o> T .\r",
    ],
)
@pytest.mark.parametrize("end", ["\n", "", "\r\n"])
def test_layouts(line: str, end: str) -> None:
    parsed = parse((line.replace("T", TIME) + end).encode(), STREAM)
    assert rows(parsed) == [("<a:s>", "<a:p>", "<a:o>", TS)]
    assert parsed.bad == []


@pytest.mark.parametrize(
    ("written", "encoded"),
    [
        ('"text"', '"text"'),
        ('""', '""'),
        (f'"text"^^<{XSD}string>', '"text"'),
        (f'"text\\"^^<{XSD}string>"', f'"text"^^<{XSD}string>"'),
        (f'"5"^^<{XSD}integer>', f'"5"^^<{XSD}integer>'),
        ('"x"^^<http://e/noxsd#string>', '"x"^^<http://e/noxsd#string>'),
        ('"text"@en', '"text"@en'),
        ('"text"@EN-us', '"text"@en-us'),
        ('"Text"@zh-Hant-TW', '"Text"@zh-hant-tw'),
        ('"text"@de-1996', '"text"@de-1996'),
        ('"TEXT @EN"', '"TEXT @EN"'),
        (r'"\t\b\n\r\f\"\'\\"', '"\t\b\n\r\f"\'\\"'),
        (r'"\\n\\\\u0041"', r'"\n\\u0041"'),
        (r'"\u00e9\U0001F600\u0041"@EN', '"é😀A"@en'),
        ('"é 漢字 😀\u2028\x00\x7f"', '"é 漢字 😀\u2028\x00\x7f"'),
        ('"a b . <c> # d"', '"a b . <c> # d"'),
        ('"tab\there"', '"tab\there"'),
        (f'"2009-01-01T00:00:00Z"^^<{DATE_TIME}>', f'"2009-01-01T00:00:00Z"^^<{DATE_TIME}>'),
        (r"<http://e/\u00e9>", "<http://e/é>"),
        ("<http://e/é漢😀>", "<http://e/é漢😀>"),
        ("<http://u@[::1]:80/?q=%20#f>", "<http://u@[::1]:80/?q=%20#f>"),
        (f"<{RDF}langString>", f"<{RDF}langString>"),
        ('"a"  ^^ <http://d>', '"a"^^<http://d>'),
        ("_:b.c-d", f"_:{scope(STREAM)}b.c-d"),
        ("_:é", f"_:{scope(STREAM)}é"),
    ],
)
def test_objects(written: str, encoded: str) -> None:
    assert terms(f"<a:s> <a:p> {written}") == ("<a:s>", "<a:p>", encoded)


def test_escapes_of_all_kinds_side_by_side() -> None:
    written = [r"\n", r"\\n", r"\u0041", r"\"\'", "n", r"\\\"", r"\t\t\\"]
    lines = "".join(f'<a:s> <a:p> "{text}"@EN {TIME} .\n' for text in written) + f'<a:s> <a:p> "\\é" {TIME} .\n'
    found = rows(parse(lines.encode(), STREAM))
    assert [row[2] for row in found] == [f'"{text}"@en' for text in ("\n", r"\n", "A", "\"'", "n", '\\"', "\t\t\\")]


@pytest.mark.parametrize(
    "written", ["<a:o>", "_:o", '"o"', '"x <a:o>"', '"x _:o"', '"x <o"^^<a:d>', '"\\" _:o"@en', '"\\\\"', '"a \x01_:b"']
)
def test_a_graph_is_told_from_the_end_of_an_object(written: str) -> None:
    graphs = ["<a:g>", "_:g", f"<{RDF}langString>", ""]
    parsed = parse("".join(f"<a:s> <a:p> {written} {g} {TIME} .\n".replace("  ", " ") for g in graphs).encode(), STREAM)
    assert parsed.bad == []
    assert parsed.elements["g"].to_pylist() == ["<a:g>", f"_:{scope(STREAM)}g", f"<{RDF}langString>", None]
    assert set(parsed.elements["o"].to_pylist()) == {terms(f"<a:s> <a:p> {written}")[2]}
    assert parsed.elements["ts"].to_pylist() == [TS] * 4


def test_blank_nodes_belong_to_their_stream() -> None:
    line = f"_:a <a:p> _:a {TIME} .".encode()
    (here,), (again,), (elsewhere,) = (rows(parse(line, name)) for name in (STREAM, STREAM, "http://other"))
    assert here == again
    assert here[0] == here[2] != elsewhere[0]


@pytest.mark.parametrize(
    ("line", "because"),
    [
        ("<a:s> <a:p> <a:o> .", "no timestamp"),
        ("<a:s> <a:p> <a:o> <a:g> .", "must be a timestamp, not <a:g>"),
        (f'<a:s> <a:p> <a:o> "5"^^<{XSD}integer> .', "a timestamp must be an xsd:dateTime"),
        ('<a:s> <a:p> <a:o> "2009-07-20T22:48:52Z"@en .', "a timestamp must be an xsd:dateTime"),
        (f"<s> <a:p> <a:o> {TIME} .", "No scheme"),
        (f"<a:s> <a:p> <a:o> {TIME}", "dot"),
        (f"<a:s> <a:p> <a:o> {TIME} . .", ""),
        (f"<a:s> <a:p> _:x. {TIME} .", ""),
        (f"<a:s> _:p <a:o> {TIME} .", ""),
        (f'"s" <a:p> <a:o> {TIME} .', ""),
        (f"<a:s> <a:p> <a:o b> {TIME} .", "code point"),
        (f'<a:s> <a:p> "o" {TIME} {TIME} .', ""),
        (f"<a:s> <a:p> <http://e/%zz> {TIME} .", "percent"),
        (f'<a:s> <a:p> "\\x" {TIME} .', "escape"),
        (f'<a:s> <a:p> "\\uD800" {TIME} .', "D800"),
        (f'<a:s> <a:p> "a"^^<{RDF}langString> {TIME} .', "langString"),
        (f'<a:s> <a:p> "a"^^<{RDF}dirLangString> {TIME} .', "LangString"),
        (f'<a:s> <a:p> "a"@abcdefghi {TIME} .', "eight"),
        (f'<a:s> <a:p> "a"@en--ltr {TIME} .', ""),
        (f"<a:s> <a:p> <<( <a:s> <a:p> <a:o> )>> {TIME} .", ""),
        (f"<a:s> <a:p>\r<a:o> {TIME} .", "carriage return"),
        (f"# comment\r<a:s> <a:p> <a:o> {TIME} .", "carriage return"),
        ("not at all", ""),
        (f"\ufeff<a:s> <a:p> <a:o> {TIME} .", ""),
    ],
)
def test_bad_lines(line: str, because: str) -> None:
    assert because in reason(line)


@pytest.mark.parametrize("middle", [" " * 100_000, "." * 100_000, '"' * 100_000, "\\" * 100_000, "<" * 100_000])
def test_hostile_lines_take_no_more_than_their_length(middle: str) -> None:
    assert reason(f"<a:s> <a:p> _:o{middle}{TIME} . x")


def test_bad_lines_leave_the_others_alone() -> None:
    good = f"<a:s> <a:p> <a:o> {TIME} ."
    parsed = parse("\n".join([good, "bad", "# fine", good, "", "worse", good]).encode(), STREAM)
    assert len(rows(parsed)) == 3
    assert parsed.lines == 7
    assert [(bad.line, bad.text) for bad in parsed.bad] == [(2, "bad"), (6, "worse")]


def test_lines_that_are_not_utf8() -> None:
    good = f"<a:s> <a:p> <a:o> {TIME} .\n".encode()
    parsed = parse(good + b'<a:s> <a:p> "\xff" .\n' + good + b"\xed\xa0\x80\n" + good + b"\xc3", STREAM)
    assert len(rows(parsed)) == 3
    assert [bad.line for bad in parsed.bad] == [2, 4, 6]
    assert parsed.bad[0] == BadLine(2, '<a:s> <a:p> "\ufffd" .', "not UTF-8: byte 0xff at byte 14 of the line")


def test_order_and_numbers_across_blocks() -> None:
    layouts = (
        "<a:{}> <a:p> <a:o> {} .",
        "  <a:{}> <a:p> <a:o> {} .",
        "bad {} {}",
        "_:{} <a:p> '{}",
        '<a:{}> <a:p> "é" {}.',
    )
    text = "\r\n".join(layouts[i % 5].format(i, TIME) for i in range(100)) + " " * 400
    parsed = parse(text.encode(), STREAM, tuning=Tuning(block_bytes=300))
    assert [row[0] for row in rows(parsed)] == [f"<a:{i}>" for i in range(100) if i % 5 in (0, 1, 4)]
    assert [bad.line for bad in parsed.bad] == [i + 1 for i in range(100) if i % 5 in (2, 3)]


def test_a_time_for_lines_without_one() -> None:
    lines = f'<a:s> <a:p> <a:o> {TIME} .\n_:b <a:p> {TIME} .\n <a:s> <a:p> <a:o>.\n<a:s> <a:p> "\\n" .\nbad'
    parsed = parse(lines.encode(), STREAM, stamp=7)
    assert [row[3] for row in rows(parsed)] == [TS, 7, 7, 7]
    assert rows(parsed)[1][2] == TIME
    assert [bad.line for bad in parsed.bad] == [5]


def test_ntriples() -> None:
    text = f'<a:s> <a:p> "a"@EN .\n_:b <a:p> _:b.\n<a:s> <a:p> <a:o> {TIME} .\n'.encode()
    parsed = same(lambda tuning: parse_ntriples(text, "k.", tuning))
    assert parsed.elements.to_pylist() == [
        {"s": "<a:s>", "p": "<a:p>", "o": '"a"@en'},
        {"s": "_:k.b", "p": "<a:p>", "o": "_:k.b"},
    ]
    assert [(bad.line, bad.reason) for bad in parsed.bad] == [(3, "N-Triples have no fourth term")]


def usual(text: Callable[[str], str] = str) -> Block:
    """What streams mostly hold, so that it has to go through the kernels."""
    objects = [
        "<http://e/o#1>",
        "_:b1",
        '"t"',
        '"5"^^<http://e/d>',
        '"t"@en-GB',
        '"\\"q\\" \\u00e9"',
        "<urn:a:b%20c?d#é>",
    ]
    moments = ["52Z", "52.1Z", "52.123456789Z", "52", "52+02:00"]
    lines = [
        f'<http://e/s> <http://e/p> {o} {g}"2009-07-20T22:48:{m}"^^<{DATE_TIME}> .\n'
        for o in objects
        for g in ("", "<http://e/g> ", "_:g ")
        for m in moments
    ]
    return Block.of(pa.py_buffer(text("".join(lines)).encode()))


@pytest.mark.parametrize(
    "change", [str, lambda t: t.replace("> ", ">\t"), lambda t: t.replace(" .", "."), lambda t: t.replace("T22", "T14")]
)
def test_the_kernels_parse_every_usual_line(change: Callable[[str], str]) -> None:
    block = usual(change)
    assert len(read_block(block, TIMED_LINES, "", timed=True).lines) == len(block.lines)


def test_a_bad_line_does_not_keep_the_kernels_from_those_around_it() -> None:
    block = usual(lambda text: f"bad\n{text}bad\n{text}")
    assert len(read_block(block, TIMED_LINES, "", timed=True).lines) == len(block.lines) - 2

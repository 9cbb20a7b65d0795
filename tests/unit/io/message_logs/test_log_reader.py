"""Logs of RDF Messages: the cases that the community group asks of parsers and serialisers, and some of our own."""

from __future__ import annotations

import pytest
from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, serialize

from penstock.io.message_logs.log_reader import LogMessage, read_log
from penstock.io.message_logs.syntax import SYNTAXES, message_format

ALL = sorted(SYNTAXES)
WITH_PREFIXES = ["trig-messages", "turtle-messages"]
VERSION = 'VERSION "1.2-messages"\n'


def messages(text: str, format: str) -> list[str]:
    """Each message as N-Quads."""
    return [nquads(found) for found in read_log(text, format)]


def nquads(found: LogMessage) -> str:
    written = serialize(found.quads, format=RdfFormat.N_QUADS)
    return (written or b"").decode().strip()


@pytest.mark.parametrize("format", ALL)
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<x:a> <x:p> <x:1> .", ["<x:a> <x:p> <x:1> ."]),
        ("<x:a> <x:p> <x:1> .\nMESSAGE\n<x:b> <x:p> <x:2> .", ["<x:a> <x:p> <x:1> .", "<x:b> <x:p> <x:2> ."]),
        ("MESSAGE\n<x:a> <x:p> <x:1> .", ["", "<x:a> <x:p> <x:1> ."]),
        ("<x:a> <x:p> <x:1> .\nMESSAGE\nMESSAGE # none\n<x:b> <x:p> <x:2> .",
         ["<x:a> <x:p> <x:1> .", "", "<x:b> <x:p> <x:2> ."]),
        ("<x:a> <x:p> <x:1> .\nMESSAGE\n", ["<x:a> <x:p> <x:1> ."]),
        ("<x:a> <x:p> <x:1> .\nMESSAGE\nMESSAGE\n", ["<x:a> <x:p> <x:1> .", ""]),
        ('<x:a> <x:p> "MESSAGE" . # MESSAGE\n<x:a> <x:p> "x"@message .\n',
         ['<x:a> <x:p> "MESSAGE" .\n<x:a> <x:p> "x"@message .']),
        ("", []),
    ],
)  # fmt: skip
def test_a_delimiter_ends_a_message(format: str, body: str, expected: list[str]) -> None:
    assert messages(VERSION + body, format) == expected
    assert messages((VERSION + body).replace("\n", "\r\n"), format) == expected
    assert messages(body, format) == expected  # the stream's format is an announcement too


def test_graph_names_are_kept() -> None:
    text = VERSION + "<x:a> <x:p> <x:1> <x:g1> .\nMESSAGE\n<x:b> <x:p> <x:2> <x:g2> .\n"
    assert messages(text, "nquads-messages") == ["<x:a> <x:p> <x:1> <x:g1> .", "<x:b> <x:p> <x:2> <x:g2> ."]


def test_a_message_of_trig_has_several_graphs() -> None:
    text = VERSION + "PREFIX x: <x:>\nx:a x:p x:1 .\nx:g { x:b x:p x:2 . x:c x:p x:3 }\nMESSAGE\nx:d x:p x:4 .\nMESSAGE"
    assert messages(text, "trig-messages") == [
        "<x:a> <x:p> <x:1> .\n<x:b> <x:p> <x:2> <x:g> .\n<x:c> <x:p> <x:3> <x:g> .",
        "<x:d> <x:p> <x:4> .",
    ]


@pytest.mark.parametrize("format", WITH_PREFIXES)
def test_the_older_spelling(format: str) -> None:
    text = "@version '1.2-messages' .\n@prefix x: <x:> .\nx:a x:p x:1 .\n@message .\nx:b x:p x:2 .\n@message\n.\n"
    assert messages(text, format) == ["<x:a> <x:p> <x:1> .", "<x:b> <x:p> <x:2> ."]


@pytest.mark.parametrize("format", WITH_PREFIXES)
def test_prefixes_and_bases_hold_until_they_are_declared_again(format: str) -> None:
    text = f"""{VERSION}PREFIX e: <http://one/>
BASE <http://base/>
e:a e:p <z> .
MESSAGE
e:a e:p <z> .
message
PREFIX e: <http://two/> BASE <deeper/>
e:a e:p <z> .
MESSAGE
e:a e:p <z> ."""
    one, two = "<http://one/a> <http://one/p>", "<http://two/a> <http://two/p>"
    assert messages(text, format) == [
        f"{one} <http://base/z> .", f"{one} <http://base/z> .",
        f"{two} <http://base/deeper/z> .", f"{two} <http://base/deeper/z> .",
    ]  # fmt: skip


@pytest.mark.parametrize("format", WITH_PREFIXES)
def test_words_that_look_like_a_delimiter(format: str) -> None:
    text = """PREFIX message: <x:> PREFIX : <x:>
    message:MESSAGE :message '''two
MESSAGE
lines''' , "an \\" and MESSAGE" , <x:MESSAGE> .  # MESSAGE
    """
    assert [len(found.quads) for found in read_log(text, format)] == [3]


def test_a_blank_node_belongs_to_its_message() -> None:
    """Their labels may be the same: whoever reads a message names them anew."""
    first, second = read_log(f"{VERSION}_:b <x:p> _:b .\nMESSAGE\n_:b <x:p> <x:2> .", "nquads-messages")
    assert isinstance(first.quads[0].subject, BlankNode)
    assert first.quads[0].subject == first.quads[0].object
    assert second.quads == [Quad(BlankNode("b"), NamedNode("x:p"), NamedNode("x:2"))]


@pytest.mark.parametrize(
    ("format", "text", "line", "reason"),
    [
        ("trig-messages", "<x:g> {\n<x:a> <x:p> <x:1> .\nMESSAGE\n<x:b> <x:p> <x:2> .\n}", 3, "close it first"),
        ("turtle-messages", "<x:a> <x:p> [\nMESSAGE\n] .", 2, "close it first"),
        ("turtle-messages", "<x:a> <x:p> <x:1> .\n@message <x:b>", 2, None),
        ("turtle-messages", "<x:a> <x:p>\nMESSAGE\n<x:1> .", 2, "Unexpected end"),
        ("nquads-messages", 'VERSION "1.1"\n<x:a> <x:p> <x:1> .\nMESSAGE', 3, 'announce VERSION "1.1-messages"'),
        ("nquads-messages", '\nVERSION "7-messages"\n', 2, "the version '7-messages' is not known"),
        ("nquads-messages", "<x:a> <x:p> <x:1> .\nMESSAGE\n<x:b> <x:p> .\n", 3, None),
        ("ntriples-messages", "@message .\n", 1, None),
        ("ntriples-messages", "message\n", 1, None),
    ],
)
def test_a_mistake_is_told_with_its_line(format: str, text: str, line: int, reason: str | None) -> None:
    with pytest.raises(SyntaxError, match=reason) as caught:
        messages(text, format)
    assert caught.value.lineno == line


def test_messages_before_a_mistake_are_given() -> None:
    log = read_log("<x:a> <x:p> <x:1> .\nMESSAGE\nnonsense", "ntriples-messages")
    assert len(next(log).quads) == 1
    with pytest.raises(SyntaxError):
        next(log)


def test_a_message_knows_its_line_and_text() -> None:
    found = list(read_log(f"{VERSION}\n<x:a> <x:p> <x:1> .\nMESSAGE\n<x:b> <x:p> <x:2> .\n", "turtle-messages"))
    assert [(one.line, one.text) for one in found] == [(1, "<x:a> <x:p> <x:1> ."), (4, "<x:b> <x:p> <x:2> .")]


def test_the_ending_of_a_file_tells_its_format() -> None:
    assert message_format("/a/b.MESSAGES.nq.gz") == "nquads-messages"
    assert message_format("/a/b.trig") is None
    assert message_format("/a/b.txt", "trig-messages") == "trig-messages"

"""The syntax of logs of RDF Messages: all that the draft may still change is in these tables.

VERSION "1.1-messages"
<http://e/car1> <http://e/speed> "50" .
MESSAGE
<http://e/car1> <http://e/speed> "52" .
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyoxigraph import RdfFormat

__all__ = ["ENDINGS", "MESSAGE", "SYNTAXES", "VERSION", "VERSIONS", "Syntax", "message_format"]

VERSION = "1.1-messages"
"""The label that is written: the terms are those of RDF 1.1."""
VERSIONS = {
    "1.1": False, "1.2": False, "1.2-basic": False,
    "1.1-messages": True, "1.2-messages": True, "1.2-basic-messages": True,
}  # fmt: skip
"""The labels that are read, and whether a text with it may have delimiters."""
MESSAGE = "MESSAGE"
"""The delimiter that is written, in a line of its own."""

_QUOTED = r"""(?:"(?P<label>[^"\\\n]*)"|'(?P<other>[^'\\\n]*)')"""
_END = r"(?![\w:.%\\-])"
_LINES = re.compile(
    rf"""
    (?P<version>^[ \t]*VERSION[ \t]*{_QUOTED})
  | (?P<message>^[ \t]*MESSAGE(?=[ \t\r]*(?:\#.*)?$))
    """,
    re.VERBOSE | re.MULTILINE,
)
_STRING = r'''"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\r\n]|\\.)*"'''
_APOSTROPHES = str.maketrans({'"': "'"})
_LANGUAGE = r"(?:\s*@[A-Za-z]+(?:-[A-Za-z0-9]+)*)?"
_TURTLE = re.compile(
    rf"""
    (?P<comment>\#[^\r\n]*)
  | (?P<version>(?:@version|(?i:version))\s*{_QUOTED})
  | (?P<string>(?:{_STRING}|{_STRING.translate(_APOSTROPHES)}){_LANGUAGE})
  | (?P<iri><[^<>\s]*>)
  | (?P<message>@message\s*\.|(?i:message){_END})
  | (?P<open>[{{\[(])
  | (?P<close>[}}\])])
  | (?P<word>(?:\\.|[^\s<>"'{{}}\[\]()\#;,])+)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Syntax:
    """How a log is read: the parser of its messages, the tokens between which delimiters stand, and whether the
    prefixes of a message hold in the next ones."""

    parser: RdfFormat
    tokens: re.Pattern[str]
    has_prefixes: bool


SYNTAXES = {
    "ntriples-messages": Syntax(RdfFormat.N_TRIPLES, _LINES, False),
    "nquads-messages": Syntax(RdfFormat.N_QUADS, _LINES, False),
    "turtle-messages": Syntax(RdfFormat.TURTLE, _TURTLE, True),
    "trig-messages": Syntax(RdfFormat.TRIG, _TURTLE, True),
}
"""The syntax of each format."""
ENDINGS = {
    ".messages.nt": "ntriples-messages",
    ".messages.nq": "nquads-messages",
    ".messages.ttl": "turtle-messages",
    ".messages.trig": "trig-messages",
    ".jelly": "jelly",
}
"""The formats of files of messages, by their endings. Jelly has messages of its own, which are frames."""


def message_format(path: str, declared: str | None = None) -> str | None:
    """The format of a file of messages, by its ending or else as the stream declares it; None if it is no such file."""
    plain = path.lower().removesuffix(".gz")
    by_ending = next((format for ending, format in ENDINGS.items() if plain.endswith(ending)), None)
    return by_ending or (declared if declared in SYNTAXES else None)

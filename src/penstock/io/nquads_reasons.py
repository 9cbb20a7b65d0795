"""Sentences about a line that holds no element: the fault, and how a line looks."""

from __future__ import annotations

import re

from penstock.io.nquads_grammar import DATE_TIME

__all__ = ["LONGEST_LINE", "clip", "likely_format", "mistaken_time", "sentence", "too_long"]

LONGEST_LINE = 1 << 24
"""Bytes of the longest line that is read: pyoxigraph refuses longer terms."""

_TIMED = f'<s> <p> <o> "2026-01-01T00:00:00Z"^^<{DATE_TIME}> .'
_PLAIN = "<s> <p> <o> ."
_BEGINNING = 1000  # characters by which a format is recognised
_LONGEST = 200  # characters of a term in a sentence

_FORMATS = {
    "JSON": re.compile(r'[{}\[\]]|"[^"]*"\s*:'),
    "XML": re.compile(r"<[?!/]|<[\w:.-]+\s+[\w:.-]+="),
    "Turtle": re.compile(r"@?(?:prefix|base)\s|(?!_:)(?:[a-z][\w.-]*)?:[\w.-]*[ \t]", re.IGNORECASE),
    "CSV": re.compile(r"(?!<|_:)[^,;\t]*[,;\t]"),
}
_BARE_TIME = re.compile(r"[ \t]([0-9][-+0-9T:.Z]*?)[ \t]*\.?$")
_SHORT_TYPE = re.compile(r'"\^\^([A-Za-z]\w*:\w+)[ \t]*\.?$')
_END = 200  # characters at the end of a line in which a time can be recognised


def sentence(problem: str, *, timed: bool = True) -> str:
    """Return the problem of a line, and how a line looks."""
    return f"{problem}; a line looks like {_TIMED if timed else _PLAIN}"


def likely_format(content: str) -> str | None:
    """A sentence with the other format that a line seems to be in; None if it seems to be a line of N-Quads."""
    start = content[:_BEGINNING]
    return next((f"this is {name}" for name, pattern in _FORMATS.items() if pattern.match(start)), None)


def mistaken_time(content: str) -> str | None:
    """A sentence about a time at the end of a line that is written as in Turtle, and not as in N-Quads."""
    end = content[-_END:]
    if match := _BARE_TIME.search(end):
        return f"a timestamp must be an xsd:dateTime in quotation marks, not {match[1]}"
    if match := _SHORT_TYPE.search(end):
        return f"a datatype must be an IRI in angle brackets, not {match[1]}"
    return None


def too_long(size: int, *, timed: bool = True) -> str:
    """The sentence about a line of that many bytes."""
    return sentence(f"the line has {size:,} bytes, and {LONGEST_LINE:,} are the most that are read", timed=timed)


def clip(text: object, longest: int = _LONGEST) -> str:
    """The text of a term, cut off where it is long."""
    whole = str(text)
    return whole if len(whole) <= longest else f"{whole[: longest - 1]}…"

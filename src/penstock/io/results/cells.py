"""One term as a short piece of text, and how wide that is on a terminal."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, TypeGuard

from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.io.results.vocabulary import NUMBERS, XSD_BOOLEAN, XSD_DATE, XSD_DATETIME, XSD_STRING
from penstock.syntax.suggest import WELL_KNOWN

if TYPE_CHECKING:
    from penstock.answer import Term

__all__ = ["cell", "clip", "is_number", "visible", "width"]

_PLAIN = NUMBERS | {XSD_BOOLEAN, XSD_DATE, XSD_DATETIME}
_PREFIX_OF = {iri: prefix for prefix, iri in WELL_KNOWN.items()}
_SPLIT_IRI = re.compile(r"(.*[/#])([A-Za-z_][\w-]*)")
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# What would move the cursor or turn the writing direction of the rest of the line.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\uffff]")


def cell(term: Term | None) -> str:
    """The term as Turtle would have it with well-known prefixes, and numbers, booleans and dates without quotes."""
    if term is None:
        return ""
    if isinstance(term, NamedNode):
        return visible(_shortened(term.value))
    if isinstance(term, BlankNode):
        return str(term)
    return visible(_literal(term))


def is_number(term: Term | None) -> TypeGuard[Literal]:
    """Whether the term belongs to the right of its column."""
    return isinstance(term, Literal) and term.datatype in NUMBERS


def width(text: str) -> int:
    """Columns on a terminal: East Asian characters and emoji take two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_width_of, text))


def clip(text: str, widest: int) -> str:
    """The text, or its beginning and an ellipsis where it is too wide."""
    if width(text) <= widest:
        return text
    used = 0
    for position, character in enumerate(text):
        used += _width_of(character)
        if used > widest - 1:
            return text[:position] + "…"
    return text


def _width_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _literal(term: Literal) -> str:
    if term.datatype in _PLAIN:
        return term.value
    if term.language:
        return f'"{term.value}"@{term.language}'
    return f'"{term.value}"' if term.datatype == XSD_STRING else f'"{term.value}"^^{_shortened(term.datatype.value)}'


def visible(text: str) -> str:
    """The text with escapes in the place of characters that a terminal would obey instead of showing."""
    return _UNPRINTABLE.sub(lambda match: _SHORT_ESCAPES.get(match[0], f"\\u{ord(match[0]):04X}"), text)


def _shortened(iri: str) -> str:
    """`prefix:name` where that is well known and plain, and `<iri>` otherwise."""
    match = _SPLIT_IRI.fullmatch(iri)
    prefix = _PREFIX_OF.get(match[1]) if match else None
    return f"{prefix}:{match[2]}" if match and prefix else f"<{iri}>"

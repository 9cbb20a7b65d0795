"""The table of target languages."""

from __future__ import annotations

from penstock.algebra import ops
from penstock.algebra.build import build
from penstock.syntax import parse
from penstock.translate.cqels import CqelsQl
from penstock.translate.csparql import CSparql
from penstock.translate.language import Language, counts_duplicates
from penstock.translate.rspql import RspQl

__all__ = ["LANGUAGES", "translated"]

LANGUAGES: dict[str, type[Language]] = {"csparql": CSparql, "cqels": CqelsQl, "rspql": RspQl}


def translated(text: str, to: str, base: str | None = None, *, merged: bool = False, background: bool = True) -> str:
    """The query in that language. Raises `CannotSay`, and what `penstock.algebra.build.translate` raises.

    In RSP-QL equal triples of a window are one, and in the other languages they are not: where that makes a difference,
    a query can be translated only if the caller ignores it (`merged`). In C-SPARQL windows are read together with the
    background's default graph, and in the others without: that makes no difference if there is nothing in it
    (`background` is false).
    """
    query = parse(text, base)
    meaning = build(query)
    written = LANGUAGES[to](query, meaning, background)
    result = written.text()
    if not merged and counts_duplicates(meaning) and _merges(meaning, to) is not None:
        raise written.cannot(_DUPLICATES[_merges(meaning, to) or False])
    return result


def _merges(meaning: ops.Query, to: str) -> bool | None:
    """Whether windows have their duplicates merged that had not before, or the other way round (None: neither)."""
    before = {stream.merge for stream in meaning.streams}
    if to == "rspql":
        return True if False in before else None
    return False if True in before else None


_DUPLICATES = {
    True: "duplicate triples of a window count twice, but once in RSP-QL (--merged ignores this)",
    False: "duplicate triples of a window count once, but twice there (--merged ignores this)",
}

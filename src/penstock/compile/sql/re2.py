r"""Java's regular expressions in the terms of RE2, which DuckDB runs: without lookaround and back references.

Only a part of the syntax is certain to mean the same in both. Classes of Unicode depend on its version. Without case,
Java has its own pairs: ı and İ match i, ſ matches s, and the Kelvin sign matches k.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from string import ascii_letters

__all__ = ["to_re2", "to_re2_replacement"]

_CODE = r"\\x(?:[0-9A-F]{2}|\{[0-9A-F]+\})"
_ESCAPE = r"\\[ -/:-@\[-^`{-~]"  # of punctuation
_MEMBER = rf"(?:{_CODE}|{_ESCAPE}|[^\[\]\\&]|&(?!&))"
_PIECE = re.compile(rf"{_CODE}|{_ESCAPE}|\\z|(\[\^?)({_MEMBER}+)\]|\(\?:|\((?!\?)|([a-zA-Z])|[^\\\[\](]", re.DOTALL)
_RANGE = re.compile(rf"({_MEMBER})(?:-({_MEMBER}))?", re.DOTALL)
_QUANTIFIER = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_MODES = re.compile(r"\(\?([dsmiu]+)\)")
_MOST_REPEATED = 1000  # in RE2
_REPLACEMENT = re.compile(r"\\(.)|\$([0-9])|[^\\$]", re.DOTALL)
_FORMS = {c: c.upper() + c.lower() for c in ascii_letters} | {  # upper case, and the lower case of that
    "ı": "ıIi", "İ": "İi", "ſ": "ſSs", "\u212a": "\u212ak",
}  # fmt: skip


def to_re2(pattern: str) -> str | None:
    """Return a pattern that RE2 finds wherever Java finds this one; None if there is none for certain."""
    prefix = _MODES.match(pattern)
    modes, at = (prefix[1], prefix.end()) if prefix else ("", 0)
    pieces = []
    while at < len(pattern):
        piece = _QUANTIFIER.match(pattern, at) or _PIECE.match(pattern, at)
        if piece is None or not _is_alike(piece[0], modes):
            return None
        pieces.append(_without_case(piece) if "i" in modes else piece[0])
        at = piece.end()
    kept = "".join(mode for mode in modes if mode in "sm")
    return (f"(?{kept})" if kept else "") + "".join(pieces)


def _is_alike(piece: str, modes: str) -> bool:
    """Whether a piece means the same in both.

    The mode d says that only a newline ends a line. With m, Java finds no start of a line after the last newline.
    Without m, it finds an end before a last newline too: the compiler writes $ only for texts that end otherwise.
    """
    if piece in _PLACES:
        return _PLACES[piece](modes)
    if piece.startswith("{"):
        return all(int(number) <= _MOST_REPEATED for number in re.findall("[0-9]+", piece))
    return "i" not in modes or (piece.isascii() and "\\x{" not in piece)


_PLACES: dict[str, Callable[[str], bool]] = {
    ".": lambda modes: "d" in modes or "s" in modes,
    "^": lambda modes: "m" not in modes,
    "$": lambda modes: "m" not in modes or "d" in modes,
}


def _without_case(piece: re.Match[str]) -> str:
    start, members, letter = piece[1], piece[2], piece[3]
    if letter is not None:
        return f"[{''.join(_matching(letter, letter))}]"
    if start is None:
        return piece[0]
    ranges = (_matching(_character(low), _character(high or low)) for low, high in _RANGE.findall(members))
    return f"{start}{members}{''.join(sorted({c for each in ranges for c in each}))}]"


def _character(member: str) -> str:
    if len(member) == 1:
        return member
    return chr(int(member[2:], 16)) if member.startswith("\\x") else member[1]


def _matching(low: str, high: str) -> list[str]:
    """Return the letters that match a range without case. A range of one letter is that letter in either case."""
    bounds = [(low, high)] if low != high else [(c, c) for c in {low.lower(), low.upper()}]
    return [c for c, forms in _FORMS.items() if any(a <= form <= b for form in forms for a, b in bounds)]


def to_re2_replacement(replacement: str) -> str:
    r"""Return a replacement of Java's in RE2's form, whose groups are \1 and so on."""
    return _REPLACEMENT.sub(_replaced, replacement)


def _replaced(match: re.Match[str]) -> str:
    character, group = match.groups()
    return f"\\{group}" if group else (character or match[0]).replace("\\", "\\\\")

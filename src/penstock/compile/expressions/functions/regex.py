r"""XPath's regular expressions in Java's terms: https://www.w3.org/TR/xpath-functions-31/#regex-syntax.

Spark runs Java's, where `$` matches before a last newline too, `.` no carriage return, `\d` and `\w` only ASCII, and
where a pattern or a replacement that is wrong ends the whole job. Here it is None, which is SPARQL's error. Beyond
XPath, `\b`, `\B`, `(?i)`, lookahead and needless escapes of punctuation are understood, since people write them.

Constants are translated with the query; patterns that are computed by an Arrow function.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

PATTERN, REPLACEMENT = "penstock_pattern", "penstock_replacement"

_FLAGS = re.compile("[smixq]*")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{([0-9]{1,9})(?:,([0-9]{1,9})?)?\})\??")
_OPEN = re.compile(r"\((\?(?:[:=!]|i\)))?")
_CATEGORY = re.compile(r"\\[pP]\{(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)\}")
_BLOCKS = "BasicLatin|Latin-1Supplement|LatinExtended-[AB]|Cyrillic|Hebrew|Arabic|Hiragana|Katakana"
_BLOCK = re.compile(rf"\\[pP]\{{Is(?:{_BLOCKS})\}}")
_NAME_START = (
    r":A-Z_a-z\xC0-\xD6\xD8-\xF6\xF8-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}\x{2070}-\x{218F}"
    r"\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}"
)
_SETS = {  # class escapes, as the inside of a character class
    "s": r" \t\n\r",
    "d": r"\p{Nd}",
    "w": r"\p{L}\p{M}\p{N}\p{S}",
    "i": _NAME_START,
    "c": rf"{_NAME_START}\x2D.0-9\xB7\x{{300}}-\x{{36F}}\x{{203F}}-\x{{2040}}",
    "S": r"\x{0}-\x{8}\x{B}\x{C}\x{E}-\x{1F}\x{21}-\x{10FFFF}",
    "D": r"\P{Nd}",
    "W": r"\p{P}\p{Z}\p{C}",
}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


class _InvalidError(Exception):
    """The pattern is invalid."""


def to_java(pattern: str, flags: str = "") -> str | None:
    """Return the equivalent Java pattern; None if pattern or flags are invalid."""
    if not _FLAGS.fullmatch(flags):
        return None
    ignore_case = "iu" if "i" in flags else ""
    if "q" in flags:
        return _prefix(ignore_case) + "".join(map(_quoted, pattern))
    try:
        body = _Reader(pattern, flags).read()
    except _InvalidError:
        return None
    modes = ignore_case + "".join(f for f in "sm" if f in flags)
    return _prefix(("d" if "." in body or "m" in modes else "") + modes) + body


def replacement_to_java(replacement: str, pattern: str, flags: str = "") -> str | None:
    """Return the Java replacement for that pattern; None if it is invalid. A group that does not exist is empty."""
    if "q" in flags:
        return re.sub(r"([\\$])", r"\\\1", replacement)
    if not re.fullmatch(r"(?:[^\\$]|\\[\\$]|\$[0-9])*", replacement, re.S):
        return None
    reader = _Reader(pattern, flags)
    try:
        reader.read()
    except _InvalidError:
        return None
    return re.sub(r"\\.|\$([0-9]+)", lambda m: _group(m[1], reader.groups) if m[1] else m[0], replacement)


def _group(digits: str, groups: int) -> str:
    """Return the longest run of digits that names a group; the other digits are text."""
    used = next((n for n in range(len(digits), 0, -1) if int(digits[:n]) <= groups), 0)
    return f"${int(digits[:used])}{digits[used:]}" if used else digits[1:]


def _prefix(modes: str) -> str:
    return f"(?{modes})" if modes else ""


def _quoted(character: str) -> str:
    """Return a literal character, for use in a class and outside."""
    plain = character.isalnum() or ord(character) > 127
    return character if plain else f"\\x{ord(character):02X}"


@dataclass(slots=True)
class _Reader:
    """A translator that reads a pattern once."""

    source: str
    flags: str
    at: int = 0
    open: list[int] = field(default_factory=list)  # numbers of the enclosing groups, 0 for groups without one
    closed: set[int] = field(default_factory=set)
    groups: int = 0
    repeatable: bool = False  # whether a quantifier may follow

    def read(self) -> str:
        pieces = []
        while self.at < len(self.source):
            pieces.append(self._piece())
        self._require(not self.open)
        return "".join(pieces)

    def _piece(self) -> str:
        character = self.source[self.at]
        if character in " \t\n\r" and "x" in self.flags:
            self.at += 1
            return ""
        if quantifier := _QUANTIFIER.match(self.source, self.at):
            return self._quantifier(quantifier)
        self.repeatable = character not in "(|"
        if character in _PIECES:
            return _PIECES[character](self)
        self._require(character not in "{}]")
        return self._next()

    def _require(self, condition: bool) -> None:
        if not condition:
            raise _InvalidError

    def _next(self) -> str:
        self._require(self.at < len(self.source))
        self.at += 1
        return self.source[self.at - 1]

    def _quantifier(self, match: re.Match[str]) -> str:
        low, high = match.groups()
        self._require(self.repeatable and (high is None or int(low) <= int(high)))
        self.repeatable = False
        self.at = match.end()
        return match[0]

    def _sign(self, java: str) -> str:
        self.at += 1
        return java

    def _group(self) -> str:
        opening = _OPEN.match(self.source, self.at)
        assert opening
        self.at = opening.end()
        if opening[0] != "(?i)":
            self.groups += opening[1] is None
            self.open.append(self.groups if opening[1] is None else 0)
        self._require(opening[1] is not None or not self.source.startswith("?", self.at))
        return opening[0].replace("i)", "iu)")

    def _end_group(self) -> str:
        self._require(bool(self.open))
        self.closed.add(self.open.pop())
        return self._next()

    def _escape(self) -> str:
        letter = self.source[self.at + 1 : self.at + 2]
        if letter in ("b", "B"):
            self.at += 2
            return f"\\{letter}"
        if letter.isdecimal():
            return self._back_reference()
        text, code = self._escaped()
        return text if code is not None else f"[{text}]"

    def _back_reference(self) -> str:
        digits = re.compile("[0-9]+").match(self.source, self.at + 1)
        self._require(digits is not None)
        numbers = [digits[0][:n] for n in range(len(digits[0]), 0, -1)] if digits else []
        number = next((n for n in numbers if 0 < int(n) <= self.groups), "")
        self._require(number != "" and int(number) in self.closed and number[0] != "0")
        self.at += 1 + len(number)
        return f"\\{number}"

    def _class(self) -> str:
        """Return a character class; the class that is subtracted from it is a negative lookahead."""
        self.at += 1
        start = "[^" if self.source.startswith("^", self.at) else "["
        self.at += len(start) - 1
        members: list[str] = []
        while not self.source.startswith(("]", "-["), self.at) or not members:
            members.append(self._member())
        base = f"{start}{''.join(members)}]"
        if self._next() == "]":
            return base
        subtracted = self._class()
        self._require(self._next() == "]")
        return f"(?:(?!{subtracted}){base})"

    def _member(self) -> str:
        text, first = self._item()
        rest = self.source[self.at : self.at + 2]
        if first is None or not rest.startswith("-") or rest in ("-]", "-[", "-"):
            return text
        self.at += 1
        text_of_last, last = self._item()
        self._require(last is not None and first <= last)
        return f"{text}-{text_of_last}"

    def _item(self) -> tuple[str, int | None]:
        """Return a character, or the inside of a class escape, which has no code."""
        if self.source.startswith("\\", self.at):
            return self._escaped()
        character = self._next()
        self._require(character not in "[]")
        return _quoted(character), ord(character)

    def _escaped(self) -> tuple[str, int | None]:
        if category := _CATEGORY.match(self.source, self.at) or _BLOCK.match(self.source, self.at):
            self.at = category.end()
            return category[0].replace("{Is", "{In"), None
        self.at += 1
        letter = self._next()
        if letter in _SETS:
            return _SETS[letter], None
        self._require(letter in _CONTROLS or (letter.isascii() and not letter.isalnum()))
        character = _CONTROLS.get(letter, letter)
        return _quoted(character), ord(character)


_PIECES: dict[str, Callable[[_Reader], str]] = {
    "(": _Reader._group,
    ")": _Reader._end_group,
    "[": _Reader._class,
    "\\": _Reader._escape,
    "|": lambda reader: reader._sign("|"),
    ".": lambda reader: reader._sign("."),
    "^": lambda reader: reader._sign("^"),
    "$": lambda reader: reader._sign("$" if "m" in reader.flags else r"\z"),
}

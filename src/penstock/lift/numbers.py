"""Texts of JSON's numbers that are not integers: one text for one number, its canonical xsd:double, and JSON-LD's."""

from __future__ import annotations

import re

__all__ = ["canonical_double", "json_ld_number", "plain_number"]

_NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_SMALLEST, _LARGEST = -5, 21  # places of the decimal point within which a number is written without an exponent
_INTEGER_DIGITS = 20  # of the longest integer that JSON-LD writes as one


def plain_number(text: str) -> str:
    """The number without trailing zeros: as 21.5 or 1000.0, or as 1.0E21 where it is very large or small."""
    sign, digits, point = _parts(text)
    if not digits:
        return f"{sign}0.0"
    if not _SMALLEST <= point <= _LARGEST:
        return canonical_double(text)
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"


def canonical_double(text: str) -> str:
    """The canonical text of an xsd:double, with all digits that were written: 21.50 is 2.15E1."""
    sign, digits, point = _parts(text)
    if not digits:
        return f"{sign}0.0E0"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def json_ld_number(text: str) -> str | None:
    """The number as an integer if it is one that JSON-LD writes so, whatever it is written like: 1.0 is 1."""
    sign, digits, point = _parts(text)
    if not digits:
        return "0"
    return f"{sign}{digits.ljust(point, '0')}" if len(digits) <= point <= _INTEGER_DIGITS else None


def _parts(text: str) -> tuple[str, str, int]:
    """The sign, the digits without zeros at their ends, and the place of the decimal point before or behind them."""
    match = _NUMBER.fullmatch(text)
    assert match is not None, f"a number of JSON: {text}"
    sign, whole, fraction, exponent = match.groups(default="")
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(exponent or 0)
    return sign, digits.rstrip("0"), point

"""Doubles and floats as Java writes them: https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/lang/Double.html.

Since version 19 Java writes the fewest digits that name the number (at least two). Versions before write some numbers
with more digits: whole numbers beyond 2⁵³ (2²⁴ for floats), and a few with a large or small exponent.
"""

from __future__ import annotations

import math
import struct

import numpy as np

__all__ = ["old_text", "text"]

_SPECIAL = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
_FORMATS = {False: ("<d", "<Q", 52, 1023), True: ("<f", "<I", 23, 127)}  # by whether it is a float
_MOST_FIVES = 27  # powers of five that Java has a table of their sizes for


def text(x: float, single: bool) -> str:
    """Return a number as Java 19 and later write it."""
    if not math.isfinite(x) or x == 0:
        return _written(x, "0", 1)
    value = np.float32(x) if single else np.float64(x)
    digits, exponent = _scientific(np.format_float_scientific(value, trim="-"))
    if len(digits) == 1:  # of two digits, the nearest ones
        longer = f"{abs(x):.1e}"
        if type(value)(longer) == abs(value):
            digits, exponent = _scientific(longer)
    return _written(x, digits, exponent)


def old_text(x: float, single: bool) -> str:
    """Return a number as Java 18 and earlier write it."""
    if not math.isfinite(x) or x == 0:
        return _written(x, "0", 1)
    return _written(x, *_digits(abs(x), single))


def _scientific(written: str) -> tuple[str, int]:
    mantissa, _, exponent = written.lstrip("-").partition("e")
    digits = mantissa.replace(".", "")
    return digits.rstrip("0") or "0", int(exponent) + 1


def _written(x: float, digits: str, exponent: int) -> str:
    """Return the text of 0.digits · 10^exponent: plain from 10⁻³ to 10⁷."""
    if not math.isfinite(x):
        return _SPECIAL[str(float(x))]
    sign = "-" if math.copysign(1, x) < 0 else ""
    if 0 < exponent < 8:
        return f"{sign}{digits[:exponent].ljust(exponent, '0')}.{digits[exponent:] or '0'}"
    if -3 < exponent <= 0:
        return f"{sign}0.{'0' * -exponent}{digits}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent - 1}"


def _digits(x: float, single: bool) -> tuple[str, int]:
    """Return the digits and the exponent of a positive number, as versions before 19 find them."""
    fraction, exponent, significant = _parts(x, single)
    odd = fraction // (fraction & -fraction)
    size = odd.bit_length()
    if -21 <= exponent <= 62 and size <= exponent + 1:
        return _whole_digits(odd << (exponent - size + 1), exponent, significant)
    return _fraction_digits(fraction, odd, exponent, significant)


def _parts(x: float, single: bool) -> tuple[int, int, int]:
    """Return the fraction with its leading bit, the binary exponent, and the number of significant bits."""
    number, bits, width, bias = _FORMATS[single]
    (pattern,) = struct.unpack(bits, struct.pack(number, x))
    fraction, exponent = pattern & ((1 << width) - 1), pattern >> width
    if exponent:
        return fraction | 1 << width, exponent - bias, width + 1
    missing = width + 1 - fraction.bit_length()
    return fraction << missing, 1 - missing - bias, width + 1 - missing


def _whole_digits(value: int, exponent: int, significant: int) -> tuple[str, int]:
    """Return the digits of a whole number, rounded where the digits are less than the last bit."""
    beyond = exponent - significant - 1
    dropped = len(str(1 << beyond)) - 1 if beyond > 1 else 0
    quotient, rest = divmod(value, 10**dropped)
    digits = str(quotient + (dropped > 0 and 2 * rest >= 10**dropped))
    return digits.rstrip("0"), len(digits) + dropped


def _fraction_digits(fraction: int, odd: int, exponent: int, significant: int) -> tuple[str, int]:
    """Return digits until the rest is less than half the distance to a neighbour (Steele and White's algorithm).

    b/s is what is left to write and m/s half the distance, both times a power of ten. The arithmetic is of 32, 64 or
    any number of bits; with 32 and 64 the distance may overflow.
    """
    size = odd.bit_length()
    tiny = max(0, size - exponent - 1)
    mantissa = fraction / (1 << (fraction.bit_length() - 1))
    ten = math.floor((mantissa - 1.5) * 0.289529654 + 0.176091259 + exponent * 0.301029995663981)
    b5, s5 = max(0, -ten), max(0, ten)
    b2, s2 = b5 + tiny + exponent, s5 + tiny
    m2 = b2 - significant
    b2 -= size - 1
    common = min(b2, s2)
    b2, s2, m2 = b2 - common, s2 - common, m2 - common - (size == 1)
    if m2 < 0:
        b2, s2, m2 = b2 - m2, s2 - m2, 0
    needed = max(size + b2 + _bits_of_five(b5), s2 + 1 + _bits_of_five(s5 + 1))
    width = 32 if needed < 32 else 64 if needed < 64 else 0
    b, s, m = (odd * 5**b5) << b2, 5**s5 << s2, 5**b5 << m2
    tens = 10 * s

    digits: list[int] = []
    first = True
    low = high = False
    while first or not (low or high):
        digit, b = divmod(b, s)
        b, m = 10 * b, _wrapped(10 * m, width)
        if m > 0 or first:
            sum = _wrapped(b + m, width)
            low, high = b < m, sum > tens or (not width and sum == tens)
        else:
            low = high = True
        if first and digit == 0 and not high:
            ten -= 1
        else:
            digits.append(digit)
        if first and (ten < -3 or ten >= 8):
            low = high = False  # this form has a digit after the point
        first = False
    doubled = _wrapped(2 * b - tens, width)
    up = high and (not low or doubled > 0 or (doubled == 0 and digits[-1] % 2 == 1))
    return _rounded("".join(map(str, digits)), ten + 1, up)


def _rounded(digits: str, exponent: int, up: bool) -> tuple[str, int]:
    if not up:
        return digits, exponent
    more = str(int(digits) + 1).rjust(len(digits), "0")
    return (more[:-1], exponent + 1) if len(more) > len(digits) else (more, exponent)


def _bits_of_five(power: int) -> int:
    return (5**power).bit_length() * (power > 0) if power < _MOST_FIVES else 3 * power


def _wrapped(value: int, width: int) -> int:
    """Return the value as a signed integer of so many bits; 0: of any number."""
    if not width:
        return value
    half = 1 << (width - 1)
    return (value + half) % (2 * half) - half

"""Doubles and floats as Java writes them. (That Spark does so is tested beside a JVM.)"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.compile.kernels.java_numbers import old_text, text
from tests.support.terms import unhurried


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (-2.5, "-2.5"), (0.001, "0.001"), (0.0009, "9.0E-4"),
        (9999999.0, "9999999.0"), (1e7, "1.0E7"), (0.1 + 0.2, "0.30000000000000004"),
        (float("inf"), "Infinity"), (float("-inf"), "-Infinity"), (float("nan"), "NaN"), (5e-324, "4.9E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
    ],
)  # fmt: skip
def test_every_version(number: float, expected: str) -> None:
    assert text(number, single=False) == old_text(number, single=False) == expected


@pytest.mark.parametrize(
    ("number", "single", "new", "old"),
    [
        (2e23, False, "2.0E23", "1.9999999999999998E23"),
        (9223372036844775424.0, False, "9.223372036844775E18", "9.2233720368447754E18"),
        (123456792.0, True, "1.2345679E8", "1.23456792E8"),
        (3355443.25, True, "3355443.2", "3355443.2"),
        (1.401298464324817e-45, True, "1.4E-45", "1.4E-45"),
    ],
)
def test_versions_before_19_write_more_digits(number: float, single: bool, new: str, old: str) -> None:
    assert (text(number, single), old_text(number, single)) == (new, old)


@unhurried
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_names_the_number(number: float) -> None:
    assert float(text(number, single=False)) == float(old_text(number, single=False)) == number


@unhurried
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_new_text_is_never_longer(number: float) -> None:
    assert len(text(number, single=False)) <= len(old_text(number, single=False))

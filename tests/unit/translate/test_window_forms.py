"""Windows in square brackets: which form a window has, and which text a notation has for it."""

from __future__ import annotations

import pytest

from penstock.algebra.windows import UNITS, CountWindow, SlideWindow, TimeWindow, Window
from penstock.translate.window_forms import (
    WindowForm,
    duration,
    usual_forms,
    window_form,
    window_parts,
    window_template,
)

SECOND = UNITS["s"]

FORMS: list[tuple[Window, str]] = [
    (TimeWindow(10 * SECOND, 5 * SECOND), "RANGE 10s STEP 5s"),
    (TimeWindow(10 * SECOND, 10 * SECOND), "RANGE 10s TUMBLING"),
    (TimeWindow(10 * SECOND, 5 * SECOND, 60 * SECOND), "FROM NOW-70s TO NOW-1m STEP 5s"),
    (SlideWindow(10 * SECOND), "RANGE 10s"),
    (SlideWindow(10 * SECOND, 5 * SECOND), "RANGE 10s SLIDE 5s"),
    (SlideWindow(10 * SECOND, 10 * SECOND), "RANGE 10s FIXED"),
    (SlideWindow(None), "ALL"),
    (SlideWindow(1), "NOW"),
    (CountWindow(10), "TRIPLES 10"),
    (CountWindow(10, 5), "TRIPLES 10 STEP 5"),
]


@pytest.mark.parametrize(("window", "text"), FORMS, ids=[text for _, text in FORMS])
def test_usual_text(window: Window, text: str) -> None:
    assert window_form(window).value.format_map(window_parts(window, duration)) == text


def test_special_form_is_written_as_the_general_one() -> None:
    forms = usual_forms(WindowForm.STEP)
    assert window_template(TimeWindow(SECOND, SECOND), forms) == WindowForm.STEP.value


def test_notation_without_the_form() -> None:
    assert window_template(SlideWindow(None), usual_forms(WindowForm.STEP)) is None


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [(0, "0d"), (1_500, "PT0.001500S"), (2_000, "2ms"), (90 * SECOND, "90s"), (14 * UNITS["d"], "14d")],
)
def test_duration(microseconds: int, text: str) -> None:
    assert duration(microseconds) == text

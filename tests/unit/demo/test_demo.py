"""The demo's city and queries, on the embedded store."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from penstock import Engine, demo

ROWS = {
    "How wide is the way into each district, and what does it cost?": 3,
    "Which streets carry many cars, and does a camera see them?": 5,
    "From which tollgates can one drive to the market square, but not in two turns?": 5,
    "New knowledge out of old: the streets with neither gate nor camera.": 6,
}


@pytest.mark.parametrize(("question", "text"), list(demo.queries()), ids=lambda value: value[:20])
def test_each_question_has_an_answer(question: str, text: str) -> None:
    with Engine() as engine:
        engine.load(str(demo.CITY))
        assert len(engine.query(text)) == ROWS[question]


def test_the_show() -> None:
    screen = StringIO()
    demo.play(Engine, Console(file=screen, width=120))
    shown = screen.getvalue()
    assert [question for question in ROWS if question not in shown] == []
    assert "Mill Hill" in shown
    assert "\x1b" not in shown  # colours are for terminals

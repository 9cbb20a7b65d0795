"""The elements that a window holds at an instant.

time      0    1    2    2    3    5
element   a    b    c    d    e    f
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyoxigraph import NamedNode, Triple

from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, Window
from penstock.stream.log.segment import segment_of, write_part
from penstock.stream.runtime.held_elements import HeldElement, held_elements, in_window

NAMES, TIMES = "abcdef", np.array([0, 1, 2, 2, 3, 5])


@pytest.mark.parametrize(
    ("window", "instant", "held"),
    [
        (TimeWindow(2, 1), 3, "cde"),  # 1 < t <= 3
        (TimeWindow(2, 2), 3, "bcd"),  # the content of the instant 2
        (TimeWindow(2, 1, 1), 3, "bcd"),  # a window in the past
        (SlideWindow(2), 3, "cde"),
        (SlideWindow(None), 3, "abcde"),
        (CountWindow(2), 3, "de"),
        (CountWindow(3), 9, "def"),
        (CountWindow(3, 4), 5, "bcd"),  # after every fourth element
        (CountWindow(3, 4), 1, ""),
    ],
)
def test_a_window_at_an_instant(window: Window, instant: int, held: str) -> None:
    seen = in_window(TIMES, window, instant, 0)
    assert "".join(name for name, is_held in zip(NAMES, seen, strict=True) if is_held) == held


def test_dropped_elements_are_counted() -> None:
    assert in_window(np.array([5, 6, 7]), CountWindow(2, 4), 7, 2).tolist() == [True, True, False]  # numbers 3, 4, 5


def test_elements_are_read_from_segments(tmp_path: Path) -> None:
    table = pa.table({"s": ["<s:1>", "<s:2>"], "p": ["<p:1>"] * 2, "o": ['"x"@en', "<o:1>"], "ts": [2, 1]})
    part = segment_of([write_part(table, tmp_path / "part.parquet")], 1, {})
    one = Triple(NamedNode("s:2"), NamedNode("p:1"), NamedNode("o:1"))
    found = held_elements([part], SlideWindow(None), 9, 0)
    assert [element.time for element in found] == [1, 2]
    assert held_elements([part], SlideWindow(None), 9, 0, [one]) == [HeldElement(one, 1)]
    assert held_elements([], SlideWindow(None), 9, 0) == []

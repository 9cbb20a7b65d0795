"""Which windows a pattern reads, by where it stands."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from penstock.algebra.expressions import Var
from penstock.algebra.ops import UNIT, Graph, InWindow, Join, Op, StreamWindow, WindowOverride
from penstock.algebra.pattern_scope import DEFAULT_SCOPE
from penstock.algebra.windows import TimeWindow

A, B, W, V = (NamedNode(f"http://e/{name}") for name in "abwv")
ONE = TimeWindow(10, 5)
DEFAULT, NAMED = StreamWindow(A, ONE), StreamWindow(B, ONE, named=True)
WINDOW, OTHER = StreamWindow(A, ONE, name=W), StreamWindow(B, ONE, name=V)
TAGGED = StreamWindow(A, TimeWindow(20, 5), tag=1)
ALL = (DEFAULT, NAMED, WINDOW, OTHER, TAGGED)


@pytest.mark.parametrize(
    ("around", "read", "background"),
    [
        ([], (DEFAULT,), True),
        ([Graph(A, UNIT)], (DEFAULT,), True),
        ([Graph(B, UNIT)], (NAMED,), True),
        ([Graph(V, UNIT)], (), True),
        ([Graph(Var("g"), UNIT)], (DEFAULT, NAMED), True),
        ([InWindow(W, UNIT)], (WINDOW,), False),
        ([InWindow(Var("w"), UNIT)], (WINDOW, OTHER), False),
        ([InWindow(W, UNIT), Graph(B, UNIT)], (WINDOW,), False),
        ([WindowOverride(1, UNIT)], (TAGGED,), True),
        ([WindowOverride(1, UNIT), Graph(A, UNIT)], (TAGGED,), True),
        ([Graph(B, UNIT), InWindow(V, UNIT)], (OTHER,), False),
    ],
)
def test_windows_that_a_pattern_reads(around: list[Op], read: tuple[StreamWindow, ...], background: bool) -> None:
    place = DEFAULT_SCOPE
    for op in around:
        place = place.inside(op)
    assert (place.windows(ALL), place.background) == (read, background)


def test_other_operators_keep_the_pattern_scope() -> None:
    assert DEFAULT_SCOPE.inside(Join(UNIT, UNIT)) is DEFAULT_SCOPE

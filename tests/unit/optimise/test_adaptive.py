"""The order of joins follows the streams, but not every whim of theirs."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from penstock.algebra.ops import Op, Query, Select, StaticView, StreamWindow
from penstock.algebra.sse import read, write
from penstock.algebra.windows import TimeWindow
from penstock.compile.windows.window_statistics import LiveStatistics, WindowStatistics
from penstock.optimise import PredicateCounts
from penstock.optimise.adaptive import Adaptive
from penstock.optimise.cost import cost
from penstock.optimise.walk import nodes
from penstock.tuning import DEFAULT

NS = "http://example.org/"
WINDOW = StreamWindow(NamedNode(f"{NS}stream"), TimeWindow(10, 1))
A_FIRST, C_FIRST = "(bgp (?k :a ?x) (?k :b ?m) (?m :c ?y))", "(bgp (?m :c ?y) (?k :b ?m) (?k :a ?x))"
QUERY = Query(Select(), read(A_FIRST), streams=(WINDOW,))
RARE, OFTEN = 10.0, 100_000.0


def known(a: float, c: float, streamed: str = "abc", b: float = 1e6) -> LiveStatistics:
    """So many triples of each predicate, a thousand subjects; others than `streamed` are in the background."""
    counts = {name: (n, min(n, 1_000.0), min(n, 1_000.0)) for name, n in (("a", a), ("b", b), ("c", c))}
    here = {f"{NS}{name}": row for name, row in counts.items() if name in streamed}
    there = {f"{NS}{name}": row for name, row in counts.items() if name not in streamed}
    seen = WindowStatistics(WINDOW, frozenset(f"<{iri}>" for iri in here), lambda: PredicateCounts(a + b + c, here))
    return LiveStatistics(PredicateCounts(b, there), (seen,))


def plan(adaptive: Adaptive, statistics: LiveStatistics, time: int = 0) -> str:
    return write(adaptive.plan(statistics, time).query.pattern)


def test_the_order_changes_with_the_ranking(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "penstock")
    adaptive = Adaptive(QUERY)
    assert plan(adaptive, known(RARE, OFTEN)) == A_FIRST
    assert not adaptive.history
    assert plan(adaptive, known(OFTEN, RARE), 7) == C_FIRST
    (change,) = adaptive.history
    assert (change.time, write(change.before), write(change.after)) == (7, A_FIRST, C_FIRST)
    assert change.cost_before == cost(change.before, known(OFTEN, RARE))
    assert change.cost_after == cost(change.after, known(OFTEN, RARE)) < 0.8 * change.cost_before
    assert change.why == f"?k <{NS}a> ?x has 100,000 matches; when the order was chosen it had 10"
    costs = f"{change.cost_before:.3g} → {change.cost_after:.3g}"
    assert caplog.messages == [f"a new join order, cost {costs}: {change.why}"]


def test_the_join_order_stays_if_another_is_hardly_cheaper() -> None:
    adaptive = Adaptive(QUERY)
    plan(adaptive, known(1_000.0, 1_100.0))
    assert plan(adaptive, known(1_100.0, 1_000.0)) == A_FIRST
    assert plan(adaptive, known(1_200.0, 1_000.0)) == A_FIRST
    assert not adaptive.history


def test_a_slow_change_counts_from_the_last_choice() -> None:
    """No step makes much of a difference, but all of them together do."""
    adaptive = Adaptive(QUERY)
    steps = [known(1_000.0 * 1.3**i, 1_000.0 * 1.3 ** (20 - i)) for i in range(21)]
    found = [plan(adaptive, step, time) for time, step in enumerate(steps)]
    assert (found[0], found[-1]) == (A_FIRST, C_FIRST)
    assert len(adaptive.history) == 1
    assert 10 < adaptive.history[0].time < 20


def test_static_parts_follow_the_data_at_once() -> None:
    """Also where no order is worth a change: what is in a window must not be kept."""
    adaptive = Adaptive(QUERY)
    assert _kept(adaptive.plan(known(RARE, OFTEN, streamed="ac"), 0).query.pattern) == ["(bgp (?k :b ?m))"]
    assert _kept(adaptive.plan(known(RARE, OFTEN), 1).query.pattern) == []
    assert _kept(adaptive.plan(known(RARE, OFTEN, streamed="ac"), 2).query.pattern) == ["(bgp (?k :b ?m))"]


def test_without_the_rule_there_is_one_order() -> None:
    adaptive = Adaptive(QUERY, ["push_filter"])
    assert plan(adaptive, known(RARE, OFTEN)) == plan(adaptive, known(OFTEN, RARE)) == write(QUERY.pattern)
    assert not adaptive.history


def test_only_the_newest_changes_are_remembered() -> None:
    adaptive = Adaptive(QUERY)
    for time in range(DEFAULT.reorder_history + 20):
        plan(adaptive, known(RARE, OFTEN) if time % 2 else known(OFTEN, RARE), time)
    assert [change.time for change in adaptive.history] == list(range(20, DEFAULT.reorder_history + 20))


def _kept(op: Op) -> list[str]:
    return [write(node.pattern) for node in nodes(op) if isinstance(node, StaticView)]

"""What the optimiser knows of windows: sketches of different terms, the share that a window holds, and the place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyoxigraph import NamedNode

from penstock.algebra.expressions import Var
from penstock.algebra.ops import Bgp, Graph, InWindow, Join, Op, StreamWindow, TriplePattern
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, Window
from penstock.compile.windows.window_statistics import (
    LiveStatistics,
    WindowStatistics,
    content_statistics,
    turnover,
    upper_bound,
)
from penstock.model import hyperloglog
from penstock.model.hyperloglog import Sketches
from penstock.model.span import Span
from penstock.model.stretches import Stretch
from penstock.optimise import PredicateCounts, Statistics, Uniform
from penstock.optimise.cost import estimate, rows_made
from penstock.stream.log.segment import Segment, segment_of, write_part
from penstock.stream.log.stream_log import StreamLog

S, P, Q = Var("s"), NamedNode("a:p"), NamedNode("a:q")
PATTERN = TriplePattern(S, P, Var("o"))


def elements(count: int, subjects: int, predicate: str = "<a:p>", start: int = 0) -> pa.Table:
    """One a microsecond, of subjects by turns, each with an object of its own."""
    numbers = range(start, start + count)
    subject, object = [f"<a:s{i % subjects}>" for i in numbers], [f"<a:o{i}>" for i in numbers]
    return pa.table({"s": subject, "p": [predicate] * count, "o": object, "ts": list(numbers)})


@dataclass(frozen=True)
class Known:
    """A segment of a single predicate."""

    rows: int
    first: int
    last: int
    sketches: Sketches = field(default_factory=dict)
    stretches: tuple[Stretch, ...] = ()

    @property
    def predicates(self) -> dict[str, int]:
        return {"<a:p>": self.rows}


def known(count: int, subjects: int, start: int) -> Known:
    return Known(count, start, start + count - 1, hyperloglog.sketches(elements(count, subjects, start=start)))


# Sketches


@pytest.mark.parametrize("subjects", [1, 10, 300, 5_000])
def test_about_how_many_terms_are_different(subjects: int) -> None:
    counted, subject, object = hyperloglog.sketches(elements(10_000, subjects))["<a:p>"]
    assert counted == 10_000
    assert hyperloglog.estimated(subject) == pytest.approx(subjects, rel=0.25)
    assert hyperloglog.estimated(object) == pytest.approx(10_000, rel=0.25)


def test_merged_sketches_are_the_sketch_of_all() -> None:
    parts = [elements(1_000, 700, start=start) for start in (0, 500, 5_000)]
    together = hyperloglog.sketches(pa.concat_tables(parts))
    assert hyperloglog.merged(map(hyperloglog.sketches, parts)) == together


def test_predicates_are_apart() -> None:
    found = hyperloglog.sketches(pa.concat_tables([elements(100, 1), elements(1_000, 900, "<a:q>")]))
    assert hyperloglog.estimated(found["<a:p>"][1]) == pytest.approx(1, rel=0.1)
    assert hyperloglog.estimated(found["<a:q>"][1]) == pytest.approx(900, rel=0.25)


def test_a_sketch_is_the_same_in_every_release() -> None:
    _, subject, _ = hyperloglog.sketches(elements(3, 3))["<a:p>"]
    assert {at: register for at, register in enumerate(subject) if register != "0"} == SKETCH


SKETCH = {19: "2", 21: "1", 64: "1"}


@pytest.mark.parametrize(
    ("rows", "distinct", "looked_at", "expected"),
    [
        (100, 50, 100, 50),
        (10, 10, 1_000, 6.5),  # ten rows of ten terms miss some of them
        (1_000_000, 100, 10_000, 100),  # whatever came, has come often
        (1_000_000, 10_000, 10_000, 1_000_000),  # and here nothing twice
        (0, 10, 100, 0),
    ],
)
def test_terms_of_more_or_fewer_rows(rows: float, distinct: float, looked_at: float, expected: float) -> None:
    assert hyperloglog.among(rows, distinct, looked_at) == pytest.approx(expected, rel=0.05)


# In the log


def test_manifests_have_sketches(tmp_path: Path) -> None:
    segment = segment_of([write_part(elements(50, 5), tmp_path / "0.parquet")], 1, {})
    assert Segment.from_json(segment.to_json(tmp_path), tmp_path) == segment
    assert hyperloglog.estimated(segment.sketches["<a:p>"][1]) == pytest.approx(5, rel=0.1)


def test_merged_segments_have_merged_sketches(tmp_path: Path) -> None:
    log = StreamLog(tmp_path)
    for batch in range(16):
        log.append("s", "a", batch, elements(10, 1_000, start=10 * batch))
    before = hyperloglog.merged(segment.sketches for segment in log.segments("s"))
    assert log.compact("s") == 16
    (segment,) = log.segments("s")
    assert segment.sketches == before
    assert hyperloglog.estimated(segment.sketches["<a:p>"][1]) == pytest.approx(160, rel=0.25)


# Windows

# Segments of 100 elements in 100 microseconds each, [0, 99] and [100, 199]; the instant is 199.
SEGMENTS = known(100, 10, 0), known(100, 10, 100)
AT = Span(198, 199)


@pytest.mark.parametrize(
    ("window", "rows"),
    [
        (TimeWindow(50, 1), 50),
        (TimeWindow(150, 1), 150),
        (TimeWindow(50, 1, 100), 50),  # in the past
        (TimeWindow(1_000, 1), 200),
        (SlideWindow(50), 50),
        (SlideWindow(None), 200),
        (CountWindow(20), 20),
        (CountWindow(2_000), 200),
    ],
)
def test_elements_of_a_window(window: Window, rows: float) -> None:
    found = content_statistics(window, SEGMENTS, AT, Uniform)
    assert found.count(PATTERN) == pytest.approx(rows, rel=0.02)
    assert found.distinct(P, "subject") == pytest.approx(min(rows, 10), rel=0.15)


def test_statistics_over_many_instants_are_the_average_window_content() -> None:
    found = content_statistics(TimeWindow(20, 1), SEGMENTS, Span(19, 199), Uniform)
    assert found.count(PATTERN) == pytest.approx(20, rel=0.02)


def test_an_element_of_another_year_does_not_thin_out_the_others() -> None:
    stretches = Stretch(-(10**15), -(10**15), 1), Stretch(0, 199, 200)
    segment = replace(known(200, 10, 0), rows=201, first=-(10**15), stretches=stretches)
    found = content_statistics(TimeWindow(50, 1), [segment], AT, Uniform)
    assert found.count(PATTERN) == pytest.approx(50, rel=0.02)


def test_without_sketches_a_sample_tells() -> None:
    sampled = PredicateCounts(200.0, {"a:p": (200.0, 7.0, 200.0)})
    found = content_statistics(TimeWindow(50, 1), [Known(200, 0, 199)], AT, lambda: sampled)
    assert found.count(PATTERN) == pytest.approx(50)
    assert found.distinct(P, "subject") == 7.0


# Places

STREAM, WINDOW = NamedNode("a:stream"), NamedNode("a:w")
UNNAMED = StreamWindow(STREAM, TimeWindow(10, 1))
NAMED = StreamWindow(STREAM, TimeWindow(10, 1), name=WINDOW)
BACKGROUND = PredicateCounts(7.0, {"a:p": (5.0, 5.0, 1.0), "a:q": (2.0, 2.0, 1.0)})


def live(window: StreamWindow, predicates: frozenset[str] | None = frozenset({"<a:p>"})) -> LiveStatistics:
    counts = PredicateCounts(100.0, {"a:p": (100.0, 20.0, 100.0)})
    return LiveStatistics(BACKGROUND, (WindowStatistics(window, predicates, lambda: counts),))


@pytest.mark.parametrize(
    ("window", "op", "count", "streams"),
    [
        (UNNAMED, Bgp(()), 105.0, True),
        (NAMED, Bgp(()), 5.0, False),
        (NAMED, InWindow(WINDOW, Bgp(())), 100.0, True),
        (NAMED, InWindow(NamedNode("a:other"), Bgp(())), 0.0, False),
        (UNNAMED, Graph(STREAM, Bgp(())), 105.0, True),
        (UNNAMED, Graph(NamedNode("a:graph"), Bgp(())), 5.0, False),
    ],
)
def test_statistics_of_a_pattern_depend_on_its_scope(window: StreamWindow, op: Op, count: float, streams: bool) -> None:
    found: Statistics = live(window).inside(op)
    assert found.live
    assert found.count(PATTERN) == count
    assert found.streams(P) is streams


def test_a_predicate_that_no_window_has_is_static() -> None:
    found = live(UNNAMED)
    assert found.streams(P)
    assert not found.streams(Q)
    assert found.streams(Var("any"))
    assert live(UNNAMED, None).streams(Q)
    assert found.count(TriplePattern(S, Q, Var("o"))) == 2.0
    assert found.distinct(Q, "subject") == 2.0


# Over a span


@pytest.mark.parametrize(
    ("window", "span", "times"),
    [
        (SlideWindow(1), Span(0, 1_001), 1_000),  # NOW
        (SlideWindow(100), Span(0, 1_001), 10),
        (SlideWindow(None), Span(0, 1_001), 0),
        (TimeWindow(100, 100), Span(0, 100), 0),  # one instant
        (TimeWindow(100, 100), Span(0, 500), 4),
        (TimeWindow(100, 10), Span(0, 10), 0),
        (CountWindow(50), Span(0, 10), 20),
    ],
)
def test_turnover_counts_how_often_the_window_content_is_replaced(window: Window, span: Span, times: float) -> None:
    assert turnover(window, [known(1_000, 10, 0)], span) == times


def test_the_estimated_rows_of_a_join_of_windows() -> None:
    """A thousand elements a second, now and in the last ten seconds, of a hundred subjects: each of the thousand of a
    second meets a hundred."""
    second = 1_000_000
    segments = [Known(1_000, i * second, (i + 1) * second - 1, SKETCHED) for i in range(12)]
    span = Span(11 * second - 1, 12 * second - 1)
    windows = [StreamWindow(NamedNode("a:s"), window, name=NamedNode(f"a:{window.range}")) for window in (
        SlideWindow(1), SlideWindow(10 * second))]  # fmt: skip
    seen = [
        WindowStatistics(
            w,
            None,
            lambda w=w: content_statistics(w.window, segments, span, Uniform),  # type: ignore[misc]
            turnover(w.window, segments, span),
        )
        for w in windows
    ]
    statistics = LiveStatistics(PredicateCounts(0.0, {}), tuple(seen))
    first, second_ = (InWindow(w.name, Bgp((TriplePattern(S, P, Var(v)),))) for w, v in zip(windows, "xy", strict=True))  # type: ignore[arg-type]
    assert estimate(first, statistics).in_all == pytest.approx(1_000, rel=0.01)
    assert estimate(second_, statistics).in_all == pytest.approx(11_000, rel=0.01)
    assert rows_made(Join(first, second_), statistics) == pytest.approx(100_000, rel=0.3)


SKETCHED = hyperloglog.sketches(elements(1_000, 100))


def test_exact_counts_of_a_predicate() -> None:
    assert upper_bound([known(10, 1, 0), known(20, 1, 10)], "<a:p>") == 30
    assert upper_bound([known(10, 1, 0)], "<a:q>") == 0
    assert upper_bound([], "<a:p>") is None


def test_a_segment_whose_predicates_were_not_counted_is_bounded_by_its_rows() -> None:
    in_place = Segment(("gates.parquet",), 10_000_000, 0, 9, None)
    assert upper_bound([in_place], "<a:p>") == 10_000_000
    assert upper_bound([known(20, 1, 10), in_place], "<a:p>") == 10_000_020
    assert upper_bound([known(20, 1, 10), in_place], "<a:q>") == 10_000_000

"""What queries carry from one evaluation to the next: which files there are, and when they count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from penstock.spark.contents import Stream
from penstock.spark.timeline import Span
from penstock.stream.carried import Carried
from penstock.stream.rounds import Rounds
from tests.unit.runtime import FakeInputs, FakePlan, Frame, ListSink, range_of, segment, task

S = "http://e/s"


@dataclass(frozen=True)
class Left(Frame):
    """Rows, and how much is open after them."""

    count: int = 0

    def write_open(self, path: str) -> int:
        Path(path).write_text(str(self.count))
        return self.count


class Leaving(FakePlan):
    """Something begins with the first instant that is asked for, and ends with the next."""

    def evaluate(
        self, streams: Mapping[str, Stream], span: Span, before: str | None = None, final: bool = False
    ) -> Left:
        self.seen.append(({}, span))
        times = list(range_of(span, self.step)) if before is not None else []
        rows = {"time": pa.array(times, pa.int64()), "n": ['"1"'] * len(times), ".row": [True] * len(times)}
        return Left(pa.table(rows), 1 if before is None else 0)


def test_only_the_file_in_use_and_the_new_one_are_kept(tmp_path: Path) -> None:
    carried = Carried(tmp_path)
    assert carried.path("q", 0) is None
    for batches in (1, 2, 3):
        assert carried.keep("q", batches, Left(pa.table({}), batches)) == batches
    kept = [carried.path("q", batches) for batches in range(5)]
    assert [path and Path(path).read_text() for path in kept] == [None, None, "2", "3", None]
    assert (carried.path("r", 3), carried.forget("q"), carried.path("q", 3)) == (None, None, None)


def test_what_a_crash_has_left_of_a_file_is_replaced(tmp_path: Path) -> None:
    """By Spark it may be a folder."""
    carried = Carried(tmp_path)
    carried.keep("q", 1, Left(pa.table({}), 1))
    half = Path(carried.path("q", 1) or "").with_name("2.parquet")
    (half / "_temporary").mkdir(parents=True)
    carried.keep("q", 2, Left(pa.table({}), 7))
    assert half.read_text() == "7"


def test_an_end_that_could_not_be_delivered_is_not_forgotten(tmp_path: Path) -> None:
    """The window is empty by then, and only what is open asks for the evaluation."""
    sink = ListSink()
    q = task("q", S, sink=sink)
    q.plan = Leaving(emit="dstream")
    inputs = FakeInputs({S: [segment(3, 5)]}, {S: 12})
    rounds = Rounds(inputs, carried=Carried(tmp_path))
    rounds.live([q])
    assert (q.entry.open, q.entry.batches, sink.times) == (1, 1, [])
    inputs.ends[S], sink.fails = 22, True
    rounds.live([q])
    assert (q.state, q.entry.open, q.entry.batches) == ("failed", 1, 1)
    sink.fails = False
    q.resume()
    rounds.live([q])
    assert (sink.times, q.entry.open, q.entry.batches) == ([20], 0, 2)
    inputs.ends[S] = 1000
    assert not rounds.live([q])

"""Operator state between evaluations: its files, and when they count."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from penstock.spark.query.evaluation import Evaluation
from penstock.stream.evaluation.report_state import ReportState
from tests.support.runtime import FakeInputs, FakePlan, Frame, ListSink, range_of, rounds, segment, task

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

    def result(self, evaluation: Evaluation) -> Left:
        times = list(range_of(evaluation.span, self.step)) if evaluation.before is not None else []
        rows = pa.table({"time": pa.array(times, pa.int64()), "n": ['"1"'] * len(times), ".row": [True] * len(times)})
        return Left(rows, 1 if evaluation.before is None else 0)


def test_unreferenced_state_files_are_removed(tmp_path: Path) -> None:
    """A file that Spark writes is a folder."""
    carried = ReportState(tmp_path)
    (used, one), (unused, two) = (carried.keep(Left(pa.table({}), count)) for count in (1, 2))
    for name in ("half.parquet/_temporary", "whole.parquet/_SUCCESS"):
        (tmp_path / name).mkdir(parents=True)
    carried.sweep({used, "whole.parquet"})
    assert {path.name for path in tmp_path.iterdir()} == {used, "whole.parquet"}
    assert (one, two, unused != used, Path(carried.path(used)).read_text()) == (1, 2, True, "1")


def test_only_the_file_in_use_is_kept(tmp_path: Path) -> None:
    q = task("q", S)
    q.plan = Leaving(emit="dstream")
    inputs = FakeInputs({S: [segment(3, 25)]}, {S: 12})
    round = rounds(inputs, q, report_state=ReportState(tmp_path))
    for end in (12, 22, 32):
        inputs.ends[S] = end
        round.live()
        assert [file.name for file in tmp_path.iterdir()] == [name for name, _ in q.group.reached.states]


def test_an_end_that_could_not_be_delivered_is_not_forgotten(tmp_path: Path) -> None:
    """The window is empty by then, and only the open solution makes the evaluation necessary."""
    sink = ListSink()
    q = task("q", S, sink=sink)
    q.plan = Leaving(emit="dstream")
    inputs = FakeInputs({S: [segment(3, 5)]}, {S: 12})
    round = rounds(inputs, q, report_state=ReportState(tmp_path))
    round.live()
    assert (q.group.reached.open, q.entry.batches, sink.times) == (1, 0, [])
    inputs.ends[S], sink.fails = 22, True
    round.live()
    assert (q.state, q.group.reached.open, q.entry.batches) == ("failed", 1, 0)
    sink.fails = False
    q.resume()
    round.live()
    assert (sink.times, q.group.reached.open, q.entry.batches) == ([20], 0, 1)
    inputs.ends[S] = 1000
    assert not round.live()

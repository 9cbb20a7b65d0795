"""A plan that needs no Spark: windows by their definition, over what the log gives it to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.algebra.ops import Query, Select
from penstock.algebra.schedule import Schedule, schedule
from penstock.algebra.windows import CountWindow, TimeWindow, Window
from penstock.io.sinks import Batch, Position
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.evaluation import Evaluation
from tests.support.runtime import FakePlan, Frame


@dataclass(frozen=True)
class Elements:
    """A stream's elements by time, then by arrival: times and objects. So many stood before them."""

    rows: list[tuple[int, str]]
    dropped: int = 0

    @classmethod
    def read(cls, stream: StreamFiles) -> Elements:
        tables = [pq.ParquetFile(path).read(use_threads=False) for path in stream.paths]
        rows = [(row["ts"], row["o"]) for table in tables for row in table.to_pylist()]
        return cls(sorted(rows, key=lambda row: row[0]), stream.dropped)

    def visible(self, window: Window, instant: int) -> list[tuple[int, str]]:
        if isinstance(window, TimeWindow):
            at = instant - instant % window.step
            return [row for row in self.rows if at - window.range < row[0] <= at]
        assert isinstance(window, CountWindow)
        arrived = self.dropped + sum(ts <= instant for ts, _ in self.rows)
        full = arrived - arrived % window.step
        return self.rows[max(0, full - window.size - self.dropped) : max(0, full - self.dropped)]

    def changes(self, window: Window) -> set[int]:
        """When a window that counts gets new content."""
        if isinstance(window, TimeWindow):
            return set()
        assert isinstance(window, CountWindow)
        numbered = enumerate(self.rows, self.dropped + 1)
        return {ts for number, (ts, _) in numbered if number % window.step == 0}


class DefinedPlan(FakePlan):
    """Answers with all that is visible, at the instants of the real schedule."""

    def __init__(self, query: Query) -> None:
        super().__init__()
        self._query = query

    @property
    def schedule(self) -> Schedule:
        return schedule(self._query)

    def result(self, evaluation: Evaluation) -> Frame:
        elements = {name: Elements.read(stream) for name, stream in evaluation.streams.items()}
        found = self.answers(elements, evaluation.span)
        rows = [(time, row) for time, content in found.items() for row in content]
        marks = [(time, None) for time in found]
        times = pa.array([time for time, _ in [*rows, *marks]], pa.int64())
        cells = pa.array([cell for _, cell in [*rows, *marks]], pa.string())
        real = pa.array([cell is not None for cell in cells.to_pylist()], pa.bool_())
        columns = {"n": cells} if isinstance(self._query.form, Select) else {"s": cells, "p": cells, "o": cells}
        return Frame(pa.table({"time": times, **columns, ".row": real}))

    def answers(self, elements: Mapping[str, Elements], span: Span) -> dict[int, list[str]]:
        found = {}
        for time in self._times(elements, span):
            contents = [elements[s.iri.value].visible(s.window, time) for s in self._query.streams]
            if any(contents):
                found[time] = sorted(o for content in contents for _, o in content)
        return found

    def _times(self, elements: Mapping[str, Elements], span: Span) -> list[int]:
        registration = self._query.registration
        assert registration is not None
        steps = [s.window.step for s in self._query.streams if isinstance(s.window, TimeWindow)]
        steps = steps if registration.every is None else [registration.every]
        due = range(span.after + 1, span.through + 1)
        times = {t for t in due if any(t % step == 0 for step in steps)}
        if registration.every is None:
            times |= {t for s in self._query.streams for t in elements[s.iri.value].changes(s.window) if t in due}
        return sorted(times)


class KeepingSink:
    """Keeps answers; its position is how many there are. It survives a restart."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, list[str]]] = []

    def begin(self) -> Position:
        return 0

    def rewind(self, position: Position) -> None:
        del self.answers[int(position or 0) :]

    def deliver(self, batch: Batch) -> Position:
        for answer in batch.answers:
            assert answer.time is not None
            terms = (row["n"] for row in answer.rows) if answer.triples is None else (t.object for t in answer.triples)
            self.answers.append((round(answer.time.timestamp() * 1e6), sorted(map(str, terms))))
        return len(self.answers)

    def close(self) -> None: ...

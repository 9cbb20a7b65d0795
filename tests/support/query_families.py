"""A stand-in for the compiler's side of families: what each query is told can be counted by hand.

A query has a number k in its text. Its instants are the multiples of ten; at every k-th of those that it has seen it is
told how many that were. Where whole answers are reported, that is every instant at which t / 10 is a multiple of k, and
at the others the answer is empty.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from penstock.algebra import ops
from penstock.algebra.template import Constants, template
from penstock.compile.parameter_table import ParameterTable
from penstock.model.span import Span
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.query.open_intervals import OpenIntervalFiles
from penstock.stream.registry.due_instants import CompiledQuery
from penstock.stream.registry.metadata_store import QueryRecord
from penstock.stream.registry.registered_query import RegisteredQuery
from tests.support.runtime import FakePlan, range_of

S = "http://e/s"
Row = tuple[int, int, int, bool]  # time, number of the query, what it is told, whether that is anything


def text(k: int, name: str = "p") -> str:
    return f"SELECT ?n FROM STREAM <{S}> [RANGE 10ms STEP 10ms] WHERE {{ ?n <http://e/{name}> {k} }}"


def told(k: int, after: int, through: int) -> list[tuple[int, int]]:
    """Of changes: when, and how many there were by then."""
    seen = enumerate(range_of(Span(after, through), 10), 1)
    return [(time, number) for number, time in seen if number % k == 0]


@dataclass(frozen=True)
class Told:
    """What an evaluation gives."""

    rows: list[Row]
    seen: dict[int, int]
    together: bool

    def collect(self) -> pa.Table:
        times, numbers, said, real = (
            (list(column) for column in zip(*self.rows, strict=True)) if self.rows else [[]] * 4
        )
        cells = pa.array([f'"{n}"' if is_row else None for n, is_row in zip(said, real, strict=True)], pa.string())
        columns: dict[str, pa.Array[Any]] = {
            "time": pa.array(times, pa.int64()),
            "n": cells,
            ".row": pa.array(real, pa.bool_()),
        }
        if self.together:
            columns = {"time": columns.pop("time"), ".km": pa.array(numbers, pa.int64()), **columns}
        return pa.table(columns)

    def write_open(self, path: str) -> int:
        found = {str(number): seen for number, seen in self.seen.items()} if self.together else sum(self.seen.values())
        Path(path).write_text(json.dumps(found))
        return len(self.seen)


@dataclass
class Counting(FakePlan):
    """The plan of a query, or of a family."""

    query: ops.Query | None = None
    asked: list[tuple[int, ...] | None] = field(default_factory=list)

    def result(self, evaluation: Evaluation) -> Told:
        span, before, members = evaluation.span, evaluation.before, evaluation.members
        self.asked.append(None if members is None else members.numbers)
        assert self.query is not None
        if members is None:
            found = template(self.query)
            assert found is not None
            whom, seen = {0: found.constants}, _seen(before, None)
        else:
            whom, seen = dict(zip(members.numbers, members.rows, strict=True)), _seen(before, members.numbers)
        rows = [row for number, constants in whom.items() for row in self._rows(number, constants, span, seen)]
        return Told(rows, seen, members is not None)

    def _rows(self, number: int, constants: Constants, span: Span, seen: dict[int, int]) -> list[Row]:
        assert self.query is not None
        found = constants or template(self.query).constants  # type: ignore[union-attr]
        k, rows = int(cast(Any, found[-1]).value), list[Row]()
        for time in range_of(span, 10):
            seen[number] = seen.get(number, 0) + 1
            if self.emit == "rstream":
                rows.append((time, number, time // 10, time // 10 % k == 0))
            elif seen[number] % k == 0:
                rows.append((time, number, seen[number], True))
        return rows


def _seen(before: OpenIntervalFiles, whom: Sequence[int] | None) -> dict[int, int]:
    """By the numbers of the queries; a file of one query belongs to that one."""
    if before is None:
        return {}
    if whom is None:
        assert isinstance(before, str)
        return {0: int(json.loads(Path(before).read_text()))}
    found: dict[int, int] = {}
    assert not isinstance(before, str)
    for path, owner in before:
        content = json.loads(Path(path).read_text())
        held = {int(number): seen for number, seen in content.items()} if owner is None else {owner: content}
        for number in set(held) & set(whom):
            assert found.setdefault(number, held[number]) == held[number], "two files disagree on a query"
    return found


@dataclass
class Planner:
    """Counts what is asked of the compiler."""

    emit: str = "rstream"
    plans: list[Counting] = field(default_factory=list)
    released: list[CompiledQuery] = field(default_factory=list)
    tables: int = 0

    def plan(self, task: RegisteredQuery, factor: int = 1) -> CompiledQuery:
        raise AssertionError("all are of a family")

    def compiled(self, query: ops.Query, entry: QueryRecord) -> CompiledQuery:
        self.plans.append(Counting(emit=self.emit, query=query))
        return self.plans[-1]

    def members(self, numbers: Sequence[int], rows: Sequence[Constants]) -> ParameterTable:
        self.tables += 1
        return ParameterTable(numbers, rows)

    def release(self, plan: CompiledQuery) -> None:
        self.released.append(plan)

    def slice_job(self) -> None:
        """Return none: a fake plan has no slices."""

    @property
    def asked(self) -> list[tuple[int, ...] | None]:
        """For whom there were evaluations, of all plans; None: for one query by itself."""
        return [one for plan in self.plans for one in plan.asked]

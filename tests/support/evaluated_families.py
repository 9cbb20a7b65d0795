"""Queries evaluated as a family, and each on its own: span by span, with what is left open handed on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.algebra.ops import Query
from penstock.algebra.template import template
from penstock.compile.parameter_table import ParameterTable
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.views.background_tables import BackgroundTables
from tests.support.plan_under_test import continuous_query

Answers = dict[int, Counter[tuple[Any, ...]]]  # the rows of an instant; an empty answer is there, with none


@dataclass(frozen=True)
class Setting:
    """What queries are evaluated on, and how. Of rows that ORDER BY leaves equal any may come first: then what is
    `outside` of the comparison are also their places, `.order`."""

    background: BackgroundTables
    streams: Mapping[str, StreamFiles]
    spans: Sequence[Span]
    folder: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    outside: frozenset[str] = frozenset(("time", ".km", ".row"))

    def together(self, queries: Sequence[Query]) -> list[Answers]:
        """The answers of each, all from one plan. Members have numbers that are not their places."""
        templates = [made for query in queries if (made := template(query)) is not None]
        assert len(templates) == len(queries), "each query can be in a family"
        assert len({made.query for made in templates}) == 1, "they are one family"
        query, rows = templates[0].specialised([made.constants for made in templates])
        numbers = [7 + 3 * i for i in range(len(rows))]
        found = self._rows(query, ParameterTable(numbers, rows))
        return [self._answers([row for row in found if row[".km"] == number]) for number in numbers]

    def alone(self, query: Query) -> Answers:
        return self._answers(self._rows(query, None))

    def _rows(self, query: Query, members: ParameterTable | None) -> list[dict[str, Any]]:
        plan = continuous_query(query, self.background, **self.options)
        found: list[dict[str, Any]] = []
        before: Any = None
        for span in self.spans:
            evaluated = plan.evaluate(Evaluation(self.streams, span, before, span is self.spans[-1], members))
            rows = evaluated.collect()
            assert rows.column_names[:2] == ["time", ".km"] if members else ".km" not in rows.column_names
            found += rows.to_pylist()
            if members is not None and plan.emit == "rstream":  # each has an answer wherever one of them has a row
                times = set(rows.column("time").to_pylist())
                found += [{"time": time, ".km": n, ".row": False} for time in times for n in members.numbers]
            if plan.carries:
                path = str(self.folder / f"{len(list(self.folder.iterdir()))}.open.parquet")
                evaluated.write_open(path)
                before = [(path, None)] if members else path
        plan.close()
        return found

    def _answers(self, rows: list[dict[str, Any]]) -> Answers:
        answers: Answers = {}
        for row in rows:
            here = answers.setdefault(row["time"], Counter())
            if row[".row"]:
                cells = ((name, cell) for name, cell in row.items() if cell is not None and name not in self.outside)
                here[tuple(sorted(cells))] += 1
        return answers

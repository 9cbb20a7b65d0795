"""The facts that tell why a query has no answer, from a real log and without Spark."""

from __future__ import annotations

from itertools import repeat

import pytest

import penstock
from penstock.stream.runtime.query_facts import lateness_for

GATES = "http://example.org/gates"
LINE = '<http://e/g> <http://e/r> <http://e/c> "2009-07-20T08:00:{:02}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .'


@pytest.mark.parametrize(
    ("kept", "missed", "advised"),
    [
        (95, [10] * 5, None),  # 95 % have been kept
        (94, [7, 3, 9, 5, 8, 4], 103),  # one more would have been enough
        (0, range(1, 21), 119),  # nineteen of twenty
        (10, [], None),
    ],
)
def test_the_lateness_that_would_have_kept_95_per_cent(kept: int, missed: list[int], advised: int | None) -> None:
    assert lateness_for(kept, missed, 100) == advised


def test_late_and_malformed_lines_of_a_log() -> None:
    with penstock.Engine() as engine:
        engine.stream(GATES, lateness="10s")
        query = engine.register(f"SELECT * FROM STREAM <{GATES}> [RANGE 10m STEP 1m] {{ ?s ?p ?o }}", name="cars")
        engine.push(GATES, "\n".join([LINE.format(40), *map(LINE.format, (9, 8, 7)), *repeat("no element", 5)]))
        why = query.why()
    assert [reason.kind for reason in why] == ["malformed", "late", "first instant"]
    assert [text.split(", such as ")[0] for text in (why.reasons[0].text, why.reasons[1].remedy)] == [
        f"5 of 9 lines of <{GATES}> were kept aside as malformed",
        f'A lateness of 33s would have kept 95 % of them: engine.stream("{GATES}", …, lateness="33s").',
    ]
    assert [f"line {number} (" in why.reasons[0].text for number in (5, 6, 7, 8)] == [True, True, True, False]

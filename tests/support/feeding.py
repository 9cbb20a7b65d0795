"""A small stream that many tests share: cars that pass gates, one every seven seconds from 1970 on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from penstock.answer import Answer

STREAM = "http://e/gates"
OTHER = "http://e/other"
STEP = 60
COUNT = f"""SELECT ?gate (COUNT(?car) AS ?n) FROM STREAM <{STREAM}> [RANGE 2m STEP 1m]
WHERE {{ ?gate <http://e/registers> ?car }} GROUP BY ?gate"""
BUSY = f"""REGISTER STREAM <http://e/busy> AS CONSTRUCT {{ ?gate <http://e/busy> ?n }} FROM STREAM <{STREAM}>
[RANGE 2m STEP 1m] WHERE {{ SELECT ?gate (COUNT(?car) AS ?n) {{ ?gate <http://e/registers> ?car }} GROUP BY ?gate }}"""
BUSIEST = """SELECT ?gate (MAX(?n) AS ?most) FROM STREAM <http://e/busy> [RANGE 3m STEP 1m]
WHERE { ?gate <http://e/busy> ?n } GROUP BY ?gate"""

Counts = dict[int, dict[str, int]]


def line(second: int, gate: int, car: int | None = None) -> str:
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    stamp = f'"{time:%Y-%m-%dT%H:%M:%SZ}"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    return f"<http://e/gate{gate}> <http://e/registers> <http://e/car{second if car is None else car}> {stamp} .\n"


def lines(start: int, end: int) -> str:
    return "".join(line(second, second % 3) for second in range(start, end) if second % 7 == 0)


def expected(start: int, end: int, first: int, last: int) -> Counts:
    """By the minute: how many of the elements in [start, end) each gate has within two minutes, from first to last."""
    seconds = [second for second in range(start, end) if second % 7 == 0]
    counts: Counts = {}
    for now in range(first, last + 1, STEP):
        seen = [second % 3 for second in seconds if now - 120 < second <= now]
        if seen:
            counts[now] = {f"http://e/gate{gate}": seen.count(gate) for gate in sorted(set(seen))}
    return counts


def counted(answers: Iterable[Answer], name: str = "n") -> Counts:
    """Answers as `expected` has them."""
    return {_second(answer): {row["gate"].value: int(row[name].value) for row in answer.rows} for answer in answers}


def most_of(counts: Counts) -> Counts:
    """What BUSIEST says when BUSY has said this: the most of each gate within three minutes."""
    most: Counts = {}
    for now in counts:
        for time in (time for time in counts if now - 180 < time <= now):
            for gate, count in counts[time].items():
                most.setdefault(now, {})[gate] = max(count, most.get(now, {}).get(gate, 0))
    return most


def from_ndjson(lines: Iterable[Mapping[str, object]], name: str = "n") -> list[tuple[object, dict[str, int]]]:
    found = []
    for one in lines:
        rows = one["results"]["bindings"]  # type: ignore[index]
        found.append((one["time"], {row["gate"]["value"]: int(row[name]["value"]) for row in rows}))
    return found


def _second(answer: Answer) -> int:
    assert answer.time is not None
    return round(answer.time.timestamp())

"""Mappings in RML in `lift/*.test`, each with an input and the N-Quads expected of it.

    case NAME
    (the mapping in Turtle; the prefixes below are declared)
    ---- json          (or ndjson, csv, xml: the input; then options such as time=$.t)
    ----               (the N-Quads, in any order; "failed N: reason" for a message that is not lifted)

Labels of blank nodes count: they follow from the mapping. Every case runs by DuckDB and by Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.lift import Lifting
from penstock.tuning import DEFAULT
from tests.support.lifting import lines_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FOLDER = Path(__file__).with_name("lift")
PREFIXES = """
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix old: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix rml: <http://w3id.org/rml/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix atom: <http://www.w3.org/2005/Atom> .
@prefix : <http://e/> .
"""


@dataclass(frozen=True)
class Case:
    name: str
    mapping: str
    format: Any
    options: dict[str, Any]
    data: str
    expected: list[str]


def cases() -> Iterator[Case]:
    for file in sorted(FOLDER.glob("*.test")):
        for text in re.split(r"^case ", file.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            head, data, expected = re.split(r"^----", text, flags=re.MULTILINE)
            name, mapping = head.split("\n", 1)
            line, data = data.split("\n", 1)
            format, *options = line.split()
            lines = [line for line in expected.strip().splitlines() if line]
            given = dict(option.split("=", 1) for option in options)
            yield Case(f"{file.stem}: {name}", mapping, format, given, data, lines)


CASES = list(cases())


def test_cases_are_found() -> None:
    assert len(CASES) >= 25


@pytest.mark.parametrize("few", [0, 1_000], ids=["DuckDB", "Python"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, few: int) -> None:
    tuning = replace(DEFAULT, slow_messages=few)
    lifting = Lifting.from_text(PREFIXES + case.mapping, tuning=tuning, **case.options)
    lifted = lifting.apply_file(case.data.encode(), case.format)
    lines = lines_of(lifted.table)
    if "ts" in lifted.table.column_names:
        lines = [
            f"{line} {(EPOCH + timedelta(microseconds=int(time or 0))).isoformat()}"
            for line, time in zip(lines, lifted.table.column("ts").to_pylist(), strict=True)
        ]
    failures = [f"failed {failure.message}: {failure.reason}" for failure in lifted.failures]
    assert sorted(lines) + failures == sorted(case.expected[: len(lines)]) + case.expected[len(lines) :]

"""Every .rsp file below this folder is a test: a stream, a query, and answers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock import Engine, logic
from tests.support.documents import blocks, pages_with

HERE = Path(__file__).parent
FILES = sorted(HERE.rglob("*.rsp"))
DOCUMENTED = [text for page in pages_with("rsp") for text in blocks(page, "rsp")]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(HERE).with_suffix("")))
def test_logic(spark: SparkSession, file: Path) -> None:
    with Engine(spark=spark) as engine:
        mismatches = logic.run(logic.read_file(file), engine)
    assert not mismatches, "\n\n".join(["", *map(str, mismatches)])


def test_a_wrong_expectation_is_noticed(spark: SparkSession) -> None:
    wrong = (HERE / "csparql" / "cars_per_gate.rsp").read_text("utf-8").replace(":gate1 1", ":gate1 7")
    with Engine(spark=spark) as engine:
        mismatches = logic.run(logic.read(wrong), engine)
    assert [mismatch.message.partition("\n")[0] for mismatch in mismatches] == [
        "1:00: another answer than expected",
        "12:00: another answer than expected",
    ]


@pytest.mark.parametrize("text", DOCUMENTED)
def test_documented(spark: SparkSession, text: str) -> None:
    with Engine(spark=spark) as engine:
        assert [str(mismatch) for mismatch in logic.run(logic.read(text), engine)] == []

"""What `make demo` shows is what another engine answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from penstock import Answer, Engine, demo


@pytest.fixture(scope="module")
def engines(spark: SparkSession) -> Iterator[tuple[Engine, Engine]]:
    with Engine(background="spark", spark=spark) as ours, Engine() as theirs:
        for engine in (ours, theirs):
            engine.load(str(demo.CITY))
        yield ours, theirs


@pytest.mark.parametrize("text", [text for _, text in demo.queries()])
def test_spark_answers_the_demo_as_oxigraph_does(engines: tuple[Engine, Engine], text: str) -> None:
    ours, theirs = (content(engine.query(text)) for engine in engines)
    assert ours == theirs
    assert ours


def content(answer: Answer) -> object:
    """All queries with rows are ordered, and no two rows tie."""
    return list(map(dict, answer.rows)) if answer.triples is None else set(answer.triples)

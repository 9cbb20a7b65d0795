"""Query families on Spark: each query gets the answers that it would get alone, in one job for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from penstock import Engine
from penstock.answer import Answer
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from tests.support.feeding import STREAM, lines

WINDOW = f"FROM STREAM <{STREAM}> [RANGE 2m STEP 1m]"
CarsByMinute = dict[int, list[str]]  # by the minute, sorted


def cars(gate: int) -> str:
    return f"SELECT ?car {WINDOW} WHERE {{ <http://e/gate{gate}> <http://e/registers> ?car }}"


def holds(gate: int, minute: int, end: int) -> set[str]:
    """The elements of a gate in the window, when all elements before `end` have arrived."""
    seconds = range(max(0, minute * 60 - 119), min(minute * 60 + 1, end))
    return {f"http://e/car{second}" for second in seconds if second % 7 == 0 and second % 3 == gate}


def expected_cars(gate: int, minutes: Iterable[int], end: int) -> CarsByMinute:
    return {minute: sorted(holds(gate, minute, end)) for minute in minutes}


def expected_new_cars(gate: int, minutes: Iterable[int], end: int) -> CarsByMinute:
    found = {minute: sorted(holds(gate, minute, end) - holds(gate, minute - 1, end)) for minute in minutes}
    return {minute: cars for minute, cars in found.items() if cars}


def cars_by_minute(answers: Iterable[Answer]) -> CarsByMinute:
    return {minute(answer): sorted(row["car"].value for row in answer.rows) for answer in answers}


def minute(answer: Answer) -> int:
    assert answer.time is not None
    return round(answer.time.timestamp()) // 60


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For how many queries each evaluation was."""
    found: list[int] = []
    evaluate: Callable[..., Any] = ContinuousQuery.evaluate

    def counted(self: ContinuousQuery, evaluation: Evaluation) -> Any:
        found.append(1 if evaluation.members is None else len(evaluation.members.numbers))
        return evaluate(self, evaluation)

    monkeypatch.setattr(ContinuousQuery, "evaluate", counted)
    return found


def test_a_run_answers_a_family_in_one_evaluation(spark: SparkSession, tmp_path: Path, evaluations: list[int]) -> None:
    """Also if one of them has a folder of Parquet for a sink, another a function, and two are the same."""
    called: list[Answer] = []
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, lines(0, 300).splitlines(keepends=True))
        kept = [engine.register(cars(gate)) for gate in (0, 1, 1)]
        engine.register(cars(2), sink=called.append)
        engine.register(cars(0), sink=f"{tmp_path}/answers/")
        nobody = engine.register(cars(7))
        engine.run()
        assert evaluations == [6]
        for gate, query in zip((0, 1, 1), kept, strict=True):
            assert cars_by_minute(query.answers()) == expected_cars(gate, range(6), 300)
            assert query.status.answers == 6
        assert cars_by_minute(called) == expected_cars(2, range(6), 300)
        assert {answer.query for answer in called} == {"query-4"}
        assert cars_by_minute(nobody.answers()) == {minute: [] for minute in range(6)}
        table = pq.read_table(tmp_path / "answers")
        assert sorted(map(str, table.column("car").to_pylist())) == sorted(
            f"<{car}>" for cars in expected_cars(0, range(6), 300).values() for car in cars
        )


@pytest.mark.parametrize("form", ["CONSTRUCT", "ASK", "count"])
def test_other_forms(form: str, spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM, lines(0, 200).splitlines(keepends=True))
        text = {
            "CONSTRUCT": cars(0).replace("SELECT ?car", "CONSTRUCT { <http://e/gate0> <http://e/saw> ?car }"),
            "ASK": cars(0).replace("SELECT ?car", "ASK"),
            "count": cars(0).replace("?car FROM", "(COUNT(*) AS ?n) FROM"),
        }[form]
        queries = {gate: engine.register(text.replace("gate0", f"gate{gate}")) for gate in (0, 1, 7)}
        engine.run()
        for gate, query in queries.items():
            found = {minute(answer): answer for answer in query.answers()}
            expected = expected_cars(gate, range(5), 200)
            assert list(found) == list(expected)
            for at, answer in found.items():
                if form == "CONSTRUCT":
                    assert answer.triples is not None
                    assert {str(triple.subject) for triple in answer.triples} <= {f"<http://e/gate{gate}>"}
                    assert sorted(triple.object.value for triple in answer.triples) == expected[at]  # type: ignore[union-attr]
                elif form == "ASK":
                    assert answer.boolean is bool(expected[at])
                else:
                    assert answer.rows[0]["n"].value == str(len(expected[at]))


def test_family_members_are_added_dropped_and_paused_live(spark: SparkSession, evaluations: list[int]) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(STREAM)
        first, second = (engine.register(cars(gate), emit="istream") for gate in (0, 1))
        engine.start()
        engine.push(STREAM, lines(0, 200))
        engine.flush()
        third = engine.register(cars(2), emit="istream")
        second.pause()
        engine.push(STREAM, lines(200, 400))
        engine.flush()
        second.resume()
        engine.push(STREAM, lines(400, 600))
        engine.flush()
        evaluations.clear()
        engine.push(STREAM, lines(600, 800))
        engine.flush()
        assert evaluations == [3]
        third.drop()
        engine.push(STREAM, lines(800, 900))
        engine.stop()
        assert evaluations == [3, 2]
        ends = {0: range(15), 1: range(15)}
        for query, gate in ((first, 0), (second, 1)):
            assert cars_by_minute(query.answers()) == expected_new_cars(gate, ends[gate], 900)
        assert cars_by_minute(third.answers()) == {
            4: sorted(holds(2, 4, 900)),
            **expected_new_cars(2, range(5, 14), 900),
        }

"""A run over little input with rounds in this process: Java is not started, and the answers are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import Engine
from penstock.errors import SetupError
from penstock.spark.session import session

GATES, BACKGROUND = "http://e/gates", "<http://e/g1> <http://e/in> <http://e/harbour> ."
QUERIES = {
    "a join with the background": """SELECT ?place (COUNT(*) AS ?n) FROM STREAM <http://e/gates> [RANGE 10s STEP 5s]
        { ?gate <http://e/sees> ?car . ?gate <http://e/in> ?place } GROUP BY ?place""",
    "OPTIONAL": """SELECT ?car ?place FROM STREAM <http://e/gates> [RANGE 10s STEP 5s]
        { ?gate <http://e/sees> ?car OPTIONAL { ?gate <http://e/in> ?place } }""",
    "ISTREAM": """SELECT ?car FROM NAMED <http://e/gates> [RANGE 10 seconds] AS ?w
        { GRAPH ?w { ?gate <http://e/sees> ?car } }""",
    "a sequence": """SELECT ?a ?b { { ?a <http://e/sees> ?car } SEQ { ?b <http://e/sees> ?car }
        FILTER (getDURATION() < "PT1H"^^<http://www.w3.org/2001/XMLSchema#duration>) }""",
}


def line(second: int, gate: str, car: str) -> str:
    time = f'"2009-07-20T08:00:{second:02}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    return f"<http://e/{gate}> <http://e/sees> <http://e/{car}> {time} .\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "gates.nq").write_text(line(1, "g1", "a") + line(2, "g2", "a") + line(7, "g1", "b"))
    (tmp_path / "city.nt").write_text(BACKGROUND)

    def refuse(*_: object, **__: object) -> None:
        raise SetupError("Spark was started")

    monkeypatch.setattr(session, "start", refuse)
    return tmp_path


def answers(files: Path, rounds: str, text: str) -> int:
    with Engine(rounds=rounds) as engine:  # type: ignore[arg-type]
        engine.load(files / "city.nt")
        engine.stream(GATES, files / "gates.nq")
        query = engine.register(text)
        engine.run()
        return sum(len(answer.rows) for answer in query.answers())


@pytest.mark.parametrize("name", QUERIES)
def test_a_small_run_in_this_process_starts_no_java(files: Path, name: str) -> None:
    expected = {"a join with the background": 2, "OPTIONAL": 5, "ISTREAM": 3, "a sequence": 1}
    assert answers(files, "auto", QUERIES[name]) == expected[name]


def test_rounds_of_spark_start_it(files: Path) -> None:
    with pytest.raises(SetupError, match="Spark was started"):
        answers(files, "spark", QUERIES["OPTIONAL"])

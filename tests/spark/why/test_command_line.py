"""`penstock why` and a `penstock run` without an answer, on Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from penstock import Engine, cli
from tests.support.feeding import COUNT, STREAM, lines

NO_ANSWER = (
    f"1. ?gate <http://e/register> ?car matches nothing at any instant, neither in the 29 elements of <{STREAM}> nor "
    "in the background: the predicate <http://e/register> does not occur there. "
    "There is <http://e/registers> (it is spelled nearly so).\n"
)
MADE = """# ?gate = <http://e/gate0>, ?n = "1"^^<http://www.w3.org/2001/XMLSchema#integer> at 1970-01-01T00:00:00Z
<http://e/gate0> <http://e/registers> <http://e/car0> .  # <http://e/gates> at 1970-01-01T00:00:00Z
"""


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.app, list(map(str, arguments)))


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    """Files of a query, of one that misses the data, and of a stream; the command line shares the tests' session."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_START", "plain")
    Path("count.rq").write_text(COUNT)
    Path("wrong.rq").write_text(COUNT.replace("registers", "register"))
    Path("gates.nq").write_text(lines(0, 200))


def test_a_run_without_an_answer_says_why() -> None:
    result = command("run", "wrong.rq", "--stream", f"{STREAM}=gates.nq", "--format", "ndjson")
    assert result.exit_code == 0
    assert result.stderr == f"wrong has no answer:\n{NO_ANSWER}"


def test_why_of_a_file_has_the_same_reason() -> None:
    assert command("why", "wrong.rq", "--stream", f"{STREAM}=gates.nq").stdout == NO_ANSWER


def test_provenance_of_the_answers_of_an_instant_in_a_checkpoint(spark: SparkSession) -> None:
    with Engine(spark=spark, checkpoint="state") as engine:
        engine.stream(STREAM, "gates.nq")
        engine.register(COUNT, name="count")
        engine.run()
    assert command("why", "count", "--checkpoint", "state", "--at", "1970-01-01T00:00:00Z").stdout == MADE
    wrong = command("why", "count", "--checkpoint", "state", "--at", "noon")
    assert (wrong.exit_code, wrong.stderr) == (2, "--at noon: write the time as 2009-07-20T08:05:00Z\n")

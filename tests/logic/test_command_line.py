"""Streams through the command line and `penstock.testing`, on the real engine."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from penstock import Engine, cli
from penstock.testing import ABORT, PAUSE, TestSource, line, snapshots

ROOT = Path(__file__).parents[2]
STREAM = "http://example.org/s"
SUMS = f"SELECT (SUM(?n) AS ?sum) FROM STREAM <{STREAM}> [RANGE 1m TUMBLING] WHERE {{ ?s ?p ?n }}"


def test_the_readme_shows_what_streams_give(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, *consoles = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert len(consoles) == 2  # queries with their streams, and a project file
    for console in consoles:
        command, _, shown = console.replace("\\\n", " ").removeprefix("$ ").partition("\n")
        result = CliRunner().invoke(cli.app, shlex.split(command)[1:])
        assert (result.stdout, result.stderr, result.exit_code) == (shown, "", 0)


def test_a_mistake_is_exit_2_with_a_caret(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "sums.rq").write_text(SUMS.replace("TUMBLING", "STEP 0s"))
    (tmp_path / "s.nq").write_text(number(1))
    result = CliRunner().invoke(cli.app, ["run", str(tmp_path / "sums.rq"), "-s", f"{STREAM}={tmp_path / 's.nq'}"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "^" in result.stderr.splitlines()[2]


def test_penstock_test_on_real_files(spark: SparkSession) -> None:
    result = CliRunner().invoke(cli.app, ["test", str(ROOT / "tests" / "logic" / "features" / "tumbling.rsp")])
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "1 test, all as expected")


def number(value: int) -> str:
    """One at the 30th second of each minute."""
    triple = Triple(NamedNode("http://example.org/a"), NamedNode("http://example.org/v"), Literal(value))
    return line(60 * value - 30, triple)


def test_an_interrupted_source_gives_the_same_answers(spark: SparkSession, tmp_path: Path) -> None:
    """Stopped at a pause, aborted, and started again each time: as if nothing had happened."""
    source = TestSource([number(1), PAUSE, number(2), ABORT, number(3), number(4)])
    with Engine(spark=spark, checkpoint=tmp_path) as engine:
        engine.stream(STREAM, source)
        query = engine.register(SUMS)
        for halt in (1, 2, 3):
            engine.start()
            source.wait(halt)
            engine.flush()
            engine.stop()
        kept = snapshots(query.answers())
    integers = {value: f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>' for value in range(1, 4)}
    assert kept == {f"{value}:00": [text] for value, text in integers.items()}  # nothing says yet that 4:00 is over

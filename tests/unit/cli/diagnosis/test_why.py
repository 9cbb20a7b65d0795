"""`penstock why` on a checkpoint that no element has come to, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import penstock
from penstock import cli

GATES = "http://example.org/gates"
TEXT = f"SELECT ?g FROM STREAM <{GATES}> [RANGE 10m STEP 1m] WHERE {{ ?g <http://e/r> ?c }}"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.app, ["why", *map(str, arguments)])


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    with penstock.Engine(checkpoint=folder) as engine:
        engine.stream(GATES)
        engine.register(TEXT, name="cars")
    return folder


def test_why_a_query_of_a_checkpoint_has_no_answer(checkpoint: Path) -> None:
    result = run("cars", "--checkpoint", checkpoint)
    assert result.stdout == (
        f"1. Nothing has come to <{GATES}>: it has no source but pushes. "
        f'Push elements with engine.push("{GATES}", …), or declare a source for it.\n'
    )
    assert result.exit_code == 0


def test_a_query_that_the_checkpoint_does_not_have(checkpoint: Path) -> None:
    result = run("car", "--checkpoint", checkpoint)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{checkpoint}: the checkpoint has no query car; it has cars\n"


def test_a_checkpoint_of_a_running_engine(checkpoint: Path) -> None:
    with penstock.Engine(checkpoint=checkpoint) as engine:
        assert [query.name for query in engine.queries] == ["cars"]
        result = run("cars", "--checkpoint", checkpoint)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.endswith('To ask while it runs, call engine["cars"].why() in its process.\n')


def test_a_folder_that_is_no_checkpoint(tmp_path: Path) -> None:
    result = run("cars", "--checkpoint", tmp_path / "nowhere")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"{tmp_path / 'nowhere'} is not a checkpoint: give the folder of --checkpoint or of Engine(checkpoint=…)\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["cars", "--checkpoint", "state", "--stream", f"{GATES}=tcp://localhost:7"],
            "--stream is for a query file: a checkpoint has its streams\n",
        ),
        (
            ["cars.rq", "--stream", f"{GATES}=tcp://localhost:7"],
            "why reads streams to their end: give files or folders\n",
        ),
    ],
)
def test_wrong_options(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cars.rq").write_text(TEXT)
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (2, message)


def test_help_has_examples() -> None:
    assert "penstock why cars --checkpoint state/ --background city.ttl\n" in run("-h").stdout

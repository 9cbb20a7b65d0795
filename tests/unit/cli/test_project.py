"""`penstock run p.toml` and `penstock check p.toml`: arguments, exit codes, and when the file is read again. No JVM."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from penstock import Engine, cli
from penstock.cli import output
from penstock.cli.project.run_project import ProjectRun
from penstock.project import read_project

S = "http://e/s"
TEXT = f"""[[stream]]\niri = '{S}'\n[[register]]\nname = 'q'
text = 'SELECT ?s FROM STREAM <{S}> [RANGE 1m STEP 1m] WHERE {{ ?s ?p ?o }}'\n"""


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli.app, [*arguments])
    return result.exit_code, result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["p.toml", "q.rq"], "p.toml is a project file, which stands alone: its queries are in it\n"),
        (["q.rq", "--watch"], "--watch is for a project file, as in penstock run city.toml --watch\n"),
        (["p.toml", "--checkpoint", "d"], "--checkpoint is not for project files: the file says it\n"),
        (["p.toml", "-b", "d.ttl"], "--background is not for project files: the file says it\n"),
        (
            ["p.toml", "-f", "json"],
            "json has no column for the instant of an answer: for streams use table, ndjson, csv\n",
        ),
        (["none.toml"], "none.toml: the file cannot be read: No such file or directory\n"),
    ],
)
def test_wrong_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(TEXT)
    assert run("run", *arguments) == (2, message)


def test_a_file_that_is_missing_is_told_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(f"[[load]]\nsource = 'none.ttl'\n{TEXT}")
    code, told = run("run", str(file))
    assert code == 2
    assert told.startswith(f"{file}, line 2, column 10: {tmp_path}/none.ttl does not exist\n")


def test_check_prints_every_table_and_then_the_errors(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(f"[[load]]\nsource = 'none.ttl'\n{TEXT}")
    result = CliRunner().invoke(cli.app, ["check", str(file)])
    assert [line.split()[:2] for line in result.stdout.splitlines()[1:4]] == [
        ["wrong", "load"], ["OK", "stream"], ["OK", "register"]
    ]  # fmt: skip
    assert result.stderr.startswith(f"{file}, line 2, column 10: ")
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("watch", "asked", "changed", "reloads"),
    [(True, False, True, 1), (True, False, False, 0), (False, False, True, 0), (False, True, False, 1)],
)
def test_when_the_file_is_read_again(tmp_path: Path, watch: bool, asked: bool, changed: bool, reloads: int) -> None:
    (tmp_path / "p.toml").write_text(TEXT)
    job = ProjectRun.of(read_project(tmp_path / "p.toml"), output.Format.table, follow=True, watch=watch)
    calls: list[str] = []
    job.reloader = cast(Any, SimpleNamespace(is_changed=lambda: changed, reload=lambda: calls.append("reload")))
    if asked:
        job.asked.set()
    job.between_looks(cast(Any, None))
    assert len(calls) == reloads
    assert not job.asked.is_set()


def test_a_run_declares_everything_and_then_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def pretend(engine: Engine) -> None:
        seen.append((list(engine.status.streams), [query.name for query in engine.queries]))
        seen.append(len(engine.query("SELECT * { ?s ?p ?o }").rows))

    monkeypatch.setattr(Engine, "run", pretend)
    (tmp_path / "a.nt").write_text("<http://e/a> <http://e/b> <http://e/c> .\n")
    (tmp_path / "p.toml").write_text(f"[[load]]\nsource = 'a.nt'\n{TEXT}sink = 'answers.csv'\n")
    assert run("run", str(tmp_path / "p.toml")) == (0, "")
    assert seen == [([S], ["q"]), 1]


def test_a_project_without_a_query_is_told(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(f"[[stream]]\niri = '{S}'\n")
    message = f"{tmp_path}/p.toml: there is no query to run: add a table [[register]]\n"
    assert run("run", str(tmp_path / "p.toml")) == (2, message)

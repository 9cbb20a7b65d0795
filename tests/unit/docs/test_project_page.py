"""The page about project files shows what `penstock check` prints, and its TOML is a project but for the files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock import cli
from penstock.project.calls import CALLS
from tests.support.documents import DOCS, ROOT, blocks

PAGE = DOCS / "how-to" / "project-file.md"


def plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def test_a_check_that_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    command, _, shown = blocks(PAGE, "console")[0].removeprefix("$ ").partition("\n")
    result = CliRunner().invoke(cli.app, command.split()[1:])
    assert (plain(result.stdout), result.stderr, result.exit_code) == (plain(shown), "", 0)


def test_a_check_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cat, check = blocks(PAGE, "console")[1].removeprefix("$ ").split("\n$ ")
    name, _, text = cat.removeprefix("cat ").partition("\n")
    Path(name).write_text(text)
    command, _, shown = check.partition("\n")
    result = CliRunner().invoke(cli.app, command.split()[1:])
    assert (result.stdout, plain(result.stderr), result.exit_code) == ("", plain(shown), 2)


def test_keys_that_are_shown_exist() -> None:
    (text,) = blocks(PAGE, "toml")
    for name, tables in tomllib.loads(text).items():
        for table in tables if isinstance(tables, list) else [tables]:
            assert {*table} <= {*CALLS[name].keys}


def test_the_readme_shows_the_file_of_the_city() -> None:
    (shown,) = blocks(ROOT / "README.md", "toml")
    assert (ROOT / "src/penstock/data/city.toml").read_text("utf-8").endswith(shown)

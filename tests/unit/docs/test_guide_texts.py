"""What the guide to streams shows besides Python: queries that parse, and commands with what they print."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock import cli
from penstock.algebra.build import translate

GUIDE = (Path(__file__).parents[3] / "docs" / "streams.md").read_text("utf-8")
QUERIES = re.findall(r"```sparql\n(.*?)```", GUIDE, re.DOTALL)
(CONSOLE,) = re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)


EMITS = ["intervals", "istream", "istream", None, "intervals"]


@pytest.mark.parametrize(("text", "emit"), list(zip(QUERIES, EMITS, strict=True)))
def test_queries(text: str, emit: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert translate(f"PREFIX : <http://example.org/> {text}").emit == emit


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown, *commands = [text.partition("\n") for text in CONSOLE.split("$ ")[1:]]
    Path(shown[0].removeprefix("cat ")).write_text(shown[2])
    for command, _, expected in commands:
        result = CliRunner().invoke(cli.app, command.split()[1:])
        assert result.stdout + result.stderr == expected
    assert len(commands) == 2


@pytest.mark.parametrize("window", re.findall(r"`(WINDOW (?:RANGE|ELEMS)[^`{]*)`", GUIDE))
def test_windows_of_streaming_sparql(window: str) -> None:
    assert translate(f"ASK FROM STREAM <urn:s> {window} {{ ?x ?y ?z }}").emit == "intervals"


@pytest.mark.parametrize("window", sorted(set(re.findall(r"`(\[[A-Z][^\]`]*\])`", GUIDE))))
def test_windows_in_brackets(window: str) -> None:
    assert translate(f"ASK {{ STREAM <urn:s> {window} {{ ?x ?y ?z }} }}").streams
    assert translate(f"ASK FROM NAMED WINDOW <urn:w> ON <urn:s> {window} {{ WINDOW <urn:w> {{ ?x ?y ?z }} }}").streams

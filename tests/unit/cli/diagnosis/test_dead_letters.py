"""`penstock dead`: the dead letters of a checkpoint, without Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import penstock
from penstock import cli

GATES, ROOMS = "http://example.org/gates", "http://example.org/rooms"
LINE = '<http://e/g> <http://e/r> <http://e/c> "2009-07-20T08:00:{:02}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .'


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.app, ["dead", *map(str, arguments)])


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    with penstock.Engine(checkpoint=folder) as engine:
        engine.stream(GATES, lateness="10s")
        engine.stream(ROOMS)
        engine.push(GATES, "\n".join([LINE.format(30), LINE.format(5)]))
        engine.push(ROOMS, "no\x1b[2J N-Quads")
    return folder


def test_letters_as_text(checkpoint: Path) -> None:
    result = run(checkpoint)
    assert result.exit_code == 0
    late, late_text, malformed, malformed_text = result.stdout.splitlines()
    assert late == f"late  {GATES}: the stream was complete before 2009-07-20T08:00:20Z when it came"
    assert late_text == f"    {LINE.format(5)}"
    assert malformed.startswith(f"malformed  {ROOMS}, line 1: ")
    assert malformed_text == "    no\\u001B[2J N-Quads"


def test_letters_as_ndjson(checkpoint: Path) -> None:
    result = run(checkpoint, "--format", "ndjson", "--stream", GATES)
    assert result.exit_code == 0
    record = json.loads(result.stdout)
    assert record.pop("set_aside").endswith("Z")
    assert record == {
        "stream": GATES,
        "kind": "late",
        "text": LINE.format(5),
        "reason": "the stream was complete before 2009-07-20T08:00:20Z when it came",
        "time": "2009-07-20T08:00:05Z",
        "source": None,
        "line": None,
    }


def test_the_letters_of_one_stream(checkpoint: Path) -> None:
    assert run(checkpoint, "--stream", ROOMS).stdout.count("malformed") == 1
    result = run(checkpoint, "--stream", "http://example.org/gate")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"{checkpoint}: the checkpoint has no stream <http://example.org/gate>; it has <{GATES}>, <{ROOMS}>\n"
    )


def test_a_long_text_is_cut_off(tmp_path: Path) -> None:
    with penstock.Engine(checkpoint=tmp_path) as engine:
        engine.stream(GATES)
        engine.push(GATES, "x" * 100_000)
    lines = run(tmp_path).stdout.splitlines()
    assert max(map(len, lines)) < 1000
    assert lines[1].endswith("…")
    assert len(json.loads(run(tmp_path, "--format", "ndjson").stdout)["text"]) == 100_000


def test_no_letters_are_no_error(tmp_path: Path) -> None:
    with penstock.Engine(checkpoint=tmp_path) as engine:
        engine.stream(GATES)
    result = run(tmp_path)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "there are no dead letters\n")


@pytest.mark.parametrize("name", ["empty", "nowhere", "file"])
def test_a_folder_that_is_no_checkpoint(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    result = run(tmp_path / name)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"{tmp_path / name} is not a checkpoint: give the folder of --checkpoint or of Engine(checkpoint=…)\n"
    )
    assert not (tmp_path / "nowhere").exists()
    assert list((tmp_path / "empty").iterdir()) == []


def test_a_damaged_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry" / "registry.sqlite").write_bytes(b"no database at all" * 100)
    result = run(tmp_path)
    assert result.exit_code == 1
    assert result.stderr == f"{tmp_path}: the checkpoint cannot be read: file is not a database\n"


def test_help_has_examples() -> None:
    assert "penstock dead state/ --stream http://streams.org/citytollgates.trdf --format ndjson\n" in run("-h").stdout


def test_it_reads_beside_a_running_engine(tmp_path: Path) -> None:
    with penstock.Engine(checkpoint=tmp_path) as engine:
        engine.stream(GATES)
        engine.push(GATES, "bad")
        assert run(tmp_path).stdout.startswith(f"malformed  {GATES}, line 1: ")


def test_it_does_not_import_spark(checkpoint: Path) -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from penstock import cli; "
        f"print(CliRunner().invoke(cli.app, ['dead', {str(checkpoint)!r}]).exit_code, 'pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0 False\n"

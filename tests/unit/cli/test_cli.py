"""The command line with an engine that only pretends, so that no store and no JVM is needed."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
import typer
from pyoxigraph import Literal, NamedNode, Triple
from typer.testing import CliRunner

from penstock import Engine, cli
from penstock.answer import Answer
from penstock.cli import base, engines
from penstock.cli.diagnosis import doctor
from penstock.errors import LoadError, PenstockError, QueryError, SetupError, TextPlace
from penstock.tuning import DEFAULT

WRITABLE = "Give a folder that can be written."
DURATION = 'is not a duration: write one as 10s, 500ms, 5m, 2h, 1d, "2 minutes" or PT1H'
UNKNOWN = (
    "there is no such option; there are entailment, retention, rounds, rules, duplicates, emit, overload, "
    "and Spark's (spark.…)"
)
CAR = NamedNode("http://example.org/car")
ANSWERS = {
    "SELECT": Answer.solutions(["car", "n"], [{"car": CAR, "n": Literal(3)}, {"car": CAR}]),
    "ASK": Answer.ask(True),
    "CONSTRUCT": Answer.graph([Triple(CAR, NamedNode("http://example.org/is"), Literal("réd"))]),
}


class FakeEngine:
    """Answers by the first word of the query."""

    def __init__(self) -> None:
        self.loaded: list[tuple[str, str | None]] = []
        self.bases: list[str | None] = []
        self.closed = False

    def __enter__(self) -> FakeEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.closed = True

    def load(self, path: str, graph: str | None = None) -> None:
        if path == "broken.ttl":
            raise LoadError("broken.ttl, line 3: expected a dot")
        self.loaded.append((path, graph))

    def query(self, text: str, base: str | None = None) -> Answer:
        self.bases.append(base)
        word = text.split()[0]
        if word == "INTERRUPT":
            raise KeyboardInterrupt
        if word not in ANSWERS:
            raise QueryError("unknown word", place=TextPlace(1, 1, text, len(word)), hint="did you mean SELECT?")
        return ANSWERS[word]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    fake = FakeEngine()
    monkeypatch.setattr(engines, "open_engine", lambda *_, **__: fake)
    return fake


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for word in (*ANSWERS, "SLECT", "INTERRUPT"):
        (tmp_path / f"{word.lower()}.rq").write_text(f"{word} it")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, stdin: str | None = None) -> Any:
    return CliRunner().invoke(cli.app, ["run", *arguments], input=stdin)


def test_a_table_is_the_default(engine: FakeEngine, folder: Path) -> None:
    result = run("select.rq")
    assert result.exit_code == 0
    assert result.stdout == f"{ANSWERS['SELECT']}".rstrip("\n") + "\n"
    assert result.stderr == ""
    assert engine.closed


def test_background_and_graphs(engine: FakeEngine, folder: Path) -> None:
    (folder / "a=b.ttl").touch()
    result = run("ask.rq", "-b", "c.ttl", "--background", "http://x/?q=1=d.ttl", "-b", "a=b.ttl", "-b", "u:g=a=b.ttl")
    assert result.exit_code == 0
    assert engine.loaded == [("c.ttl", None), ("d.ttl", "http://x/?q=1"), ("a=b.ttl", None), ("a=b.ttl", "u:g")]


@pytest.mark.parametrize(
    ("query", "format", "expected"),
    [
        ("select", "json", ANSWERS["SELECT"].to_json() + "\n"),
        ("select", "csv", "car,n\r\nhttp://example.org/car,3\r\nhttp://example.org/car,\r\n"),
        ("select", "tsv", ANSWERS["SELECT"].to_tsv()),
        ("ask", "json", '{"head":{},"boolean":true}\n'),
        ("construct", "ntriples", '<http://example.org/car> <http://example.org/is> "réd" .\n'),
    ],
)
def test_formats(engine: FakeEngine, folder: Path, query: str, format: str, expected: str) -> None:
    result = run(f"{query}.rq", "--format", format)
    assert (result.exit_code, result.stdout_bytes.decode()) == (0, expected)


@pytest.mark.parametrize(
    ("query", "format", "instead"),
    [
        ("ask", "csv", "csv cannot hold the answer to an ASK query: use table, ndjson, json, xml"),
        ("construct", "json", "CONSTRUCT or DESCRIBE query: use table, ndjson, ntriples, nquads"),
        ("select", "ntriples", "a SELECT query: use table, ndjson, json, csv, tsv, xml"),
    ],
)
def test_formats_that_do_not_fit(engine: FakeEngine, folder: Path, query: str, format: str, instead: str) -> None:
    result = run(f"{query}.rq", "-f", format)
    assert (result.exit_code, result.stdout) == (2, "")
    assert instead in result.stderr
    assert result.stderr.count("\n") == 1


def test_ndjson_is_a_line_an_answer(engine: FakeEngine, folder: Path) -> None:
    result = run("select.rq", "ask.rq", "construct.rq", "--format", "ndjson")
    select, ask, construct = map(json.loads, result.stdout.splitlines())
    assert select == {"query": "select", **json.loads(ANSWERS["SELECT"].to_json())}
    assert list(select) == ["query", "head", "results"]
    assert ask == {"query": "ask", "head": {}, "boolean": True}
    assert construct == {"query": "construct", "triples": ['<http://example.org/car> <http://example.org/is> "réd" .']}


def test_several_tables_have_titles(engine: FakeEngine, folder: Path) -> None:
    lines = run("select.rq", "ask.rq").stdout.splitlines()
    assert lines[0] == "select"
    assert "ask" in lines


def test_the_query_from_stdin(engine: FakeEngine) -> None:
    result = run("-", "--format", "ndjson", stdin="ASK it")
    assert json.loads(result.stdout) == {"query": "stdin", "head": {}, "boolean": True}
    assert engine.bases == [None]


def test_relative_iris_start_from_the_file(engine: FakeEngine, folder: Path) -> None:
    run("ask.rq")
    assert engine.bases == [(folder / "ask.rq").resolve().as_uri()]


def test_a_wrong_query_is_exit_2_and_the_others_run(engine: FakeEngine, folder: Path) -> None:
    result = run("slect.rq", "ask.rq", "--format", "json")
    assert result.exit_code == 2
    assert result.stdout == '{"head":{},"boolean":true}\n'
    assert result.stderr.splitlines() == [
        "slect.rq: line 1, column 1: unknown word",
        "  SLECT it",
        "  ^^^^^",
        "hint: did you mean SELECT?",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ask.rq", "-b", "broken.ttl"], "broken.ttl, line 3: expected a dot"),
        (["absent.rq"], "absent.rq: the query cannot be read: No such file or directory"),
        (["latin.rq"], "latin.rq: the query cannot be read: it is not text in UTF-8"),
        (["zeros.rq"], "zeros.rq: the query cannot be read: it is not text in UTF-8"),
        (["."], ".: the query cannot be read: Is a directory"),
        (["ask.rq", "more.ttl"], "more.ttl looks like data: give each file its own --background"),
        (["ask.rq", "--checkpoint", "file"], "The checkpoint {}/file cannot be opened: File exists. " + WRITABLE),
    ],
)
def test_an_unreadable_file_is_exit_1(engine: FakeEngine, folder: Path, arguments: list[str], message: str) -> None:
    (folder / "latin.rq").write_bytes(b"SELECT '\xe9'")
    (folder / "zeros.rq").write_bytes(b"ASK {}\0\0\0")
    (folder / "file").touch()
    result = run(*arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", message.format(folder) + "\n")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("run ask.rq --set entailment", "--set entailment: write it as option=value"),
        ("run ask.rq --set entailment=rdf", "--set: entailment is rdfs or owl-rl, not 'rdf'"),
        ("run ask.rq --set retention=long", f'--set: retention: "long" {DURATION}'),
        ("run ask.rq --set emitt=rows", f"--set emitt: {UNKNOWN}"),
        ("run ask.rq --master local", "--master: only --store spark and streams use Spark"),
        (
            "run ask.rq --stream gates.nq",
            "--stream gates.nq: write it as IRI=SOURCE, as in http://example.org/cars=cars.nq",
        ),
        ("run ask.rq --lateness soon", "--lateness is for streams: give one, as --stream IRI=SOURCE"),
        ("run ask.rq --stream-format ttl", "--stream-format is for streams: give one, as --stream IRI=SOURCE"),
        ("run ask.rq --follow", "--follow is for streams: give one, as --stream IRI=SOURCE"),
        ("run ask.rq --set emit=rows", "--set emit is for streams: give one, as --stream IRI=SOURCE"),
        ("demo --speed fast", "--speed fast: write it as 60x"),
        ("explain ask.rq --set emitt=rows", f"--set emitt: {UNKNOWN}"),
        ("explain ask.rq --background ask.rq", "--background and --stream are read with --run only"),
        ("demo village", "there is no demo village; there are city, city-static"),
    ],
)
def test_a_wrong_option_is_exit_2_before_spark_starts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    starts: list[object] = []
    monkeypatch.setattr(engines, "begin_spark", lambda *_, **__: starts.append(1))
    (folder / "ask.rq").write_text("ASK {}")
    result = CliRunner().invoke(cli.app, command.split())
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", message + "\n")
    assert starts == []


@pytest.mark.parametrize("option", ["--log-level=loud", "--log-format=xml", "--nosuch"])
def test_an_unknown_option_is_exit_2(folder: Path, option: str) -> None:
    assert run("ask.rq", option).exit_code == 2


def test_a_file_that_fails_is_named(engine: FakeEngine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not standard output that fails, though that fails with an OSError too."""

    def query(*_: object, **__: object) -> Answer:
        raise PermissionError(13, "Permission denied", "state/log")

    monkeypatch.setattr(engine, "query", query)
    result = run("ask.rq")
    assert (result.exit_code, result.stderr) == (1, "state/log: Permission denied\n")


def test_sigterm_ends_as_ctrl_c_does(engine: FakeEngine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def query(*_: object, **__: object) -> Answer:
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError("it goes on")

    monkeypatch.setattr(engine, "query", query)
    before = signal.getsignal(signal.SIGTERM)
    result = run("ask.rq")
    assert (result.exit_code, result.stdout, result.stderr, engine.closed) == (143, "", "", True)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_checkpoint_in_use_is_refused_before_spark_starts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[object] = []
    monkeypatch.setattr("penstock.spark.session.session.start", lambda *_, **__: starts.append(1))
    monkeypatch.setattr(engines, "begin_spark", lambda *_, **__: starts.append(2))
    (folder / "cars.rq").write_text("ASK FROM STREAM <http://e/s> [RANGE 1m STEP 1m] {}")
    (folder / "gates.nq").touch()
    options = [
        "--store",
        "spark",
        "--set",
        "spark.driver.memory=2g",
        "--checkpoint",
        "state",
        "--stream",
        "http://e/s=gates.nq",
    ]
    with Engine(checkpoint="state") as owner:
        owner.stream("http://e/s")
        result = run("cars.rq", *options)
    message = f"The checkpoint {folder}/state is in use by another engine of this process ({os.getpid()}): "
    assert result.stderr == f"{message}close() that engine, or use another folder.\n"
    assert (result.exit_code, starts) == (1, [])


def test_missing_java_is_one_sentence(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def fail(*_: object, **__: object) -> None:
        raise SetupError("Spark needs Java: install it")

    monkeypatch.setattr(engines, "open_engine", fail)
    result = run("ask.rq", "--store", "spark")
    assert (result.exit_code, result.stderr) == (1, "Spark needs Java: install it\n")


def test_interrupt_is_quiet(engine: FakeEngine, folder: Path) -> None:
    result = run("interrupt.rq", "ask.rq")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "")
    assert engine.closed


def test_options_reach_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {}

    class Engine(FakeEngine):
        def __init__(self, **options: object) -> None:
            super().__init__()
            given.update(options)

    monkeypatch.setattr("penstock.Engine", Engine)
    with cli.open_engine("spark", "local[1]", {"rules": "push_filter,fold_trivial"}) as engine:
        assert isinstance(engine, Engine)
    assert engine.closed
    assert given == {"background": "spark", "master": "local[1]", "rules": ["push_filter", "fold_trivial"]}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"rulse": "none"}, "--set rulse: there is no such option; there are entailment, retention, rounds, rules"),
        ({"rules": "push"}, "--set: unknown rules: push; there are "),
        ({"spark.driver.memory": "2g"}, "--set spark.driver.memory: only --store spark and streams use Spark"),
    ],
)
def test_unknown_engine_options_are_errors(option: dict[str, str], message: str) -> None:
    with pytest.raises(PenstockError, match=f"^{re.escape(message)}"), cli.open_engine("oxigraph", None, option):
        pass


CITY = str(Path(cli.__file__).parents[1] / "data" / "city.ttl")


def test_the_real_engine_on_the_embedded_store(folder: Path) -> None:
    (folder / "count.rq").write_text("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
    result = run("count.rq", "-b", CITY, "--format", "csv")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "n\n120\n", "")


def test_the_real_engine_points_at_the_mistake(folder: Path) -> None:
    (folder / "typo.rq").write_text("SELECT * {\n  ?s ?p ?o FLTER(?o > 1)\n}")
    result = run("typo.rq", "-b", CITY)
    assert result.exit_code == 2
    assert result.stderr.startswith("typo.rq: line 2, column 12: ")
    assert "FILTER" in result.stderr


@pytest.mark.parametrize(("missing", "code"), [(False, 0), (True, 1)])
def test_doctor(monkeypatch: pytest.MonkeyPatch, missing: bool, code: int) -> None:
    check = doctor.Check("Java", "not found", "pip install 'penstock[java]'", required=missing)
    monkeypatch.setattr(doctor, "checks", lambda full: iter([doctor.Check("Python", "3.11"), check]))
    result = CliRunner().invoke(cli.app, ["doctor"])
    assert result.exit_code == code
    assert "pip install 'penstock[java]'" in result.stdout


def test_doctor_prints_every_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "checks", lambda full: iter([doctor.Check("Python", "3.11")]))
    _, _, printed = CliRunner().invoke(cli.app, ["doctor"]).stdout.partition("tuning")
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    for setting in DEFAULT.settings():
        assert setting.section in lines
        assert f"{setting.name} {setting.text} {setting.explanation}" in lines


README = Path(__file__).parents[3] / "README.md"


def session(console: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, with what the README shows below it."""
    for part in console.removeprefix("$ ").split("\n$ "):
        command, _, shown = part.partition("\n")
        yield command, shown.strip("\n")


def test_the_readme_shows_what_commands_print(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(README.parent)
    console = re.search(r"```console\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert console is not None
    for command, shown in session(console[1]):
        said, _, call = command.rpartition(" | ")
        result = run(*shlex.split(call)[2:], stdin=said.removeprefix("echo ").strip("'"))
        assert result.output.strip("\n") == shown, command


def test_the_master_is_for_spark_only() -> None:
    with pytest.raises(PenstockError, match=r"^--master: only --store spark"), cli.open_engine("oxigraph", "local", {}):
        pass


def test_help_shows_examples_whole() -> None:
    assert "penstock run query.rq -b city.ttl -b http://example.org/g=more.nt -f csv\n" in run("--help").stdout


def test_version() -> None:
    assert CliRunner().invoke(cli.app, ["--version"]).stdout.startswith("penstock")


def python(code: str, stdout: int | IO[bytes] = subprocess.PIPE) -> subprocess.Popen[bytes]:
    # -E: with PYTHONUNBUFFERED, Python overlooks that a pipe took only a part of what it was given
    command = [sys.executable, "-E", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"]
    return subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE)


WITHOUT_SPARK = """
from penstock import cli
with cli.open_engine("oxigraph", None, {}) as engine:
    engine.query("ASK {}")
print({"pyspark", "py4j", "pandas", "pyarrow", "rich"} & set(sys.modules))
"""


def test_the_embedded_store_imports_neither_spark_nor_pandas() -> None:
    assert python(WITHOUT_SPARK).communicate() == (b"set()\n", b"")


BEFORE_JAVA = """
from penstock import cli
print({"lark", "pyoxigraph", "pyarrow", "pyspark", "penstock.engine", "penstock.syntax"} & set(sys.modules))
"""


def test_little_is_imported_before_a_command_can_start_java() -> None:
    assert python(BEFORE_JAVA).communicate() == (b"set()\n", b"")


BROKEN_PIPE = """
from penstock import cli
from tests.unit.cli.test_cli import ANSWERS, CAR, Answer, FakeEngine
ANSWERS["SELECT"] = Answer.solutions(["x"], [{"x": CAR}] * 99999)
from penstock.cli import engines, inputs, run
engines.open_engine = lambda *_, **__: FakeEngine()
run.read_query = lambda path: inputs.QueryFile("q", path, "SELECT it", None)
cli.app(["run", "q.rq", "--format", "csv"])
"""


def test_a_broken_pipe_is_quiet() -> None:
    process = python(BROKEN_PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"x\r\n"
    process.stdout.close()
    process.stdout = None
    _, errors = process.communicate()
    assert (process.returncode, errors) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_one_sentence() -> None:
    with open("/dev/full", "wb") as full:
        process = python(BROKEN_PIPE, full)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (1, b"standard output: No space left on device\n")


def test_closed_standard_output_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(base, "complain", said.append)
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(typer.Exit), base.clean_exit():
        raise AssertionError("not reached")
    assert said == ["standard output is closed"]


def test_translations_warn_as_all_else_does(tmp_path: Path) -> None:
    file = tmp_path / "gates.rq"
    file.write_text("SELECT ?gates FROM STREAM <http://e/s> [RANGE 1m STEP 5m] { ?gate <http://e/p> ?car }")
    ran = CliRunner().invoke(cli.app, ["translate", str(file), "--to", "csparql"])
    assert (ran.exit_code, ran.stdout.splitlines()[0]) == (0, "SELECT ?gates")
    assert ran.stderr == (
        f"{file}: warning: line 1: ?gates is never bound; did you mean ?gate?\n"
        "  SELECT ?gates FROM STREAM <http://e/s> [RANGE 1m STEP 5m] { ?gate <http://e/p> ?car }\n"
        "         ^^^^^^\n"
    )


def test_a_query_of_the_background_warns_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "gates.rq"
    file.write_text("SELECT ?gates { ?gate <http://e/p> ?car }")
    ran = CliRunner().invoke(cli.app, ["run", str(file)])
    assert (ran.exit_code, ran.stderr) == (
        0,
        f"{file}: warning: line 1: ?gates is never bound; did you mean ?gate?\n"
        "  SELECT ?gates { ?gate <http://e/p> ?car }\n"
        "         ^^^^^^\n",
    )

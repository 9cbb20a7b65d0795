"""`penstock run` on streams and `penstock test`, with an engine that only pretends."""

from __future__ import annotations

import io
import json
import logging
import re
import signal
import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import current_thread, main_thread
from types import SimpleNamespace
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from typer.testing import CliRunner

from penstock import EngineStatus, QueryStatus, Reason, Why, cli, log
from penstock.answer import Answer
from penstock.cli import engines, logic_tests, logs, output, progress_line, stream_run
from penstock.cli.inputs import StreamSpec, stream_spec
from penstock.errors import OptionError, PenstockError, PenstockWarning, QueryError, TextPlace
from penstock.spark.session import early_start
from penstock.stream.runtime.progress import Progress

GATES = "http://streams.org/gates"
SELECT = f"SELECT ?n FROM STREAM <{GATES}> [RANGE 1m TUMBLING] WHERE {{ ?s ?p ?n }}"
CONSTRUCT = f"CONSTRUCT {{ ?s ?p ?n }} FROM STREAM <{GATES}> [RANGE 1m TUMBLING] WHERE {{ ?s ?p ?n }}"
A = NamedNode("http://e/a")


def at(minute: int, answer: Answer, query: str) -> Answer:
    return replace(answer, time=datetime(2009, 7, 20, 8, minute, tzinfo=UTC), query=query)


class FakeEngine:
    """Delivers to the sinks of registered queries: numbers to SELECT, a triple to CONSTRUCT, at two instants."""

    def __init__(self) -> None:
        self.declared: dict[str, tuple[str, dict[str, Any]]] = {}
        self.registered: dict[str, dict[str, Any]] = {}
        self.calls: list[str] = []
        self.failure: Exception | None = None
        self.live_error: str | None = None
        self.problem: str | None = None

    def __enter__(self) -> FakeEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.calls.append("close")

    def stream(self, iri: str, source: str, **options: Any) -> None:
        if options.get("lateness") == "soon":
            raise OptionError('"soon" is not a duration')
        self.declared[iri] = (source, options)

    def register(self, text: str, *, name: str | None, **options: Any) -> None:
        if "SLECT" in text:
            raise QueryError("unknown word", place=TextPlace(1, 1, text, 5))
        if "REGISTER" in text:
            warnings.warn("only CONSTRUCT makes a stream", PenstockWarning, stacklevel=2)
        self.registered[name or "ByName"] = {"text": text, **options}

    @property
    def queries(self) -> list[Any]:
        state = SimpleNamespace(state="failed" if self.live_error else "running", error=self.live_error)
        reasons = tuple(Reason("nothing", f"Nothing has come to the stream {n}.", "Push.") for n in range(1, 5))
        return [SimpleNamespace(name=name, status=state, why=lambda: Why("", reasons)) for name in self.registered]

    @property
    def status(self) -> EngineStatus:
        states = {query.name: QueryStatus(query.name, query.status.state) for query in self.queries}
        return EngineStatus(queries=states, problem=self.problem)

    def run(self) -> None:
        self.calls.append("run")
        for name, query in self.registered.items():
            for minute in (1, 2):
                query["sink"](at(minute, self._answer(query["text"], minute), name))
        if self.failure:
            raise self.failure

    def _answer(self, text: str, minute: int) -> Answer:
        if "CONSTRUCT" in text:
            return Answer.graph([Triple(A, A, Literal(minute))])
        return Answer.solutions(["n"], [{"n": Literal(minute)}])

    def start(self) -> None:
        self.run()
        self.calls[-1] = "start"

    def stop(self) -> None:
        self.calls.append("stop")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeEngine:
    fake = FakeEngine()
    opened: dict[str, Any] = {}

    def open_engine(store: str, master: str | None, options: dict[str, str], **others: Any) -> FakeEngine:
        opened.update(others, options=options)
        return fake

    monkeypatch.setattr(engines, "open_engine", open_engine)
    monkeypatch.chdir(tmp_path)
    fake.opened = opened  # type: ignore[attr-defined]
    for name, text in {"cars": SELECT, "more": SELECT, "made": CONSTRUCT, "wrong": "SLECT"}.items():
        (tmp_path / f"{name}.rq").write_text(text)
    (tmp_path / "gates.nq").touch()
    (tmp_path / "drop").mkdir()
    return fake


def run(*arguments: str, stream: str = f"{GATES}=gates.nq") -> Any:
    return CliRunner().invoke(cli.app, ["run", *arguments, *(["--stream", stream] if stream else [])])


@pytest.mark.parametrize(
    ("options", "stream", "size"),
    [
        ([], f"{GATES}=gates.nq", 1_000),
        (["-b", "city.nt.gz"], f"{GATES}=gates.nq", 1_000 + 10 * 70),  # as long as it may be when it is read
        ([], f"{GATES}=drop", 2_000),
        (["--follow"], f"{GATES}=drop", None),
        (["--checkpoint", "state"], f"{GATES}=gates.nq", None),  # its log may be long
        ([], f"{GATES}=tcp://127.0.0.1:7", None),
    ],
)
def test_spark_begins_to_start_with_the_size_of_the_input(
    engine: FakeEngine, options: list[str], stream: str, size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[tuple[object, ...]] = []
    monkeypatch.setattr(engines, "begin_spark", lambda *arguments, streams: begun.append((*arguments, streams)))
    for name, length in {"gates.nq": 1_000, "city.nt.gz": 70, "drop/a.nq": 1_500, "drop/b.nq": 500}.items():
        Path(name).write_bytes(bytes(length))
    run("wrong.rq", "--master", "local[2]", "--set", "spark.driver.memory=3g", *options, stream=stream)
    assert begun == [("local[2]", {"spark.driver.memory": "3g"}, size, True)]


@pytest.mark.parametrize(("size", "short"), [(4 << 20, True), ((4 << 20) + 1, False), (None, False)])
def test_only_a_run_on_little_input_is_short(size: int | None, short: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[object] = []
    monkeypatch.setattr(early_start, "begin", lambda *arguments, short: begun.append((*arguments, short)))
    engines.begin_spark(None, {"spark.driver.memory": "3g", "rules": ""}, size)
    assert begun == [(None, {"spark.driver.memory": "3g"}, short)]


@pytest.mark.parametrize(
    ("options", "streams", "starts"), [({}, True, True), ({}, False, False), ({"rounds": "auto"}, True, False)]
)
def test_a_python_process_is_started_early_if_rounds_are_jobs_of_spark(
    options: dict[str, str], streams: bool, starts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[bool] = []
    monkeypatch.setattr(early_start, "begin", lambda *_, **given: begun.append("then" in given))
    engines.begin_spark(None, options, None, streams=streams)
    assert begun == [starts]


def test_a_short_run_with_rounds_in_this_process_starts_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[object] = []
    monkeypatch.setattr(early_start, "begin", lambda *_, **__: begun.append(1))
    engines.begin_spark(None, {"rounds": "auto"}, 1_000, streams=True)
    assert begun == []
    engines.begin_spark(None, {"rounds": "auto"}, (4 << 20) + 1, streams=True)
    assert begun == [1]


def test_a_table_an_answer(engine: FakeEngine) -> None:
    result = run("cars.rq")
    assert result.stdout.splitlines()[:3] == ["cars at 2009-07-20T08:01:00Z", "┌───┐", "│ n │"]
    assert "\n\ncars at 2009-07-20T08:02:00Z\n" in result.stdout
    assert (result.exit_code, result.stderr) == (0, "")
    assert engine.calls == ["run", "close"]
    assert engine.declared == {GATES: ("gates.nq", {})}


@pytest.mark.parametrize(
    ("end", "heading"),
    [
        (5, "cars from 2009-07-20T08:01:00Z to 2009-07-20T08:05:00Z"),
        (None, "cars since 2009-07-20T08:01:00Z"),
    ],
)
def test_a_table_heading_has_the_validity_interval(
    end: int | None, heading: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = Answer.solutions(["n"], [{"n": Literal(1)}])
    until = None if end is None else at(end, answer, "cars").time
    printer = output.Printer(output.Format.table, screen=progress_line.ProgressLine(io.StringIO()))
    begun = at(1, answer, "cars")
    printer(replace(begun, time=until, valid_from=begun.time, valid_to=until))
    assert capsys.readouterr().out.splitlines()[:3] == [heading, "┌───┐", "│ n │"]


def test_ndjson(engine: FakeEngine) -> None:
    first, second = map(json.loads, run("cars.rq", "-f", "ndjson").stdout.splitlines())
    assert list(first) == ["query", "time", "head", "results"]
    assert (first["query"], first["time"], second["time"]) == ("cars", "2009-07-20T08:01:00Z", "2009-07-20T08:02:00Z")


def test_csv_has_one_heading_for_each_query(engine: FakeEngine) -> None:
    result = run("cars.rq", "more.rq", "-f", "csv")
    table = "time,n\r\n2009-07-20T08:01:00Z,1\r\n2009-07-20T08:02:00Z,2\r\n"
    assert result.stdout_bytes.decode() == f"{table}\r\n{table}"


def test_nquads_can_be_read_as_a_stream_again(engine: FakeEngine) -> None:
    stamp = '"2009-07-20T08:01:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    number = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert run("made.rq", "-f", "nquads").stdout.splitlines()[0] == f"<http://e/a> <http://e/a> {number} {stamp} ."


@pytest.mark.parametrize(
    ("query", "format", "message"),
    [
        ("made.rq", "csv", "csv cannot hold the answer to a CONSTRUCT or DESCRIBE query: use table, ndjson, nquads"),
        ("cars.rq", "nquads", "nquads cannot hold the answer to a SELECT query: use table, ndjson, csv"),
        ("cars.rq", "xml", "xml has no column for the instant of an answer: for streams use table, ndjson, csv"),
    ],
)
def test_formats_are_checked_before_anything_starts(engine: FakeEngine, query: str, format: str, message: str) -> None:
    result = run(query, "-f", format)
    assert (result.exit_code, result.stderr) == (2, message + "\n")
    assert engine.calls == []


def test_options_reach_the_engine(engine: FakeEngine) -> None:
    graphs = ["--stream-format", "jsonld", "--time-property", "http://e/at"]
    graphs += ["--start-property", "http://e/from", "--end-property", "http://e/to"]
    result = run(
        "cars.rq",
        *graphs,
        "--lateness",
        "10s",
        "--idle",
        "5s",
        "--max-ahead",
        "off",
        "--checkpoint",
        "state",
        "--set",
        "duplicates=merge",
    )
    assert result.exit_code == 0
    assert engine.declared[GATES] == (
        "gates.nq",
        {
            "lateness": "10s",
            "idle": "5s",
            "max_ahead": "off",
            "format": "jsonld",
            "time_property": "http://e/at",
            "start_property": "http://e/from",
            "end_property": "http://e/to",
        },
    )
    assert engine.registered["cars"]["duplicates"] == "merge"
    opened = engine.opened  # type: ignore[attr-defined]
    assert (opened["streams"], opened["checkpoint"], opened["options"]) == (True, "state", {})


def test_the_registered_name_has_precedence_over_the_file_name(engine: FakeEngine) -> None:
    Path("named.rq").write_text(f"REGISTER STREAM Cars AS {SELECT}")
    result = run("named.rq")
    assert list(engine.registered) == ["ByName"]
    assert result.stderr == "named.rq: warning: only CONSTRUCT makes a stream\n"


def test_a_wrong_query_does_not_keep_the_others_from_running(engine: FakeEngine) -> None:
    result = run("wrong.rq", "cars.rq")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == ["wrong.rq: line 1, column 1: unknown word", "  SLECT", "  ^^^^^"]
    assert "cars at" in result.stdout


def test_nothing_runs_if_all_are_wrong(engine: FakeEngine) -> None:
    assert run("wrong.rq").exit_code == 2
    assert engine.calls == ["close"]


@pytest.mark.parametrize(
    ("failure", "code"), [(PenstockError("the log is full"), 1), (QueryError("no such stream: gate"), 2)]
)
def test_a_run_that_fails_is_one_sentence(engine: FakeEngine, failure: PenstockError, code: int) -> None:
    engine.failure = failure
    result = run("cars.rq")
    assert (result.exit_code, result.stderr) == (code, f"{failure}\n")


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("arguments", "source"), [([], "tcp://localhost:7"), ([], "listen://:7"), (["--follow"], "drop")]
)
def test_live_until_ctrl_c(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, arguments: list[str], source: str
) -> None:
    monkeypatch.setattr(stream_run, "_look_again", interrupt)
    result = run("cars.rq", *arguments, stream=f"{GATES}={source}")
    assert (result.exit_code, engine.calls) == (0, ["start", "stop", "close"])
    assert "cars at 2009-07-20T08:02:00Z" in result.stdout


def test_a_second_ctrl_c_ends_at_once_and_never_meets_us_inside_the_jvm(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the main thread, py4j would print a stack trace and lose its place."""
    places: list[bool] = []

    def start() -> None:
        places.append(current_thread() is main_thread())

    def stop() -> None:
        start()
        raise KeyboardInterrupt  # as if it came while this works

    monkeypatch.setattr(stream_run, "_look_again", interrupt)
    monkeypatch.setattr(engine, "start", start)
    monkeypatch.setattr(engine, "stop", stop)
    result = run("cars.rq", stream=f"{GATES}=tcp://localhost:7")
    assert (result.exit_code, result.stderr, places) == (130, "", [False, False])


def test_a_live_run_ends_when_every_query_has_failed(engine: FakeEngine) -> None:
    engine.live_error = "the sum is too large"
    result = run("cars.rq", "--follow", stream=f"{GATES}=drop")
    assert (result.exit_code, result.stderr) == (1, "cars: the sum is too large\n")
    assert engine.calls == ["start", "stop", "close"]


def test_a_live_run_ends_when_the_engine_has_stopped(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """No query has failed, and none will ever get an element again."""
    engine.problem = "Ingest from drop has stopped: the disk is full"

    def stop() -> None:
        raise PenstockError(engine.problem)

    monkeypatch.setattr(engine, "stop", stop)
    result = run("cars.rq", "--follow", stream=f"{GATES}=drop")
    assert (result.exit_code, result.stderr) == (1, "Ingest from drop has stopped: the disk is full\n")


def test_sigterm_ends_a_live_run_as_ctrl_c_does(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_run, "_look_again", lambda: signal.raise_signal(signal.SIGTERM))
    result = run("cars.rq", "--follow", stream=f"{GATES}=drop")
    assert (result.exit_code, result.stderr, engine.calls) == (0, "", ["start", "stop", "close"])


@pytest.mark.parametrize("options", [[], ["--follow"]])
def test_a_query_without_an_answer_is_told_why(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setattr(engine, "_answer", lambda text, minute: Answer.solutions(["n"], []))
    monkeypatch.setattr(stream_run, "_look_again", lambda: signal.raise_signal(signal.SIGTERM))
    result = run("cars.rq", "--format", "ndjson", *options, stream=f"{GATES}=drop")
    assert result.exit_code == 0
    assert result.stderr == (
        "cars has no answer:\n1. Nothing has come to the stream 1. Push.\n"
        "2. Nothing has come to the stream 2. Push.\n3. Nothing has come to the stream 3. Push.\n"
    )


# Log records


@pytest.fixture
def logging_engine(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    def start() -> None:
        engine.registered.clear()  # so that no query is without an answer
        log.session.info("the engine is live", extra={"streams": [GATES]})
        log.rounds.warning("a slow round")

    monkeypatch.setattr(engine, "run", start)
    return engine


TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ""),
        (["--log-level", "error"], ""),
        (["--log-level", "warning"], f"{TIME} warning penstock\\.rounds: a slow round\n"),
        (
            ["--log-level", "info"],
            f"{TIME} info penstock\\.session: the engine is live\n{TIME} warning penstock\\.rounds: a slow round\n",
        ),
    ],
)
def test_log_records_go_to_standard_error(logging_engine: FakeEngine, options: list[str], expected: str) -> None:
    result = run("cars.rq", *options)
    assert (result.exit_code, result.stdout) == (0, "")
    assert re.fullmatch(expected, result.stderr)
    assert [type(handler) for handler in log.ROOT.handlers] == [logging.NullHandler]
    assert log.ROOT.level == logging.NOTSET


def test_log_records_as_json(logging_engine: FakeEngine) -> None:
    records = [json.loads(line) for line in run("cars.rq", "--log-format", "json").stderr.splitlines()]
    assert [(record["level"], record["message"], record.get("streams")) for record in records] == [
        ("info", "the engine is live", [GATES]),
        ("warning", "a slow round", None),
    ]


def test_log_records_are_written_above_the_progress_line(capsys: pytest.CaptureFixture[str]) -> None:
    done: list[str] = []
    screen = SimpleNamespace(clear=lambda: done.append("clear"), draw=lambda: done.append("draw"))
    with logs.to_stderr(logs.LogLevel.info, None), logs.above(screen):
        log.session.info("the engine is live")
    assert done == ["clear", "draw"]
    assert capsys.readouterr().err.endswith("info penstock.session: the engine is live\n")


@pytest.mark.parametrize("command", ["run", "explain", "test", "demo"])
def test_every_command_that_runs_has_the_log_options(command: str) -> None:
    text = CliRunner().invoke(cli.app, [command, "--help"]).stdout
    assert "--log-level" in text
    assert "--log-format" in text


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("http://s/?a=b=gates.nq", ("http://s/?a=b", "gates.nq")),
        ("<http://s>=drop", ("http://s", "drop")),
        ("gates=listen://127.0.0.1:7", ("urn:penstock:stream:gates", "listen://127.0.0.1:7")),
        ("http://s=s3://bucket/x.nq", ("http://s", "s3://bucket/x.nq")),
    ],
)
def test_stream_specs(engine: FakeEngine, spec: str, expected: tuple[str, str]) -> None:
    assert stream_spec(spec) == StreamSpec(*expected)


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (2, ["--stream", "gates.nq"], "--stream gates.nq: write it as IRI=SOURCE"),
        (2, ["--stream", "=gates.nq"], "--stream =gates.nq: write it as IRI=SOURCE"),
        (1, ["--stream", "http://s=absent.nq"], "--stream http://s=absent.nq: absent.nq does not exist"),
        (2, ["--stream", "http://s=gates.nq", "--lateness", "soon"], '--stream http://s: "soon" is not a duration'),
    ],
)
def test_streams_that_cannot_be(engine: FakeEngine, code: int, arguments: list[str], message: str) -> None:
    result = run("cars.rq", *arguments, stream="")
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith(message)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


PROGRESS = Progress(12_500, 2, 0, None, 3, timedelta(seconds=4))


def clock(*times: float) -> Callable[[], float]:
    return iter(times).__next__


def test_progress_on_a_terminal() -> None:
    screen = Terminal()
    with progress_line.ProgressLine(screen, clock(0, 10, 10, 10.05, 20, 20)) as line:
        line.update(PROGRESS)
        line.update(PROGRESS)  # too soon to draw again
        line.update(replace(PROGRESS, answers=4))
    first, second, gone = screen.getvalue().split("\r\x1b[2K")[1:]
    assert first == "12,500 elements · 1,250/s · 4.0 s behind · 3 answers · 2 late"
    assert second == "12,500 elements · 625/s · 4.0 s behind · 4 answers · 2 late"
    assert gone == "2 late: written to the dead letters (with --checkpoint DIR, penstock dead DIR prints them)\n"


def test_progress_in_a_file_has_only_the_refused_elements() -> None:
    quiet, told = io.StringIO(), io.StringIO()
    for screen, progress in ((quiet, replace(PROGRESS, late=0)), (told, replace(PROGRESS, malformed=1))):
        with progress_line.ProgressLine(screen) as line:
            line.update(progress)
    assert quiet.getvalue() == ""
    assert told.getvalue().startswith("2 late, 1 malformed: written to the dead letters")


@pytest.mark.parametrize(
    ("elements", "reason"), [(0, "no element was read"), (5, "nothing to answer: instants that are complete were")]
)
def test_a_run_without_answers_says_why(elements: int, reason: str) -> None:
    screen = io.StringIO()
    with progress_line.ProgressLine(screen) as line:
        line.update(Progress(elements, 0, 0, None, 0, None))
    assert screen.getvalue().startswith(reason)
    assert screen.getvalue().count("\n") == 1


class Broken(io.StringIO):
    def write(self, _: str) -> int:
        raise BrokenPipeError


def test_a_pipe_that_breaks_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    printer = output.Printer(output.Format.ndjson, screen=progress_line.ProgressLine(io.StringIO()))
    monkeypatch.setattr("sys.stdout", Broken())
    with pytest.raises(BrokenPipeError):
        printer(Answer.ask(True))
    assert isinstance(printer.error, BrokenPipeError)


GOOD = "query\n  ASK {}\nexpect true\n"


@pytest.fixture
def tested(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    class Engine(FakeEngine):
        spark = None

        def __init__(self, **_: Any) -> None:
            super().__init__()

        def register(self, text: str, **_: Any) -> Any:
            return SimpleNamespace(answers=lambda: iter([Answer.ask("ASK" in text)]))

    monkeypatch.setattr(engines, "open_engine", lambda *_, **__: Engine())
    monkeypatch.setattr(logic_tests, "Engine", Engine)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    for name, text in {
        "good": GOOD,
        "bad": GOOD.replace("true", "false"),
        "ugly": "qery\n",
        "deep/good": GOOD,
    }.items():
        (tmp_path / f"{name}.rsp").write_text(text)
    return tmp_path


def test_penstock_test(tested: Path) -> None:
    result = CliRunner().invoke(cli.app, ["test", "good.rsp", "deep"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == ["ok      good.rsp", "ok      deep/good.rsp", "2 tests, all as expected"]


def test_penstock_test_shows_what_differs(tested: Path) -> None:
    result = CliRunner().invoke(cli.app, ["test", "."])
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "FAILED  bad.rsp",
        "        line 3: once: expected false, got",
        "        true",
        "ok      deep/good.rsp",
        "ok      good.rsp",
        "FAILED  ugly.rsp",
        "        ugly.rsp, line 1: qery is none of prefix, options, stream, background, query, expect, final: "
        "did you mean query?",
        "4 tests, 2 failed",
    ]


def test_penstock_test_without_tests(tested: Path) -> None:
    (tested / "empty").mkdir()
    result = CliRunner().invoke(cli.app, ["test", "empty"])
    assert (result.exit_code, result.stderr) == (1, "empty: there is no .rsp file in this folder\n")


def test_each_warning_of_a_source_is_printed_as_one_line(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def trouble() -> None:
        for _ in range(2):
            warnings.warn("tcp://h:7 closed the connection; connecting again.", PenstockWarning, stacklevel=1)
        raise KeyboardInterrupt

    monkeypatch.setattr(stream_run, "_look_again", trouble)
    result = run("cars.rq", stream=f"{GATES}=tcp://h:7")
    assert result.exit_code == 0
    assert result.stderr == "warning: tcp://h:7 closed the connection; connecting again.\n" * 2

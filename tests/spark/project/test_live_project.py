"""A live project that changes: streams are declared again without the loss of an element, a watermark or an answer."""

from __future__ import annotations

import socket
from pathlib import Path

from pyspark.sql import SparkSession

from penstock import load_project
from penstock.answer import Answer
from penstock.project import read_project
from penstock.project.reload import Reloader
from tests.support.feeding import COUNT, STREAM, counted, expected, line, lines


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def send(port: int, text: str) -> None:
    """Send lines, and wait until they are durable."""
    with socket.create_connection(("127.0.0.1", port)) as producer, producer.makefile("rb") as answers:
        producer.sendall(text.encode())
        assert answers.readline() == b"ok %d\n" % text.count("\n")


def project(port: int, more: str = "", tables: str = "") -> str:
    stream = f"[[stream]]\niri = '{STREAM}'\nsource = 'listen://127.0.0.1:{port}'\n{more}"
    return f"{stream}[[register]]\nname = 'count'\ntext = '''{COUNT}'''\n{tables}"


def test_a_stream_is_declared_again_and_its_query_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    file, first, second = tmp_path / "p.toml", free_port(), free_port()
    file.write_text(project(first))
    told: list[str] = []
    with load_project(file, spark=spark) as engine:
        reloader = Reloader(engine, read_project(file), None, told.append)
        engine.start()
        send(first, lines(0, 200))
        engine.flush()
        file.write_text(project(second, "lateness = '100s'\n"))
        assert reloader.is_changed()
        assert reloader.reload()
        assert told == [f"The stream <{STREAM}> is declared again."]
        send(second, line(150, 1))  # late before the change, and late after it
        send(second, lines(200, 600))
        engine.stop()
        assert [letter.reason.split()[0] for letter in engine.dead_letters(STREAM)] != []
        answers = list(engine["count"].answers())
        assert counted(answers) == expected(0, 600, 0, 480)


def test_a_stream_and_a_query_come_and_go(spark: SparkSession, tmp_path: Path) -> None:
    file, port, other = tmp_path / "p.toml", free_port(), free_port()
    file.write_text(project(port))
    told: list[str] = []
    got: list[Answer] = []
    name = "http://e/more"
    tables = f"[[stream]]\niri = '{name}'\nsource = 'listen://127.0.0.1:{other}'\n"
    tables += f"[[register]]\nname = 'more'\ntext = '''{COUNT.replace(STREAM, name)}'''\n"
    with load_project(file, spark=spark) as engine:
        reloader = Reloader(engine, read_project(file), got.append, told.append)
        engine.start()
        send(port, lines(0, 200))
        file.write_text(project(port, tables=tables))
        reloader.reload()
        send(other, lines(0, 300))
        engine.flush()
        assert counted(got) == expected(0, 300, 0, 240)
        file.write_text(project(port))
        reloader.reload()
        assert set(engine.status.streams) == {STREAM}
        with socket.create_server(("127.0.0.1", other)):
            pass  # its source has ended
        send(port, lines(200, 400))
        engine.stop()
        assert counted(engine["count"].answers()) == expected(0, 400, 0, 360)
    assert told == [
        f"The stream <{name}> is declared.",
        "The query more is registered.",
        f"The stream <{name}> is removed.",
        "The query more is dropped.",
    ]

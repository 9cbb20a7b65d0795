"""A live `penstock run` in a process of its own: its log records, and how SIGTERM ends it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

from tests.support.feeding import COUNT, STREAM, lines

ROOT = Path(__file__).parents[3]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    (folder / "count.rq").write_text(COUNT)
    command = [sys.executable, "-m", "penstock", "run", "count.rq", "--format", "ndjson", *options]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
    return subprocess.Popen(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def records_until(message: str, stream: IO[str]) -> list[dict[str, Any]]:
    """The log records up to the one that begins with that message."""
    found = []
    for line in stream:
        found.append(json.loads(line))
        if found[-1]["message"].startswith(message):
            break
    return found


def test_sigterm_answers_due_instants_and_ends_without_an_error(tmp_path: Path) -> None:
    port = free_port()
    process = started(tmp_path, "--stream", f"{STREAM}=listen://127.0.0.1:{port}", "--log-format", "json")
    assert process.stdout is not None
    assert process.stderr is not None
    begun = records_until("the engine is live", process.stderr)
    assert [record["message"].split(" on ")[0].split()[0] for record in begun] == ["Spark", "the"]
    assert (begun[-1]["streams"], begun[-1]["queries"]) == ([STREAM], ["count"])
    with socket.create_connection(("127.0.0.1", port)) as producer, producer.makefile("rb") as answers:
        sent = lines(0, 200)
        producer.sendall(sent.encode())
        assert answers.readline() == b"ok %d\n" % sent.count("\n")
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=180)
    assert [json.loads(line)["time"] for line in out.splitlines()] == [
        f"1970-01-01T00:0{minute}:00Z" for minute in range(4)
    ]
    said = [json.loads(line)["message"] for line in errors.splitlines() if line.startswith("{")]
    assert said[-2:] == ["the engine has stopped", "Spark ends with this process"]
    assert process.returncode == 0


def test_a_port_in_use_is_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        process = started(tmp_path, "--stream", f"{STREAM}=listen://127.0.0.1:{port}")
        out, errors = process.communicate(timeout=180)
    text = f"Port {port} of 127.0.0.1 is in use: end the program that listens there, or give another port.\n"
    assert (process.returncode, out, errors) == (1, "", text)

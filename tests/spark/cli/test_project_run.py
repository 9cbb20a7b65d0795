"""`penstock run p.toml` in a process of its own: SIGHUP lets it read the file again, SIGTERM ends it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO

from tests.support.feeding import COUNT, STREAM, lines

ROOT = Path(__file__).parents[3]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def until(message: str, stream: IO[str]) -> list[str]:
    """The lines up to the one that has the message."""
    found = []
    for line in stream:
        found.append(line)
        if message in line:
            break
    return found


def test_a_file_that_changes_while_it_runs(tmp_path: Path) -> None:
    port = free_port()
    stream = f"[[stream]]\niri = '{STREAM}'\nsource = 'listen://127.0.0.1:{port}'\n"
    query = f"[[register]]\nname = 'count'\ntext = '''{COUNT}'''\n"
    file = tmp_path / "p.toml"
    file.write_text(stream + query)
    command = [sys.executable, "-m", "penstock", "run", "p.toml", "--format", "ndjson", "--log-format", "json"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    until("the engine is live", process.stderr)
    file.write_text(stream + query.replace("RANGE 2m", "RANGE 2 parsecs"))
    process.send_signal(signal.SIGHUP)
    assert until("runs on as it was", process.stderr)[0].startswith("p.toml, line 6, column ")
    file.write_text(stream + query + query.replace("'count'", "'again'"))
    process.send_signal(signal.SIGHUP)
    assert until("is registered", process.stderr) == ["The query again is registered.\n"]
    with socket.create_connection(("127.0.0.1", port)) as producer, producer.makefile("rb") as answers:
        sent = lines(0, 200)
        producer.sendall(sent.encode())
        assert answers.readline() == b"ok %d\n" % sent.count("\n")
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=180)
    found = [json.loads(line) for line in out.splitlines()]
    assert {one["query"] for one in found} == {"count", "again"}
    assert process.returncode == 0

"""Sources of the web, killed twenty times in the middle: every element is in the log once, and in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.stream_declaration import Declared
from penstock.testing import ManualClock
from tests.support.arrivals import STREAM, text
from tests.support.web_server import Asked, Reply, web_server
from tests.unit.stream.log.test_stream_log import times

KILLS = 20
MAPPING = {"@context": {"@vocab": "http://e/", "id": None}, "@id": "http://e/post/{id}"}
CHILD = """
import signal, sys
from pathlib import Path
from penstock.stream.base import failpoints
from penstock.stream.base.clock import SystemClock
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest import sources
from penstock.stream.ingest.stream_declaration import declare
address, folder, mapping = sys.argv[1:]
lifted = {"mapping": mapping, "time_path": "$.id", "time_unit": "us"} if mapping else {}
declared = declare(address, None, None, False, None, **lifted)
failpoints.handler = lambda place: print(place, flush=True)
ingest = Ingest(None, Path(folder), SystemClock(), {"http://example.org/stream": declared})
ingest.start()
signal.pause()
"""


class Posts:
    """Two posts more with each request, of which it has the newest hundred."""

    def __init__(self) -> None:
        self._newest = 0

    def __call__(self, asked: Asked) -> Reply:
        self._newest += 2
        posts = [{"id": number, "v": str(number)} for number in range(max(1, self._newest - 99), self._newest + 1)]
        return Reply(json.dumps(posts).encode(), headers={"ETag": f'"{self._newest}"'})


class Events:
    """Events without an end, from the one behind the last."""

    def __call__(self, asked: Asked) -> Reply:
        return Reply(
            self._pieces(int(asked.headers.get("last-event-id", 0))), headers={"Content-Type": "text/event-stream"}
        )

    def _pieces(self, last: int) -> Iterator[bytes]:
        while True:
            last += 1
            yield b"id: %d\ndata: %s\n\n" % (last, text([last]).strip())


class EventStreamPages:
    """Two members more with each request, in pages of five: a page is final when the next one has begun."""

    def __init__(self) -> None:
        self._newest = 0

    def __call__(self, asked: Asked) -> Reply:
        self._newest += 2
        number = int(asked.path.rpartition("/")[2])
        first, behind = 5 * number + 1, 5 * number + 6
        lines = [
            "@prefix tree: <https://w3id.org/tree#> .",
            "<s> <https://w3id.org/ldes#timestampPath> <http://e/at> .",
        ]
        for one in range(first, min(self._newest + 1, behind)):
            lines.append(f"<s> tree:member <http://e/{one}> . <http://e/{one}> <http://e/at> {moment(one)} .")
        final = self._newest >= behind
        if final:
            lines.append(
                f"<> tree:relation [ a tree:GreaterThanOrEqualToRelation ; tree:node <{number + 1}> ; "
                f"tree:path <http://e/at> ; tree:value {moment(behind)} ] ."
            )
        control = {"Cache-Control": "immutable"} if final else {}
        return Reply("\n".join(lines).encode(), headers={"Content-Type": "text/turtle"} | control)


def moment(number: int) -> str:
    return f'"1970-01-01T00:00:00.{number:06d}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'


def killed(address: str, folder: Path, mapping: Path | str) -> None:
    """Start a process, let it append some records, kill it: as often as it is said above."""
    command = [sys.executable, "-c", CHILD, address, str(folder), str(mapping)]
    for number in range(KILLS):
        with subprocess.Popen(command, env=os.environ, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            records = (line for line in child.stdout if line == "appended\n")
            for _ in range(1 + 7 * number % 13):
                next(records)
            child.send_signal(signal.SIGKILL)


def stored(folder: Path) -> list[int]:
    ingest = Ingest(None, folder, ManualClock(), {STREAM: Declared(None)})  # type: ignore[arg-type]
    found: list[int] = times(ingest.log)
    ingest.close()
    return found


def check(service: Callable[[Asked], Reply], spec: str, folder: Path, mapping: Path | str) -> None:
    with web_server(service) as server:
        killed(spec.format(server.url), folder, mapping)
    found = stored(folder)
    assert found == list(range(1, len(found) + 1))
    assert len(found) >= KILLS


def test_a_polled_resource(tmp_path: Path) -> None:
    mapping = tmp_path / "m.jsonld"
    mapping.write_text(json.dumps(MAPPING))
    check(Posts(), "poll+{}/posts#items=&id=/id&interval=1ms", tmp_path / "log", mapping)


def test_server_sent_events(tmp_path: Path) -> None:
    check(Events(), "sse+{}/events", tmp_path / "log", "")


def test_a_linked_data_event_stream(tmp_path: Path) -> None:
    check(EventStreamPages(), "ldes+{}/0#interval=1ms", tmp_path / "log", "")

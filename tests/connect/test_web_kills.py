"""Sources of the web, killed twenty times in the middle: every element is in the log once, and in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Condition

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
from penstock.stream.base.clock import SystemClock
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest import sources
from penstock.stream.ingest.stream_declaration import declare
address, folder, mapping = sys.argv[1:]
lifted = {"mapping": mapping, "time_path": "$.id", "time_unit": "us"} if mapping else {}
declared = declare(address, None, None, False, None, **lifted)
ingest = Ingest(None, Path(folder), SystemClock(), {"http://example.org/stream": declared})
ingest.start()
signal.pause()
"""


class Sent:
    """The number of the newest element that was sent, for which a test can wait."""

    def __init__(self) -> None:
        self.newest = 0
        self._changed = Condition()

    def reach(self, number: int) -> None:
        with self._changed:
            self.newest = max(self.newest, number)
            self._changed.notify_all()

    def wait_for(self, number: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.newest >= number, 60), self.newest


class Posts:
    """Two posts more with each request, of which it has the newest hundred."""

    def __init__(self, sent: Sent) -> None:
        self.sent = sent

    def __call__(self, asked: Asked) -> Reply:
        newest = self.sent.newest + 2
        posts = [{"id": number, "v": str(number)} for number in range(max(1, newest - 99), newest + 1)]
        self.sent.reach(newest)
        return Reply(json.dumps(posts).encode(), headers={"ETag": f'"{newest}"'})


class Events:
    """Events without an end, from the one behind the last."""

    def __init__(self, sent: Sent) -> None:
        self.sent = sent

    def __call__(self, asked: Asked) -> Reply:
        return Reply(
            self._pieces(int(asked.headers.get("last-event-id", 0))), headers={"Content-Type": "text/event-stream"}
        )

    def _pieces(self, last: int) -> Iterator[bytes]:
        while True:
            last += 1
            yield b"id: %d\ndata: %s\n\n" % (last, text([last]).strip())
            self.sent.reach(last)


def killed(address: str, folder: Path, mapping: Path | str, sent: Sent) -> None:
    """Start a process, let it take some elements, kill it: as often as it is said above."""
    for number in range(KILLS):
        before = sent.newest
        child = subprocess.Popen([sys.executable, "-c", CHILD, address, str(folder), str(mapping)], env=os.environ)
        try:
            sent.wait_for(before + 10 + 7 * number % 13)
        finally:
            child.send_signal(signal.SIGKILL)
            child.wait()


def stored(folder: Path) -> list[int]:
    ingest = Ingest(None, folder, ManualClock(), {STREAM: Declared(None)})  # type: ignore[arg-type]
    found: list[int] = times(ingest.log)
    ingest.close()
    return found


def check(service: Callable[[Sent], Callable[[Asked], Reply]], spec: str, folder: Path, mapping: Path | str) -> None:
    sent = Sent()
    with web_server(service(sent)) as server:
        killed(spec.format(server.url), folder, mapping, sent)
    found = stored(folder)
    assert found == list(range(1, len(found) + 1))
    assert len(found) > 10 * KILLS / 2


def test_a_polled_resource(tmp_path: Path) -> None:
    mapping = tmp_path / "m.jsonld"
    mapping.write_text(json.dumps(MAPPING))
    check(Posts, "poll+{}/posts#items=&id=/id&interval=1ms", tmp_path / "log", mapping)


def test_server_sent_events(tmp_path: Path) -> None:
    check(Events, "sse+{}/events", tmp_path / "log", "")

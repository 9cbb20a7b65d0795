"""An engine from one topic to another, in a process that may be killed:
`engine ADDRESS IN OUT FOLDER ELEMENTS [PLACE]`.

It prints a line at each failpoint, and ends when so many elements are in the log and answered. With a place it dies by
SIGKILL when it first comes there.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from threading import Condition

from penstock import Engine
from penstock.stream.base import failpoints
from tests.recovery.attached_session import attach

__all__ = ["QUERY", "STREAM"]

STREAM = "http://e/readings"
QUERY = f"SELECT ?s ?v FROM STREAM <{STREAM}> [RANGE 10s STEP 10s] WHERE {{ ?s <http://e/v> ?v }}"
_changed = Condition()


def come_to(place: str) -> None:
    print(place, flush=True)
    if place == (sys.argv[6] if len(sys.argv) > 6 else None):
        os.kill(os.getpid(), signal.SIGKILL)
    with _changed:
        _changed.notify_all()


def main(address: str, source: str, sink: str, folder: Path, elements: int) -> None:
    failpoints.handler = come_to
    with Engine(checkpoint=folder, spark=attach()) as engine:
        engine.stream(STREAM, f"kafka://{address}/{source}")
        engine.register(QUERY, name="all", sink=f"kafka://{address}/{sink}")
        engine.start()
        with _changed:
            _changed.wait_for(lambda: engine.status.streams[STREAM].elements >= elements)
        engine.flush()
        engine.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]), int(sys.argv[5]))
    os._exit(0)  # nothing of the JVM, which is another's, is touched

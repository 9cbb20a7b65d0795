"""Ingest from a topic in a process that may be killed: `reader FOLDER SOURCE ELEMENTS`.

It prints a line for each append, and ends when so many elements are in the log.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from penstock.stream.base import failpoints
from penstock.stream.base.clock import SystemClock
from penstock.tuning import DEFAULT
from tests.connect.watched_ingest import WatchedIngest
from tests.support.arrivals import STREAM


def main(folder: Path, source: str, elements: int) -> None:
    failpoints.handler = lambda place: print(place, flush=True)
    ingest = WatchedIngest(folder, source, SystemClock(), DEFAULT)
    ingest.start()
    ingest.wait_for(lambda: ingest.log.counts(STREAM).elements >= elements)
    ingest.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    os._exit(0)

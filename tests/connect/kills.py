"""Ingest in a process of its own that dies by SIGKILL: `kills FOLDER SOURCE PLACE NUMBER`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path
from threading import Event

from penstock.stream.base import failpoints
from tests.connect.received import ingesting
from tests.support.arrivals import SECOND

__all__ = ["KILLS", "killed_at"]

KILLS = int(os.environ.get("KILLS", "20"))


def killed_at(root: Path, source: str, place: str, number: int) -> None:
    """Run ingest until it comes to a place for the n-th time, where it is killed."""
    command = [sys.executable, "-m", __name__, str(root), source, place, str(number)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr


def _main(root: str, source: str, place: str, number: str) -> None:
    passes = count(1)

    def kill(reached: str) -> None:
        if reached == place and next(passes) == int(number):
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.handler = kill
    with ingesting(Path(root), source, lateness=SECOND):
        Event().wait(60)


if __name__ == "__main__":
    _main(*sys.argv[1:])

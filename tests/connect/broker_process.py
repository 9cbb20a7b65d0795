"""A broker as a process on a free port of loopback, in a folder of its own, that a test can stop and start again."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

__all__ = ["BrokerProcess", "free_port"]

_PATIENCE = 500  # looks at a broker that starts
_LOOK = 0.02  # seconds for one


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class BrokerProcess:
    """A server: `command` says how it is started. Where its binary is missing, the tests are skipped."""

    binary: str

    def __init__(self, folder: Path) -> None:
        self.path = shutil.which(self.binary) or shutil.which(self.binary, path="/usr/sbin:/usr/local/sbin")
        if self.path is None:
            pytest.skip(f"{self.binary} is not installed: make brokers")
        self.folder, self.port = folder, free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def place(self) -> str:
        """HOST:PORT."""
        return f"127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        """The arguments behind the binary."""
        raise NotImplementedError

    def start(self) -> None:
        """Start it, and return when it listens."""
        log = (self.folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen([str(self.path), *self.command()], stdout=log, stderr=log)
        for _ in range(_PATIENCE):
            if self._listens():
                return
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LOOK)
                break
        raise AssertionError(f"{self.binary} does not start: {(self.folder / 'log').read_text(errors='replace')}")

    def stop(self, by: signal.Signals = signal.SIGTERM) -> None:
        """End it; it can be started again."""
        if self._process is not None:
            self._process.send_signal(by)
            self._process.wait(30)
            self._process = None

    def _listens(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

"""A connector from its address to the log: options, secrets, trouble and attempts. No broker."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.metadata import EntryPoints
from pathlib import Path

import pytest

from penstock.errors import OptionError, PenstockWarning, SetupError
from penstock.io.connect.options import SECRET
from penstock.io.connect.secrets import Secret
from penstock.plug_ins import PlugIns
from penstock.stream.base.clock import Clock
from penstock.stream.ingest import sources
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.sources.connector import Connector
from penstock.stream.ingest.sources.receiver import Accept, Message, Positions
from penstock.stream.ingest.stream_declaration import Declared
from penstock.testing import ManualClock
from tests.support.arrivals import STREAM, text
from tests.unit.stream.log.test_stream_log import times


@dataclass(frozen=True, slots=True)
class QueueOptions:
    password: Secret | None = field(default=None, metadata=SECRET)
    most: int = 10


class QueueSource(Connector):
    """Fails at its first attempt, then brings three elements."""

    kind = "queue"
    Options = QueueOptions

    def check(self) -> None:
        if not self.address.path:
            raise OptionError("queue: which one? Write queue://HOST/NAME")
        self.name = f"queue:{self.address.path}"

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        password = self.options.password.reveal() if self.options.password else ""
        self.trouble(ConnectionError(f"login with {password} failed."))
        self.back_off(clock)
        self.well()
        for stamp in range(int(str(position.get("", 0))) + 1, 4):
            accept([Message(text([stamp]), partition="")], {"": stamp})


def _start(ingest: Ingest, clock: ManualClock) -> None:
    """Start, and wait until the source waits for its next attempt."""
    ingest.start()
    clock.await_waiter()


KINDS = PlugIns(
    "penstock.sources",
    "source",
    {"queue": f"{__name__}:QueueSource"},
    entry_points=lambda **_: EntryPoints(),
)


def test_a_connector_tells_its_trouble_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUEUE_PASSWORD", "hunter2")
    clock = ManualClock()
    source = sources.open({"address": "queue://h/orders", "password": "${env:QUEUE_PASSWORD}"}, KINDS)
    assert isinstance(source, QueueSource)
    ingest = Ingest(None, tmp_path, clock, {STREAM: Declared(source)})  # type: ignore[arg-type]
    with pytest.warns(PenstockWarning, match=r"queue://h/orders: login with \*\*\* failed; trying again\.$"):
        _start(ingest, clock)
    assert ingest.problems == {STREAM: "queue://h/orders: login with *** failed; trying again."}
    clock.advance(100_000)
    source._thread.join(20)  # type: ignore[union-attr]
    assert (ingest.problems, times(ingest.log)) == ({}, [1, 2, 3])
    ingest.close()
    assert "hunter2" not in f"{source!r} {source.options!r}"
    assert b"hunter2" not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_mistakes_are_those_of_the_declaration() -> None:
    with pytest.raises(OptionError, match="queue: which one"):
        sources.open("queue://h", KINDS)
    with pytest.raises(OptionError, match="there is no option mots: did you mean most"):
        sources.open("queue://h/q?mots=1", KINDS)
    with pytest.raises(SetupError, match="There is no source 'queu': did you mean 'queue'"):
        sources.open("queu://h/q", KINDS)


def test_a_missing_client_is_told_when_the_stream_is_declared() -> None:
    class Missing(QueueSource):
        client, extra = "nosuchclient", "queue"

    with pytest.raises(SetupError, match=r"The source queue needs .*: pip install penstock\[queue\]"):
        Missing("h/q")


def test_references_are_remembered_and_values_are_not() -> None:
    declared = Declared("queue://h/q?password=${env:QUEUE_PASSWORD}")
    assert json.dumps(declared.remembered()["source"]) == '"queue://h/q?password=${env:QUEUE_PASSWORD}"'


def test_the_url_of_a_resource_keeps_its_query() -> None:
    source = sources.open("queue+https://h/q?page=1#most=5", KINDS)
    assert isinstance(source, QueueSource)
    assert (source.address.resource, source.options.most) == ("https://h/q?page=1", 5)

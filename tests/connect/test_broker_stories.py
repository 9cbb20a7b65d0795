"""The stories of the pages on brokers run as they stand, on another port, and print what is shown."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.connect.broker_process import BrokerProcess
from tests.connect.mosquitto import Mosquitto
from tests.connect.nats_server import NatsServer
from tests.connect.redis_server import RedisServer
from tests.support.documents import BLOCK, DOCS


def story(page: str) -> tuple[str, str]:
    """The program of a page, and the output shown below it."""
    found = BLOCK.findall((DOCS / "connect" / page).read_text("utf-8"))
    return next((code, shown) for (language, code), (_, shown) in pairwise(found) if language == "py")


def started(kind: type[BrokerProcess], factory: pytest.TempPathFactory) -> AbstractContextManager[BrokerProcess]:
    assert issubclass(kind, Mosquitto | NatsServer | RedisServer)
    return kind.running(factory)


@pytest.mark.parametrize(
    ("page", "kind", "port"),
    [("mqtt.md", Mosquitto, "1883"), ("nats.md", NatsServer, "4222"), ("redis.md", RedisServer, "6379")],
)
def test_story(
    page: str,
    kind: type[BrokerProcess],
    port: str,
    spark: SparkSession,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(logging.getLogger("penstock"), "handlers", [logging.NullHandler()])
    code, shown = story(page)
    assert code.count(port) == 1
    with started(kind, tmp_path_factory) as broker:
        exec(compile(code.replace(port, str(broker.port)), page, "exec"), {"__name__": "story"})
    assert capsys.readouterr().out == shown
    assert spark.range(3).count() == 3

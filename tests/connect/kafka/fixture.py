"""The broker that all tests of Kafka share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.connect.kafka.broker import KafkaBroker, missing

__all__ = ["kafka"]


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    """A broker of Kafka; without its jars the tests fail, since they were asked for."""
    if reason := missing():
        pytest.fail(reason)
    broker = KafkaBroker(tmp_path_factory.mktemp("kafka"))
    broker.start()
    yield broker
    broker.stop()

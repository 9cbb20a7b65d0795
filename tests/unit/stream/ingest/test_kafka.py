"""The declaration of a stream from Kafka: mistakes are told before anything connects."""

from __future__ import annotations

import pytest

pytest.importorskip("confluent_kafka", reason="the extra kafka is not installed: make brokers")

from penstock.errors import OptionError
from penstock.io.sinks import open_sink
from penstock.stream.ingest import sources


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("kafka://h:9092", "kafka: which topic"),
        ("kafka:///t", "kafka: which broker"),
        ("kafka://h:9092/t?start=yesterday", "the option start is earliest, latest or a time"),
        ("kafka://h:9092/t?lost=maybe", "the option lost is one of stop, skip"),
        ("kafka://h:9092/t?isolation.level=read_uncommitted", "the option isolation.level cannot be set"),
        ("kafka://h:9092/t?sasl.password=hunter2", "the option sasl.password would be stored"),
        ("kafka://h:9092/^(", "is no regular expression"),
    ],
)
def test_mistakes_of_a_source(address: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        sources.open(address)


def test_mistakes_of_a_sink() -> None:
    with pytest.raises(OptionError, match="a sink has one topic"):
        open_sink("kafka://h:9092/a,b", "solutions")
    with pytest.raises(OptionError, match=r"the option transactional\.id cannot be set"):
        open_sink("kafka://h:9092/a?transactional.id=x", "solutions")


def test_the_name_of_positions_does_not_have_the_brokers() -> None:
    source = sources.open("kafka://h:9092,i:9092/a,b")
    assert getattr(source, "name", None) == "kafka:a,b"

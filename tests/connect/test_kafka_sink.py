"""Answers into a topic of a real Kafka: each once, in their order, whatever is repeated."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from confluent_kafka import Producer
from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.answer import Answer, Term
from penstock.errors import StoreError
from penstock.io.sinks import Batch, open_sink
from penstock.io.sinks.brokers.kafka import KafkaSink
from tests.connect.kafka.broker import KafkaBroker, free_ports

KILLS = int(os.environ.get("KAFKA_KILLS", "5"))
START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class FewAnswers:
    """A batch of answers at some minutes."""

    number: int
    minutes: Sequence[int]
    query: str = "cars"

    @property
    def answers(self) -> Iterator[Answer]:
        for minute in self.minutes:
            yield Answer(("n",), [{"n": Literal(minute)}], time=START + timedelta(minutes=minute), query=self.query)


def batch(number: int, minutes: Sequence[int], query: str = "cars") -> Batch:
    return cast(Batch, FewAnswers(number, minutes, query))


def opened(kafka: KafkaBroker, topic: str, position: object = None) -> KafkaSink:
    """A sink of a new process: at that position, or at the beginning."""
    sink = open_sink(f"kafka://{kafka.address}/{topic}?format=csv", "solutions")
    assert isinstance(sink, KafkaSink)
    sink.rewind(sink.begin() if position is None else str(position))
    return sink


def minutes(kafka: KafkaBroker, topic: str) -> list[int]:
    return [int(record.value().decode().split()[1]) for record in kafka.records(topic)]


def test_messages_have_query_instant_and_batch(kafka: KafkaBroker) -> None:
    topic = kafka.topic()
    sink = opened(kafka, topic)
    position = sink.deliver(batch(3, [5]))
    (record,) = kafka.records(topic)
    assert record.key() == b"cars 2026-01-01T00:05:00+00:00"
    assert dict(record.headers()) | {"penstock-sink": b""} == {
        "penstock-sink": b"", "penstock-query": b"cars", "penstock-batch": b"3",
    }  # fmt: skip
    assert str(position).endswith(":0:1")
    sink.close()


def test_all_kinds_of_terms_come_through(kafka: KafkaBroker) -> None:
    topic = kafka.topic()
    terms: list[Term] = [
        NamedNode("http://e/ä"),
        BlankNode("b"),
        Literal('a "\n😀'),
        Literal("chat", language="fr"),
        Literal(2.5),
    ]
    answer = Answer(("x",), [{"x": term} for term in terms], time=START)

    class One(FewAnswers):
        @property
        def answers(self) -> Iterator[Answer]:
            yield answer

    sink = open_sink(f"kafka://{kafka.address}/{topic}", "solutions")
    sink.rewind(sink.begin())
    sink.deliver(cast(Batch, One(0, ())))
    assert [record.value().decode() for record in kafka.records(topic)] == [answer.to_ndjson()]


def test_answers_of_a_query_stay_in_their_order(kafka: KafkaBroker) -> None:
    topic = kafka.topic(4)
    sink = opened(kafka, topic)
    for number in range(5):
        sink.deliver(batch(number, range(number * 20, number * 20 + 20)))
    assert minutes(kafka, topic) == list(range(100))


@pytest.mark.parametrize(
    "again",
    [
        [[3, 4, 5]],  # the same batch
        [[3, 4, 5, 6, 7]],  # with instants that have come since
        [[3], [4, 5, 6], [7]],  # in smaller pieces
    ],
)
def test_a_batch_that_was_committed_is_not_delivered_again(kafka: KafkaBroker, again: list[list[int]]) -> None:
    topic = kafka.topic(2)
    first = opened(kafka, topic)
    position = first.deliver(batch(0, [1, 2]))
    first.deliver(batch(1, [3, 4, 5]))  # and the process dies before this position is saved
    for number, some in enumerate(again, 1):
        dying = opened(kafka, topic, position)
        dying.deliver(batch(number, some))  # the next one too
        position = opened(kafka, topic, position).deliver(batch(number, some))
    opened(kafka, topic, position).deliver(batch(9, [8]))
    assert minutes(kafka, topic) == [*range(1, max(again[-1]) + 1), 8]


def test_a_batch_that_was_not_committed_is_delivered(kafka: KafkaBroker) -> None:
    topic = kafka.topic()
    first = opened(kafka, topic)
    position = first.deliver(batch(0, [1]))
    assert first._writer is not None
    first._writer._producer.begin_transaction()
    first._writer._produce(b"cars", next(batch(1, [2]).answers), batch(1, [2]), [])
    first._writer._producer.flush(60)  # and the process dies before it commits
    opened(kafka, topic, position).deliver(batch(1, [2, 3]))
    assert minutes(kafka, topic) == [1, 2, 3]


def test_a_predecessor_that_comes_back_is_locked_out(kafka: KafkaBroker) -> None:
    topic = kafka.topic()
    first = opened(kafka, topic)
    position = first.deliver(batch(0, [1]))
    opened(kafka, topic, position).deliver(batch(1, [2]))
    with pytest.raises(StoreError, match="fenced"):
        first.deliver(batch(1, [2]))
    assert minutes(kafka, topic) == [1, 2]


def test_a_query_of_the_same_name_begins_anew(kafka: KafkaBroker) -> None:
    topic = kafka.topic()
    opened(kafka, topic).deliver(batch(0, [1, 2]))
    opened(kafka, topic).deliver(batch(0, [1, 2]))
    assert minutes(kafka, topic) == [1, 2, 1, 2]


def test_queries_share_a_topic(kafka: KafkaBroker) -> None:
    topic = kafka.topic()
    cars, bikes = opened(kafka, topic), opened(kafka, topic)
    position = cars.deliver(batch(0, [1]))
    bikes.deliver(batch(0, [1], "bikes"))
    cars.deliver(batch(1, [2]))
    bikes.deliver(batch(1, [2], "bikes"))
    opened(kafka, topic, position).deliver(batch(1, [2, 3]))
    keys = [record.key().decode().partition(" ")[0] for record in kafka.records(topic)]
    assert keys == ["cars", "bikes", "cars", "bikes", "cars"]


def test_more_partitions_than_before(kafka: KafkaBroker) -> None:
    topic = kafka.topic(1)
    position = opened(kafka, topic).begin()
    opened(kafka, topic, position).deliver(batch(0, [1, 2]))
    kafka.grow(topic, 8)
    opened(kafka, topic, position).deliver(batch(0, [1, 2, 3]))
    assert sorted(minutes(kafka, topic)) == [1, 2, 3]


def test_another_transaction_is_waited_for(kafka: KafkaBroker) -> None:
    topic = kafka.topic()
    other = Producer({"bootstrap.servers": kafka.address, "transactional.id": "other", "transaction.timeout.ms": 5000})
    other.init_transactions(60)
    other.begin_transaction()
    other.produce(topic, b"x 0", partition=0)
    other.flush(60)
    position = opened(kafka, topic).begin()
    opened(kafka, topic, position).deliver(batch(0, [1]))
    opened(kafka, topic, position).deliver(batch(0, [1]))
    assert minutes(kafka, topic) == [1], "the other one's transaction was too long, and ended by the broker"


def test_a_restarted_broker(kafka: KafkaBroker) -> None:
    topic = kafka.topic()
    sink = opened(kafka, topic)
    sink.deliver(batch(0, [1]))
    kafka.stop()
    kafka.start()
    position = sink.deliver(batch(1, [2]))
    opened(kafka, topic, position).deliver(batch(2, [3]))
    assert minutes(kafka, topic) == [1, 2, 3]


def test_mistakes_are_one_sentence(kafka: KafkaBroker) -> None:
    topic = kafka.topic(prefix="answers")
    with pytest.raises(StoreError, match=rf"there is no topic {topic}x \(did you mean {topic}\?\)$"):
        opened(kafka, f"{topic}x")
    (port,) = free_ports(1)
    with pytest.raises(StoreError, match=rf"^kafka://127.0.0.1:{port}/t: .*(refused|transport failure)$"):
        open_sink(f"kafka://127.0.0.1:{port}/t", "solutions").begin()


def test_kills_between_the_two_commits(kafka: KafkaBroker, tmp_path: Path) -> None:
    """In each life a batch is delivered and not saved; the next has batches of other sizes."""
    topic, most = kafka.topic(3), 20 * (KILLS + 1)
    for life in range(KILLS + 1):
        arguments = [kafka.address, topic, tmp_path / "position", life, most, life % 3 if life < KILLS else -1]
        command = [sys.executable, "-m", "tests.connect.kafka.writer", *map(str, arguments)]
        assert subprocess.run(command, timeout=100).returncode == (-signal.SIGKILL if life < KILLS else 0)
    assert minutes(kafka, topic) == list(range(most))

"""Answers into a topic of Kafka: `kafka://HOST:PORT/TOPIC?format=…`, each exactly once.

    begin ─ answers of a batch ─ the place of the batch in the topic ─ commit      one transaction of Kafka
                                                                          ▼
                                                          progress of the query     the checkpoint

A process that dies between the two commits has delivered answers that its successor is given again, perhaps in a batch
of another size. The place of the last batch is the committed offset of a consumer group of the sink's own: there the
successor reads which answers are in the topic, and leaves these out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4
from zlib import crc32

from penstock.answer import Answer
from penstock.errors import OptionError, StoreError
from penstock.io.connect import kafka
from penstock.io.connect.secrets import Secret
from penstock.io.sinks.connector import AnswerFormat, SinkConnector, encoder
from penstock.io.sinks.sink import Batch, Position

__all__ = ["KafkaSink", "KafkaSinkOptions"]

_FIXED = ("transactional.id", "enable.idempotence", "group.id", "isolation.level", "enable.auto.commit", "acks")
_TIMEOUT = 60.0  # seconds for a step of a transaction
_SINK, _QUERY, _BATCH = "penstock-sink", "penstock-query", "penstock-batch"


@dataclass(frozen=True, slots=True)
class KafkaSinkOptions:
    """The format of an answer, which is a message; all options with a dot are the client's."""

    format: AnswerFormat = "ndjson"
    settings: Mapping[str, Secret] = field(default_factory=dict)


class KafkaSink(SinkConnector):
    """A transaction for each batch. The position is the name of the sink, by which its successor finds its answers,
    and the number of batches."""

    kind, client, extra = "kafka", "confluent_kafka", "kafka"
    Options = KafkaSinkOptions

    def check(self) -> None:
        """See `SinkConnector.check`."""
        kafka.check_settings(self.address, self.options.settings, _FIXED)
        if "," in self.address.path or self.address.path.startswith("^"):
            raise OptionError(f"kafka: a sink has one topic, and not {self.address.path}")
        self._id = ""
        self._writer: _Writer | None = None

    def begin(self) -> Position:
        """See `Sink.begin`. The topic has to be there."""
        problems = kafka.Problems()
        consumer = self.module().Consumer(self.settings({"group.id": "penstock", "error_cb": problems}))
        try:
            self.partitions(consumer)
        except self.module().KafkaException as error:
            raise StoreError(f"{self.address.text}: {problems.of(error)}") from None
        finally:
            consumer.close()
        self._id = uuid4().hex
        return f"{self._id}:0"

    def rewind(self, position: Position) -> None:
        """See `Sink.rewind`. What was committed stays, and is left out when it comes again."""
        self._id = str(position).partition(":")[0]
        self.close()

    def deliver(self, batch: Batch) -> Position:
        """See `Sink.deliver`."""
        super().deliver(batch)
        return f"{self._id}:{batch.number + 1}"

    def send(self, batch: Batch) -> None:
        """See `SinkConnector.send`. After an error nobody knows what was committed: the next attempt looks."""
        try:
            self._writer = self._writer or _Writer(self, batch.query, self._id)
            self._writer.write(batch)
        except self.module().KafkaException as error:
            self.close()
            raise StoreError(kafka.said(error)) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """See `Sink.close`."""
        self._writer = None

    def settings(self, fixed: Mapping[str, object]) -> dict[str, Any]:
        """The settings of a client of this sink."""
        return kafka.settings(self.address, self.options.settings, fixed)

    def partitions(self, client: Any) -> int:
        """The number of partitions of the topic; a `StoreError` if it is not there."""
        there = client.list_topics(timeout=kafka.TIMEOUT).topics
        if missing := kafka.Topics((self.address.path,)).missing(there):
            raise StoreError(f"{self.address.text}: {missing}")
        return len(there[self.address.path].partitions)


class _Writer:
    """A producer with the answers that it need not deliver again."""

    def __init__(self, sink: KafkaSink, query: str, name: str) -> None:
        self._sink, self._query, self._name = sink, query, name
        self._topic, self._module = sink.address.path, sink.module()
        self._encode = encoder(sink.options.format)
        own = f"penstock-{self._topic}-{query}-{name}"
        self._producer = self._module.Producer(sink.settings({"transactional.id": own}))
        self._producer.init_transactions(_TIMEOUT)  # ends the transaction of a predecessor, and locks that one out
        fixed = {"group.id": own, "enable.auto.commit": False, "isolation.level": "read_committed"}
        more = {"enable.partition.eof": True, "auto.offset.reset": "earliest"}
        self._consumer = self._module.Consumer(sink.settings(fixed | more))
        count = sink.partitions(self._consumer)
        self._partition = crc32(query.encode()) % count  # one, so that the answers of a query stay in their order
        self._first: int | None = None  # the offset from which on a successor has to look
        self._done = {key for number in range(count) for key in self._committed(number)}

    def _committed(self, number: int) -> Iterator[bytes]:
        """The keys of the answers that came last into a partition, and are there for good."""
        (found,) = self._consumer.committed([self._module.TopicPartition(self._topic, number)], _TIMEOUT)
        if found.error is not None:
            raise self._module.KafkaException(found.error)
        if found.offset < 0:
            return
        first = int(found.metadata)
        if number == self._partition:
            self._first = first
        self._consumer.assign([self._module.TopicPartition(self._topic, number, first)])
        for record in self._until(found.offset):
            if (_SINK, self._name.encode()) in (record.headers() or ()):
                yield record.key()
        self._consumer.unassign()

    def _until(self, end: int) -> Iterator[Any]:
        """The records before an offset. One that Kafka has removed is not waited for."""
        reached = 0
        while reached < end:
            record = self._consumer.poll(_TIMEOUT)
            if record is None:
                raise StoreError("the answers that were delivered last cannot be read: another transaction is open")
            reached = max(reached, record.offset() + (record.error() is None))
            if record.error() is None:
                yield record
            elif record.error().code() != self._module.KafkaError._PARTITION_EOF:
                raise self._module.KafkaException(record.error())

    def write(self, batch: Batch) -> None:
        """Commit the answers of a batch that are not in the topic yet."""
        offsets: list[int] = []
        is_repeated, is_open = False, False
        for answer in batch.answers:
            if (key := _key(batch.query, answer)) in self._done:
                is_repeated = True
                continue
            if not is_open:
                self._producer.begin_transaction()
                is_open = True
            self._produce(key, answer, batch.number, offsets)
        if is_open:
            self._commit(offsets, is_repeated)

    def _produce(self, key: bytes, answer: Answer, number: int, offsets: list[int]) -> None:
        def delivered(error: Any, record: Any) -> None:
            if error is not None:
                raise self._module.KafkaException(error)
            offsets.append(record.offset())

        about = [(_SINK, self._name), (_QUERY, self._query), (_BATCH, str(number))]
        headers = [(name, value.encode()) for name, value in about]
        value = self._encode(answer)
        while True:
            try:
                return self._producer.produce(
                    self._topic, value, key, self._partition, headers=headers, on_delivery=delivered
                )
            except BufferError:
                self._producer.poll(1)

    def _commit(self, offsets: list[int], is_repeated: bool) -> None:
        """Commit the messages, and where they are. If some of their batch were there before, it begins at these."""
        if self._producer.flush(_TIMEOUT):
            raise StoreError("the brokers have not taken the answers in time")
        if not is_repeated or self._first is None:
            self._first = min(offsets)
        here = self._module.TopicPartition(self._topic, self._partition, max(offsets) + 1, str(self._first))
        group = self._consumer.consumer_group_metadata()
        self._producer.send_offsets_to_transaction([here], group, _TIMEOUT)
        self._producer.commit_transaction(_TIMEOUT)


def _key(query: str, answer: Answer) -> bytes:
    """Query and instant, or the bounds of the interval."""
    times = ["" if time is None else time.isoformat() for time in answer.when.values()]
    return " ".join([query, *times]).encode()

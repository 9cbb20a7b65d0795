"""Answers into a topic of Kafka: `kafka://HOST:PORT/TOPIC?format=…`, each exactly once.

    one transaction of Kafka: the answers of a batch ──► the checkpoint: progress, and the offset behind these answers

A process that dies between the two commits has delivered answers that its successor is given again, perhaps in batches
of another size. The successor reads from that offset on which of its answers are in the topic, and leaves these out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
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
_Found = TypeVar("_Found")
_SINK, _QUERY, _BATCH = "penstock-sink", "penstock-query", "penstock-batch"


@dataclass(frozen=True, slots=True)
class KafkaSinkOptions:
    """The format of an answer, which is a message; all options with a dot are the client's."""

    format: AnswerFormat = "ndjson"
    settings: Mapping[str, Secret] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Place:
    """The name of a sink, its partition (one, so that answers stay in their order), and the offset behind its last
    answer. As a text it is the sink's position."""

    sink: str
    partition: int
    end: int

    @classmethod
    def parse(cls, position: Position) -> _Place:
        sink, partition, end = str(position).split(":")
        return cls(sink, int(partition), int(end))

    def __str__(self) -> str:
        return f"{self.sink}:{self.partition}:{self.end}"


class KafkaSink(SinkConnector):
    """A transaction for each batch; an answer is a message."""

    kind, client, extra = "kafka", "confluent_kafka", "kafka"
    Options = KafkaSinkOptions
    _place: _Place
    _writer: _Writer | None = None

    def check(self) -> None:
        """See `SinkConnector.check`."""
        kafka.check_settings(self.address, self.options.settings, _FIXED)
        if "," in self.address.path or self.address.path.startswith("^"):
            raise OptionError(f"kafka: a sink has one topic, and not {self.address.path}")

    def begin(self) -> Position:
        """See `Sink.begin`. The topic has to be there."""
        problems, name = kafka.Problems(), uuid4().hex
        consumer = self.consumer("read_uncommitted", error_cb=problems)
        try:
            partition = crc32(name.encode()) % self._partitions(consumer)
            self._place = _Place(name, partition, self.end(consumer, partition))
        except self.module().KafkaException as error:
            consumer.poll(0)  # the client tells the reason
            raise StoreError(f"{self.address.text}: {problems.of(error)}") from None
        finally:
            consumer.close()
        return str(self._place)

    def rewind(self, position: Position) -> None:
        """See `Sink.rewind`. What was committed stays, and is left out when it comes again."""
        self._place = _Place.parse(position)
        self.close()

    def deliver(self, batch: Batch) -> Position:
        """See `Sink.deliver`."""
        super().deliver(batch)
        return str(self._place)

    def send(self, batch: Batch) -> None:
        """See `SinkConnector.send`. After an error nobody knows what was committed: the next attempt looks."""
        try:
            self._writer = self._writer or _Writer(self, self._place, batch.query)
            self._place = replace(self._place, end=self._writer.write(batch))
        except BaseException as error:
            self.close()
            if isinstance(error, self.module().KafkaException):
                raise StoreError(kafka.said(error)) from None
            raise

    def close(self) -> None:
        """See `Sink.close`."""
        self._writer = None

    def settings(self, fixed: Mapping[str, object]) -> dict[str, Any]:
        """The settings of a client of this sink."""
        return kafka.settings(self.address, self.options.settings, fixed)

    def consumer(self, isolation: str, **more: object) -> Any:
        """A consumer of nothing yet."""
        fixed = {"group.id": "penstock", "enable.auto.commit": False, "isolation.level": isolation}
        reading = {"enable.partition.eof": True, "auto.offset.reset": "earliest"}
        return self.module().Consumer(self.settings({**fixed, **reading, **more}))

    def end(self, consumer: Any, partition: int) -> int:
        """The offset behind all that is in a partition, committed or not."""
        here = self.module().TopicPartition(self.address.path, partition)
        return int(consumer.get_watermark_offsets(here, timeout=kafka.TIMEOUT, cached=False)[1])

    def _partitions(self, client: Any) -> int:
        there = client.list_topics(timeout=kafka.TIMEOUT).topics
        if missing := kafka.Topics((self.address.path,)).missing(there):
            raise StoreError(f"{self.address.text}: {missing}")
        return len(there[self.address.path].partitions)


class _Writer:
    """A producer, and the keys of the answers that are in the topic and may come again."""

    def __init__(self, sink: KafkaSink, place: _Place, query: str) -> None:
        self._sink, self._place, self._end = sink, place, place.end
        self._topic, self._module = sink.address.path, sink.module()
        self._encode = encoder(sink.options.format)
        own = f"penstock-{self._topic}-{query}-{place.sink}"
        self._producer = self._module.Producer(sink.settings({"transactional.id": own}))
        self._producer.init_transactions(_TIMEOUT)  # ends the transaction of a predecessor, and locks that one out
        end = self._looked(lambda consumer: sink.end(consumer, place.partition), "read_uncommitted")
        self._known = self._looked(lambda consumer: set(self._keys(consumer, end)), "read_committed")
        self._behind = end  # all known answers

    def _looked(self, look: Callable[[Any], _Found], isolation: str) -> _Found:
        consumer = self._sink.consumer(isolation)
        try:
            return look(consumer)
        finally:
            consumer.close()

    def _keys(self, consumer: Any, end: int) -> Iterator[bytes]:
        """The keys of this sink's answers between its place and an offset."""
        reached = self._place.end
        consumer.assign([self._module.TopicPartition(self._topic, self._place.partition, reached)])
        while reached < end:
            record = consumer.poll(_TIMEOUT)
            if record is None:
                raise StoreError("the answers that were delivered last cannot be read: another transaction is open")
            if (error := record.error()) is None:
                reached = record.offset() + 1
                if (_SINK, self._place.sink.encode()) in (record.headers() or ()):
                    yield record.key()
            elif error.code() == self._module.KafkaError._PARTITION_EOF:
                reached = record.offset()
            else:
                raise self._module.KafkaException(error)

    def write(self, batch: Batch) -> int:
        """Commit the answers of a batch that are not in the topic yet. The offset from which on a successor has to
        look: behind them, unless known answers have not come again so far."""
        offsets: list[int] = []
        is_open = False
        for answer in batch.answers:
            if (key := _key(batch.query, answer)) in self._known:
                self._known.remove(key)
                continue
            if not is_open:
                self._producer.begin_transaction()
                is_open = True
            self._produce(key, answer, batch, offsets)
        if is_open:
            self._commit()
            self._behind = max(offsets) + 1
        if not self._known:
            self._end = self._behind
        return self._end

    def _produce(self, key: bytes, answer: Answer, batch: Batch, offsets: list[int]) -> None:
        def delivered(error: Any, record: Any) -> None:
            if error is None:  # else the commit fails, and tells the reason
                offsets.append(record.offset())

        about = {_SINK: self._place.sink, _QUERY: batch.query, _BATCH: str(batch.number)}
        headers = [(name, value.encode()) for name, value in about.items()]
        value, partition = self._encode(answer), self._place.partition
        while True:
            try:
                self._producer.produce(self._topic, value, key, partition, headers=headers, on_delivery=delivered)
                return
            except BufferError:
                self._producer.poll(1)

    def _commit(self) -> None:
        if self._producer.flush(_TIMEOUT):
            raise StoreError("the brokers have not taken the answers in time")
        self._producer.commit_transaction(_TIMEOUT)


def _key(query: str, answer: Answer) -> bytes:
    """Query and instant, or the bounds of the interval."""
    times = ["" if time is None else time.isoformat() for time in answer.when.values()]
    return " ".join([query, *times]).encode()

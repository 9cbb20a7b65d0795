"""Topics of Kafka: `kafka://HOST:PORT[,HOST:PORT]/TOPIC[,TOPIC]`, or `…/^PATTERN` for all topics of such a name.

    topic/0@17 ──► Message(partition="topic/0") ──► one append with the position [18, cluster]

Partitions are assigned, and no group of consumers is asked: the offsets are in the log, with the elements. Partitions
that appear later are found by and by. While the stream is full they are paused, and the client is still polled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from penstock.errors import OptionError, PenstockError
from penstock.io.connect import kafka
from penstock.io.connect.options import Microseconds
from penstock.io.connect.secrets import Secret
from penstock.io.nquads_time import microseconds
from penstock.stream.base.clock import Clock, elapsed
from penstock.stream.ingest.sources.connector import Connector
from penstock.stream.ingest.sources.source import Accept, Message, Positions

__all__ = ["DEFAULTS", "KafkaOptions", "KafkaSource"]

_FIXED: dict[str, object] = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "isolation.level": "read_committed",
    "auto.offset.reset": "error",
}
DEFAULTS = {
    "group.id": "penstock",  # the client wants one; nothing is ever committed to it
    "fetch.queue.backoff.ms": "10",  # by its own default a client that has enough messages asks for no more for 1 s
}
_WAIT = 0.1  # seconds for the next message
_MOST = 10_000  # messages of one append
_COLUMNS = ("value", "key", "topic", "partition", "offset")
_REFRESH = Microseconds(10_000_000)


@dataclass(frozen=True, slots=True)
class KafkaOptions:
    """`start` holds where no position is stored: earliest, latest, or a time. `lost` says how to go on when Kafka has
    removed messages that were not read yet. `refresh` is the time between two looks for new partitions."""

    start: str = "earliest"
    lost: Literal["stop", "skip"] = "stop"
    refresh: Microseconds = _REFRESH
    settings: Mapping[str, Secret] = field(default_factory=dict)


class KafkaSource(Connector):
    """A consumer of all partitions of some topics."""

    kind, client, extra = "kafka", "confluent_kafka", "kafka"
    Options = KafkaOptions

    def check(self) -> None:
        """See `Connector.check`."""
        kafka.check_settings(self.address, self.options.settings, _FIXED)
        self.topics = kafka.Topics.parse(self.address.path)
        self.since = _since(self.options.start)
        self.name = f"kafka:{self.address.path}"

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        """See `Receiver.run`."""
        reader = _Reader(self, accept, clock, position)
        try:
            while not self.stopping:
                reader.step()
        finally:
            reader.close()


def _since(start: str) -> int | None:
    """The time of `start` in microseconds; None: it is earliest or latest."""
    if start in ("earliest", "latest"):
        return None
    try:
        return microseconds(start)
    except ValueError as error:
        raise OptionError(f"kafka: the option start is earliest, latest or a time: {error}") from None


class _Reader:
    """A consumer and the next offset of each of its partitions."""

    def __init__(self, source: KafkaSource, accept: Accept, clock: Clock, positions: Positions) -> None:
        self._source, self._accept, self._clock = source, accept, clock
        self._module, self._problems = source.module(), kafka.Problems()
        self._stored = {name: _stored(position) for name, position in positions.items()}
        self._next: dict[str, int] = {}
        self._cluster = ""
        self._paused = False
        self._due: int | None = None  # when to look for partitions
        self._consumer = self._made()

    def _made(self) -> Any:
        given = self._source.options.settings
        settings = kafka.settings(self._source.address, given, {**_FIXED, "error_cb": self._problems})
        try:
            return self._module.Consumer({**DEFAULTS, **settings})
        except (self._module.KafkaException, ValueError, TypeError) as error:
            raise PenstockError(f"{self._source.address.text}: {kafka.said(error)}.") from None

    def close(self) -> None:
        self._consumer.close()

    def step(self) -> None:
        """Look for partitions if that is due, then bring the next messages."""
        try:
            if self._due is None or elapsed(self._clock) >= self._due or self._problems.down:
                self._look()
            if self._next:
                self._bring()
        except self._module.KafkaException as error:
            self._fall_back(error)

    def _fall_back(self, error: Exception) -> None:
        """Say what is wrong, and begin again behind the messages that are in the log."""
        if not self._next:
            self._consumer.poll(0)  # the client tells the reason
        else:
            self._reassign()
        self._source.trouble(self._problems.of(error))
        self._due = None
        self._source.back_off(self._clock)

    def _look(self) -> None:
        """Find the partitions, and assign them if there are new ones."""
        cluster = self._consumer.list_topics(timeout=kafka.TIMEOUT)
        self._check(cluster.cluster_id or "")
        topics = self._source.topics
        found = [
            (topic, number) for topic in topics.chosen(cluster.topics) for number in cluster.topics[topic].partitions
        ]
        if new := [one for one in found if _name(*one) not in self._next]:
            self._assign(new)
        self._problems.clear()
        self._due = elapsed(self._clock) + self._source.options.refresh
        if missing := topics.missing(cluster.topics):
            self._source.trouble(missing)
            self._due = None
            self._source.back_off(self._clock)
        else:
            self._source.well()

    def _check(self, cluster: str) -> None:
        self._cluster = cluster
        if other := next((one for _, one in self._stored.values() if one != cluster), None):
            raise PenstockError(
                f"{self._source.address.text}: the positions of this stream are those of another cluster ({other}, and "
                f"here is {cluster}): declare a stream of another name, or begin a new checkpoint."
            )

    def _assign(self, new: Sequence[tuple[str, int]]) -> None:
        """Continue where the stored positions are. `start` is for the first time of all: partitions that have come
        since then are read from their beginning."""
        first = not self._stored and not self._next
        starts = {_name(*one): self._first(*one) if first else self._known(*one) for one in new}
        self._accept((), {name: [offset, self._cluster] for name, offset in starts.items()})
        self._next |= starts
        self._reassign()

    def _known(self, topic: str, number: int) -> int:
        stored = self._stored.get(_name(topic, number))
        return self._bounds(topic, number)[0] if stored is None else stored[0]

    def _first(self, topic: str, number: int) -> int:
        """The offset at which a stream without positions begins."""
        low, high = self._bounds(topic, number)
        if self._source.since is None:
            return low if self._source.options.start == "earliest" else high
        at = self._module.TopicPartition(topic, number, max(0, self._source.since // 1_000))
        (found,) = self._consumer.offsets_for_times([at], timeout=kafka.TIMEOUT)
        return int(found.offset) if found.offset >= 0 else high

    def _bounds(self, topic: str, number: int) -> tuple[int, int]:
        at = self._module.TopicPartition(topic, number)
        low, high = self._consumer.get_watermark_offsets(at, timeout=kafka.TIMEOUT, cached=False)
        return int(low), int(high)

    def _reassign(self) -> None:
        self._consumer.assign(self._partitions())
        self._paused = False

    def _partitions(self) -> list[Any]:
        return [self._module.TopicPartition(*_parts(name), offset) for name, offset in self._next.items()]

    def _bring(self) -> None:
        """Bring the next messages, as many as are there; none while the stream is full."""
        if (full := self._accept.is_full) != self._paused:
            (self._consumer.pause if full else self._consumer.resume)(self._partitions())
            self._paused = full
        if (first := self._consumer.poll(_WAIT)) is None:
            return
        messages, moved, failed = _sorted_out([first, *self._consumer.consume(_MOST - 1, 0)])
        if moved:
            self._accept(messages, {name: [offset, self._cluster] for name, offset in moved.items()})
            self._next |= moved
        for record in failed:
            self._failed(record, record.error())

    def _failed(self, record: Any, error: Any) -> None:
        """Say what is wrong with a partition, and go on if that can be."""
        if error.code() == self._module.KafkaError._AUTO_OFFSET_RESET:
            self._lost(record.topic(), record.partition())
        elif error.code() != self._module.KafkaError._PARTITION_EOF:
            self._source.trouble(kafka.said(error))
            self._due = None

    def _lost(self, topic: str, number: int) -> None:
        name = _name(topic, number)
        low, high = self._bounds(topic, number)
        text = f"{self._source.address.text}: {name} has the offsets {low} to {high}, and the next would be "
        text += f"{self._next[name]}: messages were removed before they were read"
        if self._source.options.lost == "stop":
            raise PenstockError(f"{text}. With the option lost=skip the stream goes on without them.")
        self._source.report(f"{text}; going on at {low}.", self._source.address.text)
        self._next[name] = low
        self._reassign()


def _stored(position: Any) -> tuple[int, str]:
    offset, cluster = position
    return int(offset), str(cluster)


def _name(topic: str, number: int) -> str:
    return f"{topic}/{number}"


def _parts(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("/")
    return topic, int(number)


def _sorted_out(records: Sequence[Any]) -> tuple[list[Message], dict[str, int], list[Any]]:
    """The messages, the next offsets, and the errors among what the client has brought, of which no more is kept."""
    failed = [record for record in records if record.error() is not None]
    good = [record for record in records if record.error() is None] if failed else records
    return *_read(good), failed


def _read(records: Sequence[Any]) -> tuple[list[Message], dict[str, int]]:
    """The records as messages, but for those without a value, and the next offset of each partition.

    It goes column by column, since a function that is called for each record takes as long as parsing.
    """
    kind = type(records[0]) if records else None
    values, keys, topics, numbers, offsets = (
        list(map(getattr(kind, column), records)) if kind else [] for column in _COLUMNS
    )
    names = {pair: _name(*pair) for pair in set(zip(topics, numbers, strict=True))}
    partitions = [names[pair] for pair in zip(topics, numbers, strict=True)]
    columns = (
        values,
        keys,
        [_headers(each) if (each := record.headers()) else () for record in records],
        topics,
        [_microseconds(*record.timestamp()) for record in records],
        partitions,
        [f"{partition}@{offset}" for partition, offset in zip(partitions, offsets, strict=True)],
    )
    messages = list(map(Message._make, zip(*columns, strict=True)))
    if None in values:
        messages = [message for message in messages if message.payload is not None]
    moved = dict(zip(partitions, offsets, strict=True))
    return messages, {name: offset + 1 for name, offset in moved.items()}


def _microseconds(kind: int, milliseconds: int) -> int | None:
    return milliseconds * 1_000 if kind else None


def _headers(headers: Sequence[tuple[str, bytes | None]]) -> tuple[tuple[str, bytes], ...]:
    return tuple((name.lower(), value or b"") for name, value in headers)

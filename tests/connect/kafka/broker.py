"""A broker of Kafka in KRaft mode, from the jars that `make brokers` has put into build/kafka."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

__all__ = ["JARS", "KafkaBroker"]

JARS = Path(__file__).parents[3] / "build" / "kafka"
_CLUSTER = "UGVuc3RvY2tUZXN0c0thZg"
_WAIT = 60.0  # seconds for a start
_JAVA = ["java", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{JARS}/*"]
_SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller},OTHER://127.0.0.1:{other}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,OTHER:{protocol}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
log.retention.check.interval.ms=1000
"""


class KafkaBroker:
    """A broker on a free port of its own; `start` may follow `stop`, on the same port and the same data."""

    def __init__(self, folder: Path, protocol: str = "PLAINTEXT", listener: str = "") -> None:
        """`listener` are settings of a second listener, which is named OTHER: see `other`."""
        self._folder, self._names = folder, count()
        self.port, controller, other = free_ports(3)
        self.other = f"127.0.0.1:{other}"
        self.address = f"127.0.0.1:{self.port}"
        self.admin = AdminClient({"bootstrap.servers": self.address, "log_level": 2})
        self._process: subprocess.Popen[bytes] | None = None
        settings = folder / "server.properties"
        settings.write_text(
            _SETTINGS.format(port=self.port, controller=controller, folder=folder, other=other, protocol=protocol)
            + listener
        )
        format = ["kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(settings)]
        subprocess.run([*_JAVA, *format], check=True, capture_output=True)

    def start(self) -> None:
        """Return when it answers."""
        with (self._folder / "broker.log").open("ab") as log:
            command = [*_JAVA, "kafka.Kafka", str(self._folder / "server.properties")]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        self.admin.list_topics(timeout=_WAIT)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_WAIT)
            self._process = None

    def topic(self, partitions: int = 1, prefix: str = "t", **settings: str) -> str:
        """A new topic; its name."""
        name = f"{prefix}{next(self._names)}"
        config = {key.replace("_", "."): value for key, value in settings.items()}
        _done(self.admin.create_topics([NewTopic(name, partitions, 1, config=config)]))
        return name

    def grow(self, topic: str, partitions: int) -> None:
        _done(self.admin.create_partitions([NewPartitions(topic, partitions)]))

    def remove_before(self, topic: str, partition: int, offset: int) -> None:
        _done(self.admin.delete_records([TopicPartition(topic, partition, offset)]))

    def send(
        self, topic: str, partition: int, payloads: Iterable[bytes | None], most: int = 100_000, **more: Any
    ) -> None:
        """Return when all are in the partition; `most` may wait in the client."""
        queue = {"queue.buffering.max.messages": most, "queue.buffering.max.kbytes": 1 << 20}
        producer = Producer({"bootstrap.servers": self.address, "log_level": 2, **queue})
        for payload in payloads:
            producer.produce(topic, payload, partition=partition, **more)
            producer.poll(0)
        assert producer.flush(_WAIT) == 0

    def records(self, topic: str) -> Iterator[Any]:
        """All committed records, partition by partition."""
        settings = {"bootstrap.servers": self.address, "group.id": "tests", "isolation.level": "read_committed"}
        consumer = Consumer({**settings, "auto.offset.reset": "earliest", "enable.partition.eof": True})
        for number in self.admin.list_topics(timeout=_WAIT).topics[topic].partitions:
            consumer.assign([TopicPartition(topic, number, 0)])
            while (record := consumer.poll(_WAIT)) is not None and record.error() is None:
                yield record
        consumer.close()


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens on, all different."""
    sockets = [socket.socket() for _ in range(number)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


def missing() -> str | None:
    """Why there can be no broker here."""
    return None if JARS.is_dir() and os.listdir(JARS) else "build/kafka is empty: make brokers"


def _done(futures: dict[Any, Any]) -> None:
    for future in futures.values():
        future.result(_WAIT)

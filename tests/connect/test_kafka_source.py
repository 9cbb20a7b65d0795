"""Topics of a real Kafka into the log: partitions, positions, restarts, and one sentence for each mistake."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer
from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.stream.log.stream_log import Counts
from penstock.testing import ManualClock
from penstock.tuning import Tuning
from tests.connect.kafka.broker import KafkaBroker, free_ports
from tests.connect.watched_ingest import Opener, WatchedIngest
from tests.support.arrivals import SECOND, STREAM, text
from tests.unit.stream.log.test_stream_log import times

pytestmark = pytest.mark.filterwarnings("ignore::penstock.errors.PenstockWarning")
KILLS = int(os.environ.get("KAFKA_KILLS", "5"))
TERMS = [
    NamedNode("http://e/ä"), BlankNode("b1"), Literal("plain"), Literal("line\n\"quoted\" \\ 😀"),
    Literal("chat", language="fr"), Literal(5), Literal(2.5), Literal(True),
    Literal("2020-02-29T12:00:00Z", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#dateTime")),
    Literal("x", datatype=NamedNode("http://e/own")),
]  # fmt: skip

TIME = '"1970-01-01T00:00:01Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'


def payloads(*stamps: int) -> list[bytes]:
    return [text([stamp]) for stamp in stamps]


def source(kafka: KafkaBroker, topics: str, **options: str) -> dict[str, str]:
    return {"address": f"kafka://{kafka.address}/{topics}", **options}


def log_times(ingest: WatchedIngest) -> list[int]:
    return sorted(times(ingest.log))


def offsets(ingest: WatchedIngest) -> dict[str, int]:
    return {name: position[0] for name, position in ingest.positions.items()}  # type: ignore[index]


def objects(ingest: WatchedIngest) -> list[str]:
    paths = [path for segment in ingest.log.segments(STREAM) for path in segment.paths]
    return sorted(str(term) for path in paths for term in pq.read_table(path, partitioning=None)["o"].to_pylist())


def test_all_kinds_of_terms_come_through(kafka: KafkaBroker, open_ingest: Opener, tmp_path: Path) -> None:
    topic = kafka.topic()
    lines = [f"<http://e/s> <http://e/p> {term} {TIME} .\n".encode() for term in TERMS]
    kafka.send(topic, 0, lines)
    ingest = open_ingest(source(kafka, topic))
    ingest.wait_for_messages(len(lines))
    pushed = WatchedIngest(tmp_path / "pushed", None, ManualClock(), Tuning())
    pushed.push(STREAM, b"".join(lines))
    assert objects(ingest) == objects(pushed)
    assert len(objects(ingest)) == len(TERMS)


def test_a_message_has_what_the_broker_says_of_it(kafka: KafkaBroker, open_ingest: Opener) -> None:
    topic = kafka.topic(2)
    headers = [("Content-Type", b"text/plain"), ("empty", None)]
    kafka.send(topic, 1, payloads(7), key=b"k", headers=headers, timestamp=1_700_000_000_123)
    ingest = open_ingest(source(kafka, topic))
    ingest.wait_for_messages(1)
    (message,) = ingest.messages
    assert (message.key, message.headers) == (b"k", (("content-type", b"text/plain"), ("empty", b"")))
    assert (message.topic, message.partition, message.place) == (topic, f"{topic}/1", f"{topic}/1@0")
    assert message.time == 1_700_000_000_123_000


def test_it_continues_behind_what_is_in_the_log(kafka: KafkaBroker, open_ingest: Opener) -> None:
    topic = kafka.topic(2)
    kafka.send(topic, 0, payloads(1, 2))
    kafka.send(topic, 1, payloads(10))
    ingest = open_ingest(source(kafka, topic))
    ingest.wait_for_messages(3)
    ingest.stop()
    kafka.send(topic, 0, payloads(3))
    again = open_ingest(source(kafka, topic))
    again.wait_for_messages(1)
    assert [message.place for message in again.messages] == [f"{topic}/0@2"]
    assert log_times(again) == [1, 2, 3, 10]


def test_a_silent_partition_holds_back_the_watermark_until_it_is_idle(kafka: KafkaBroker, open_ingest: Opener) -> None:
    topic, clock = kafka.topic(3), ManualClock(1_000 * SECOND)
    kafka.send(topic, 0, payloads(100, 200))
    kafka.send(topic, 1, payloads(10, 20))
    ingest = open_ingest(source(kafka, topic), clock, idle=10 * SECOND)
    ingest.wait_for_messages(4)
    assert ingest.watermarks.combined([STREAM]) is None
    assert ingest.watermarks.slowest(STREAM) == f"{topic}/2"
    kafka.send(topic, 2, payloads(15))
    ingest.wait_for_messages(5)
    assert ingest.watermarks.combined([STREAM]) == 14
    assert ingest.log.counts(STREAM) == Counts(5, 0, 0), "20 is behind 200, of another partition: it is not late"


def test_where_it_starts_without_a_position(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = kafka.topic()
    for stamp in (1, 2, 3):
        kafka.send(topic, 0, payloads(stamp), timestamp=stamp * 1_000)
    for start, first in (("earliest", 0), ("latest", 3), ("1970-01-01T00:00:02Z", 1), ("2100-01-01T00:00:00Z", 3)):
        ingest = WatchedIngest(tmp_path / start, source(kafka, topic, start=start), ManualClock(), Tuning())
        ingest.start()
        ingest.wait_for(lambda ingest=ingest: bool(ingest.positions))  # type: ignore[misc]
        assert offsets(ingest)[f"{topic}/0"] in (first, 3)
        ingest.wait_for_messages(3 - first)
        assert log_times(ingest) == [1, 2, 3][first:]
        ingest.close()


def test_new_partitions_and_topics_are_found(kafka: KafkaBroker, open_ingest: Opener) -> None:
    clock = ManualClock()
    first = kafka.topic(prefix="sensors.a")
    kafka.topic(prefix="other.sensors.")
    ingest = open_ingest(source(kafka, r"^sensors\.a.*", start="latest", refresh="5s"), clock)
    ingest.wait_for(lambda: bool(ingest.positions))
    assert offsets(ingest) == {f"{first}/0": 0}
    kafka.grow(first, 2)
    second = kafka.topic(prefix="sensors.a")
    kafka.send(first, 1, payloads(1))
    kafka.send(second, 0, payloads(2))
    clock.advance(5 * SECOND)
    ingest.wait_for_messages(2)
    assert set(offsets(ingest)) == {f"{first}/0", f"{first}/1", f"{second}/0"}
    assert log_times(ingest) == [1, 2], "they are read from their beginning, whatever start is"


def test_only_committed_messages_are_read(kafka: KafkaBroker, open_ingest: Opener) -> None:
    topic = kafka.topic()
    producer = Producer({"bootstrap.servers": kafka.address, "transactional.id": topic})
    producer.init_transactions(60)
    for stamp, end in ((1, producer.abort_transaction), (2, producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic, text([stamp]))
        producer.flush(60)
        end(60)
    kafka.send(topic, 0, [None, *payloads(3)])  # a tombstone is no element
    ingest = open_ingest(source(kafka, topic))
    ingest.wait_for_messages(2)
    assert log_times(ingest) == [2, 3]
    assert ingest.log.counts(STREAM).malformed == 0


def test_a_full_stream_pauses_the_consumer(kafka: KafkaBroker, open_ingest: Opener) -> None:
    topic = kafka.topic()
    kafka.send(topic, 0, payloads(1))
    ingest = open_ingest(source(kafka, topic), tuning=Tuning(backlog_bytes=1))
    ingest.wait_for_messages(1)
    kafka.send(topic, 0, payloads(2, 3))
    assert ingest.backlog.is_full(STREAM)
    waiting = ingest.backlog.waiting(STREAM)
    with ingest.backlog.round():
        pass
    ingest.wait_for_messages(2)
    assert waiting == len(text([1])), "nothing has come while it was full"
    with ingest.backlog.round():
        pass
    ingest.wait_for_messages(3)
    assert log_times(ingest) == [1, 2, 3]


def test_a_restarted_broker(kafka: KafkaBroker, open_ingest: Opener) -> None:
    topic = kafka.topic()
    kafka.send(topic, 0, payloads(*range(50)))
    ingest = open_ingest(source(kafka, topic))
    ingest.wait_for_messages(50)
    kafka.stop()
    kafka.start()
    kafka.send(topic, 0, payloads(*range(50, 100)))
    ingest.wait_for_messages(100)
    assert log_times(ingest) == list(range(100))
    assert ingest.problems == {}


def test_messages_that_were_removed_unread(kafka: KafkaBroker, open_ingest: Opener) -> None:
    topic = kafka.topic()
    kafka.send(topic, 0, payloads(1))
    first = open_ingest(source(kafka, topic))
    first.wait_for_messages(1)
    first.stop()
    kafka.send(topic, 0, payloads(2, 3))
    kafka.remove_before(topic, 0, 2)
    stopped = open_ingest(source(kafka, topic))
    stopped._sources[STREAM]._thread.join(60)  # type: ignore[union-attr]
    assert f"{topic}/0 has the offsets 2 to 3, and the next would be 1" in stopped.problems[STREAM]
    assert "lost=skip" in stopped.problems[STREAM]
    skipping = open_ingest(source(kafka, topic, lost="skip"))
    skipping.wait_for_messages(1)
    assert log_times(skipping) == [1, 3]


def test_a_bad_payload_is_a_dead_letter_and_the_others_go_on(kafka: KafkaBroker, open_ingest: Opener) -> None:
    topic = kafka.topic()
    kafka.send(topic, 0, [*payloads(1), b"no element", b"\xff\xfe", *payloads(2)])
    ingest = open_ingest(source(kafka, topic))
    ingest.wait_for_messages(4)
    assert log_times(ingest) == [1, 2]
    assert ingest.log.counts(STREAM).malformed == 2


def test_a_wrong_topic_is_one_sentence(kafka: KafkaBroker, open_ingest: Opener) -> None:
    topic, clock = kafka.topic(prefix="orders"), ManualClock()
    ingest = open_ingest(source(kafka, f"{topic}x"), clock)
    clock.await_waiter()
    where = f"kafka://{kafka.address}/{topic}x"
    assert ingest.problems == {STREAM: f"{where}: there is no topic {topic}x (did you mean {topic}?); trying again."}


def test_a_wrong_address_is_one_sentence(open_ingest: Opener) -> None:
    (port,), clock = free_ports(1), ManualClock()
    ingest = open_ingest(f"kafka://127.0.0.1:{port}/t", clock)
    clock.await_waiter()
    said = f"kafka://127.0.0.1:{port}/t: no broker answers: Connect to ipv4#127.0.0.1:{port} failed: Connection refused"
    assert ingest.problems == {STREAM: f"{said}; trying again."}


def test_another_cluster_is_refused(kafka: KafkaBroker, open_ingest: Opener) -> None:
    topic = kafka.topic()
    first = open_ingest(source(kafka, topic))
    first.wait_for(lambda: bool(first.positions))
    first.stop()
    first.take(STREAM, (), {f"{topic}/0": [5, "elsewhere"]})
    again = open_ingest(source(kafka, topic))
    again._sources[STREAM]._thread.join(60)  # type: ignore[union-attr]
    assert "those of another cluster (elsewhere" in again.problems[STREAM]
    assert json.dumps(again.positions) == "{}"


def test_kills_at_random_moments_lose_and_repeat_nothing(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic, random = kafka.topic(2), Random(18)
    spec, folder = f"kafka://{kafka.address}/{topic}?fetch.message.max.bytes=2000", tmp_path / "state"
    for part in range(KILLS + 1):
        for partition in (0, 1):
            kafka.send(topic, partition, payloads(*range(part * 1000 + partition, part * 1000 + 1000, 2)))
        command = [
            sys.executable,
            "-m",
            "tests.connect.kafka.reader",
            str(folder),
            spec,
            str((part + 1) * 1000 if part == KILLS else 10**9),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            if part < KILLS:
                for _ in range(random.randint(1, 2)):  # the names of the partitions, and the first messages
                    process.stdout.readline()
                for _ in range(int(10 ** random.uniform(0, 6))):
                    pass
                process.kill()
            process.communicate(timeout=100)
        assert process.returncode == (-signal.SIGKILL if part < KILLS else 0)
    ingest = WatchedIngest(folder, None, ManualClock(), Tuning())
    assert log_times(ingest) == list(range((KILLS + 1) * 1000))

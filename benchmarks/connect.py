"""Kafka to answer, beside a loop that only parses; rates of lifting and of sinks.

The broker is that of `tests/connect`. A topic is filled first; then the clock runs from the start of the reader until
the last element is parsed, in the log, or answered. All readers have the same settings of the client.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event
from typing import cast

from confluent_kafka import Consumer, Producer, TopicPartition
from pyoxigraph import Literal, NamedNode, RdfFormat, parse
from pyspark.sql import SparkSession
from rich.console import Console

import penstock
from benchmarks import lift, live
from benchmarks.common import Effort, seconds
from benchmarks.report import Bar, Section, at_least_ratio
from penstock.answer import Answer, Term
from penstock.io.nquads import parse as parse_lines
from penstock.io.sinks import Batch, open_sink
from penstock.stream.base.clock import SystemClock
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.sources.kafka import DEFAULTS
from penstock.stream.ingest.stream_declaration import Declared
from tests.connect import postgresql
from tests.connect.kafka.broker import KafkaBroker, missing

ELEMENTS, MINUTES, RUNS, TIMED = 600_000, 30, 3, 30
ROWS, ANSWERS = 100_000, 100  # rows into each sink, and in each of its answers
BAR = 0.7
PATIENCE = 300.0  # seconds for the last answer: more means that something is broken
WINDOW = live.WINDOWS[0]
CONSUMER = {**DEFAULTS, "isolation.level": "read_committed", "log_level": 2}

Parse = Callable[[list[bytes]], int]


def by_pyoxigraph(messages: list[bytes]) -> int:
    """Parse the messages one by one; their times are cut off, as N-Quads has none."""
    return sum(len(list(parse(each.rpartition(b' "')[0] + b" .", RdfFormat.N_QUADS))) for each in messages)


def by_penstock(messages: list[bytes]) -> int:
    """Parse the messages at once, with the parser of the engine."""
    return parse_lines(b"".join(messages), live.STREAM).elements.num_rows


@dataclass(frozen=True, slots=True)
class Filled:
    """A topic with some elements."""

    kafka: KafkaBroker
    topic: str
    elements: int

    @property
    def source(self) -> str:
        return f"kafka://{self.kafka.address}/{self.topic}"

    @property
    def last(self) -> int:
        """The instant of the last answer, in seconds since 1970."""
        return live.START + live.MINUTE * (MINUTES - 1)

    def consumer(self) -> Consumer:
        consumer = Consumer({**CONSUMER, "bootstrap.servers": self.kafka.address})
        consumer.assign([TopicPartition(self.topic, 0, 0)])
        return consumer

    def parsed(self, work: Parse) -> None:
        """The plain loop."""
        consumer, found = self.consumer(), 0
        while found < self.elements:
            found += work([record.value() for record in consumer.consume(10_000, 0.1)])
        consumer.close()

    def ingested(self) -> None:
        """All elements into the log of an engine that has no query."""
        with tempfile.TemporaryDirectory() as folder:
            streams = {live.STREAM: Declared(self.source)}
            ingest = Ingest(cast(SparkSession, None), folder, SystemClock(), streams)
            ingest.start()
            while ingest.log.counts(live.STREAM).elements < self.elements:
                with ingest.backlog.round():  # as an engine does, which makes room
                    time.sleep(0.01)
            ingest.close()

    def answered(self, spark: SparkSession) -> None:
        """All elements into the log, and the counts by tollgate of each minute."""
        done = Event()

        def take(answer: Answer) -> None:
            if answer.time is not None and answer.time.timestamp() >= self.last:
                done.set()

        with tempfile.TemporaryDirectory() as folder, penstock.Engine(spark=spark, checkpoint=folder) as engine:
            engine.stream(live.STREAM, self.source)
            engine.register(WINDOW.query, sink=take)
            engine.start()
            assert done.wait(PATIENCE), engine.status
            engine.stop()


def filled(kafka: KafkaBroker, elements: int) -> Filled:
    """A topic with minutes of passages, a message each."""
    minutes = [live.lines(minute, elements // MINUTES).splitlines(keepends=True) for minute in range(MINUTES)]
    lines = [line for minute in minutes for line in minute]
    topic = Filled(kafka, kafka.topic(), len(lines))
    kafka.send(topic.topic, 0, lines, most=len(lines))
    return topic


def throughput(spark: SparkSession, topic: Filled, runs: int, console: Console) -> tuple[list[list[str]], list[Bar]]:
    """Elements a second of each reader; the first run of each warms up."""
    works: dict[str, Callable[[], None]] = {
        "a loop with pyoxigraph, message by message": partial(topic.parsed, by_pyoxigraph),
        "a loop with Penstock's parser, 10,000 at once": partial(topic.parsed, by_penstock),
        "Penstock, Kafka into the log": topic.ingested,
        "Penstock, Kafka to the last answer": partial(topic.answered, spark),
    }
    rates: dict[str, float] = {}
    for name, work in works.items():
        console.print(f"measuring: {name}", style="dim")
        rates[name] = topic.elements / statistics.median([seconds(work) for _ in range(runs + 1)][1:])
    plain, *_, log, answers = rates.values()
    rows = [[name, f"{rate:,.0f} elements/s", f"{rate / plain:.2f}"] for name, rate in rates.items()]
    bars = [at_least_ratio("into the log, to a loop with pyoxigraph", log / plain, BAR)]
    return rows, [*bars, at_least_ratio("to the last answer, to a loop with pyoxigraph", answers / plain, BAR)]


class FromKafka(live.Ours):
    """Penstock, with a topic as its source."""

    def __init__(self, spark: SparkSession, topic: Filled, folder: Path) -> None:
        super().__init__(spark, WINDOW, folder, source=topic.source)
        self._topic, self._producer = topic.topic, _producer(topic.kafka)

    def push(self, data: bytes) -> None:
        for line in data.splitlines(keepends=True):
            self._producer.produce(self._topic, line, partition=0)
        self._producer.flush()


def latency(spark: SparkSession, kafka: KafkaBroker, timed: int) -> list[list[str]]:
    """Milliseconds from the first message of a push to its answer, and to its last message in a plain loop."""
    topic = Filled(kafka, kafka.topic(), 0)
    with tempfile.TemporaryDirectory() as folder:
        track = live.Track(lambda: FromKafka(spark, topic, Path(folder)))
        track.block(10, timed, live.ELEMENTS)
    found = {"Penstock, push to answer": track.times, "a loop, push to parsed": _plain_times(kafka, timed)}
    return [
        [
            name,
            f"{statistics.median(times) * 1_000:.0f} ms, 99th percentile {live.percentile(times, 0.99) * 1_000:.0f}",
            "",
        ]
        for name, times in found.items()
    ]


def _plain_times(kafka: KafkaBroker, timed: int) -> list[float]:
    topic = Filled(kafka, kafka.topic(), 0)
    consumer, producer = topic.consumer(), _producer(kafka)

    def once(minute: int) -> None:
        for line in live.lines(minute, live.ELEMENTS).splitlines(keepends=True):
            producer.produce(topic.topic, line, partition=0)
        producer.flush()
        found = 0
        while found < live.ELEMENTS:
            found += by_penstock(
                [record.value() for record in [consumer.poll(1), *consumer.consume(1_000, 0)] if record]
            )

    times = [seconds(partial(once, minute)) for minute in range(timed + 5)][5:]
    consumer.close()
    return times


def _producer(kafka: KafkaBroker) -> Producer:
    return Producer({"bootstrap.servers": kafka.address, "log_level": 2, "linger.ms": 0})


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch of answers with a hundred rows each."""

    number: int
    count: int
    query: str = "readings"

    @property
    def answers(self) -> Iterator[Answer]:
        begin = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=self.number)
        rows: list[Mapping[str, Term]] = [
            {"s": NamedNode(f"http://example.org/s{row}"), "v": Literal(row)} for row in range(ANSWERS)
        ]
        for minute in range(self.count // ANSWERS):
            yield Answer(("s", "v"), rows, time=begin + timedelta(minutes=minute), query=self.query)


def delivered(address: str, rows: int) -> float:
    """Rows a second into a sink, in ten batches after one to warm up."""
    sink = open_sink(address, "solutions")
    sink.rewind(sink.begin())
    sink.deliver(cast(Batch, Rows(0, ANSWERS)))
    each = max(ANSWERS, rows // 10)
    took = seconds(lambda: [sink.deliver(cast(Batch, Rows(1 + number, each))) for number in range(10)])
    sink.close()
    return 10 * each / took


def sinks(addresses: dict[str, str], effort: Effort) -> list[list[str]]:
    """The rates of some sinks."""
    rates = {name: delivered(address, effort.of(ROWS)) for name, address in addresses.items()}
    return [[f"rows into {name}", f"{rate:,.0f} rows/s", ""] for name, rate in rates.items()]


def lifted(effort: Effort) -> list[list[str]]:
    """The rates of lifting in one process; the part lift has more of them."""
    objects, csv = lift.generate(effort.of(100_000, lift.BATCH))
    works: dict[str, tuple[Callable[[list[bytes]], int], Sequence[bytes]]] = {
        "JSON by a context": (lift.by_context, objects),
        "JSON by RML": (lift.by_rml, objects),
        "CSV by RML": (lift.of_csv, csv),
    }
    rates = {name: lift.speed(work, list(messages), None, 1) for name, (work, messages) in works.items()}
    return [[f"lifting, {name}", f"{rate:,.0f} messages/s", ""] for name, rate in rates.items()]


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    """All that can be measured here; a row says which broker is missing."""
    runs, rows, bars = effort.runs(RUNS), list[list[str]](), list[Bar]()
    count = effort.of(ELEMENTS, MINUTES * 100)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        addresses = {"SQLite": f"sqlite:///{folder}/answers.db?table=answers", "a file, NDJSON": f"{folder}/a.ndjson"}
        if reason := missing():
            rows.append(["Kafka", f"not measured: {reason}", ""])
        else:
            (folder / "kafka").mkdir()
            kafka = KafkaBroker(folder / "kafka")
            stack.callback(kafka.stop)
            kafka.start()
            rows, bars = throughput(spark, filled(kafka, count), runs, console)
            rows += latency(spark, kafka, effort.of(TIMED, 5))
            addresses["Kafka"] = f"kafka://{kafka.address}/{kafka.topic()}"
        if reason := postgresql.missing():
            rows.append(["PostgreSQL", f"not measured: {reason}", ""])
        else:
            cluster = stack.enter_context(postgresql.running())
            secret = folder / "password"
            secret.write_text(postgresql.PASSWORD)
            more = f"table=answers&username=penstock&password=${{file:{secret}}}"
            addresses["PostgreSQL"] = f"{cluster.address}?{more}"
        rows += [*sinks(addresses, effort), *lifted(effort)]
    title = f"{count:,} elements in a topic, a message each, median of {runs} runs"
    return Section(title, ("work", "measured", "ratio"), rows, bars)

"""An engine between two topics of a real Kafka: a silent partition is named, and kills neither lose nor repeat.

`KAFKA_KILLS=20` kills it more often.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from penstock import Engine
from penstock.testing import ManualClock, snapshots
from tests.connect.kafka.broker import KafkaBroker
from tests.connect.kafka.engine import QUERY, STREAM
from tests.recovery.attached_session import address

KILLS = int(os.environ.get("KAFKA_KILLS", "5"))
ROUND = 40  # elements between two kills
XSD = "http://www.w3.org/2001/XMLSchema#"


def line(number: int, seconds: int) -> bytes:
    time = f'"1970-01-01T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}Z"^^<{XSD}dateTime>'
    return f'<http://e/s{number % 7}> <http://e/v> "{number}" {time} .\n'.encode()


def expected(spark: SparkSession, lines: list[bytes]) -> list[str]:
    """The answers of an engine to which the same elements are pushed."""
    with Engine(spark=spark, clock=ManualClock()) as engine:
        engine.stream(STREAM)
        query = engine.register(QUERY, name="all")
        engine.push(STREAM, b"".join(lines))
        engine.run()
        return [answer.to_ndjson() for answer in query.answers()]


class Lives:
    """The lives of an engine on one folder, between two topics."""

    def __init__(self, kafka: KafkaBroker, spark: SparkSession, folder: Path) -> None:
        self._kafka, self._folder = kafka, folder
        self._environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | address(spark)
        self.source, self.sink = kafka.topic(2), kafka.topic(2)
        self.lines: list[bytes] = []

    def feed(self, count: int = ROUND) -> None:
        """The next elements, by turns into two partitions."""
        first = len(self.lines)
        new = [line(number, number) for number in range(first, first + count)]
        for partition in (0, 1):
            self._kafka.send(self.source, partition, new[partition::2])
        self.lines += new

    def begin(self, *place: str) -> subprocess.Popen[str]:
        arguments = [self._kafka.address, self.source, self.sink, self._folder / "state", len(self.lines), *place]
        command = [sys.executable, "-m", "tests.connect.kafka.engine", *map(str, arguments)]
        with (self._folder / "engine.log").open("ab") as log:
            return subprocess.Popen(command, env=self._environment, stdout=subprocess.PIPE, stderr=log, text=True)

    def ended(self, *place: str) -> int:
        with self.begin(*place) as process:
            process.communicate(timeout=120)
        return process.returncode

    def killed_after(self, steps: int, spins: int) -> int:
        with self.begin() as process:
            assert process.stdout is not None
            for _ in range(steps):
                process.stdout.readline()
            for _ in range(spins):
                pass
            process.kill()
        return process.returncode

    def answers(self) -> list[str]:
        return [record.value().decode() for record in self._kafka.records(self.sink)]

    def log(self) -> str:
        return (self._folder / "engine.log").read_text()


def check(lives: Lives, spark: SparkSession) -> None:
    """All answers, in their order and once, up to the watermark: the slower partition ends with the last but one."""
    found, all_answers = lives.answers(), expected(spark, lives.lines)
    assert found == all_answers[: len(found)], lives.log()
    assert len(found) == (len(lives.lines) - 3) // 10 + 1, lives.log()


@pytest.mark.parametrize("place", ["appended", "delivered", "saved"])
def test_a_kill_at_the_worst_moment(kafka: KafkaBroker, spark: SparkSession, tmp_path: Path, place: str) -> None:
    """`delivered` is between the two commits: the answers are in the topic, and the checkpoint does not know."""
    lives = Lives(kafka, spark, tmp_path)
    lives.feed()
    assert lives.ended(place) == -signal.SIGKILL, lives.log()
    lives.feed()  # so that the repeated batch is larger
    assert lives.ended() == 0, lives.log()
    check(lives, spark)


def test_kills_at_random_moments(kafka: KafkaBroker, spark: SparkSession, tmp_path: Path) -> None:
    lives, random = Lives(kafka, spark, tmp_path), Random(18)
    for _ in range(KILLS):
        lives.feed()
        steps, spins = random.randint(0, 6), int(10 ** random.uniform(0, 7))
        assert lives.killed_after(steps, spins) in (-signal.SIGKILL, 0), lives.log()
    lives.feed()
    assert lives.ended() == 0, lives.log()
    check(lives, spark)


def test_partitions_out_of_step_and_one_silent(kafka: KafkaBroker, spark: SparkSession) -> None:
    topic = kafka.topic(3)
    with Engine(spark=spark, clock=ManualClock(1_000_000_000)) as engine:
        engine.stream(STREAM, f"kafka://{kafka.address}/{topic}")
        query = engine.register(QUERY)
        kafka.send(topic, 0, [line(1, 1), line(2, 12), line(3, 23)])
        kafka.send(topic, 1, [line(4, 2), line(5, 35)])
        engine.start()
        while engine.status.streams[STREAM].elements < 5:
            engine.flush()
        status = engine.status.streams[STREAM]
        assert (status.held_back_by, status.watermark) == (f"{topic}/2", None)
        assert any(f"the partition {topic}/2 of <{STREAM}> has had no element" in str(one) for one in query.why())
        assert query.latest() is None
        kafka.send(topic, 2, [line(6, 3), line(7, 24)])
        while engine.status.streams[STREAM].elements < 7:
            engine.flush()
        engine.flush()
        engine.stop()
        assert snapshots(query.answers()) == {
            "0:10": ['<http://e/s1> "1"', '<http://e/s4> "4"', '<http://e/s6> "6"'],
            "0:20": ['<http://e/s2> "2"'],
        }


def test_answers_go_on_when_a_silent_partition_is_idle(kafka: KafkaBroker, spark: SparkSession) -> None:
    topic, clock = kafka.topic(2), ManualClock(1_000_000_000)
    with Engine(spark=spark, clock=clock) as engine:
        engine.stream(STREAM, f"kafka://{kafka.address}/{topic}", idle="10s")
        query = engine.register(QUERY)
        kafka.send(topic, 0, [line(1, 1), line(2, 12), line(3, 23)])
        engine.start()
        while engine.status.streams[STREAM].elements < 3:
            engine.flush()
        assert engine.status.streams[STREAM].held_back_by == f"{topic}/1"
        assert any(f"the partition {topic}/1 of <{STREAM}> has had no element" in str(one) for one in query.why())
        assert query.latest() is None
        clock.advance(11_000_000)
        engine.flush()
        engine.stop()
        assert snapshots(query.answers())["0:10"] == ['<http://e/s1> "1"']
        assert snapshots(query.answers())["0:20"] == ['<http://e/s2> "2"']

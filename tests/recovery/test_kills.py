"""Killed by SIGKILL at random moments, an engine loses nothing and repeats nothing: its sinks are those of an
undisturbed one. `KILLS=200 pytest tests/recovery/test_kills.py` kills it more often; `make thorough` does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.recovery.attached_session import address
from tests.recovery.workload import QUERIES, live

KILLS = int(os.environ.get("KILLS", "20"))
FIRST = int(os.environ.get("KILLS_SEED", "0"))  # the number of the first folder
ON_ONE_FOLDER = 20  # kills
MOST_PUSHES = 12  # of a life
MOST_DIGITS = 7.5  # of the number of loops between a step and the kill, up to a second or so


class Life:
    """The lives on one folder, and the elements that were acknowledged in them."""

    def __init__(self, folder: Path, seed: int, spark: SparkSession) -> None:
        self._folder, self._seed = folder, seed
        self._environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | address(spark)
        self.acknowledged = 0

    def begin(self, size: int, *waits: int) -> subprocess.Popen[str]:
        arguments = map(str, (self._folder, self._seed, size, self.acknowledged, *waits))
        command = [sys.executable, "-m", "tests.recovery.workload", *arguments]
        with (self._folder.parent / f"{self._folder.name}.log").open("ab") as log:
            pipe = subprocess.PIPE
            return subprocess.Popen(command, env=self._environment, stdin=pipe, stdout=pipe, stderr=log, text=True)

    def killed(self, random: Random) -> int:
        """Push some elements, and kill it after some steps and some loops: how it ended."""
        pushes = random.randint(1, MOST_PUSHES)
        steps, spins = random.randint(0, 2 + pushes), int(10 ** random.uniform(0, MOST_DIGITS))
        with self.begin(self.acknowledged + pushes, 1) as process:
            assert process.stdout is not None
            for _ in range(steps):
                self._note(process.stdout.readline())
            for _ in range(spins):
                pass
            process.kill()
            for line in process.stdout:  # acknowledged before the end
                self._note(line)
        return process.returncode

    def to_the_end(self, size: int) -> int:
        with self.begin(size) as process:
            process.communicate()
        return process.returncode

    def _note(self, line: str) -> None:
        if line.strip().isdigit():
            self.acknowledged = int(line) + 1


@pytest.mark.parametrize("seed", range(FIRST, FIRST - (-KILLS // ON_ONE_FOLDER)))
def test_answers_are_those_of_an_undisturbed_engine_after_kills_at_random_moments(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    random, kills = Random(seed), min(KILLS, ON_ONE_FOLDER)
    life = Life(tmp_path / "disturbed", seed, spark)
    ends = [life.killed(random) for _ in range(kills)]
    log = tmp_path / "disturbed.log"
    assert ends == [-signal.SIGKILL] * kills, log.read_text()
    size = life.acknowledged + 60
    assert life.to_the_end(size) == 0, log.read_text()
    live(tmp_path / "undisturbed", seed, size, spark)
    for name in QUERIES:
        found, expected = (sorted((tmp_path / which / name).read_text().splitlines())
                           for which in ("disturbed", "undisturbed"))  # fmt: skip
        assert found == expected, name
        assert len(expected) >= 5, name

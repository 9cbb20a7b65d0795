"""What all benchmarks share: the session, the place of generated data, and how much to do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.spark.session import session

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
DATA = ROOT / "benchmarks" / "data"


@dataclass(frozen=True, slots=True)
class Effort:
    """A part of the full sizes. Below a half it is a try-out, which is not repeated unless `repeats` says so."""

    scale: float = 1.0
    repeats: int | None = None

    def of(self, full: int, least: int = 1) -> int:
        return max(least, int(full * self.scale))

    def runs(self, full: int) -> int:
        return self.repeats or (full if self.scale >= 0.5 else 1)


def start_session() -> SparkSession:
    """One session for both sides, with a partition a core, as either would be set up on this machine."""
    cores = os.cpu_count() or 2
    settings = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": str(cores)}
    return session.start(f"local[{cores}]", **settings)


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began

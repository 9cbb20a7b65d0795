"""`python -m tests.soak --hours 24 --minutes 60`: a day of event time on one engine, in which queries come and go.

After each piece of it the memory of Java, of this process and of its children, the files of the checkpoint and the lag
are noted. They have to be flat: the median of the last quarter is compared with that of the second. It is an error if
one has grown, or if an answer is missing. With `--picture` they are drawn, and `--minutes` ends the soak earlier.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from random import Random
from statistics import median

from benchmarks.memory import heap
from benchmarks.plot import Line, Linear, svg
from penstock import Answer, Engine
from tests.support.resources import files_of, resident_bytes

STREAM, START = "http://e/gates", 1_699_999_980  # seconds: a whole minute
PIECE = 300  # seconds of event time between two looks
RATE = 10  # elements a second of event time
LIVES = 4  # queries that are there at a time, beside those that stay
PREFIXES = "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>"
_SHORT = 'FILTER (getDURATION() < "PT20S"^^xsd:duration)'
STAYING = f"SELECT (COUNT(*) AS ?n) FROM STREAM <{STREAM}> [RANGE 1m STEP 1m] WHERE {{ ?gate :registers ?car }}"
COMING = (
    f"SELECT ?gate (COUNT(*) AS ?n) FROM STREAM <{STREAM}> [RANGE 5m STEP 1m] {{ ?gate :registers ?car }} "
    "GROUP BY ?gate",
    f"SELECT ?car FROM STREAM <{STREAM}> [RANGE 2m STEP 1m] {{ :gateNUMBER :registers ?car }}",
    f"SELECT ?gate ?car WHERE {{ STREAM <{STREAM}> [RANGE 30s] {{ ?gate :registers ?car . ?gate :isIn :city }} }}",
    f"SELECT ?a ?b FROM STREAM <{STREAM}> {{ {{ ?a :registers :car7 }} SEQ {{ ?b :registers :car8 }} {_SHORT} }}",
)
MOST_GROWTH = {"java_mb": 1.25, "driver_mb": 1.2, "objects": 1.1, "files": 1.5, "checkpoint_mb": 1.5, "lag_s": 1.5}
SLACK = {
    "java_mb": 20.0, "driver_mb": 20.0, "objects": 5_000.0, "files": 20.0, "lag_s": 61.0,
    "checkpoint_mb": 4.5,  # SQLite's log grows to a thousand pages before it is used again
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """What is held after so many hours of event time."""

    hours: float
    java_mb: float
    driver_mb: float
    objects: float  # of Python, that its collector knows
    files: float
    checkpoint_mb: float
    lag_s: float


class Soak:
    """One engine, and the queries on it."""

    def __init__(self, engine: Engine, folder: Path, seed: int) -> None:
        self._engine, self._folder, self._random = engine, folder, Random(seed)
        self.counted = self.pushed = self.registered = 0
        self._passing: list[str] = []

    def begin(self) -> None:
        engine = self._engine
        engine.load(b"@prefix : <http://e/> . :gate0 :isIn :city . :gate1 :isIn :city .", format="ttl")
        engine.stream(STREAM, max_ahead=None)
        engine.register(f"{PREFIXES} {STAYING}", name="staying", sink=self._count)
        engine.start()

    def piece(self, number: int) -> Look:
        """Push the elements of a piece of time, change a query, and look."""
        start = START + number * PIECE
        for minute in range(PIECE // 60):
            self._engine.push(STREAM, self._minute(start + 60 * minute))
        self._change()
        self._engine.flush()
        return self._look((number + 1) * PIECE / 3600)

    def _minute(self, start: int) -> bytes:
        lines = []
        for second in range(start, start + 60):
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
            for _ in range(RATE):
                gate, car = self._random.randrange(20), self._random.randrange(100_000)
                lines.append(f'<http://e/gate{gate}> <http://e/registers> <http://e/car{car}> "{stamp}" .\n')
        self.pushed += len(lines)
        return "".join(lines).encode()

    def _change(self) -> None:
        """One query comes, and the oldest goes."""
        text = COMING[self.registered % len(COMING)].replace("NUMBER", str(self.registered % 20))
        query = self._engine.register(f"{PREFIXES} {text}", name=f"passing{self.registered}", sink=lambda answer: None)
        self.registered += 1
        self._passing.append(query.name)
        if len(self._passing) > LIVES:
            self._engine[self._passing.pop(0)].drop()

    def _count(self, answer: Answer) -> None:
        self.counted += sum(int(row["n"].value) for row in answer.rows)

    def _look(self, hours: float) -> Look:
        count, size = files_of(self._folder)
        lag = self._engine.status.lag
        driver = resident_bytes().get("driver", 0)
        seconds = 0.0 if lag is None else lag.total_seconds()
        java = heap(self._engine.spark) / 1e6  # after Python's collector has run
        return Look(hours, java, driver / 1e6, len(gc.get_objects()), count, size / 1e6, seconds)

    def missing(self, pieces: int) -> int:
        """The elements that no answer has counted, when all instants are answered."""
        self._engine.advance(STREAM, (START + pieces * PIECE + 121) * 1_000_000)
        self._engine.flush()
        return self.pushed - self.counted


def main() -> int:
    known = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    known.add_argument("--hours", type=float, default=24, help="of event time")
    known.add_argument("--minutes", type=float, default=60, help="of this machine's time, at most")
    known.add_argument("--seed", type=int, default=0)
    known.add_argument("--picture", type=Path)
    asked = known.parse_args()
    began, looks = time.monotonic(), list[Look]()
    with tempfile.TemporaryDirectory(prefix="penstock-soak-") as folder:
        with Engine(checkpoint=Path(folder) / "state", rounds="auto") as engine:
            soak = Soak(engine, Path(folder) / "state", asked.seed)
            soak.begin()
            while len(looks) * PIECE < asked.hours * 3600 and time.monotonic() < began + asked.minutes * 60:
                looks.append(soak.piece(len(looks)))
                if len(looks) % 12 == 0:
                    print(" ".join(f"{name} {value:.1f}" for name, value in _named(looks[-1])), flush=True)
            missing = soak.missing(len(looks))
            print(*_largest(Path(folder)), sep="\n")
        summary = f"{soak.pushed:,} elements, {soak.registered} queries came, {max(0, soak.registered - LIVES)} went"
    print(f"{looks[-1].hours:.1f} hours of event time in {(time.monotonic() - began) / 60:.1f} minutes: {summary}")
    if asked.picture is not None:
        asked.picture.write_text(_drawn(looks), "utf-8")
    faults = [*_grown(looks), *([f"MISSING: {missing:,} elements are in no answer"] if missing else [])]
    print("\n".join(faults) or "flat; nothing is missing")
    return 1 if faults else 0


def _largest(folder: Path) -> Iterator[str]:
    files = sorted(((path.stat().st_size, path) for path in folder.rglob("*") if path.is_file()), reverse=True)
    return (f"{size:>12,} {path.relative_to(folder)}" for size, path in files[:4])


def _named(look: Look) -> Iterator[tuple[str, float]]:
    return zip((each.name for each in fields(look)), astuple(look), strict=True)


def _grown(looks: list[Look]) -> Iterator[str]:
    quarter = max(1, len(looks) // 4)
    for name, most in MOST_GROWTH.items():
        values = [getattr(look, name) for look in looks]
        before, after = median(values[quarter : 2 * quarter] or values), median(values[-quarter:])
        print(f"{name}: second quarter {before:,.1f}, last quarter {after:,.1f}, most {max(values):,.1f}")
        if after > most * before + SLACK[name]:
            yield f"GROWN: {name} from {before:,.1f} to {after:,.1f}"


def _drawn(looks: list[Look]) -> str:
    """The heap, the driver and the files, each as a share of its median: flat lines at 1."""
    names = {"java_mb": "heap of Java", "driver_mb": "driver", "files": "files", "checkpoint_mb": "checkpoint"}
    lines = []
    for name, title in names.items():
        values = [getattr(look, name) for look in looks]
        middle = median(values) or 1.0
        lines.append(Line(title, [(look.hours, value / middle) for look, value in zip(looks, values, strict=True)]))
    return svg(lines, "a soak: what is held", "hours of event time", "share of the median", Linear)


if __name__ == "__main__":
    sys.exit(main())

"""An engine in a process of its own that feeds itself, and may be killed.

With a place and a number it dies by SIGKILL when it comes to that place for the n-th time. It is fed with a fixed
series of pushes and of files, as many as are not in yet: what was durable before the end must not come again. Only
what reads files needs a JVM of its own, since Spark calls a process back for them: `child FOLDER QUERIES [PLACE
NUMBER]`. Others are forked, by `live`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from penstock import Engine
from penstock.io.sinks import Batch, Position
from penstock.io.sinks.files import FileSink
from penstock.options import Emit
from penstock.stream.base import failpoints
from penstock.stream.evaluation.report_state import Carrying, ReportState
from penstock.stream.log.journal import Journal
from penstock.tuning import Tuning
from tests.recovery.attached_session import attach
from tests.support.feeding import BUSY, COUNT, OTHER, STREAM, lines

STEPS = [(start, start + 77) for start in range(0, 616, 77)]
SUM = """SELECT ?gate (SUM(?n) AS ?sum) (COUNT(?n) AS ?times) FROM STREAM <http://e/busy> [RANGE 3m STEP 1m]
WHERE { ?gate <http://e/busy> ?n } GROUP BY ?gate"""
WINDOW = f"FROM STREAM <{STREAM}> [RANGE 2m STEP 1m]"
PASSES = "{ ?gate <http://e/registers> ?car }"
NEW = f"""REGISTER ISTREAM <http://e/new> AS CONSTRUCT {{ ?gate <http://e/new> ?car }} {WINDOW} WHERE {PASSES}"""
GATE = f"SELECT ?car {WINDOW} WHERE {{{{ <http://e/gate{{}}> <http://e/registers> ?car }}}}"
SLIDING = f"SELECT ?gate FROM STREAM <{STREAM}> WINDOW RANGE 100 S SLIDE 30 S WHERE {PASSES}"
QUERIES: dict[str, dict[str, tuple[str, Emit | None]]] = {  # by the file of the answers: the text, and what is reported
    "whole": {
        "sum.csv": (SUM, None),
        "busy.nq": (BUSY, None),
    },
    "files": {
        "counts.csv": (COUNT, None),
        "dropped.ndjson": (COUNT.replace(STREAM, OTHER), None),
    },
    "changes": {
        "new.nq": (NEW, None),
        "after.csv": (COUNT.replace(STREAM, "http://e/new").replace("registers", "new"), "istream"),
        "counts.csv": (COUNT, "dstream"),
        "lasting.ndjson": (SLIDING, "intervals"),
        "gates.ndjson": (f"SELECT DISTINCT ?gate {WINDOW} WHERE {PASSES}", "istream"),
    },
    "families": {
        **{f"new{gate}.csv": (GATE.format(gate), "istream") for gate in range(4)},  # there is no gate 3
        **{f"whole{gate}.ndjson": (GATE.format(gate), "rstream") for gate in (0, 1, 3)},
    },
}


READ_FILES = {"files"}


def die_at(place: str, number: int) -> None:
    """Arrange for the end."""
    reached = count(1)

    def come_to(here: str) -> None:
        if here == place and next(reached) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.handler = come_to
    FileSink.deliver = _torn(FileSink.deliver, come_to)  # type: ignore[method-assign]
    Journal._write = _cut(Journal._write, come_to)  # type: ignore[method-assign]
    ReportState.keep = _half(ReportState.keep, come_to)  # type: ignore[method-assign]


def _torn(deliver: Callable[[FileSink, Batch], Position], come_to: Callable[[str], None]) -> Callable[..., Position]:
    """As `deliver`, but what lies in the file when it comes to the place "writing" is half of the text."""

    def written(self: FileSink, batch: Batch) -> Position:
        file = self._opened()
        position = file.tell()
        pieces = self._write(batch.answers, position == 0)
        text = b"".join(piece.encode() if isinstance(piece, str) else piece for piece in pieces)
        file.write(text[: len(text) // 2])
        file.flush()
        come_to("writing")
        file.seek(position)
        return deliver(self, batch)

    return written


def _cut(write: Callable[[Journal, bytes], None], come_to: Callable[[str], None]) -> Callable[..., None]:
    """As `_write`, but half of the record lies in the journal when it comes to the place "appending"."""

    def written(self: Journal, data: bytes) -> None:
        write(self, data[: len(data) // 2])
        come_to("appending")
        write(self, data)

    return written


def _half(
    keep: Callable[[ReportState, Carrying], tuple[str, int]], come_to: Callable[[str], None]
) -> Callable[..., tuple[str, int]]:
    """As `keep`, but what lies there when it comes to the place "carrying" is half of the file."""

    def kept(self: ReportState, made: Carrying) -> tuple[str, int]:
        name, _ = keep(self, made)
        path = self.path(name)
        assert path is not None
        os.truncate(path, os.path.getsize(path) // 2)
        come_to("carrying")
        self.remove([name])
        return keep(self, made)

    return kept


def feed(engine: Engine, folder: Path, start: int, end: int) -> None:
    """One step of both streams. Files appear whole, as they should in a drop folder."""
    new = folder / "drop" / f".{start:03d}"
    if new.parent.exists() and not (file := new.with_name(f"{start:03d}.nq")).exists():
        new.write_text(lines(start, end))
        new.rename(file)
    if engine.status.streams[STREAM].elements < len(lines(0, end).splitlines()):
        engine.push(STREAM, lines(start, end))
    engine.flush()


def main(folder: Path, queries: str, steps: Sequence[tuple[int, int]], spark: SparkSession | None = None) -> None:
    """A whole life, or what is left of one."""
    folder.mkdir(exist_ok=True)
    tuning = Tuning(staged_segments=2)  # so that the journal is folded now and then
    with Engine(checkpoint=folder / "state", spark=spark, master="local[1]", tuning=tuning) as engine:
        engine.stream(STREAM)
        if queries in READ_FILES:
            (folder / "drop").mkdir(exist_ok=True)
            engine.stream(OTHER, folder / "drop")
        for file, (text, emit) in QUERIES[queries].items():
            engine.register(text, name=file.partition(".")[0], sink=folder / file, emit=emit)
        engine.start()
        engine.flush()
        for start, end in steps:
            feed(engine, folder, start, end)
        engine.stop()


def live(_: Connection, folder: Path, queries: str, *death: Any) -> None:
    """A life on the JVM of another process."""
    if death:
        die_at(*death)
    main(folder, queries, STEPS, attach())


if __name__ == "__main__":
    if len(sys.argv) > 3:
        die_at(sys.argv[3], int(sys.argv[4]))
    main(Path(sys.argv[1]), sys.argv[2], STEPS)

"""`python -m benchmarks.run start`: a tiny stream run from the shell, started quickly and plainly.

Both sides are whole processes on the same files, which take turns. The first quick run writes the class-data archive
into a cache folder of this benchmark's own; it is a row of the table, and no part of the ratio. The last row has the
same run with rounds in its own process, which starts no Java.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.common import Effort
from benchmarks.report import Section, at_most

STREAM, ELEMENTS, RUNS, BAR = "http://example.org/gates", 20, 5, 0.5
PATIENCE = 120  # seconds for Java to write the archive
QUERY = f"""PREFIX : <http://example.org/>
SELECT ?gate (COUNT(?car) AS ?n) FROM STREAM <{STREAM}> [RANGE 10s STEP 5s]
WHERE {{ ?gate :registers ?car }} GROUP BY ?gate
"""


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    with TemporaryDirectory(prefix="penstock-", ignore_cleanup_errors=True) as folder:
        place, runs = Path(folder), effort.runs(RUNS)
        _write(place)
        first = _run(place, "quick")
        _await_archive(place)
        taken = [(_run(place, "quick"), _run(place, "plain"), _run(place, "quick", "auto")) for _ in range(runs)]
    answers = {answer for turn in taken for _, answer in turn} | {first[1]}
    assert len(answers) == 1, "the answers differ"
    quick, plain, driver = (statistics.median(turn[side][0] for turn in taken) for side in (0, 1, 2))
    seconds_of = [tuple(round(seconds, 1) for seconds, _ in turn) for turn in taken]
    console.print(f"seconds, quick, plain, and without Java: {seconds_of}", style="dim")
    rows = [
        [name, f"{seconds:.1f}", f"{seconds / plain:.2f}"]
        for name, seconds in (
            ("plain", plain),
            ("quick, first run", first[0]),
            ("quick", quick),
            ("`--rounds auto`, without Java", driver),
        )
    ]
    title = f"`penstock run` on a stream of {ELEMENTS} elements: seconds of the whole process, median of {runs} runs"
    return Section(title, ["start", "seconds", "ratio"], rows, [at_most("quick to plain", quick / plain, BAR)])


def _write(place: Path) -> None:
    (place / "query.rq").write_text(QUERY)
    (place / "gates.nq").write_text("".join(_lines()))


def _lines() -> Iterator[str]:
    for second in range(ELEMENTS):
        time_of = f'"2009-07-20T08:00:{second:02}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
        gate, car = f"<http://example.org/gate{second % 3}>", f"<http://example.org/car{second}>"
        yield f"{gate} <http://example.org/registers> {car} {time_of} .\n"


def _run(place: Path, start: str, rounds: str = "spark") -> tuple[float, str]:
    """The seconds that a run takes, and its answers."""
    command = [sys.executable, "-m", "penstock", "run", "query.rq", "--stream", f"{STREAM}=gates.nq", "-f", "csv"]
    command += ["--rounds", rounds]
    variables = os.environ | {
        "PENSTOCK_START": start,
        "XDG_CACHE_HOME": str(place / "cache"),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    began = time.perf_counter()
    ran = subprocess.run(command, cwd=place, env=variables, capture_output=True, text=True, check=True)
    return time.perf_counter() - began, ran.stdout


def _await_archive(place: Path) -> None:
    """Java writes it after the run has ended."""
    end = time.monotonic() + PATIENCE
    while not list((place / "cache").glob("penstock/start/*.jsa")):
        if time.monotonic() > end:
            raise AssertionError("Java has written no class-data archive")
        time.sleep(0.1)

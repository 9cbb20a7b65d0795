"""Timestamped N-Quads, parsed and into the log, beside pyoxigraph line by line."""

from __future__ import annotations

import random
import shutil
import statistics
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

import pyarrow as pa
from pyoxigraph import RdfFormat, parse
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.common import DATA, Effort, seconds
from benchmarks.report import Section, at_least
from penstock.io.columns import ELEMENTS
from penstock.io.splits import Split, chunks, splits
from penstock.model.term_encoding import encode
from penstock.spark.session import tasks
from penstock.stream.ingest import parallel_load
from penstock.stream.ingest.load_task import portions

STREAM = "http://example.org/city"
XSD = "http://www.w3.org/2001/XMLSchema#"
LINES, RUNS = 2_000_000, 3
BARS = {"parsed": 1_000_000, "into the log": 500_000}  # elements a second


def generate(lines: int, folder: Path) -> Path:
    """Cars at gates, speeds and notes: IRIs, numbers, texts with languages and escapes, blank nodes."""
    path = folder / f"city-{lines}.nq"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".part").open("w", encoding="utf-8") as file:
            file.writelines(islice(_lines(random.Random(2026)), lines))
        path.with_suffix(".part").rename(path)
    return path


def _lines(chance: random.Random) -> Iterator[str]:
    moment = datetime(2009, 7, 20, 22)
    while True:
        moment += timedelta(milliseconds=chance.randrange(5))
        car, gate = chance.randrange(100_000), chance.randrange(1_000)
        stamp = f'"{moment.isoformat(timespec="milliseconds")}Z"^^<{XSD}dateTime> .\n'
        yield f"<http://city.org/gate/{gate}> <http://city.org/t#registers> <http://city.org/car/{car}> {stamp}"
        speed = f'"{chance.random() * 50:.2f}"^^<{XSD}double>'
        yield f"<http://city.org/car/{car}> <http://city.org/t#speed> {speed} {stamp}"
        yield f"_:o{car} <http://city.org/t#at> <http://city.org/gate/{gate}> {stamp}"
        note = '"\\"Halt\\" an der Brücke"@de' if car % 10 == 0 else f'"car {car} seen"@en'
        yield f"<http://city.org/car/{car}> <http://city.org/t#note> {note} {stamp}"


def counted(spark: SparkSession, pieces: list[Split], read: Callable[[Split], Iterator[pa.Table]]) -> int:
    """How many elements there are: read where those for the log are, in the same tasks, and thrown away there."""

    def count(_number: int, piece: Split) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"rows": [sum(table.num_rows for table in read(piece))]})

    return sum(row.rows for row in tasks.run(spark, pieces, count, "rows bigint", parallel_load.modules()).collect())


def by_penstock(piece: Split) -> Iterator[pa.Table]:
    return (parsed.elements for _, parsed in portions(piece, STREAM))


def by_pyoxigraph(piece: Split) -> Iterator[pa.Table]:
    """By portions that are smaller than ours, since that is faster here."""
    return map(_line_by_line, chunks(piece, 1 << 20))


def _line_by_line(chunk: bytes) -> pa.Table:
    """The same rows from these lines, which have no surprises, by pyoxigraph's parser and Python's time."""
    lines = chunk.decode().splitlines()
    cut = [line.rpartition(' "') for line in lines]
    text = "".join(f"{triple} .\n" for triple, _, _ in cut)
    rows = [
        (encode(q.subject), encode(q.predicate), encode(q.object), _microseconds(stamp))
        for q, (_, _, stamp) in zip(parse(text.encode(), RdfFormat.N_TRIPLES), cut, strict=True)
    ]
    columns = zip(*rows, strict=True)
    return pa.Table.from_arrays([pa.array(list(c)) for c in columns], schema=ELEMENTS)


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")


def _microseconds(stamp: str) -> int:
    moment = datetime.fromisoformat(stamp[: stamp.index('"')])
    return (moment - _EPOCH) // timedelta(microseconds=1)


def measure(spark: SparkSession, path: Path, runs: int) -> dict[str, float]:
    """Elements a second, the median of some runs by turns after one to warm up."""
    pieces, log = splits(path), path.with_suffix(".log")
    works: dict[str, Callable[[], object]] = {
        "parsed": lambda: counted(spark, pieces, by_penstock),
        "into the log": lambda: parallel_load.write(spark, pieces, STREAM, log),
        "pyoxigraph, line by line": lambda: counted(spark, pieces, by_pyoxigraph),
    }
    elements = sum(part.rows for part in parallel_load.write(spark, pieces, STREAM, log))
    times = [{name: seconds(work) for name, work in works.items()} for _ in range(runs + 1)][1:]
    shutil.rmtree(log)
    return {name: elements / statistics.median(run[name] for run in times) for name in works}


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    """Elements a second from text: parsed, written into the log, and by pyoxigraph in the same way of reading."""
    lines, runs = effort.of(LINES), effort.runs(RUNS)
    path = generate(lines, DATA)
    console.print("measuring: N-Quads", style="dim")
    speeds = measure(spark, path, runs)
    slowest = speeds["pyoxigraph, line by line"]
    rows = [(name, f"{speed:,.0f}", f"{speed / slowest:.1f}") for name, speed in speeds.items()]
    title = f"{lines:,} lines of {path.stat().st_size / lines:.0f} bytes, median of {runs} runs"
    bars = [at_least(f"{name}, elements a second", speeds[name], bar) for name, bar in BARS.items()]
    return Section(title, ("work", "elements/s", "ratio"), rows, bars)

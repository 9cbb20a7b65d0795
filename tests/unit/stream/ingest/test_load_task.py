"""A task's own work, without Spark: a piece of a file becomes a Parquet file that is known without being read."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast
from zlib import crc32

import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from penstock.errors import LoadError
from penstock.io.columns import LOGGED
from penstock.io.splits import Split, splits
from penstock.model.stretches import Stretch
from penstock.stream.ingest import parallel_load
from penstock.stream.ingest.load_task import LoadedFile, write_part
from penstock.tuning import DEFAULT, Tuning

STREAM = "http://stream"


def line(second: int, predicate: str = "a:p") -> str:
    time = f"1970-01-01T00:{second // 60:02}:{second % 60:02}Z"
    return f'<a:s{second}> <{predicate}> "o" "{time}"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'


def written(folder: Path, text: str, size: int = 1 << 20, tuning: Tuning = DEFAULT) -> list[LoadedFile]:
    source = folder / "a.nq"
    source.write_text(text)
    pieces = enumerate(splits(source, size))
    return [write_part(piece, STREAM, f"{folder}/{n}.parquet", tuning=tuning) for n, piece in pieces]


def test_a_part(tmp_path: Path) -> None:
    (part,) = written(tmp_path, line(3) + line(1, "a:q") + line(7) + line(4))
    known = {"<a:p>": 3, "<a:q>": 1}
    computed = part.sketches, (Stretch(1_000_000, 7_000_000, 4),), crc32(Path(part.path).read_bytes())
    assert part == LoadedFile(f"{tmp_path}/0.parquet", 4, 1_000_000, 7_000_000, known, 3_000_000, 0, [], *computed)
    assert {predicate: counted[0] for predicate, counted in part.sketches.items()} == known
    table = pq.read_table(part.path)
    assert table.schema.equals(LOGGED)
    assert table["g"].null_count == table["start"].null_count == 4
    assert table["ts"].to_pylist() == [3_000_000, 1_000_000, 7_000_000, 4_000_000]


@pytest.mark.parametrize("chunk", [1, 100, 250, 10_000])
def test_statistics_do_not_depend_on_the_portions(tmp_path: Path, chunk: int) -> None:
    text = line(5) + line(9) + "bad\n" + line(6) + line(2) + "worse\n" + line(8)
    (part,) = written(tmp_path, text, tuning=Tuning(chunk_bytes=chunk))
    assert (part.rows, part.first, part.last, part.disorder) == (5, 2_000_000, 9_000_000, 7_000_000)
    assert part.stretches == (Stretch(2_000_000, 9_000_000, 5),)
    assert [(bad.line, bad.text, bad.file) for bad in part.bad] == [
        (3, "bad", f"{tmp_path}/a.nq"),
        (6, "worse", f"{tmp_path}/a.nq"),
    ]


def test_bad_lines_have_their_number_in_the_file(tmp_path: Path) -> None:
    parts = written(tmp_path, (line(1) + "bad\n" + line(2)) * 20, size=300)
    assert len(parts) > 5
    assert [bad.line for part in parts for bad in part.bad] == list(range(2, 61, 3))
    assert sum(part.rows for part in parts) == 40


def test_all_bad_lines_are_counted_and_some_are_kept(tmp_path: Path) -> None:
    (part,) = written(tmp_path, "bad\n" * 10, tuning=Tuning(kept_bad_lines=3, kept_line_chars=2))
    assert (part.rows, part.malformed, [bad.text for bad in part.bad]) == (0, 10, ["ba", "ba", "ba"])
    assert pq.read_table(part.path).num_rows == 0


def test_times_before_1970_alone(tmp_path: Path) -> None:
    (part,) = written(tmp_path, line(0).replace("1970", "1960"))
    assert part.first == part.last < 0


def test_repeated_task_replaces_its_file(tmp_path: Path) -> None:
    written(tmp_path, line(1) + line(2))
    (part,) = written(tmp_path, line(3))
    assert pq.read_table(part.path)["ts"].to_pylist() == [3_000_000]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.parquet", "a.nq"]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "a.nq.gz"
    source.write_bytes(gzip.compress(line(1).encode() * 1000)[:-30])
    with pytest.raises(LoadError, match=r"a\.nq\.gz"):
        write_part(Split(str(source)), STREAM, f"{tmp_path}/0.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["a.nq.gz"]


class Recorder:
    """A session that keeps the function it is given for its tasks."""

    def range(self, *_: int) -> Recorder:
        return self

    def mapInArrow(self, task: object, _columns: str) -> Recorder:
        self.task = task
        return self

    def collect(self) -> list[object]:
        return []


def by_a_bare_worker(piece: Split, folder: Path) -> dict[str, Any]:
    """The report of a task that runs in a process without penstock."""
    recorder = Recorder()
    parallel_load.write(cast(SparkSession, recorder), [piece], STREAM, folder / "log")
    (folder / "task").write_bytes(cast(Any, cloudpickle).dumps(recorder.task))
    script = (
        "import sys, pickle, pyarrow as pa; sys.modules['penstock'] = None\n"
        "task = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(*(batch['part'][0] for batch in task([pa.RecordBatch.from_pydict({'id': [0]})])))"
    )
    command = [sys.executable, "-c", script, str(folder / "task")]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def test_the_code_needs_no_penstock_on_the_worker(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text((line(1) + " " + line(2) + "bad\n") * 50)
    (split,) = splits(tmp_path / "a.nq")
    part = by_a_bare_worker(split, tmp_path)
    assert (part["rows"], part["malformed"]) == (100, 50)

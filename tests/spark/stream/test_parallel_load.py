"""Files into the log, by jobs."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.errors import LoadError
from penstock.io.splits import splits
from penstock.stream.ingest import parallel_load

STREAM = "http://stream"
SIZE = 400


def line(number: int) -> str:
    time = f"2009-07-20T00:{number // 60:02}:{number % 60:02}Z"
    return f'<a:s{number}> <a:p{number % 3}> _:b "{time}"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sixty elements and three bad lines, in three files."""
    source = tmp_path / "source"
    source.mkdir()
    texts = ["".join(map(line, range(start, start + 20))) + f"bad {start}\n" for start in (0, 20, 40)]
    (source / "1.nq").write_text(texts[0])
    (source / "2.nq.gz").write_bytes(gzip.compress(texts[1].encode()))
    (source / "3.nq").write_text(texts[2])
    return source


def test_parts_in_the_order_of_arrival(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    pieces = splits(folder, SIZE)
    parts = parallel_load.write(spark, pieces, STREAM, tmp_path / "log")
    assert len(parts) == len(pieces) > 5
    assert [part.path for part in parts] == sorted(str(path) for path in (tmp_path / "log").iterdir())
    rows = spark.read.parquet(*(part.path for part in parts)).orderBy("ts").collect()
    assert [row.s for row in rows] == [f"<a:s{number}>" for number in range(60)]
    assert rows[1].ts - rows[0].ts == 1_000_000
    assert len({row.o for row in rows}) == 1
    assert [part.first for part in parts if part.rows] == sorted(part.first for part in parts if part.rows)
    assert sum(count for part in parts for count in part.predicates.values()) == 60
    assert [(Path(bad.file or "").name, bad.line, bad.text) for part in parts for bad in part.bad] == [
        ("1.nq", 21, "bad 0"),
        ("2.nq.gz", 21, "bad 20"),
        ("3.nq", 21, "bad 40"),
    ]


def test_no_pieces_no_parts(spark: SparkSession, tmp_path: Path) -> None:
    assert parallel_load.write(spark, [], STREAM, tmp_path / "log") == []


def test_a_file_that_cannot_be_read(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    pieces = splits(folder, SIZE)
    (folder / "3.nq").unlink()
    with pytest.raises(LoadError, match=r"^\S*3\.nq: "):
        parallel_load.write(spark, pieces, STREAM, tmp_path / "log")

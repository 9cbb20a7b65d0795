"""Killed anywhere, an engine comes back and goes on: the files are those of one that was never disturbed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from tests.recovery import child
from tests.recovery.child import QUERIES, READ_FILES, STEPS, main
from tests.recovery.forked_life import begin

# Where, and the how many-th time in the life of that process; one life after the other, on the same folder.
Death = tuple[str, int]
DEATHS = [
    ("appending", 1),  # half of a push is in the journal
    ("appended", 1),  # a push is durable and not acknowledged
    ("segment", 1),  # elements are in the log's files, and their manifest is not there yet
    ("folded", 1),  # the journal's elements are in a segment, and in the journal too
    ("derived", 1),  # a derived stream has its elements, and the query's own answer is not delivered
    ("writing", 2),  # half of an answer is in its file
    ("delivered", 1),  # an answer is delivered, and progress does not know
    ("saved", 3),  # progress is saved, of all queries that were evaluated together
]


OF_FILES = [
    ("segment", 1),  # elements of a file are in the log's files, and their manifest is not there yet
    ("ingested", 1),  # elements of a file are in the log, and Spark has not noted that
    ("delivered", 1),  # an answer is delivered, and progress does not know
]
OF_CHANGES = [
    ("carrying", 2),  # half of what goes on is in its file
    ("carried", 3),  # what goes on is in its file, and what has come and gone is not delivered
    ("derived", 1),  # what has come is in the derived stream, and nowhere else
    ("delivered", 2),  # what has gone is delivered, and progress does not know
    ("skipped", 1),  # nothing had to be delivered to one of the queries, and the progress of all is saved
]
OF_FAMILIES = [
    ("carrying", 2),  # half of what goes on for all of them is in its file
    ("delivered", 2),  # two of a family are delivered to, others are not, and progress knows of nobody
    ("saved", 2),
]


def live(folder: Path, spark: SparkSession, queries: str, *death: object) -> int | None:
    """One life; how it ended."""
    log = folder.parent / f"{folder.name}.log"
    if queries in READ_FILES:
        return live_with_java(log, folder, queries, *death)
    process, _ = begin(child.live, log, spark, folder, queries, *death)
    process.join(300)
    return process.exitcode


def live_with_java(log: Path, *arguments: object) -> int:
    """One life with a JVM of its own; how it ended."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", child.__name__, *map(str, arguments)]
    with log.open("ab") as file:
        return subprocess.run(command, env=environment, stdout=file, stderr=file, timeout=300).returncode


def killed(queries: str, deaths: Sequence[Death], spark: SparkSession, folder: Path) -> dict[str, str]:
    """What the files hold after all those deaths, which is what they hold without any.

    The undisturbed one is fed all at once, so this also says that it does not matter how the stream is cut."""
    disturbed, undisturbed = folder / "disturbed", folder / "undisturbed"
    ends = [(death, live(disturbed, spark, queries, *death)) for death in deaths]
    assert ends == [(death, -signal.SIGKILL) for death in deaths], (folder / "disturbed.log").read_text()
    assert live(disturbed, spark, queries) == 0, (folder / "disturbed.log").read_text()
    main(undisturbed, queries, [(STEPS[0][0], STEPS[-1][1])], spark)
    for name in QUERIES[queries]:
        assert (disturbed / name).read_text() == (undisturbed / name).read_text(), name
    return {name: (disturbed / name).read_text() for name in QUERIES[queries]}


def test_answers_are_delivered_exactly_once_after_a_crash_at_any_failpoint(spark: SparkSession, tmp_path: Path) -> None:
    found = killed("whole", DEATHS, spark, tmp_path)
    assert all(len(text.splitlines()) >= 10 for text in found.values())


def test_files_are_ingested_exactly_once_after_a_crash(spark: SparkSession, tmp_path: Path) -> None:
    """Each life has a JVM of its own."""
    found = killed("files", OF_FILES, spark, tmp_path)
    assert all(len(text.splitlines()) >= 10 for text in found.values())


def test_open_intervals_survive_a_crash(spark: SparkSession, tmp_path: Path) -> None:
    """What comes, what goes and for how long: told once, though it began in one life and ended in another."""
    found = killed("changes", OF_CHANGES, spark, tmp_path)
    sizes = {name: len(text.splitlines()) for name, text in found.items()}
    assert sizes.pop("gates.ndjson") == 2  # gate 0 at once, the others with the first minute, and they stay
    assert all(size >= 10 for size in sizes.values()), sizes


def test_a_query_family_survives_a_crash(spark: SparkSession, tmp_path: Path) -> None:
    """Those who were delivered to before the end are delivered to again, in the same place."""
    found = killed("families", OF_FAMILIES, spark, tmp_path)
    sizes = {name: len(text.splitlines()) for name, text in found.items()}
    assert sizes.pop("new3.csv") == 0
    assert all(size >= 10 for size in sizes.values()), sizes

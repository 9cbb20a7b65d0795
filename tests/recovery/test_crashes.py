"""Killed anywhere, an engine comes back and goes on: the files are those of one that was never disturbed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tests.recovery.child import OUTPUTS, STEPS, main

# Where, and the how many-th time in the life of that process; one life after the other, on the same folder.
DEATHS = [
    ("spooled", 1),  # a push is durable and not acknowledged
    ("segment", 1),  # elements are in the log's files, and their manifest is not there yet
    ("ingested", 1),  # elements are in the log, and Spark has not noted that
    ("derived", 1),  # a derived stream has its elements, and the query's own answer is not delivered
    ("writing", 2),  # half of an answer is in its file
    ("delivered", 1),  # an answer is delivered, and progress does not know
    ("saved", 3),  # progress is saved, and others in the round have not begun
]


def live(folder: Path, *death: object) -> int:
    """One life; how it ended."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "tests.recovery.child", str(folder), *map(str, death)]
    with (folder.parent / f"{folder.name}.log").open("ab") as log:
        return subprocess.run(command, env=environment, stdout=log, stderr=log, timeout=300).returncode


def test_killed_at_every_place_nothing_is_lost_and_nothing_is_there_twice(spark: SparkSession, tmp_path: Path) -> None:
    """The undisturbed one is fed all at once, so this also says that it does not matter how the stream is cut."""
    disturbed, undisturbed = tmp_path / "disturbed", tmp_path / "undisturbed"
    ends = [(death, live(disturbed, *death)) for death in DEATHS]
    assert ends == [(death, -signal.SIGKILL) for death in DEATHS], (tmp_path / "disturbed.log").read_text()
    assert live(disturbed) == 0, (tmp_path / "disturbed.log").read_text()
    main(undisturbed, [(STEPS[0][0], STEPS[-1][1])], spark)
    for name in OUTPUTS:
        assert (disturbed / name).read_text() == (undisturbed / name).read_text(), name
        assert len((disturbed / name).read_text().splitlines()) >= 10

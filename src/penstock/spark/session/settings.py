"""Spark's settings. (`jobs.py` sets those that depend on the rows.)

There are two kinds. `configuration` returns those of a Spark that Penstock starts itself. `PRIVATE` has the settings
that compiled queries rely on; they are set in a session of Penstock's own, so that a user's session keeps its settings.
This module does not import PySpark, so that Java can start before it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from penstock.spark.session import memory

__all__ = ["JAVA_OPTIONS", "PRIVATE", "at_launch", "configuration", "variables"]

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")
_NO_MEMORY = "-XX:+ExitOnOutOfMemoryError"  # else a thread of Spark's may die of it, and its job waits for ever

_EMBEDDED: dict[str, str] = {
    "spark.app.name": "penstock",
    "spark.ui.enabled": "false",  # a second of start-up and a port
    "spark.ui.showConsoleProgress": "false",
    # Spark's memory of past jobs, for a page that nobody looks at: with large plans a gigabyte and more.
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "100",
    "spark.sql.maxPlanStringLength": "100000",
    # Else each table that is sent to a join takes 64 MB, however small, for as long as Java keeps it.
    "spark.buffer.pageSize": "4m",
    "spark.sql.catalogImplementation": "in-memory",  # no Hive
    # Spark may make this directory though we keep no tables, by default wherever the user happens to be.
    "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir(), "penstock-warehouse")),
    "spark.sql.session.timeZone": "UTC",
    "spark.python.sql.dataFrameDebugging.enabled": "false",  # PySpark would walk the stack at every call
}
_LOCAL: dict[str, str] = {
    # Nobody else talks to a local driver, and a machine's own name may not resolve.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
PRIVATE: dict[str, str] = {
    "spark.sql.ansi.enabled": "false",  # an error in an expression is NULL, which is what SPARQL's errors become
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.analyzer.maxIterations": "1000",  # a pass for every layer of columns
    "spark.sql.optimizer.maxIterations": "1000",
    "spark.sql.caseSensitive": "true",  # ?x and ?X are two variables
    "spark.sql.variable.substitute": "false",  # "${x}" in a query is text
    "spark.sql.adaptive.coalescePartitions.enabled": "false",  # it goes by what comes in, not by what comes out
    # New in Spark 4.3; it breaks where settings of code generation change after planning, as those of `jobs.py` do.
    "spark.sql.codegen.wholeStage.union.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.pyspark.fallback.enabled": "false",
}

# Settings for the start of the JVM. All others go to the context alone, since settings of the JVM stay for each later
# context in it.
_AT_LAUNCH = (
    "spark.archives",
    "spark.buffer.pageSize",
    "spark.driver.defaultJavaOptions",
    "spark.driver.extra",
    "spark.driver.memory",
    "spark.files",
    "spark.jars",
    "spark.kubernetes",
    "spark.master",
    "spark.submit",
    "spark.yarn",
)


def configuration(master: str | None, settings: Mapping[str, str]) -> dict[str, str]:
    """Return all settings of an embedded Spark, on all cores of this machine if no master is given; settings of the
    user come before ours."""
    master = master or "local[*]"
    local = _LOCAL if master.startswith("local") else {}
    heap = {"spark.driver.memory": f"{memory.heap_gib()}g"}
    log = f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}"
    options = f"{_NO_MEMORY} {log} {settings.get(JAVA_OPTIONS, '')}".strip()
    return {**_EMBEDDED, **local, **heap, **settings, JAVA_OPTIONS: options, "spark.master": master}


def at_launch(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that the JVM is started with."""
    return {name: value for name, value in settings.items() if name.startswith(_AT_LAUNCH)}


def variables(master: str) -> dict[str, str]:
    """Return the environment variables that Spark reads: the workers' Python, and an address that needs no name
    service.

    Workers on other machines may have another Python, so a value that the user has set stays.
    """
    if master.startswith("local"):
        return {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": _LOCAL["spark.driver.host"]}
    return {"PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable)}

"""Spark's settings, and the start and end of the embedded session. (`jobs.py` sets those that depend on the rows.)

There are two kinds. `_EMBEDDED` configures a Spark that Penstock starts itself. `_PRIVATE` has the settings that
compiled queries rely on; they are set in a session of Penstock's own (`private`), so that a user's session keeps its
settings.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from penstock.errors import SetupError
from penstock.spark.session import cancellation, java, memory
from penstock.threads import beside

__all__ = ["is_running", "private", "start", "stop"]

_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
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
_PRIVATE: dict[str, str] = {
    "spark.sql.ansi.enabled": "false",  # an error in an expression is NULL, which is what SPARQL's errors become
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.analyzer.maxIterations": "1000",  # a pass for every layer of columns
    "spark.sql.optimizer.maxIterations": "1000",
    "spark.sql.caseSensitive": "true",  # ?x and ?X are two variables
    "spark.sql.variable.substitute": "false",  # "${x}" in a query is text
    "spark.sql.adaptive.coalescePartitions.enabled": "false",  # it goes by what comes in, not by what comes out
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

_holders: list[SparkSession] = []  # handles of the embedded session that `start` returned and `stop` has not released


def start(master: str | None = None, **settings: str) -> SparkSession:
    """Return the embedded session, started unless this process has a session already, which is then shared.

    Settings are Spark's own (`**{"spark.driver.memory": "4g"}`). Each `start` is paired with a `stop`.
    """
    session = _running()
    if session is not None and not _holders:
        return session  # the user's session: shared, and never stopped by Penstock
    session = session or beside(lambda: _launch(_configuration(master or "local[*]", settings)), _unwanted)
    _holders.append(session)
    return session


def stop(session: SparkSession) -> None:
    """Release the session of `start`; the last release ends it. A second call has no effect."""
    held = [holder for holder in _holders if holder is session]
    if not held:
        return
    _holders[:] = [holder for holder in _holders if holder is not session]
    if not _holders:
        session.stop()


def is_running(session: SparkSession) -> bool:
    """Whether the Spark context of the session has not been stopped."""
    return session.sparkContext._jsc is not None


def private(session: SparkSession) -> SparkSession:
    """Return a session beside the given one, on the same Spark, with the settings that compiled queries rely on."""
    ours = session.newSession()
    partitions = {"spark.sql.shuffle.partitions": str(session.sparkContext.defaultParallelism)}
    for name, value in (_PRIVATE | partitions).items():
        ours.conf.set(name, value)
    return ours


def _running() -> SparkSession | None:
    """Return a new handle on the session of this process, so that each holder can be told from the others."""
    context = SparkContext._active_spark_context
    return None if context is None else SparkSession(context)


def _configuration(master: str, settings: Mapping[str, str]) -> dict[str, str]:
    local = _LOCAL if master.startswith("local") else {}
    heap = {"spark.driver.memory": f"{memory.heap_gib()}g"}
    log = f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}"
    options = f"{_NO_MEMORY} {log} {settings.get(_JAVA_OPTIONS, '')}".strip()
    return {**_EMBEDDED, **local, **heap, **settings, _JAVA_OPTIONS: options, "spark.master": master}


def _unwanted(session: Future[SparkSession]) -> None:
    """End a Spark whose start was interrupted by Ctrl-C, as soon as it is up."""

    def end(started: Future[SparkSession]) -> None:
        if started.exception() is None:
            started.result().stop()

    session.add_done_callback(end)


def _launch(configuration: Mapping[str, str]) -> SparkSession:
    with _environment(**_variables(configuration["spark.master"])):
        gateway = SparkContext._gateway or _start_jvm(configuration)
        try:
            return SparkSession(SparkContext(conf=_conf(configuration), gateway=gateway))
        except (Py4JError, PySparkException) as error:
            raise SetupError(f"Spark did not start: {cancellation.reason(str(error))}") from None


def _variables(master: str) -> dict[str, str]:
    """Return the environment variables that Spark reads: the workers' Python, and an address that needs no name
    service.

    Workers on other machines may have another Python, so a value that the user has set stays.
    """
    if master.startswith("local"):
        return {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": _LOCAL["spark.driver.host"]}
    return {"PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable)}


def _start_jvm(configuration: Mapping[str, str]) -> Any:
    """Start a JVM whose console is a file, since its output (mostly warnings of Java itself) is no answer."""
    at_launch = {name: value for name, value in configuration.items() if name.startswith(_AT_LAUNCH)}
    with java.java_home(java.require()) as home, tempfile.TemporaryFile() as console:
        try:
            with _environment(JAVA_HOME=str(home)):
                return launch_gateway(_conf(at_launch), {"stdout": console, "stderr": console})  # type: ignore[no-untyped-call]
        except (PySparkException, OSError) as error:
            raise SetupError(f"Java did not start: {cancellation.reason(_text(console) or str(error))}") from None


def _conf(settings: Mapping[str, str]) -> SparkConf:
    return SparkConf().setAll(list(settings.items()))


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set environment variables while a JVM and its context start; both remember the values that they read."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update({name: value for name, value in before.items() if value is not None})


def _text(console: IO[bytes]) -> str:
    console.seek(0)
    return console.read().decode(errors="replace")

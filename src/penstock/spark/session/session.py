"""The start and end of the embedded session, and sessions of Penstock's own beside a user's."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import IO, Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from penstock import log
from penstock.errors import SetupError
from penstock.spark.session import cancellation, early_start, java, launch
from penstock.spark.session import settings as spark_settings
from penstock.spark.session.lazy_session import has_started
from penstock.threads import interruptible

__all__ = ["is_running", "launched", "private", "start", "stop"]

_holders: list[SparkSession] = []  # handles of the embedded session that `start` returned and `stop` has not released


def start(master: str | None = None, **settings: str) -> SparkSession:
    """Return the embedded session, started unless this process has a session already, which is then shared.

    Settings are Spark's own (`**{"spark.driver.memory": "4g"}`). Each `start` is paired with a `stop`.
    """
    begun = early_start.claim()
    session = None if begun else _running()
    if session is not None and not _holders:
        return session  # the user's session: shared, and never stopped by Penstock
    session = session or interruptible(begun.result if begun else lambda: _started(master, settings), _unwanted)
    _holders.append(session)
    if len(_holders) == 1:
        log.session.info("Spark %s has started on %s", session.version, session.sparkContext.master)
    return session


def stop(session: SparkSession) -> None:
    """Release the session of `start`; the last release ends it, unless it ends with this process. A second call has
    no effect."""
    holders = [holder for holder in _holders if holder is session]
    if not holders:
        return
    _holders[:] = [holder for holder in _holders if holder is not session]
    if _holders:
        return
    if launch.is_left():
        log.session.info("Spark ends with this process")
    else:
        session.stop()
        log.session.info("Spark has stopped")


def is_running(session: SparkSession) -> bool:
    """Whether the Spark context of the session has not been stopped. One that is yet to start counts as running."""
    return not has_started(session) or session.sparkContext._jsc is not None


def private(session: SparkSession) -> SparkSession:
    """Return a session beside the given one, on the same Spark, with the settings that compiled queries rely on."""
    ours = session.newSession()
    partitions = {"spark.sql.shuffle.partitions": str(session.sparkContext.defaultParallelism)}
    for name, value in (spark_settings.PRIVATE | partitions).items():
        ours.conf.set(name, value)
    return ours


def _running() -> SparkSession | None:
    """Return a new handle on the session of this process, so that each holder can be told from the others."""
    context = SparkContext._active_spark_context
    return None if context is None else SparkSession(context)


def _unwanted(session: Future[SparkSession]) -> None:
    """End a Spark whose start was interrupted by Ctrl-C, as soon as it is up."""

    def end(started: Future[SparkSession]) -> None:
        if started.exception() is None:
            started.result().stop()

    session.add_done_callback(end)


def _started(master: str | None, settings: Mapping[str, str]) -> SparkSession:
    return launched(master, settings, None if SparkContext._gateway else launch.quick(master, settings, short=False))


def launched(master: str | None, settings: Mapping[str, str], reached: launch.Gateway | None) -> SparkSession:
    """Return a session on a new Spark context: in the JVM of this process, in the one that was reached, or in a new
    one that is started plainly."""
    configuration = spark_settings.configuration(master, settings)
    with _environment(**spark_settings.variables(configuration["spark.master"])):
        gateway = SparkContext._gateway or (_connect(reached) if reached else _start_plainly(configuration))
        try:
            return SparkSession(SparkContext(conf=_conf(configuration), gateway=gateway))
        except (Py4JError, PySparkException) as error:
            raise SetupError(f"Spark did not start: {cancellation.reason(str(error))}") from None


def _connect(reached: launch.Gateway) -> Any:
    with _environment(**reached.variables):
        return launch_gateway()


def _start_plainly(configuration: Mapping[str, str]) -> Any:
    """Start a JVM as PySpark does. Its console is a file, since its output (mostly warnings of Java itself) is no
    answer."""
    at_launch = spark_settings.at_launch(configuration)
    with java.java_home(java.require()) as home, tempfile.TemporaryFile() as console:
        try:
            with _environment(JAVA_HOME=str(home)):
                return launch_gateway(_conf(at_launch), {"stdout": console, "stderr": console})
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

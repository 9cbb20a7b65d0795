"""The early start: Java and Spark start in a thread while files and queries are read; `session.start` waits for it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from concurrent.futures import Future
from threading import Lock, Thread
from typing import TYPE_CHECKING

from penstock.spark.session import launch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["begin", "claim"]

_lock = Lock()
_begun: list[Future[SparkSession]] = []  # at most one, until it is claimed


def begin(master: str | None, settings: Mapping[str, str], *, short: bool) -> None:
    """Begin to start the embedded session, unless there is a JVM or quick starts are switched off.

    A failure is raised by the `session.start` that claims it. If nothing claims it, the JVM ends with this process.
    """
    if launch.is_plain() or _has_jvm():
        return
    future: Future[SparkSession] = Future()
    with _lock:
        if _begun:
            return
        _begun.append(future)
    Thread(target=_fulfil, args=(future, master, settings, short), name="penstock-start", daemon=True).start()


def claim() -> Future[SparkSession] | None:
    """Return the session that is being started, once; None if there is none."""
    with _lock:
        return _begun.pop() if _begun else None


def _has_jvm() -> bool:
    pyspark = sys.modules.get("pyspark")  # if it was not imported, it has started nothing
    return pyspark is not None and pyspark.SparkContext._gateway is not None


def _fulfil(future: Future[SparkSession], master: str | None, settings: Mapping[str, str], short: bool) -> None:
    try:
        gateway = launch.quick(master, settings, short)
        from penstock.spark.session import session  # only now: Java starts while PySpark is imported

        future.set_result(session.launched(master, settings, gateway))
    except BaseException as error:  # it is raised again where the session is waited for
        future.set_exception(error)

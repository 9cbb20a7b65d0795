"""The early start: Java and Spark start in a thread while files and queries are read; `session.start` waits for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING

from penstock import log
from penstock.spark.session import launch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["begin", "claim"]

Then = Callable[["SparkSession"], object]
"""Work with a session that has started, beside that of its owner."""

_lock = Lock()
_begun: list[Future[SparkSession]] = []  # at most one, until it is claimed


def begin(master: str | None, settings: Mapping[str, str], *, short: bool, then: Then = lambda _session: None) -> None:
    """Begin to start the embedded session, unless there is a JVM or quick starts are switched off.

    A failure is raised by the `session.start` that claims it. If nothing claims it, the JVM ends with this process.
    `then` is called with the session, while its owner goes on; its failure is not one of the start.
    """
    if launch.is_plain() or _has_jvm():
        return
    future: Future[SparkSession] = Future()
    with _lock:
        if _begun:
            return
        _begun.append(future)
    Thread(target=_fulfil, args=(future, master, settings, short, then), name="penstock-start", daemon=True).start()


def claim() -> Future[SparkSession] | None:
    """Return the session that is being started, once; None if there is none."""
    with _lock:
        return _begun.pop() if _begun else None


def _has_jvm() -> bool:
    pyspark = sys.modules.get("pyspark")  # if it was not imported, it has started nothing
    return pyspark is not None and pyspark.SparkContext._gateway is not None


def _fulfil(
    future: Future[SparkSession], master: str | None, settings: Mapping[str, str], short: bool, then: Then
) -> None:
    Thread(target=_import_pyspark, name="penstock-import", daemon=True).start()  # while Java starts
    try:
        gateway = launch.quick(master, settings, short)
        from penstock.spark.session import session  # when it is imported

        started = session.launched(master, settings, gateway)
    except BaseException as error:  # it is raised again where the session is waited for
        future.set_exception(error)
        return
    future.set_result(started)
    try:
        then(started)
    except Exception as error:  # Spark may have been stopped meanwhile
        log.session.debug("nothing was prepared while Spark was idle: %s", error)


def _import_pyspark() -> None:
    with suppress(ImportError):  # which is raised where it is imported again
        import penstock.spark.session.session  # noqa: F401

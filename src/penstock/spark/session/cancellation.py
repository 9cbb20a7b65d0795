"""Cancellation and failures of Spark jobs: Ctrl-C cancels the jobs of one call, and a failure is one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from itertools import count
from typing import TypeVar

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from penstock.errors import PenstockError
from penstock.spark.session.lazy_session import add_job_tag, has_started, remove_job_tag
from penstock.threads import interruptible

__all__ = ["ResultTooLarge", "bounded_result", "cancellable", "one_sentence", "reason", "sentence"]

T = TypeVar("T")
_GONE = (ConnectionError, EOFError)
_REMEDY = "If it had too little memory, give it more: spark.driver.memory=8g among the settings."
_RESULT_SIZE = "spark.driver.maxResultSize"
_FAILURES = (PySparkException, Py4JError, *_GONE)
_PATIENCE = 0.1  # seconds between two checks whether cancelled work has ended
_numbers = count()


class ResultTooLarge(PenstockError):
    """The rows of a job are more than Spark lets a driver collect."""


@contextmanager
def bounded_result() -> Iterator[None]:
    """Raise a `ResultTooLarge` where Spark ends a job for the size of its rows."""
    try:
        yield
    except Py4JJavaError as error:
        if _RESULT_SIZE not in (message := _message(error)):
            raise
        raise ResultTooLarge(
            f"{reason(message)}. The answers at one instant are that large: give {_RESULT_SIZE}=4g among the settings."
        ) from error


def cancellable(session: SparkSession, work: Callable[[], T]) -> T:
    """Return the result of `work`. Ctrl-C cancels its Spark jobs, waits for the work to end, and is raised again."""
    tag = f"penstock-{next(_numbers)}"

    def tagged() -> T:
        add_job_tag(session, tag)
        try:
            return work()
        finally:
            with suppress(*_FAILURES):  # Java may have ended
                remove_job_tag(session, tag)

    def cancel(future: Future[T]) -> None:
        while not future.done():  # repeatedly, since work that is still planning has no job to cancel yet
            if has_started(session):
                session.sparkContext.cancelJobsWithTag(tag)
            wait([future], timeout=_PATIENCE)

    return interruptible(tagged, cancel)


@contextmanager
def one_sentence(kind: type[PenstockError], doing: str) -> Iterator[None]:
    """Raise failures of Spark as errors of Penstock, which keep the original as their cause."""
    try:
        yield
    except _FAILURES as error:
        raise kind(f"{doing}: {reason(_message(error))}") from error


def sentence(error: BaseException, *, of_spark: bool = True) -> str:
    """Return the message of any error as one sentence. A lost connection is one to Java only if it is `of_spark`."""
    if isinstance(error, _FAILURES) and (of_spark or not isinstance(error, _GONE)):
        return reason(_message(error))
    text = str(error) if isinstance(error, PenstockError) else f"{type(error).__name__}: {error}"
    return text.splitlines()[0] if text else type(error).__name__


def _message(error: Exception) -> str:
    """Return the message of Java's exception, without py4j's line about the call."""
    if isinstance(error, Py4JJavaError):
        return str(error.java_exception)
    if isinstance(error, (*_GONE, Py4JNetworkError)):
        return f"Java has ended. {_REMEDY}"
    return str(error)


_NOISE = re.compile(r"^(WARNING|NOTE|Picked up|\s*at |Caused by: )")
_EXCEPTION_NAME = re.compile(r"^(: )?([\w$]+\.)+\w+(Exception|Error): ")
_ERROR_CLASS = re.compile(r"^\[[A-Z0-9_.]+\] | SQLSTATE: \w+$")


def reason(output: str) -> str:
    """Return the sentence with the cause in a JVM's output, or in an exception of Spark."""
    lines = [line for line in output.splitlines() if line.strip() and not _NOISE.match(line)]
    telling = next((line for line in lines if _EXCEPTION_NAME.match(line)), lines[0] if lines else "no reason given")
    return _ERROR_CLASS.sub("", _EXCEPTION_NAME.sub("", telling)).strip()

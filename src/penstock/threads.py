"""Long work beside the main thread, so that Ctrl-C is heard at once.

Signals reach Python only between two of its own instructions on the main thread: a call into native code would have to
come back first, and one into the JVM would lose its place in the conversation (py4j keeps one connection a thread).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread, current_thread, main_thread
from typing import TypeVar

__all__ = ["interruptible"]

T = TypeVar("T")


def interruptible(work: Callable[[], T], interrupted: Callable[[Future[T]], None] = lambda _: None) -> T:
    """Return the result of `work`, run in a thread of its own if this is the thread that Ctrl-C reaches.

    The thread has ended by then, with its own objects: the end of the process must not meet it in native code.
    `interrupted` may end the work; without it the work goes on, unheeded, until it is done or the process ends.
    """
    if current_thread() is not main_thread():
        return work()
    future: Future[T] = Future()
    thread = Thread(target=copy_context().run, args=(_fulfil, future, work), name="penstock", daemon=True)
    try:
        thread.start()
        found = future.result()
        thread.join()
        return found
    except KeyboardInterrupt:
        interrupted(future)
        raise


def _fulfil(future: Future[T], work: Callable[[], T]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # it is raised again where the result is waited for
        future.set_exception(error)

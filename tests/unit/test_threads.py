"""Work beside the main thread."""

from __future__ import annotations

import sys
from threading import Event, local, main_thread

from penstock.threads import interruptible

own, order, returned = local(), list[str](), Event()


def is_joining() -> bool:
    """Whether the main thread waits for the end of another."""
    frame = sys._current_frames().get(main_thread().ident or 0)
    while frame is not None and frame.f_code.co_name != "join":
        frame = frame.f_back
    return frame is not None


class Held:
    """An object of a thread, which takes its time to go."""

    def __del__(self) -> None:
        while not (returned.is_set() or is_joining()):
            pass
        order.append("gone")


def test_the_thread_has_let_go_of_its_own_objects_when_the_result_is_there() -> None:
    def work() -> int:
        own.held = Held()
        return 5

    assert interruptible(work) == 5
    order.append("returned")
    returned.set()
    assert order == ["gone", "returned"]

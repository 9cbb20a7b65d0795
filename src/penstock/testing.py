"""Helpers for tests: a clock that you move, a source that you interrupt, answers as plain text.

    clock = ManualClock()
    source = TestSource([line(0, a), PAUSE, line(60, b), ABORT, line(120, c)])
    with penstock.Engine(clock=clock, checkpoint=folder) as engine:
        engine.stream("http://example.org/s", source)
        …
    assert snapshots(query.answers()) == {"1:00": ["<http://example.org/a> 1"]}

Whole tests as files, with a stream, a query and the answers expected, are in `penstock.logic`:
see docs/how-to/logic-tests.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import Enum
from threading import Condition
from typing import Final, TypeAlias

from pyoxigraph import BlankNode, Triple

from penstock.algebra.expressions import terms_of
from penstock.answer import Answer, Term
from penstock.errors import PenstockError
from penstock.logic.times import when_of, write_when
from penstock.stream.ingest.elements import lines

__all__ = ["ABORT", "PAUSE", "Aborted", "ManualClock", "TestSource", "line", "snapshots"]


Element: TypeAlias = str | bytes | tuple[Triple, datetime | int] | tuple[Triple, datetime | int, datetime | int]


class ManualClock:
    """A clock that stands still until `advance` moves it; a thread that waits for a moment wakes when it has come."""

    def __init__(self, now: int = 0) -> None:
        self._now = now
        self._jumped = 0
        self._changed = Condition()
        self._waiting: dict[object, Condition] = {}

    def now(self) -> int:
        """Microseconds since 1970."""
        with self._changed:
            return self._now

    def elapsed(self) -> int:
        """The microseconds by which `advance` has moved it."""
        with self._changed:
            return self._now - self._jumped

    def advance(self, by: int | timedelta) -> None:
        """Let that much time pass: microseconds, or a timedelta."""
        passed = _microseconds(by)
        if passed < 0:
            raise ValueError("time does not go back")
        self._move(passed)

    def jump(self, by: int | timedelta) -> None:
        """Set the clock forward, or back, without any time passing: as the machine's clock is set."""
        self._move(_microseconds(by), _microseconds(by))

    def _move(self, by: int, jumped: int = 0) -> None:
        with self._changed:
            self._now += by
            self._jumped += jumped
            waiting, self._waiting = self._waiting, {}
        for condition in waiting.values():
            with condition:
                condition.notify_all()

    def wait(self, condition: Condition, until: int | None) -> None:
        """Wait, holding the condition, until it is notified or the moment has come (None: until it is notified)."""
        me = object()
        with self._changed:
            if until is not None and self._now >= until:
                return
            self._waiting[me] = condition
            self._changed.notify_all()
        try:
            condition.wait()
        finally:
            with self._changed:
                self._waiting.pop(me, None)

    def await_waiter(self, timeout: float = 60) -> None:
        """Return when a thread waits for this clock."""
        with self._changed:
            if not self._changed.wait_for(lambda: bool(self._waiting), timeout):
                raise TimeoutError("no thread waits for the clock")


def _microseconds(time: int | timedelta) -> int:
    return time // timedelta(microseconds=1) if isinstance(time, timedelta) else time


class _Marker(Enum):
    PAUSE = "pause"
    ABORT = "abort"


PAUSE: Final = _Marker.PAUSE
"""The source falls silent here; the next reader gets the rest."""
ABORT: Final = _Marker.ABORT
"""The source fails here, once; the next reader gets the rest."""


class Aborted(PenstockError):
    """A `TestSource` came to an ABORT."""


class TestSource:
    """Elements for `engine.stream(iri, source)`, with PAUSE and ABORT between them.

    An element is a line of timestamped N-Quads, or a triple with its time, or with its start and its end. An engine
    asks for the next one when the last is durable. So the last element is given again to the next reader: an engine
    that crashed in between loses nothing.
    """

    __test__ = False  # it is no test, whatever pytest makes of its name

    def __init__(self, items: Iterable[Element | _Marker]) -> None:
        self._items: Sequence[Element | _Marker] = list(items)
        self._place = 0
        self._halts = 0
        self._halted = Condition()

    @property
    def done(self) -> bool:
        """Whether everything was given out and taken."""
        return self._place == len(self._items)

    def wait(self, halts: int, timeout: float = 60) -> None:
        """Wait until the source has come to its n-th PAUSE, ABORT or end: then all elements before are durable."""
        with self._halted:
            if not self._halted.wait_for(lambda: self._halts >= halts, timeout):
                raise TimeoutError(f"the source has come to {self._halts} halts, not to {halts}")

    def __iter__(self) -> Iterator[Element]:
        while not self.done:
            item = self._items[self._place]
            if isinstance(item, _Marker):
                self._place += 1
                self._halt()
                if item is ABORT:
                    raise Aborted("The source was aborted.")
                return
            yield item
            self._place += 1
        self._halt()

    def _halt(self) -> None:
        with self._halted:
            self._halts += 1
            self._halted.notify_all()


def line(seconds: float, triple: Triple) -> str:
    """A line of timestamped N-Quads, so many seconds after 1970 began."""
    return lines([(triple, round(seconds * 1_000_000))], None, 0).decode()


def snapshots(answers: Iterable[Answer]) -> dict[str, list[str]]:
    """The answers with their times as text: equal for two runs with equal answers.

    Times are written as in logic tests (1:00 is a minute after 1970 began, 1:00 .. 2:00 an interval). Rows are terms
    as N-Triples has them, `-` for an unbound variable, `[]` for a blank node; sorted, since without ORDER BY their
    order says nothing.
    """
    return {write_when(*when_of(one)): _lines(one) for one in answers}


def _lines(answer: Answer) -> list[str]:
    if answer.boolean is not None:
        return [str(answer.boolean).lower()]
    if answer.triples is not None:
        return sorted(" ".join(map(_text, terms_of(triple))) for triple in answer.triples)
    return sorted(" ".join(_text(row.get(name)) for name in answer.variables) for row in answer.rows)


def _text(term: Term | None) -> str:
    if term is None:
        return "-"
    return "[]" if isinstance(term, BlankNode) else str(term)

"""What the compiler made of a plan, for whoever asks (`profile.py`); where nobody does, nothing is written down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from penstock.algebra.ops import Op, Query
from penstock.algebra.windows import UNITS
from penstock.optimise import Optimised, Statistics

if TYPE_CHECKING:
    from penstock.compile.relation import Relation
    from penstock.compile.windows.stream_to_relation import WindowRelation

__all__ = ["Probe", "Recorder", "about", "compiled", "note", "planned", "recording"]


class Probe(Protocol):
    """Who looks at what is compiled."""

    def begin(self, query: Query, contents: Sequence[WindowRelation]) -> None:
        """A plan is about to be compiled, perhaps once more: what was seen before does not count."""

    def seen(self, op: Op, relation: Relation) -> None: ...


@dataclass(slots=True)
class Recorder:
    """The probe is told of every relation while the views that it reads are there. What is noted while an operator is
    compiled belongs to it; its operands have taken theirs before."""

    probe: Probe
    optimised: Optimised | None = None
    statistics: Statistics | None = None
    notes: list[tuple[Op, str]] = field(default_factory=list)
    unclaimed: list[str] = field(default_factory=list)


_current: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """What is compiled within is written down there."""
    reset = _current.set(recorder)
    try:
        yield recorder
    finally:
        _current.reset(reset)


def planned(optimised: Optimised, statistics: Statistics, contents: Sequence[WindowRelation] = ()) -> None:
    """A plan is about to be compiled."""
    if (recorder := _current.get()) is not None:
        recorder.optimised, recorder.statistics = optimised, statistics
        recorder.notes.clear()
        recorder.unclaimed.clear()
        recorder.probe.begin(optimised.query, contents)


def compiled(op: Op, relation: Relation) -> None:
    if (recorder := _current.get()) is not None:
        recorder.notes += ((op, text) for text in dict.fromkeys(recorder.unclaimed))
        recorder.unclaimed.clear()
        recorder.probe.seen(op, relation)


def note(text: str) -> None:
    """A choice, in a few words: `in buckets of 30s`."""
    if (recorder := _current.get()) is not None:
        recorder.unclaimed.append(text)


def about(microseconds: int) -> str:
    """A time as a person says it: 1.5 s."""
    unit = max((unit for unit in UNITS if UNITS[unit] <= microseconds), key=lambda unit: UNITS[unit], default="us")
    return f"{microseconds / UNITS[unit]:.3g} {unit}"

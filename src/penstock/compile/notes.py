"""A record of the choices that the compiler makes, which `profile.py` reads; without a recorder nothing is stored."""

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
    """An observer of the compiler."""

    def begin(self, query: Query, contents: Sequence[WindowRelation]) -> None:
        """Start a compilation. A plan may be compiled again: forget the operators of the compilation before."""

        """Take the relation of a compiled operator."""

    def seen(self, op: Op, relation: Relation) -> None: ...


@dataclass(slots=True)
class Recorder:
    """The notes of one compilation, and the probe that is given each relation while its views exist.

    A note belongs to the operator that is being compiled; notes of its operands have been assigned before.
    """

    probe: Probe
    optimised: Optimised | None = None
    statistics: Statistics | None = None
    notes: list[tuple[Op, str]] = field(default_factory=list)
    unclaimed: list[str] = field(default_factory=list)


_current: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Record the compilations inside the block."""
    reset = _current.set(recorder)
    try:
        yield recorder
    finally:
        _current.reset(reset)


def planned(optimised: Optimised, statistics: Statistics, contents: Sequence[WindowRelation] = ()) -> None:
    """Record the optimised query, its statistics and windows, before they are compiled."""
    if (recorder := _current.get()) is not None:
        recorder.optimised, recorder.statistics = optimised, statistics
        recorder.notes.clear()
        recorder.unclaimed.clear()
        recorder.probe.begin(optimised.query, contents)


def compiled(op: Op, relation: Relation) -> None:
    """Record the relation of an operator, and assign the open notes to it."""
    if (recorder := _current.get()) is not None:
        recorder.notes += ((op, text) for text in dict.fromkeys(recorder.unclaimed))
        recorder.unclaimed.clear()
        recorder.probe.seen(op, relation)


def note(text: str) -> None:
    """Record a choice in a few words: `in buckets of 30s`."""
    if (recorder := _current.get()) is not None:
        recorder.unclaimed.append(text)


def about(microseconds: int) -> str:
    """Return a duration with one unit: 1.5 s."""
    unit = max((unit for unit in UNITS if UNITS[unit] <= microseconds), key=lambda unit: UNITS[unit], default="us")
    return f"{microseconds / UNITS[unit]:.3g} {unit}"

"""A hook into the compiler for `profile.py`: it sees the plan, and the relation of each operator while its views exist.

Without a probe nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

from penstock.algebra.ops import Op, Query
from penstock.optimise import Optimised, Statistics

if TYPE_CHECKING:
    from penstock.compile.relation import Relation
    from penstock.compile.windows.stream_to_relation import WindowRelation

__all__ = ["Probe", "compiled", "is_active", "planned", "probing"]


class Probe(Protocol):
    """An observer of the compiler."""

    def planned(
        self, optimised: Optimised, physical: Query, statistics: Statistics, contents: Sequence[WindowRelation]
    ) -> None:
        """Take the plan after the rules and the physical plan, with the statistics and windows that they are for."""

    def compiled(self, op: Op, relation: Relation) -> None:
        """Take the relation of an operator."""


_current: ContextVar[Probe | None] = ContextVar("probe", default=None)


@contextmanager
def probing(probe: Probe) -> Iterator[None]:
    """Show the compilations inside the block to the probe."""
    reset = _current.set(probe)
    try:
        yield
    finally:
        _current.reset(reset)


def is_active() -> bool:
    """Whether a probe sees the compilations."""
    return _current.get() is not None


def planned(
    optimised: Optimised, physical: Query, statistics: Statistics, contents: Sequence[WindowRelation] = ()
) -> None:
    """Show a plan to the probe, before it is compiled."""
    if (probe := _current.get()) is not None:
        probe.planned(optimised, physical, statistics, contents)


def compiled(op: Op, relation: Relation) -> None:
    """Show the relation of an operator to the probe."""
    if (probe := _current.get()) is not None:
        probe.compiled(op, relation)

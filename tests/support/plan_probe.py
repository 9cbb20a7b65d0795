"""A probe that keeps the physical operators of all plans that are made while it is set."""

from __future__ import annotations

from penstock.algebra.occurrence import everywhere
from penstock.algebra.ops import Op, Physical, Query

__all__ = ["PlanProbe"]


class PlanProbe:
    """Use with `probe.probing`. `operators` has the operators of each plan, those inside EXISTS too."""

    def __init__(self) -> None:
        self.operators: list[Op] = []

    def planned(self, optimised: object, physical: Query, statistics: object, contents: object) -> None:
        self.operators += everywhere(physical.pattern)

    def compiled(self, op: Op, relation: object) -> None:
        """The plan says it all."""

    @property
    def kinds(self) -> set[type[Op]]:
        return {type(op) for op in self.operators}

    @property
    def algorithms(self) -> list[str]:
        """The algorithms of the physical operators, as `explain` says them."""
        return [op.algorithm for op in self.operators if isinstance(op, Physical)]

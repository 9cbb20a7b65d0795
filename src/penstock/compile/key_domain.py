"""Key domains: all values that key columns can have, such as instants, named graphs, or queries of a family."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from penstock.compile.sql import Hint, Query

__all__ = ["Universe"]


@dataclass(frozen=True, slots=True)
class Universe:
    """The domain of some key columns: every combination of values that the keys can take.

    `dependent` columns are functionally dependent on the keys; then `sql` has each combination of the keys once, and
    few enough to be broadcast. `static`: the domain is the same at every evaluation.
    """

    keys: tuple[str, ...]
    sql: Query
    dependent: tuple[str, ...] = ()
    static: bool = False

    def columns_for(self, keys: Collection[str]) -> tuple[str, ...]:
        """Return the columns of this domain that are among `keys`, with the keys that these depend on."""
        dependent = tuple(c for c in self.dependent if c in keys)
        return (self.keys if dependent else tuple(k for k in self.keys if k in keys)) + dependent

    @property
    def hints(self) -> list[Hint]:
        """The hint to broadcast the domain, where it is known to be small."""
        return [("BROADCAST", ("u",))] if self.dependent else []

"""The parameter table of a query family: the number of each query, and its constants."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import count

import pyarrow as pa

from penstock.algebra.template import Constants, parameter
from penstock.compile import sql
from penstock.compile.key_domain import Universe
from penstock.compile.relation import MEMBER
from penstock.compile.table_catalog import TableCatalog
from penstock.model.term_encoding import encode

__all__ = ["ParameterTable"]

_numbers = count()


class ParameterTable:
    """The members of a family: a number for each query, and its constants in the order of the parameters.

    The table is a view, made when it is first read. Keep the object for as long as the members are the same.
    """

    def __init__(self, numbers: Sequence[int], rows: Sequence[Constants]) -> None:
        if len(numbers) != len(rows):
            raise ValueError(f"{len(numbers)} numbers for {len(rows)} members")
        self.numbers, self.rows = tuple(numbers), tuple(rows)
        self.view: str | None = None

    def only(self, numbers: Collection[int]) -> ParameterTable:
        """Return the table of some members."""
        pairs = [pair for pair in zip(self.numbers, self.rows, strict=True) if pair[0] in numbers]
        return ParameterTable([number for number, _ in pairs], [row for _, row in pairs])

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return tuple(parameter(i).name for i in range(len(self.rows[0]) if self.rows else 0))

    @cached_property
    def table(self) -> pa.Table:
        numbers = pa.array(self.numbers, pa.int64())
        constants = [pa.array([encode(row[i]) for row in self.rows], pa.string()) for i in range(len(self.parameters))]
        return pa.table([numbers, *constants], names=[MEMBER, *self.parameters])

    def universe(self, catalog: TableCatalog) -> Universe:
        if self.view is None:
            self.view = f"penstock_members_{next(_numbers)}"
            catalog.put(self.view, self.table)
        return Universe((MEMBER,), sql.view(self.view), self.parameters)

    def drop(self, catalog: TableCatalog) -> None:
        """Drop the view."""
        if self.view is not None:
            catalog.drop(self.view)
            self.view = None

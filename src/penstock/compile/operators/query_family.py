"""Query families: queries that are equal but for constants, as one plan that is joined with a table of the constants.

The number of a query is a key column like the instant (`.km`), and determines its constants, which are the parameters
of the plan (`.kp0` and so on, see `algebra/template.py`). A pattern with parameters is joined with the table: its rows
then hold for the queries with these constants. A relation without parameters holds for all queries, until an operator
needs the key.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.template import Constants, parameter
from penstock.compile import sql
from penstock.compile.context import Context, Universe
from penstock.compile.relation import MEMBER, Relation, is_parameter
from penstock.compile.sql import Derived, Join, Select
from penstock.model.term_encoding import encode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["ParameterTable", "around", "attached", "parameters_in"]

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
        some = [pair for pair in zip(self.numbers, self.rows, strict=True) if pair[0] in numbers]
        return ParameterTable([number for number, _ in some], [row for _, row in some])

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return tuple(parameter(i).name for i in range(len(self.rows[0]) if self.rows else 0))

    @cached_property
    def table(self) -> pa.Table:
        numbers = pa.array(self.numbers, pa.int64())
        constants = [pa.array([encode(row[i]) for row in self.rows], pa.string()) for i in range(len(self.parameters))]
        return pa.table([numbers, *constants], names=[MEMBER, *self.parameters])

    def universe(self, session: SparkSession) -> Universe:
        if self.view is None:
            self.view = f"penstock_members_{next(_numbers)}"
            session.createDataFrame(self.table).createOrReplaceTempView(self.view)
        return Universe((MEMBER,), sql.view(self.view), self.parameters)

    def drop(self, session: SparkSession) -> None:
        """Drop the view."""
        if self.view is not None:
            session.catalog.dropTempView(self.view)
            self.view = None


def parameters_in(patterns: Sequence[ops.TriplePattern]) -> tuple[str, ...]:
    """Return the parameters of triple patterns, each of which has one place."""
    terms = (term for pattern in patterns for term in (pattern.subject, pattern.object))
    return tuple(term.name for term in terms if isinstance(term, Var) and term.parameter)


def around(patterns: Sequence[ops.TriplePattern], context: Context) -> Universe | None:
    """Return the domain of the patterns' parameters; None if they have none."""
    names = set(parameters_in(patterns))
    return next((u for u in context.universes if names and names <= {*u.keys, *u.dependent}), None)


def attached(relation: Relation, context: Context) -> Relation:
    """Return the rows for the members with these constants: the member's number in place of the parameters."""
    names = {v for v in relation.vars if is_parameter(v)}
    universe = next((u for u in context.universes if names and names <= set(u.dependent)), None)
    if universe is None:
        return relation
    vars = (*universe.keys, *(v for v in relation.vars if v not in names))
    items = [sql.column("u" if v in universe.keys else "l", v) for v in vars]
    on = sql.all_of(sql.column("l", v).eq(sql.column("u", v)) for v in sorted(names))
    joined = Join(Derived(relation.sql, "l"), Derived(universe.sql, "u"), on)
    certain = relation.certain - names | set(universe.keys)
    query = Select(items, joined, hints=universe.hints)
    return replace(relation, sql=query, vars=vars, certain=certain, cardinality=None, upper_bound=None)

"""Query families: queries that are equal but for constants, as one plan that is joined with a table of the constants.

The number of a query is a key column like the instant (`.km`), and determines its constants, which are the parameters
of the plan (`.kp0` and so on, see `algebra/template.py`). A pattern with parameters is joined with the table: its rows
then hold for the queries with these constants. A relation without parameters holds for all queries, until an operator
needs the key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.key_domain import Universe
from penstock.compile.relation import Relation, is_parameter
from penstock.compile.sql import Derived, Join, Select

__all__ = ["around", "attached", "parameters_in"]


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
    return replace(relation, sql=query, vars=vars, certain=certain)

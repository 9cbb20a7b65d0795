"""Facts of rows that are filtered by EXISTS, or on which EXISTS and NOW() are evaluated."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from penstock.algebra.expressions import Call, Exists, Expr, Var
from penstock.algebra.scope import conjuncts, exists_in
from penstock.compile.context import Context
from penstock.compile.expressions.expressions import asks_now
from penstock.compile.physical.exists_algorithm import is_semi_join
from penstock.compile.physical.facts import Facts, TimeDomain, pointwise, semi_joined
from penstock.compile.physical.plan_operator import Planned
from penstock.compile.relation import INSTANT

__all__ = ["filtered", "read_by"]

Plans = Mapping[Exists, Planned]


def filtered(facts: Facts, condition: Expr, plans: Plans, around: frozenset[Var], context: Context) -> Facts:
    """Return the facts of the rows on which the condition is true. `around` has the variables of these rows."""
    facts = read_by(facts, (condition,), (), context)
    for part in conjuncts(condition):
        match part:
            case Exists(pattern) | Call("!", (Exists(pattern),)):
                exists = part if isinstance(part, Exists) else part.args[0]
                assert isinstance(exists, Exists)
                # A substituted pattern is evaluated instant by instant.
                facts = semi_joined(facts, plans[exists].facts.domain, on_intervals=is_semi_join(pattern, around))
            case _ if exists_in(part):
                facts = _marked(facts, context)
    return facts


def read_by(facts: Facts, exprs: Collection[Expr], plans: Collection[Exists], context: Context) -> Facts:
    """Return the facts of the rows on which expressions are evaluated: NOW() and EXISTS as a value need instants."""
    if context.plan.streaming is not None and any(map(asks_now, exprs)):
        facts = facts.at(TimeDomain.INSTANTS)
    return _marked(facts, context) if plans else facts


def _marked(facts: Facts, context: Context) -> Facts:
    """Return the facts of rows with a boolean for an EXISTS, which is decided for every value of the keys."""
    if any(INSTANT in universe.keys for universe in context.universes):
        return facts.at(TimeDomain.INSTANTS)
    return pointwise(facts)

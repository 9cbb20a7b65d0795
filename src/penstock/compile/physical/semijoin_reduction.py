"""Semi-join reduction, or sideways information passing: the terms of one side of a join reduce the other side.

If a window holds few elements, the driver knows their terms. These terms select the matching rows of a static view, and
the terms of those rows select the elements that have a partner, both before the join.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.ops import Op
from penstock.compile.context import Context, can_match
from penstock.compile.physical.facts import Facts
from penstock.compile.physical.nodes import TermReduction
from penstock.compile.relation import Terms
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model import term_encoding
from penstock.tuning import DEFAULT, Tuning

__all__ = [
    "Candidates",
    "any_term",
    "candidate_terms",
    "from_sibling",
    "narrowed_by",
    "projected",
    "selective_terms",
]

Candidates: TypeAlias = Callable[[Var], Terms | None]
"""The terms that a variable can have; None: any."""


def any_term(var: Var) -> Terms | None:
    """Return None: nothing is known of the variable."""
    return None


def from_sibling(op: Op, context: Context, candidates: Candidates) -> Candidates:
    """Return the candidate terms for a pattern that is joined with `op`."""
    return cache(lambda var: _smallest([candidates(var), candidate_terms(op, var, context)]))


def projected(vars: Collection[Var], candidates: Candidates) -> Candidates:
    """Return the candidate terms below a projection, where other variables of the same name are different variables."""
    return lambda var: candidates(var) if var in vars else None


def narrowed_by(facts: Facts, candidates: Candidates) -> Candidates:
    """Return the candidate terms for a pattern that is joined with rows of a static view that were looked up."""
    return lambda var: _smallest([candidates(var), facts.looked_up_terms.get(var.name)])


def candidate_terms(op: Op, var: Var, context: Context) -> Terms | None:
    """Return all terms that solutions of `op` can have for the variable; None if unknown, or if it may be unbound."""
    match op:
        case ops.Bgp(patterns):
            candidates = [_terms_of_pattern(pattern, var, context) for pattern in patterns]
        case ops.Join(left, right):
            candidates = [candidate_terms(left, var, context), candidate_terms(right, var, context)]
        case ops.Union(left, right):
            one, other = candidate_terms(left, var, context), candidate_terms(right, var, context)
            candidates = [None if one is None or other is None else one | other]
        case ops.LeftJoin() | ops.Minus():
            candidates = [candidate_terms(op.left, var, context)]
        case ops.Filter(_, pattern) | ops.Reduced(pattern) | ops.Distinct(pattern):
            candidates = [candidate_terms(pattern, var, context)]
        case ops.Project(vars, pattern) if var in vars:
            candidates = [candidate_terms(pattern, var, context)]
        case ops.WindowOverride(_, pattern) | ops.InWindow(NamedNode(), pattern):
            candidates = [candidate_terms(pattern, var, context.inside(op))]
        case _:
            return None
    return _smallest(candidates)


def _smallest(candidates: Collection[Terms | None]) -> Terms | None:
    return min((terms for terms in candidates if terms is not None), key=len, default=None)


def _terms_of_pattern(pattern: ops.TriplePattern, var: Var, context: Context) -> Terms | None:
    """Return the subjects, or objects, of the elements with the pattern's predicate."""
    columns = [column for column, term in zip("spo", pattern.terms, strict=True) if term == var]
    streaming = context.plan.streaming
    if not columns or streaming is None or streaming.entailed is not None:
        return None
    if can_match(pattern.predicate, context.background()):
        return None
    parts = [_terms_in_window(pattern, columns[0], content) for content in context.matching_windows(pattern)]
    terms = [part for part in parts if part is not None]
    return frozenset().union(*terms) if len(terms) == len(parts) else None


def _terms_in_window(pattern: ops.TriplePattern, column: str, content: WindowRelation) -> Terms | None:
    table = _matching_elements(pattern, content)
    return None if table is None else frozenset(map(str, pc.unique(table.column(column)).to_pylist()))


def _matching_elements(pattern: ops.TriplePattern, content: WindowRelation) -> pa.Table | None:
    """Return the elements with the pattern's predicate, if the driver has them."""
    table = content.elements()
    if table is None or not isinstance(pattern.predicate, NamedNode):
        return table
    return table.filter(pc.equal(table.column("p"), pa.scalar(term_encoding.encode(pattern.predicate))))


def selective_terms(
    pattern: ops.TriplePattern, content: WindowRelation, known: Candidates, tuning: Tuning = DEFAULT
) -> tuple[TermReduction, ...]:
    """Return the columns of a pattern's elements in which only a small share of the terms can have a join partner."""
    vars = ((column, term) for column, term in zip("spo", pattern.terms, strict=True) if isinstance(term, Var))
    candidates = ((column, var, known(var)) for column, var in vars)
    most = tuning.semijoin_terms
    few = ((column, var, terms) for column, var, terms in candidates if terms is not None and len(terms) <= most)
    reductions = (
        TermReduction(column, var, terms, _share(terms, pattern, column, content)) for column, var, terms in few
    )
    return tuple(reduction for reduction in reductions if reduction.share < tuning.semijoin_share)


def _share(terms: Terms, pattern: ops.TriplePattern, column: str, content: WindowRelation) -> float:
    table = _matching_elements(pattern, content)
    distinct = 0 if table is None else pc.count_distinct(table.column(column)).as_py()
    return len(terms) / distinct if distinct else 1.0

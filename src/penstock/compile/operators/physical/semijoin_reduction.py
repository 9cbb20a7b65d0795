"""Which terms a variable can have, as far as the few elements of a window tell, and the rows that these find."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import PatternTerm, Var
from penstock.algebra.ops import Op
from penstock.compile.context import Context
from penstock.compile.relation import Relation, Terms
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model import term_encoding

__all__ = [
    "Candidates",
    "SelectiveTerms",
    "any_term",
    "can_match",
    "candidate_terms",
    "from_sibling",
    "matching_windows",
    "narrowed_by",
    "projected",
    "selective_terms",
]

_LISTED = 1_000  # terms that a condition can have
_SHARE = 0.2  # of the terms that there are: where more are asked for, all are read

Candidates: TypeAlias = Callable[[Var], Terms | None]
"""The terms that a variable can have; None: any."""


def any_term(var: Var) -> Terms | None:
    return None


def from_sibling(op: Op, context: Context, known: Candidates) -> Candidates:
    """What is known of rows that are joined with those of a pattern."""
    return cache(lambda var: _least([known(var), candidate_terms(op, var, context)]))


def projected(vars: Collection[Var], known: Candidates) -> Candidates:
    """Below a projection: others of the same name are other variables."""
    return lambda var: known(var) if var in vars else None


def narrowed_by(relation: Relation, known: Candidates) -> Candidates:
    """The same of what is joined with that relation, of which perhaps some rows were looked up."""
    return lambda var: _least([known(var), relation.looked_up_terms.get(var.name)])


def candidate_terms(op: Op, var: Var, context: Context) -> Terms | None:
    """No solution of `op` has another term for the variable; None: nobody knows, or it may be unbound."""
    match op:
        case ops.Bgp(patterns):
            found = [_of_pattern(pattern, var, context) for pattern in patterns]
        case ops.Join(left, right):
            found = [candidate_terms(left, var, context), candidate_terms(right, var, context)]
        case ops.Union(left, right):
            one, other = candidate_terms(left, var, context), candidate_terms(right, var, context)
            found = [None if one is None or other is None else one | other]
        case ops.LeftJoin() | ops.Minus():
            found = [candidate_terms(op.left, var, context)]
        case ops.Filter(_, pattern) | ops.Reduced(pattern) | ops.Distinct(pattern):
            found = [candidate_terms(pattern, var, context)]
        case ops.Project(vars, pattern) if var in vars:
            found = [candidate_terms(pattern, var, context)]
        case ops.WindowOverride(tag, pattern):
            found = [candidate_terms(pattern, var, context.overridden(tag))]
        case ops.InWindow(NamedNode() as name, pattern):
            found = [candidate_terms(pattern, var, context.in_window(term_encoding.encode(name)))]
        case _:
            return None
    return _least(found)


def _least(found: Collection[Terms | None]) -> Terms | None:
    return min((some for some in found if some is not None), key=len, default=None)


def _of_pattern(pattern: ops.TriplePattern, var: Var, context: Context) -> Terms | None:
    """The subjects, or objects, of the elements that have its predicate."""
    columns = [column for column, term in zip("spo", pattern.terms, strict=True) if term == var]
    streaming = context.plan.streaming
    if not columns or streaming is None or streaming.entailed is not None:
        return None
    if can_match(pattern.predicate, context.background()):
        return None
    parts = [_in_content(pattern, columns[0], content) for content in matching_windows(pattern, context)]
    known = [part for part in parts if part is not None]
    return frozenset().union(*known) if len(known) == len(parts) else None


def _in_content(pattern: ops.TriplePattern, column: str, content: WindowRelation) -> Terms | None:
    table = _elements(pattern, content)
    return None if table is None else frozenset(map(str, pc.unique(table.column(column)).to_pylist()))


def _elements(pattern: ops.TriplePattern, content: WindowRelation) -> pa.Table | None:
    """Those that have its predicate, where they are here."""
    table = content.elements()
    if table is None or not isinstance(pattern.predicate, NamedNode):
        return table
    return table.filter(pc.equal(table.column("p"), pa.scalar(term_encoding.encode(pattern.predicate))))


class SelectiveTerms(NamedTuple):
    """The terms in a column of elements that can find a partner, and which share of all terms there these are."""

    column: str
    var: Var
    terms: Terms
    share: float


def selective_terms(pattern: ops.TriplePattern, content: WindowRelation, known: Candidates) -> list[SelectiveTerms]:
    """Where few of the terms that the pattern's elements have can find a partner."""
    vars = ((column, term) for column, term in zip("spo", pattern.terms, strict=True) if isinstance(term, Var))
    wanted = ((column, var, known(var)) for column, var in vars)
    listed = ((column, var, some) for column, var, some in wanted if some is not None and len(some) <= _LISTED)
    found = (SelectiveTerms(column, var, some, _share(some, pattern, column, content)) for column, var, some in listed)
    return [each for each in found if each.share < _SHARE]


def _share(wanted: Terms, pattern: ops.TriplePattern, column: str, content: WindowRelation) -> float:
    table = _elements(pattern, content)
    there = 0 if table is None else pc.count_distinct(table.column(column)).as_py()
    return len(wanted) / there if there else 1.0


def matching_windows(pattern: ops.TriplePattern, context: Context) -> list[WindowRelation]:
    """The windows in which the pattern can match at all."""
    return [c for c in context.contents() if can_match(pattern.predicate, c.predicates)]


def can_match(predicate: PatternTerm, known: frozenset[str] | None) -> bool:
    return known is None or not isinstance(predicate, NamedNode) or term_encoding.encode(predicate) in known

"""Facts about the rows of a pattern by which algorithms are chosen: when rows hold, how many there are, which terms.

ALWAYS      background alone        rows hold at every instant
INTERVALS   windows that overlap    a row has a validity interval
INSTANTS    tumbling windows        a row for each instant at which it holds
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.compile.context import Context
from penstock.compile.physical.cardinality import Cardinality, join_cardinality, union_cardinality
from penstock.compile.relation import FROM, INSTANT, MEMBER, Terms
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model.span import Span
from penstock.model.term_encoding import encode
from penstock.optimise.cost import Estimate, of_pattern
from penstock.optimise.statistics import Statistics

__all__ = ["Facts", "TimeDomain", "joined", "of_background", "of_window", "pointwise", "semi_joined", "union"]


class TimeDomain(Enum):
    """When the rows of a pattern hold. Where it is in doubt, INSTANTS is safe: its algorithms take any rows."""

    ALWAYS = "at every instant"
    INTERVALS = "in validity intervals"
    INSTANTS = "instant by instant"


ALWAYS, INTERVALS, INSTANTS = TimeDomain


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about the rows of a pattern. An unknown size is None, never zero."""

    vars: frozenset[str] = frozenset()  # variables and keys, by which a pattern is joined with others
    domain: TimeDomain = ALWAYS
    stamps: frozenset[str] = frozenset()  # variables with a timestamp column
    occurs: bool = False  # whether rows have an occurrence time
    ordered: bool = False  # whether rows have sort keys
    cardinality: Cardinality | None = None  # estimate
    upper_bound: int | None = None  # exact upper bound on the rows
    view_rows: int | None = None  # rows, if they are read from a static view or inline
    looked_up_terms: Mapping[str, Terms] = field(default_factory=dict)  # all terms of rows that were looked up

    @property
    def join_columns(self) -> frozenset[str]:
        """The columns by which the rows are joined with others."""
        return self.vars | {INSTANT} if self.domain is INSTANTS else self.vars

    @property
    def has_intervals(self) -> bool:
        return self.domain is INTERVALS

    def at(self, domain: TimeDomain) -> Facts:
        """Return the facts of the same rows in another domain; of copies for instants, the number is unknown."""
        if domain is self.domain:
            return self
        return replace(self, domain=domain, upper_bound=None, view_rows=None, cardinality=None)

    def sized(self, cardinality: Cardinality | None) -> Facts:
        """Return the facts with another estimate of the rows."""
        return replace(self, cardinality=cardinality)

    def without_terms(self) -> Facts:
        """Return the facts above an operator through which looked-up terms do not reach."""
        return replace(self, looked_up_terms={}) if self.looked_up_terms else self

    def binding(self, var: Var) -> Facts:
        """Return the facts of the same rows with one more variable."""
        return replace(self, vars=self.vars | {var.name})


def pointwise(facts: Facts) -> Facts:
    """Return the facts of the rows at each instant."""
    return facts.at(INSTANTS) if facts.has_intervals else facts


def _latest(one: TimeDomain, other: TimeDomain) -> TimeDomain:
    """Return the domain of rows that are made of both: instants win over intervals, and these over ALWAYS."""
    return next(domain for domain in (INSTANTS, INTERVALS, ALWAYS) if domain in (one, other))


def _both(left: Facts, right: Facts, cardinality: Cardinality | None) -> Facts:
    return Facts(
        left.vars | right.vars,
        _latest(left.domain, right.domain),
        left.stamps | right.stamps,
        left.occurs or right.occurs,
        cardinality=cardinality,
    )


def joined(left: Facts, right: Facts, span: Span | None = None) -> Facts:
    """Return the facts of a join."""
    both = _both(left, right, join_cardinality(left.cardinality, right.cardinality, span))
    return replace(both, looked_up_terms={**left.looked_up_terms, **right.looked_up_terms})


def union(left: Facts, right: Facts) -> Facts:
    """Return the facts of a union."""
    return _both(left, right, union_cardinality(left.cardinality, right.cardinality))


def semi_joined(left: Facts, right: TimeDomain, on_intervals: bool = True) -> Facts:
    """Return the facts of the rows of `left` that have, or have not, a partner on the right side."""
    rows = replace(left, upper_bound=None, view_rows=None, looked_up_terms={})
    if right is ALWAYS or (on_intervals and left.has_intervals and right is INTERVALS):
        return rows
    return rows.at(INSTANTS)


# Triple patterns


def of_background(patterns: Collection[ops.TriplePattern], context: Context) -> Facts:
    """Return the facts of triple patterns on the background alone."""
    return Facts(_columns(patterns, context))


def of_window(pattern: ops.TriplePattern, content: WindowRelation, sized: bool, context: Context) -> Facts:
    """Return the facts of a triple pattern in one window; with `sized` its cardinality can be estimated."""
    streaming = context.plan.streaming
    assert streaming is not None
    names = {var.name for var in ops.variables_of(*pattern.terms)}
    domain = INTERVALS if FROM in content.when else INSTANTS if INSTANT in content.when else ALWAYS
    estimated = sized and not _parameters([pattern])
    return Facts(
        _columns([pattern], context),
        domain,
        frozenset(names & streaming.stamped.keys()),
        streaming.occurrence_times,
        cardinality=Cardinality(partial(_estimate, pattern, content.counts), content.lasts) if estimated else None,
        upper_bound=_upper_bound(pattern, content, context),
    )


def _columns(patterns: Collection[ops.TriplePattern], context: Context) -> frozenset[str]:
    """Return the variables of triple patterns, the number of a family's member in place of its parameters, and the key
    of GRAPH ?g."""
    names = {v.name for p in patterns for v in ops.variables_of(*p.terms) if not v.parameter}
    key = set() if context.graph_key is None else {context.graph_key}
    return frozenset(names | key | ({MEMBER} if _parameters(patterns) else set()))


def _parameters(patterns: Collection[ops.TriplePattern]) -> bool:
    """Whether a constant of a family's members stands in the patterns."""
    return any(var.parameter for p in patterns for var in ops.variables_of(*p.terms))


def _estimate(pattern: ops.TriplePattern, counts: Callable[[], Statistics]) -> Estimate:
    return of_pattern(pattern, counts())


def _upper_bound(pattern: ops.TriplePattern, content: WindowRelation, context: Context) -> int | None:
    """Return the upper bound on the matches; None if it is unknown.

    Entailed triples are more than the elements, and so are the copies for the members of a family.
    """
    streaming = context.plan.streaming
    if not isinstance(pattern.predicate, NamedNode) or streaming is None or streaming.entailed or context.plan.members:
        return None
    return content.upper_bound(encode(pattern.predicate))

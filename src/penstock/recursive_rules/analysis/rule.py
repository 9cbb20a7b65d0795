"""A rule, its triple patterns and its template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from penstock.algebra.expressions import PatternTerm, Var
from penstock.algebra.occurrence import everywhere
from penstock.algebra.ops import RULES, Bgp, Construct, Op, Query, TriplePattern
from penstock.algebra.retention_bounds import Place, duration_bounds
from penstock.algebra.scope import visible

__all__ = ["Place", "Rule", "terms_of"]


@dataclass(frozen=True)
class Rule:
    """A CONSTRUCT query of events, with its name in messages."""

    name: str
    query: Query

    @cached_property
    def bounds(self) -> Mapping[Place, int | None]:
        """The age up to which an element can contribute to an answer, for each pattern of the rule."""
        return duration_bounds(self.query)

    @property
    def pattern(self) -> Op:
        return self.query.pattern

    @property
    def template(self) -> tuple[TriplePattern, ...]:
        return self.query.form.template if isinstance(self.query.form, Construct) else ()

    @property
    def streams(self) -> frozenset[str] | None:
        """The IRIs of the streams that it reads; None: all streams."""
        return frozenset(stream.iri.value for stream in self.query.streams) or None

    @property
    def reads_rules(self) -> bool:
        return self.streams is None or RULES.value in self.streams

    def is_new(self, term: PatternTerm) -> bool:
        """Whether a term of the template is a blank node that each solution has for itself."""
        return isinstance(term, Var) and term.internal and term not in visible(self.pattern)

    def patterns(self) -> Iterator[TriplePattern]:
        """All triple patterns, those inside EXISTS too."""
        for op in everywhere(self.pattern):
            if isinstance(op, Bgp):
                yield from op.patterns


def terms_of(triple: TriplePattern) -> tuple[PatternTerm, PatternTerm, PatternTerm]:
    return triple.subject, triple.predicate, triple.object

"""Tree → algebra: EP-SPARQL's operators between groups, its functions and rules, and the test for event queries.

A query is an event query if it asks when something occurred, or names a stream without a window, and has no window at
all: each solution is then delivered once, at its end. Where a query has a window, the operators work on its content.
"""

from __future__ import annotations

from pyoxigraph import Literal

from penstock.algebra import ops
from penstock.algebra.build.base import BuilderBase
from penstock.algebra.expressions import Call, Const, Expr, Occurrence, Var
from penstock.algebra.occurrence import asks_interval
from penstock.algebra.scope import conjuncts, references, visible
from penstock.algebra.smart_constructors import conjunction
from penstock.syntax import tree

__all__ = ["EventBuilder"]

_PLAIN = {"UNION": ops.Union, "SEQ": ops.Seq, "EQUALS": ops.Equals}
_ONCE = "an event query delivers each solution once, when it is complete"


class EventBuilder(BuilderBase):
    # Operators and functions

    def chain(self, chain: tree.Chain) -> ops.Op:
        """The operators of a chain, applied from the left; the filters of an optional group see both sides."""
        self.asks_when = True
        condition, so_far = self._first(chain)
        absent: ops.Op | None = None
        for link in chain.links:
            if link.negated:
                absent = self.group(link.group)
            elif absent is not None:
                so_far, absent = self.without(so_far, absent, self.group(link.group)), None
            elif link.operator == "OPTIONALSEQ":
                so_far, condition = ops.OptionalSeq(so_far, self.group(link.group), condition), None
            elif link.operator == "EQUALSOPTIONAL":
                test, pattern = self.optional_side(link.group)
                so_far = ops.EqualsOptional(so_far, pattern, test)
            else:
                so_far = _PLAIN[link.operator](so_far, self.group(link.group))
        return so_far

    def _first(self, chain: tree.Chain) -> tuple[Expr | None, ops.Op]:
        if chain.links[0].operator == "OPTIONALSEQ":
            return self.optional_side(chain.first)
        return None, self.group(chain.first)

    def without(self, before: ops.Op, absent: ops.Op, after: ops.Op) -> ops.Op:
        """{before} SEQ NOT {absent} SEQ {after}: both, unless the same with something in between is there as well.

        A filter of the absent group that reads a variable of the others is asked of all three together. The group's own
        variables are seen nowhere else, as if it were a sub-SELECT.
        """
        mark = self.fresh("not")
        sequence = ops.Seq(before, after)
        inner, outer = _split(absent, visible(sequence))
        between = ops.Extend(mark, Const(Literal(True)), inner)
        marked = ops.EqualsOptional(sequence, ops.Seq(ops.Seq(before, between), after), outer)
        unmarked = Call("!", (Call("BOUND", (mark,)),))
        return ops.Project(tuple(sorted(visible(sequence))), ops.Filter(unmarked, marked))

    def occurrence(self, kind: str) -> Expr:
        self.asks_when = True
        return Occurrence(kind)

    # Queries of events, and rules

    def of_events(self, query: tree.Query) -> bool:
        registration = query.registration
        if registration is not None and registration.rule:
            self._check_rule(registration, query)
        if self.windowed or not (self.asks_when or query.streams or (registration is not None and registration.rule)):
            return False
        if registration is not None and registration.emit is not None:
            hint = "write REGISTER QUERY, or give the streams windows"
            self.fail(f"{_ONCE}, and has no {registration.emit.upper()}", registration.iri.span, hint)
        if registration is not None and registration.every is not None:
            self.fail(f"{_ONCE}, and not at times of its own", registration.every.span, "leave out COMPUTED EVERY")
        return True

    def _check_rule(self, registration: tree.Registration, query: tree.Query) -> None:
        if not isinstance(query.form, tree.Construct):
            self.fail("a rule has to be a CONSTRUCT query", registration.iri.span, "write REGISTER QUERY")
        if self.windowed:
            hint = "REGISTER STREAM derives a stream from windows"
            self.fail("a rule cannot read windows", registration.iri.span, hint)

    def is_rule(self, query: tree.Query) -> bool:
        """Whether the triples go to the stream of rules: a CONSTRUCT's do, unless REGISTER STREAM names another."""
        given = query.registration
        elsewhere = given is not None and given.derives and not given.rule
        return isinstance(query.form, tree.Construct) and not elsewhere and self.of_events(query)

    def rule(self, given: tree.Registration | None) -> ops.Registration:
        return ops.Registration(None if given is None else given.name, None, ops.RULES)


def _split(absent: ops.Op, others: frozenset[Var]) -> tuple[ops.Op, Expr | None]:
    """The absent pattern, and those of its filters that read variables of the other groups."""
    if not isinstance(absent, ops.Filter):
        return absent, None
    own = visible(absent)
    parts = conjuncts(absent.condition)
    outer = [part for part in parts if references(part) & others - own and not asks_interval(part)]
    kept = [part for part in parts if part not in outer]
    inner = ops.Filter(conjunction(kept), absent.pattern) if kept else absent.pattern
    return inner, conjunction(outer) if outer else None

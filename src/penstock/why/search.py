"""The search for the reason why an operator has no rows: the data, and variants of the query on it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.algebra import ops
from penstock.algebra.expressions import Term
from penstock.algebra.ops import Op, TriplePattern
from penstock.algebra.scope import visible
from penstock.explain.notation import Notation
from penstock.spark.query.operator_rows import OperatorRows
from penstock.stream.runtime.query_facts import QueryFacts
from penstock.stream.runtime.reevaluation import Reevaluation
from penstock.why.near_terms import NearTerm
from penstock.why.reasons import Reason
from penstock.why.wording import counted

__all__ = ["SHOWN", "Search", "logical_block"]

SHOWN = 3  # examples


@dataclass(frozen=True, slots=True)
class Search:
    """A query that was evaluated again: the rows of its operators, and the names by which its text writes terms."""

    facts: QueryFacts
    again: Reevaluation
    rows: OperatorRows
    names: Notation

    def reason(self, text: str, remedy: str = "") -> Reason:
        """A reason in the pattern. Its text says how many elements the log has dropped, which are not searched."""
        dropped = sum(stream.dropped for stream in self.facts.streams)
        gone = f" (without {counted(dropped, 'element')} that the log has dropped)" if dropped else ""
        return Reason("pattern", f"{text}{gone}.", f"{remedy}." if remedy else "")

    def count(self, op: Op) -> int:
        return self.rows.count(op) or 0

    def values(self, op: Op, variable: str) -> list[Term]:
        """Some different values of a variable in the rows of an operator."""
        return sorted(self.rows.values(op, variable, self.again.tuning.why_values), key=str)

    def matches(self, patterns: tuple[TriplePattern, ...], around: tuple[Op, ...]) -> bool:
        """Whether other triple patterns match in the place of an operator."""
        rows = self._evaluated(ops.Bgp(patterns), around)
        return bool(rows.count(rows.query.pattern))

    def matching(self, pattern: TriplePattern, variable: str, around: tuple[Op, ...]) -> list[Term]:
        """Some different values of a variable where another triple pattern matches in the place of an operator."""
        rows = self._evaluated(ops.Bgp((pattern,)), around)
        return sorted(rows.values(rows.query.pattern, variable, self.again.tuning.why_values), key=str)

    def _evaluated(self, op: Op, around: tuple[Op, ...]) -> OperatorRows:
        for outer in reversed(around):
            op = logical_block(outer, op)
        vars = tuple(sorted(visible(op)))
        return self.again.operators(replace(self.again.query, form=ops.Select(), pattern=op, variables=vars))

    def near(self, near: list[NearTerm]) -> str:
        """The terms that are near, in words; nothing if there are none."""
        listed = " and ".join(f"{self.names.term(each.term)} ({each.how})" for each in near)
        return f"There is {listed}" if listed else ""

    def listed(self, terms: list[Term]) -> str:
        """A few of the terms."""
        return ", ".join(map(self.names.term, terms[:SHOWN]))


def logical_block(outer: Op, pattern: Op) -> Op:
    """The GRAPH or window block around another pattern."""
    match outer:
        case ops.InWindow(name, _):
            return ops.InWindow(name, pattern)
        case ops.WindowOverride(tag, _):
            return ops.WindowOverride(tag, pattern)
    assert isinstance(outer, ops.Graph)
    return ops.Graph(outer.name, pattern)

"""Base of the target languages: windows, blocks, and the output of queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate
from penstock.algebra.windows import TimeWindow, Window
from penstock.errors import PenstockError
from penstock.syntax import tree
from penstock.syntax.functions import OCCURRENCES, SPELLED
from penstock.syntax.scope import subexpressions
from penstock.translate.window_forms import WindowForm, duration, window_parts, window_template
from penstock.translate.writer import SparqlWriter

__all__ = ["CannotSay", "Language", "counts_duplicates"]


class CannotSay(PenstockError):
    """The error that there is no equivalent query in that language; the message has the reason."""


class Language(SparqlWriter):
    """Writes a query whose algebra is `meaning`, for a store whose default graph may hold something (`background`)."""

    title: str
    emits = "rstream"
    window_forms: Mapping[WindowForm, str]
    no_slide = "elements enter its window at their own time and leave by whole slides"  # why a SlideWindow has no form

    def __init__(self, query: tree.Query, meaning: ops.Query, background: bool) -> None:
        super().__init__(query)
        self.meaning = meaning
        self.background = background

    def cannot(self, what: str) -> CannotSay:
        return CannotSay(f"{self.title} has no equivalent: {what}")

    def window(self, window: Window) -> str:
        """The window in square brackets."""
        template = window_template(window, self.window_forms)
        if template is None:
            raise self.cannot("its window lies in the past" if isinstance(window, TimeWindow) else self.no_slide)
        return f"[{template.format_map(window_parts(window, duration))}]"

    def datasets(self) -> Iterator[str]:
        """FROM and FROM NAMED. Where that hides nothing (CQELS), it is left out, since elsewhere it would."""
        adds = self.meaning.dataset is not None and self.meaning.dataset.adds
        return iter(()) if adds else super().datasets()

    # Operators of EP-SPARQL alone

    def chain(self, chain: tree.Chain) -> str:
        operator = next(link.operator for link in chain.links if link.operator != "UNION")
        raise self.cannot(f"{operator} asks when its operands occurred")

    def check(self, expression: tree.Expression) -> None:
        for part in subexpressions(expression):
            if isinstance(part, tree.Call) and part.name in OCCURRENCES:
                raise self.cannot(f"{SPELLED[part.name]}() asks when something occurred")

    # The output of the query

    def registration(self) -> Iterator[str]:
        """The REGISTER clause; left out where it is the default of the language."""
        emit, clause = self.meaning.emit or "rstream", self.query.registration
        if emit == "intervals":
            raise self.cannot("its output is solutions with their validity intervals, each once")
        if emit == "events":
            raise self.cannot("its streams have no windows, and each solution is delivered once, when it is complete")
        if clause is None and emit == self.emits:
            return
        word = self.registered_as(emit, clause)
        feeds = self.meaning.registration is not None and self.meaning.registration.output is not None
        if word != "QUERY" and not feeds and isinstance(self.query.form, tree.Construct | tree.Describe):
            raise self.cannot(f"its triples are only delivered, and REGISTER {word} would make a stream of them")
        every = "" if clause is None or clause.every is None else f" COMPUTED EVERY {duration(self._every())}"
        yield f"REGISTER {word} {self._name(clause)}{every} AS"

    def registered_as(self, emit: str, clause: tree.Registration | None) -> str:
        if emit != self.emits or clause is None:
            return emit.upper()
        return "STREAM" if clause.derives else "QUERY"

    def _every(self) -> int:
        assert self.meaning.registration is not None
        return self.meaning.registration.every or 0

    def _name(self, clause: tree.Registration | None) -> str:
        if clause is None:
            return "answers"
        return self.terms.iri(clause.iri.value) if clause.name == clause.iri.value else clause.name


def counts_duplicates(query: ops.Query) -> bool:
    """Whether the answers may depend on duplicate triples; true if in doubt."""
    ends_distinct = isinstance(query.pattern, ops.Distinct) or not isinstance(query.form, ops.Select)
    return not ends_distinct or any(_counts(op) for op in ops.nodes(query.pattern))


def _counts(op: ops.Op) -> bool:
    match op:
        case ops.Slice():
            return True
        case ops.Group(_, aggregates, _):
            return any(_adds_up(aggregate) for _, aggregate in aggregates)
        case ops.Annotate(_, aggregate, _, _):
            return _adds_up(aggregate)
    return False


def _adds_up(aggregate: Aggregate) -> bool:
    return aggregate.name not in ("MIN", "MAX", "SAMPLE") and not aggregate.distinct

"""Parse tree → REGISTER, streams with windows in brackets and AGGREGATE, for the rules of `csparql.lark`."""

from __future__ import annotations

from typing import Any, NamedTuple

from lark import Token

from penstock.errors import QueryError
from penstock.syntax import tree
from penstock.syntax.transform.base import TransformerBase

__all__ = ["CsparqlTransformer", "Registered"]

_BARE_NAMES = "urn:penstock:stream:"


class Registered(NamedTuple):
    """The REGISTER clause; its name is resolved after the prefixes that may follow."""

    kind: Token
    name: Token
    every: tree.Duration | None


class CsparqlTransformer(TransformerBase):
    # Registration

    def registration(self, kind: Token, name: Token, every: tree.Duration | None, prologue: None) -> Registered:
        return Registered(kind, name, every)

    def registered_name(self, name: Token) -> Token:
        return name

    def frequency(self, every: tree.Duration) -> tree.Duration:
        return every

    # Streams and windows

    def bare_name(self, name: Token) -> tree.Iri:
        return tree.Iri(_BARE_NAMES + name, self.span(name))

    def bracketed_stream(self, iri: tree.Iri, window: tree.Window) -> tree.StreamClause:
        return tree.StreamClause(iri, self._csparql_window(window), named=False)

    def bracketed_named_stream(self, iri: tree.Iri, window: tree.Window) -> tree.StreamClause:
        return tree.StreamClause(iri, self._csparql_window(window), named=True)

    def _csparql_window(self, window: tree.Window) -> tree.Window:
        """The window; an error for windows of other languages that would have another meaning in C-SPARQL."""
        if isinstance(window, tree.SlideWindow) and window.range is not None:
            reason = "this window has no STEP" if window.slide is None else "SLIDE cannot stand here"
            hint = "write [RANGE … STEP …] or [RANGE … TUMBLING]"
            self.fail(reason, window.span, hint)
        return self.with_units(window)

    # Projection

    def select_aggregate(self, aggregate: tree.Aggregate) -> tree.SelectItem:
        """`count(?x)` is called ?count_x, and CQELS' `max(count(?x))` ?max_count_x; others have to be given a name."""
        match aggregate:
            case tree.Aggregate(name, tree.Variable(argument, span), False):
                variable = tree.Variable(f"{name.lower()}_{argument}", aggregate.span.to(span))
                return tree.SelectItem(variable, aggregate, bare=True)
            case tree.Aggregate("MAX" | "MIN", tree.Aggregate() as inner, False):
                below = self.select_aggregate(inner).variable
                variable = tree.Variable(f"{aggregate.name.lower()}_{below.name}", aggregate.span.to(below.span))
                return tree.SelectItem(variable, aggregate, bare=True)
        reason = f"{aggregate.name} cannot stand here"
        hint = f"put it in brackets and name it: ({aggregate.name}(…) AS ?name)"
        if isinstance(aggregate.argument, tree.Aggregate):
            hint = "use a sub-SELECT"
        raise aggregate.span.error(QueryError, reason, self.source.text, hint)

    # AGGREGATE

    def aggregate_clause(self, *parts: tree.Annotation | tree.Filter) -> dict[str, Any]:
        annotations = tuple(part for part in parts if isinstance(part, tree.Annotation))
        filters = tuple(part for part in parts if isinstance(part, tree.Filter))
        return {"annotations": annotations, "annotation_filters": filters}

    def annotation(
        self, variable: tree.Variable, aggregate: tree.Aggregate, keys: tuple[tree.Variable, ...]
    ) -> tree.Annotation:
        return tree.Annotation(variable, aggregate, keys)

    def bare_aggregate(self, name: Token) -> tree.Aggregate:
        return tree.Aggregate(name.upper(), None, False, None, self.span(name))

    def annotation_keys(self, *keys: tree.Variable) -> tuple[tree.Variable, ...]:
        return keys

    def annotation_filter(self, condition: tree.Expression) -> tree.Filter:
        return tree.Filter(condition)

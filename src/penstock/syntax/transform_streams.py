"""Parse tree → `tree.Query`, for the rules of `csparql.lark`."""

from __future__ import annotations

from typing import Any, NamedTuple

from lark import Token

from penstock.errors import QueryError
from penstock.syntax import tree
from penstock.syntax.transform import SparqlTransformer, Where
from penstock.syntax.units import UNITS

__all__ = ["QueryTransformer"]

_BARE_NAMES = "urn:penstock:stream:"
_MOST_DIGITS = 15  # enough for any window, and for a message that says what is wrong with others


class _Registered(NamedTuple):
    """What REGISTER says; the name waits for the prefixes that may follow."""

    kind: Token
    name: Token
    every: tree.Duration | None


class QueryTransformer(SparqlTransformer):
    def start(
        self,
        prologue: None,
        registered: _Registered | None,
        early: tuple[tree.DatasetClause | tree.StreamClause, ...],
        query: Where,
        values: tree.InlineData | None,
    ) -> tree.Query:
        form, late, where, modifiers = query
        graphs = tuple(clause for clause in (*early, *late) if isinstance(clause, tree.DatasetClause))
        streams = tuple(clause for clause in (*early, *late) if isinstance(clause, tree.StreamClause))
        registration = None if registered is None else self._registration(registered)
        text = self.source.text
        return tree.Query(form, graphs, where, modifiers, values, self.base, text, streams, registration)

    # Registration

    def registration(self, kind: Token, name: Token, every: tree.Duration | None, prologue: None) -> _Registered:
        return _Registered(kind, name, every)

    def registered_name(self, name: Token) -> Token:
        return name

    def frequency(self, every: tree.Duration) -> tree.Duration:
        return every

    def _registration(self, registered: _Registered) -> tree.Registration:
        kind, token, every = registered
        readers = {"NAME": self.bare_name, "IRIREF": self.iri_ref}
        iri = readers.get(token.type, self.prefixed_name)(token)
        name = str(token) if token.type == "NAME" else iri.value
        return tree.Registration(name, iri, kind.type == "STREAM", every)

    # Streams and windows

    def bare_name(self, name: Token) -> tree.Iri:
        return tree.Iri(_BARE_NAMES + name, self.span(name))

    def stream(self, iri: tree.Iri, window: tree.TimeWindow | tree.CountWindow) -> tree.StreamClause:
        return tree.StreamClause(iri, window, named=False)

    def named_stream(self, iri: tree.Iri, window: tree.TimeWindow | tree.CountWindow) -> tree.StreamClause:
        return tree.StreamClause(iri, window, named=True)

    def sliding_window(self, start: Token, range_: tree.Duration, step: tree.Duration, end: Token) -> tree.TimeWindow:
        return tree.TimeWindow(range_, step, self.span(start).to(self.span(end)))

    def tumbling_window(self, start: Token, range_: tree.Duration, end: Token) -> tree.TimeWindow:
        return self.sliding_window(start, range_, range_, end)

    def counting_window(self, start: Token, size: tree.Count, *rest: Any) -> tree.CountWindow:
        *steps, end = rest
        return tree.CountWindow(size, steps[0] if steps else None, self.span(start).to(self.span(end)))

    def tumbling_counting_window(self, start: Token, size: tree.Count, end: Token) -> tree.CountWindow:
        return self.counting_window(start, size, size, end)

    def duration(self, amount: Token, unit: Token) -> tree.Duration:
        return tree.Duration(self._whole(amount), UNITS[unit.lower()], self.span(amount).to(self.span(unit)))

    def count(self, amount: Token) -> tree.Count:
        return tree.Count(self._whole(amount), self.span(amount))

    def _whole(self, number: Token) -> int:
        if len(number) > _MOST_DIGITS:
            raise self.source.error_at("this number is too large", self.span(number))
        return int(number)

    # Projection

    def select_aggregate(self, aggregate: tree.Aggregate) -> tree.SelectItem:
        """`count(?x)` is called ?count_x; anything else has to be given a name."""
        match aggregate:
            case tree.Aggregate(name, tree.Variable(argument, span), False):
                return tree.SelectItem(tree.Variable(f"{name.lower()}_{argument}", aggregate.span.to(span)), aggregate)
        reason = f"{aggregate.name} cannot stand here"
        hint = f"put it in brackets and name it: ({aggregate.name}(…) AS ?name)"
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

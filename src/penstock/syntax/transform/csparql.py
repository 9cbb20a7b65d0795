"""Parse tree → `tree.Query`, for the rules of `csparql.lark`, on top of those of the other languages."""

from __future__ import annotations

from typing import Any, NamedTuple

from lark import Token

from penstock.errors import QueryError
from penstock.syntax import tree
from penstock.syntax.source import Source
from penstock.syntax.transform.epsparql import EventTransformer
from penstock.syntax.transform.sparql import Clause, Where

__all__ = ["QueryTransformer"]

_BARE_NAMES = "urn:penstock:stream:"


class _Registered(NamedTuple):
    """What REGISTER says; the name waits for the prefixes that may follow."""

    kind: Token
    name: Token
    every: tree.Duration | None


class QueryTransformer(EventTransformer):
    def __init__(self, source: Source, base: str | None) -> None:
        super().__init__(source, base)
        self.languages = set()
        self.variables = []
        self.window_variables = {}
        self.naming = set()
        self.named_first = set()

    def start(
        self,
        prologue: None,
        registered: _Registered | None,
        early: tuple[Clause, ...],
        query: Where,
        values: tree.InlineData | None,
    ) -> tree.Query:
        form, late, where, modifiers = query
        clauses = (*early, *late)
        self.check_window_variables()
        return tree.Query(
            form,
            tuple(clause for clause in clauses if isinstance(clause, tree.DatasetClause)),
            where,
            modifiers,
            values,
            self.base,
            self.source.text,
            tuple(clause for clause in clauses if isinstance(clause, tree.StreamClause)),
            None if registered is None else self._registration(registered),
            tuple(clause for clause in clauses if isinstance(clause, tree.WindowClause)),
            frozenset(self.languages),
        )

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
        emit = kind.lower() if kind.type not in ("QUERY", "STREAM", "RULE") else None
        return tree.Registration(name, iri, kind.type != "QUERY", every, emit, kind.type == "RULE")

    # Streams and windows

    def bare_name(self, name: Token) -> tree.Iri:
        return tree.Iri(_BARE_NAMES + name, self.span(name))

    def bracketed_stream(self, iri: tree.Iri, window: tree.Window) -> tree.StreamClause:
        return self.stream(iri, self._csparql_window(window))

    def bracketed_named_stream(self, iri: tree.Iri, window: tree.Window) -> tree.StreamClause:
        return self.named_stream(iri, self._csparql_window(window))

    def _csparql_window(self, window: tree.Window) -> tree.Window:
        """All windows of all languages, but those that would mean something else than elsewhere in C-SPARQL."""
        if isinstance(window, tree.SlideWindow) and window.range is not None:
            reason = "this window has no STEP" if window.slide is None else "SLIDE cannot stand here"
            hint = "write [RANGE … STEP …] or [RANGE … TUMBLING]"
            raise self.source.error_at(reason, window.span, hint)
        return self.with_units(window)

    # Projection

    def select_aggregate(self, aggregate: tree.Aggregate) -> tree.SelectItem:
        """`count(?x)` is called ?count_x, and CQELS' `max(count(?x))` ?max_count_x; others have to be given a name."""
        match aggregate:
            case tree.Aggregate(name, tree.Variable(argument, span), False):
                made = tree.Variable(f"{name.lower()}_{argument}", aggregate.span.to(span))
                return tree.SelectItem(made, aggregate, bare=True)
            case tree.Aggregate("MAX" | "MIN", tree.Aggregate() as inner, False):
                below = self.select_aggregate(inner).variable
                made = tree.Variable(f"{aggregate.name.lower()}_{below.name}", aggregate.span.to(below.span))
                return tree.SelectItem(made, aggregate, bare=True)
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

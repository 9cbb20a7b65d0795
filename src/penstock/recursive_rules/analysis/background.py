"""Background data as the rule engine reads it: the triples that match a pattern."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from pyoxigraph import DefaultGraph, Literal, NamedNode, Store, Triple

from penstock.algebra.expressions import Var
from penstock.algebra.ops import TriplePattern
from penstock.model.term_encoding import encode
from penstock.recursive_rules.analysis.rule import terms_of

__all__ = ["Background", "BackgroundTriple", "Nothing", "StoreBackground"]

BackgroundTriple = tuple[str, str, str]


class Background(Protocol):
    def matches(self, pattern: TriplePattern) -> Iterable[BackgroundTriple]:
        """The triples, as the log writes terms, that agree with the constants of the pattern."""


class Nothing:
    """No background."""

    def matches(self, pattern: TriplePattern) -> Iterable[BackgroundTriple]:
        return ()


class StoreBackground:
    """The default graph of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def matches(self, pattern: TriplePattern) -> Iterable[BackgroundTriple]:
        subject, predicate, object = (None if isinstance(term, Var) else term for term in terms_of(pattern))
        if isinstance(subject, Literal) or not isinstance(predicate, NamedNode | None):
            return
        for quad in self._store.quads_for_pattern(subject, predicate, object, DefaultGraph()):
            if not isinstance(quad.subject, Triple) and not isinstance(quad.object, Triple):
                yield encode(quad.subject), encode(quad.predicate), encode(quad.object)

"""Requests for materialised views of the background, and the views; `static_views.py` computes and caches them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from penstock.compile.relation import Relation
from penstock.compile.views.packed_view import DictionaryEncodedRows

__all__ = ["MaterialisedView", "ViewRequest"]


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """A pattern to materialise. Requests with equal `identity` have equal rows.

    `reads` has the IRIs of its predicates, None if it may read any. `keys` are the variables of the join above. `rows`
    is the estimated cardinality. `sparql` is the same pattern as a query, where a store can evaluate it.
    """

    identity: Hashable
    reads: frozenset[str] | None
    keys: tuple[str, ...]
    rows: float
    sparql: str | None
    compile: Callable[[], Relation]


@dataclass(frozen=True, slots=True)
class MaterialisedView:
    """A materialised pattern: `relation` reads its view in Spark.

    `packed` returns the same rows in the driver, collected at the first call; None if they are too many.
    """

    relation: Relation
    rows: int
    packed: Callable[[], DictionaryEncodedRows | None]

"""What of a plan is answered once, and what is kept of it: see `settled.py`."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from penstock.compile.relation import Relation
from penstock.compile.views.packed_view import DictionaryEncodedRows

__all__ = ["MaterialisedView", "ViewRequest"]


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """What is to be kept. Equal `asked` has equal rows; `reads` are the IRIs of its predicates, None if it may read
    any. `sparql` asks for the same variables, where a store can be asked; `rows` is about how many there will be."""

    asked: Hashable
    reads: frozenset[str] | None
    keys: tuple[str, ...]
    rows: float
    sparql: str | None
    compile: Callable[[], Relation]


@dataclass(frozen=True, slots=True)
class MaterialisedView:
    """What is kept: the relation reads its view. `packed` are the same rows here, made when somebody first asks; None:
    they would be too many."""

    relation: Relation
    view: str
    rows: int
    reads: frozenset[str] | None
    packed: Callable[[], DictionaryEncodedRows | None]
    users: set[object] = field(default_factory=set)

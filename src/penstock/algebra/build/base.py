"""The base of all builders: the state of one translation, and the methods by which builders call each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NoReturn

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Expr, Term, Var
from penstock.algebra.windows import Window
from penstock.errors import QueryError
from penstock.syntax import tree

__all__ = ["BuilderBase", "Grouping"]


@dataclass(slots=True)
class Grouping:
    """The scope of expressions over groups: the keys, the names of SELECT so far, and one variable per aggregate."""

    visible: set[Var]
    aggregates: dict[Aggregate, Var] = field(default_factory=dict)


class BuilderBase(ABC):
    """One subclass per part of the languages stands beside the others; `query.Builder` is all of them together."""

    def __init__(self, query: tree.Query) -> None:
        self.text = query.text
        self.blank_nodes: dict[str, Var] = {}
        self.declared: dict[NamedNode, tree.WindowClause] = {}  # the windows with names
        self.blocks: dict[tuple[NamedNode, Window], NamedNode] = {}  # the windows of STREAM blocks
        self.tags: dict[Window, int] = {}  # the windows of groups, which override those of the streams
        self.own_windows_read = False
        self.asks_when = False  # whether an operator or a function of EP-SPARQL was met
        self._has_windows = bool(query.windows) or any(clause.window is not None for clause in query.streams)
        self._count = 0

    @property
    def windowed(self) -> bool:
        """Whether there is any window. WHERE has to be built already."""
        return self._has_windows or bool(self.tags or self.blocks)

    def fresh(self, kind: str) -> Var:
        """A variable that no query can name and no other part of this one has."""
        self._count += 1
        return Var(f".{kind}{self._count - 1}")

    def fail(self, reason: str, span: tree.Span, hint: str | None = None) -> NoReturn:
        """Raise a `QueryError` that points at the place."""
        raise span.error(QueryError, reason, self.text, hint)

    # Terms (terms.py)

    @abstractmethod
    def iri(self, iri: tree.Iri) -> NamedNode: ...

    @abstractmethod
    def name(self, name: tree.Variable | tree.Iri) -> Var | NamedNode: ...

    @abstractmethod
    def constant(self, term: tree.Iri | tree.Literal) -> Term: ...

    # Expressions (expressions.py, events.py)

    @abstractmethod
    def expression(self, expression: tree.Expression, grouping: Grouping | None = None) -> Expr: ...

    @abstractmethod
    def aggregate(self, aggregate: tree.Aggregate, grouping: Grouping | None) -> Expr: ...

    @abstractmethod
    def occurrence(self, kind: str) -> Expr:
        """getDURATION() and the like."""

    # Patterns (query.py, blocks.py)

    @abstractmethod
    def group(self, group: tree.Group) -> ops.Op:
        """A group graph pattern."""

    @abstractmethod
    def optional_side(self, group: tree.Group) -> tuple[Expr | None, ops.Op]:
        """The filters of a group, and its pattern without them."""

    @abstractmethod
    def exists_pattern(self, group: tree.Group) -> ops.Op:
        """The group of an EXISTS."""

    # Windows and events (windows.py, events.py)

    @abstractmethod
    def window(self, window: tree.Window) -> Window: ...

    @abstractmethod
    def microseconds(self, duration: tree.Duration, if_zero: str | None = None) -> int: ...

    @abstractmethod
    def of_events(self, query: tree.Query) -> bool:
        """Whether solutions are delivered once, at their end."""

    @abstractmethod
    def is_rule(self, query: tree.Query) -> bool: ...

    @abstractmethod
    def rule(self, given: tree.Registration | None) -> ops.Registration: ...

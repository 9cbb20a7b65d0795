"""Expressions of the algebra: https://www.w3.org/TR/sparql11-query/#expressions.

Operators and functions are one node, `Call`, so that the supported functions are a table (name → compiled form) rather
than a class each. Names of built-ins are upper case as in the grammar (`STRLEN`, `ISIRI`, `REGEX`), operators are their
symbols (`+ - * / = != < > <= >= && || !`, `IN`, `NOT IN`, and `NEGATE`, `PLUS` for the unary signs); casts and
extension functions have their IRI as name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

if TYPE_CHECKING:
    from penstock.algebra.ops import Op

Term: TypeAlias = NamedNode | BlankNode | Literal


def triple_of(subject: Term, predicate: Term, object: Term) -> Triple:
    """Return the triple of three terms. The caller knows that each may stand in its place."""
    return Triple(cast(NamedNode | BlankNode, subject), cast(NamedNode, predicate), object)


def terms_of(triple: Triple | Quad) -> tuple[NamedNode | BlankNode, NamedNode, Term]:
    """Return the three terms of a triple or quad, none of which is a triple: Penstock reads no RDF 1.2."""
    return cast(NamedNode | BlankNode, triple.subject), triple.predicate, cast(Term, triple.object)


PARAMETER = ".kp"


class Expr:
    """Base of all expressions."""

    __slots__ = ()

    @property
    def children(self) -> tuple[Expr, ...]:
        """The operands, left to right (the pattern of an EXISTS is a plan, and no operand)."""
        return ()

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        """The same operation on other operands."""
        return self

    def map_children(self, change: Callable[[Expr], Expr]) -> Expr:
        """The expression with changed operands; the very same object if none changed."""
        before = self.children
        after = tuple(map(change, before))
        return self if all(old is new for old, new in zip(before, after, strict=True)) else self.with_children(after)


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and its operands at any depth, root first, left to right, without the patterns of EXISTS."""
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(reversed(part.children))


@dataclass(frozen=True, slots=True, order=True)
class Var(Expr):
    """A variable, in patterns as in expressions. A leading dot marks one that no query text can name."""

    name: str

    @property
    def internal(self) -> bool:
        return self.name.startswith(".")

    @property
    def parameter(self) -> bool:
        """Whether it stands for a constant that differs between the queries of a family (`template.py`)."""
        return self.name.startswith(PARAMETER)


PatternTerm: TypeAlias = Var | Term


@dataclass(frozen=True, slots=True)
class Const(Expr):
    """A constant RDF term."""

    term: Term


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """An operator, a built-in, a cast or an extension function applied to its arguments."""

    name: str
    args: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args

    def with_children(self, children: tuple[Expr, ...]) -> Call:
        return Call(self.name, children)


@dataclass(frozen=True, slots=True)
class Exists(Expr):
    """`EXISTS {P}`: true where substituting the solution into P leaves a solution. `NOT EXISTS` is `!` of it."""

    pattern: Op


@dataclass(frozen=True, slots=True)
class Occurrence(Expr):
    """EP-SPARQL's getDURATION(), getSTARTTIME() and getENDTIME(), of the row that the expression is asked of: `kind` is
    "duration" (an xsd:duration), "start" or "end" (an xsd:dateTime). An error where the row has no interval."""

    kind: str


@dataclass(frozen=True, slots=True)
class Aggregate(Expr):
    """COUNT, SUM, AVG, MIN, MAX, SAMPLE or GROUP_CONCAT over a group; `argument` is None for `COUNT(*)`."""

    name: str
    argument: Expr | None
    distinct: bool = False
    separator: str | None = None

    @property
    def children(self) -> tuple[Expr, ...]:
        return () if self.argument is None else (self.argument,)

    def with_children(self, children: tuple[Expr, ...]) -> Aggregate:
        return replace(self, argument=children[0])

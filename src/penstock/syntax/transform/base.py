"""The base of all transformers: the source, the names that the prologue declares, and the state of one query."""

from __future__ import annotations

from typing import Any, NoReturn

from lark import Token, Tree

from penstock.syntax import tree
from penstock.syntax.source import Source

__all__ = ["TransformerBase"]


class TransformerBase:
    """Calls the method named like the grammar rule for each node of a parse tree, with the node's children.

    One subclass per grammar file stands beside the others; `query.QueryTransformer` is all of them together.
    """

    def __init__(self, source: Source, base: str | None) -> None:
        self.source = source
        self.base = base
        self.prefixes: dict[str, str] = {}
        self.languages: set[str] = set()
        self.variables: list[tree.Variable] = []  # all of the text, in its order
        self.window_variables: dict[str, tree.WindowClause] = {}
        self.naming: set[tree.Span] = set()  # the places where a variable names a window
        self._anonymous = 0

    def transform(self, node: Tree[Token]) -> Any:
        """The result of the rule's method. Bottom up and left to right: the prologue is read before the names that it
        declares."""
        children = [self.transform(child) if isinstance(child, Tree) else child for child in node.children]
        return getattr(self, node.data)(*children)

    def fail(self, reason: str, span: tree.Span, hint: str | None = None) -> NoReturn:
        """Raise a `QueryError` that points at the place."""
        raise self.source.error_at(reason, span, hint)

    def span(self, token: Token) -> tree.Span:
        return self.source.span(token.start_pos or 0, token.end_pos or 0)

    def span_between(self, start: Token, end: Token) -> tree.Span:
        return self.span(start).to(self.span(end))

    def new_blank_node(self, span: tree.Span) -> tree.BlankNode:
        self._anonymous += 1
        return tree.BlankNode(f"[{self._anonymous}", span)

    def window_of(self, name: tree.Variable | tree.Iri) -> tree.Iri | None:
        """The window that a variable names (CQELS' `AS ?w`); None for other variables and IRIs."""
        if not isinstance(name, tree.Variable) or name.name not in self.window_variables:
            return None
        self.naming.add(name.span)
        return tree.Iri(self.window_variables[name.name].name.value, name.span)

    def with_units(self, window: tree.Window) -> tree.Window:
        """The window; a number without a unit is an error, but for the languages in which it means milliseconds."""
        parts = (getattr(window, name, None) for name in ("range", "step", "slide", "start", "end"))
        for part in parts:
            if isinstance(part, tree.Duration) and part.bare:
                hint = f"write {part.amount}s or {part.amount}ms, for instance"
                self.fail(f"{part.amount} has no unit of time", part.span, hint)
        return window

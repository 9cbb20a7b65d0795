"""Algebra → SPARQL text: terms, triple patterns, paths, expressions. `translate/` writes whole queries, from trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Call, Const, Exists, Expr, Occurrence, PatternTerm, Var

__all__ = ["SparqlWriter"]

_RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_SIGNS = frozenset(("||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"))
_UNARY = {"!": "!", "PLUS": "+", "NEGATE": "-"}
_OCCURRENCES = {"duration": "getDURATION()", "start": "getSTARTTIME()", "end": "getENDTIME()"}
_REPEATED = {ops.ZeroOrOne: "?", ops.ZeroOrMore: "*", ops.OneOrMore: "+"}


class SparqlWriter:
    """Writes terms in full. `names` has the variable to write for a variable or an `Occurrence`, if it is another."""

    def __init__(self, names: Mapping[Expr, str] | None = None) -> None:
        self._names = names or {}

    def iri(self, iri: NamedNode) -> str:
        return str(iri)

    def term(self, term: PatternTerm) -> str:
        return f"?{self._names.get(term, term.name)}" if isinstance(term, Var) else str(term)

    def triple(self, pattern: ops.TriplePattern) -> str:
        return f"{self.term(pattern.subject)} {self.predicate(pattern.predicate)} {self.term(pattern.object)}"

    def predicate(self, predicate: PatternTerm) -> str:
        return "a" if predicate == _RDF_TYPE else self.term(predicate)

    def path(self, path: ops.PathExpr) -> str:
        match path:
            case ops.Link(iri):
                return self.iri(iri)
            case ops.Inverse(inner):
                return f"^{self.path(inner)}"
            case ops.Sequence(left, right):
                return f"({self.path(left)}/{self.path(right)})"
            case ops.Alternative(left, right):
                return f"({self.path(left)}|{self.path(right)})"
            case ops.NegatedSet(forward, backward):
                members = [*map(self.iri, forward or ()), *(f"^{self.iri(iri)}" for iri in backward or ())]
                return f"!({'|'.join(members)})"
        return f"{self.path(path.path)}{_REPEATED[type(path)]}"

    def expression(self, expr: Expr) -> str:
        """The expression with brackets around an operator inside another one; the patterns of EXISTS are left out."""
        match expr:
            case Var():
                return self.term(expr)
            case Const(term):
                return self.term(term)
            case Call(name, args) if name in _SIGNS:
                return f" {name} ".join(map(self._operand, args))
            case Call("!", (Exists(),)):
                return "NOT EXISTS { … }"
            case Call(name, (operand,)) if name in _UNARY:
                return _UNARY[name] + self._operand(operand, unary=True)
            case Call("IN" | "NOT IN" as name, (needle, *others)):
                return f"{self._operand(needle)} {name} ({self._list(others)})"
            case Call(name, args):
                called = self.iri(NamedNode(name)) if ":" in name else name
                return f"{called}({self._list(args)})"
            case Exists():
                return "EXISTS { … }"
            case Occurrence(kind):
                return f"?{self._names[expr]}" if expr in self._names else _OCCURRENCES[kind]
            case Aggregate(name, argument, distinct, _):
                what = "*" if argument is None else self.expression(argument)
                return f"{name}({'DISTINCT ' if distinct else ''}{what})"
        raise TypeError(f"no text for {expr!r}")

    def _operand(self, expr: Expr, unary: bool = False) -> str:
        """Signs bind more tightly than operators, and no sign stands before another."""
        written = self.expression(expr)
        name = expr.name if isinstance(expr, Call) else ""
        return f"({written})" if name in _SIGNS or name in ("IN", "NOT IN") or (unary and name in _UNARY) else written

    def _list(self, exprs: Iterable[Expr]) -> str:
        return ", ".join(map(self.expression, exprs))

"""Terms, expressions, paths and windows of the algebra, as short as a person would write them."""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Call, Const, Exists, Expr, Occurrence, PatternTerm, Var
from penstock.algebra.sse.query import written_duration
from penstock.algebra.sse.sexpr import token
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, Window
from penstock.translate.expressions import TermWriter

__all__ = ["Notation", "variables", "written_window"]

_RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_BARE = ("urn:penstock:stream:", "urn:penstock:window:")
_XSD_STRING = NamedNode("http://www.w3.org/2001/XMLSchema#string")
_SIGNS = frozenset(("||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"))
_UNARY = {"!": "!", "PLUS": "+", "NEGATE": "-"}
_OCCURRENCES = {"duration": "getDURATION()", "start": "getSTARTTIME()", "end": "getENDTIME()"}
_REPEATED = {ops.ZeroOrOne: "?", ops.ZeroOrMore: "*", ops.OneOrMore: "+"}


class Notation:
    """Writes IRIs with the prefixes that the text of a query declares."""

    def __init__(self, text: str = "") -> None:
        self._iris = TermWriter(text, None)

    def iri(self, iri: NamedNode) -> str:
        """A stream or window that the query calls by a bare word is that word."""
        return iri.value.rpartition(":")[2] if iri.value.startswith(_BARE) else self._iris.iri(iri.value)

    def term(self, term: PatternTerm) -> str:
        match term:
            case Var(name):
                return f"_:{name[1:]}" if term.internal else f"?{name}"
            case NamedNode():
                return self.iri(term)
            case Literal() if not term.language and term.datatype != _XSD_STRING and token(term) == str(term):
                return f'"{term.value}"^^{self.iri(term.datatype)}'
        return token(term)

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
        """With brackets around an operator inside another one."""
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
                return _UNARY[name] + self._operand(operand)
            case Call("IN" | "NOT IN" as name, (needle, *others)):
                return f"{self._operand(needle)} {name} ({self._list(others)})"
            case Call(name, args):
                called = self._iris.iri(name) if ":" in name else name
                return f"{called}({self._list(args)})"
            case Exists():
                return "EXISTS { … }"
            case Occurrence(kind):
                return _OCCURRENCES[kind]
            case Aggregate(name, argument, distinct, _):
                what = "*" if argument is None else self.expression(argument)
                return f"{name}({'DISTINCT ' if distinct else ''}{what})"
        raise TypeError(f"no text for {expr!r}")

    def _operand(self, expr: Expr) -> str:
        written = self.expression(expr)
        return f"({written})" if isinstance(expr, Call) and expr.name in _SIGNS else written

    def _list(self, exprs: Iterable[Expr]) -> str:
        return ", ".join(map(self.expression, exprs))


def variables(vars: Iterable[Var]) -> str:
    names = Notation()
    return " ".join(map(names.term, vars))


def written_window(window: Window) -> str:
    """The window as the languages write it: `[RANGE 10m STEP 1m]`."""
    return f"[{_window(window)}]"


def _window(window: Window) -> str:
    match window:
        case TimeWindow(range_, step, 0):
            same = "TUMBLING" if range_ == step else f"STEP {written_duration(step)}"
            return f"RANGE {written_duration(range_)} {same}"
        case TimeWindow(range_, step, delay):
            start, end = written_duration(range_ + delay), written_duration(delay)
            return f"FROM NOW-{start} TO NOW-{end} STEP {written_duration(step)}"
        case SlideWindow(None, _):
            return "ALL"
        case SlideWindow(1, 1):
            return "NOW"
        case SlideWindow(int() as range_, slide):
            ends = {1: "", range_: " FIXED"}.get(slide, f" SLIDE {written_duration(slide)}")
            return f"RANGE {_length(range_)}{ends}"
        case CountWindow(size, step):
            return f"TRIPLES {size}" + ("" if step == 1 else f" STEP {step}")
    raise TypeError(f"no text for {window!r}")


def _length(range_: int) -> str:
    """Windows that stand for a longest duration hold its end as well, which makes them a microsecond longer."""
    return f"{written_duration(range_ - 1)} and 1us" if range_ % 1000 == 1 else written_duration(range_)

"""Terms, expressions and paths of the algebra, as short as a person would write them."""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode

from penstock.algebra.expressions import PatternTerm, Var
from penstock.algebra.sparql_writer import SparqlWriter
from penstock.algebra.sse.sexpr import token
from penstock.translate.expressions import TermWriter

__all__ = ["Notation", "variables"]

_BARE = ("urn:penstock:stream:", "urn:penstock:window:")
_XSD_STRING = NamedNode("http://www.w3.org/2001/XMLSchema#string")


class Notation(SparqlWriter):
    """Writes IRIs with the prefixes that the text of a query declares."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
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


def variables(vars: Iterable[Var]) -> str:
    names = Notation()
    return " ".join(map(names.term, vars))

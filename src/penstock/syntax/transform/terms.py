"""Parse tree → terms, for the prologue and the rules of terms in `sparql.lark`."""

from __future__ import annotations

import re

from lark import Token

from penstock.syntax import tree
from penstock.syntax.functions import XSD
from penstock.syntax.iri import resolve
from penstock.syntax.suggest import prefix_hint
from penstock.syntax.transform.base import TransformerBase

__all__ = ["RDF", "TermTransformer"]

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

_STRING_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_QUOTES = {"STRING_LITERAL1": 1, "STRING_LITERAL2": 1, "STRING_LITERAL_LONG1": 3, "STRING_LITERAL_LONG2": 3}
_NUMERIC = {"INTEGER": XSD + "integer", "DECIMAL": XSD + "decimal", "DOUBLE": XSD + "double"}


class TermTransformer(TransformerBase):
    # Prologue

    def base_declaration(self, iri: Token) -> None:
        self.base = resolve(iri[1:-1], self.base)

    def prefix_declaration(self, name: Token, iri: Token) -> None:
        self.prefixes[name[:-1]] = resolve(iri[1:-1], self.base)

    def prologue(self, *declarations: None) -> None:
        return None

    # Terms

    def var(self, token: Token) -> tree.Variable:
        variable = tree.Variable(token[1:], self.span(token))
        self.variables.append(variable)
        return variable

    def iri_ref(self, token: Token) -> tree.Iri:
        """`<:name>` can be no relative IRI, with nothing before its colon: where there is a prefix : it is :name."""
        if token.startswith("<:") and "" in self.prefixes:
            return tree.Iri(self.prefixes[""] + token[2:-1], self.span(token))
        return tree.Iri(resolve(token[1:-1], self.base), self.span(token))

    def prefixed_name(self, token: Token) -> tree.Iri:
        prefix, _, local = token.partition(":")
        span = self.span(token)
        if prefix not in self.prefixes:
            hint = prefix_hint(prefix, self.prefixes)
            self.fail(f"the prefix {prefix}: is not declared", span, hint)
        return tree.Iri(self.prefixes[prefix] + _STRING_ESCAPE.sub(r"\1", local), span)

    def rdf_type(self, token: Token) -> tree.Iri:
        return tree.Iri(RDF + "type", self.span(token))

    def blank_node(self, token: Token) -> tree.BlankNode:
        return tree.BlankNode(token[2:], self.span(token))

    def anonymous(self, token: Token) -> tree.BlankNode:
        return self.new_blank_node(self.span(token))

    def nil(self, token: Token) -> tree.Iri:
        return tree.Iri(RDF + "nil", self.span(token))

    # Literals

    def string(self, token: Token) -> Token:
        return token

    def rdf_literal(self, string: Token, suffix: Token | tree.Iri | None) -> tree.Literal:
        language = str(suffix[1:]) if isinstance(suffix, Token) else None
        datatype = suffix if isinstance(suffix, tree.Iri) else None
        return tree.Literal(unquote(string), datatype, language, self.span(string))

    def number(self, token: Token) -> tree.Literal:
        return self._typed(str(token), _NUMERIC[token.type.removesuffix("_SIGNED")], token)

    def boolean_literal(self, token: Token) -> tree.Literal:
        return self._typed(token.lower(), XSD + "boolean", token)

    def _typed(self, value: str, datatype: str, token: Token) -> tree.Literal:
        span = self.span(token)
        return tree.Literal(value, tree.Iri(datatype, span), None, span)


def unquote(string: Token) -> str:
    """The text between the quotes, with its escapes decoded."""
    quotes = _QUOTES[string.type]
    return _STRING_ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), string[quotes:-quotes])

"""Term maps of RML: constants, references and templates, with the term type, datatype and language of their terms."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.lift.plan import Constant, Reference, Template, TermMap, TermType
from penstock.lift.rml.mapping_graph import MappingGraph, Node, Term
from penstock.lift.rml.vocabulary import local_name
from penstock.lift.terms import XSD, is_iri

__all__ = ["TermMaps", "encoded_constant", "split_template"]

_TERM_TYPES: dict[str, tuple[TermType, ...]] = {
    "subject map": (TermType.IRI, TermType.BLANK),
    "predicate map": (TermType.IRI,),
    "object map": tuple(TermType),
    "graph map": (TermType.IRI, TermType.BLANK),
}
_SHORTCUTS = {"subject", "predicate", "object", "graph"}
_PIECE = re.compile(r"\{((?:[^{}\\]|\\.)*)\}|((?:[^{}\\]|\\.)+)")
_ESCAPE = re.compile(r"\\([{}\\])")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


@dataclass(frozen=True, slots=True)
class TermMaps:
    """Reads the term maps of a triples map, whose references `parse` reads and whose IRIs are relative to `base`."""

    graph: MappingGraph
    parse: Callable[[str], Reference]
    base: str = ""

    def read(self, term: Term, word: str, part: str) -> TermMap:
        """The term map, or the constant of a shortcut such as `predicate`."""
        if word in _SHORTCUTS:
            return self._constant(term, part)
        node = self.graph.node_of(term, word)
        self.graph.check_words(node, part)
        given = [name for name in ("constant", "template", "reference") if self.graph.all(node, name)]
        if len(given) != 1:
            problem = "has " + " and ".join(given) + ", and may have one of them"
            problem = problem if given else "needs a reference, a template or a constant"
            places = [*self.graph.places(node, *given), *self.graph.word_places(word)]
            raise self.graph.text.error(f"the {part} {problem}", *places)
        if given == ["constant"]:
            value = self.graph.one(node, part, "constant")
            assert value is not None, "it is given"
            return self._constant(value, part)
        return self._template(node, part, given[0])

    def _constant(self, term: Term, part: str) -> Constant:
        if isinstance(term, BlankNode) or (isinstance(term, Literal) and part != "object map"):
            raise self.graph.text.error(f"{self.graph.name(term)} cannot be the constant of a {part}", term.value)
        return Constant(encoded_constant(term))

    def _template(self, node: Node, part: str, given: str) -> Template:
        text = self.graph.text_of(node, part, given) or ""
        texts, names = split_template(text) if given == "template" else (("", ""), (text,))
        if given == "template" and texts is None:
            raise self.graph.text.error(f"the template {text!r} has a brace without its other one", text)
        references = tuple(self._reference(name, text) for name in names)
        if not references:
            raise self.graph.text.error(f"the template {text!r} has no reference in braces; use a constant", text)
        tail = self._tail(node, part)
        term_type = self._term_type(node, part, given, tail)
        if tail is not None and term_type is not TermType.LITERAL:
            raise self.graph.text.error(
                f"only literals have a datatype or a language, and this {part} makes an {term_type.value}",
                *self.graph.places(node, "datatype", "language", "languageMap", "datatypeMap"),
            )
        template = Template(texts or ("", ""), references, term_type, given == "template", tail, self.base)
        if term_type is TermType.IRI and given == "template":
            self._check_iri(template, text)
        return template

    def _reference(self, name: str, text: str) -> Reference:
        try:
            return self.parse(name)
        except ValueError as error:
            raise self.graph.text.error(f"{name!r}: {error}", text) from None

    def _check_iri(self, template: Template, text: str) -> None:
        """Raise an error if no value makes an absolute IRI of the template."""
        if not any(is_iri(self.base + value.join(template.texts)) for value in ("x", "1")):
            hint = (
                "begin it with a scheme, as in http://example.org/{id}; to take whole IRIs from the data, use reference"
            )
            raise self.graph.text.error(f"the template {text!r} makes no absolute IRI", text, hint=hint)

    def _term_type(self, node: Node, part: str, given: str, tail: str | None) -> TermType:
        """The term type that is said, else that of R2RML 7.4."""
        said = self.graph.one(node, part, "termType")
        if said is None:
            literal = part == "object map" and (given == "reference" or tail is not None)
            return TermType.LITERAL if literal else TermType.IRI
        name = local_name(said.value) if isinstance(said, NamedNode) else None
        allowed = _TERM_TYPES[part]
        if name not in set(allowed):
            names = ", ".join(kind.value for kind in allowed)
            raise self.graph.text.error(
                f"the term type of a {part} is one of {names}, not {self.graph.name(said)}", said.value
            )
        return TermType(name)

    def _tail(self, node: Node, part: str) -> str | None:
        """The datatype or the language of literals as it is encoded; None if neither is said."""
        datatype = self._part_of(node, part, "datatype", "datatypeMap")
        language = self._part_of(node, part, "language", "languageMap")
        if datatype is not None and language is not None:
            raise self.graph.text.error(
                "an object map has a datatype or a language, not both",
                *self.graph.places(node, "language", "languageMap"),
            )
        if language is not None:
            if not isinstance(language, Literal) or not _LANGUAGE.fullmatch(language.value):
                raise self.graph.text.error(f"{self.graph.name(language)} is not a language tag", language.value)
            return f"@{language.value.lower()}"
        if datatype is None:
            return None
        if not isinstance(datatype, NamedNode):
            raise self.graph.text.error(f"a datatype is an IRI, not {self.graph.name(datatype)}", datatype.value)
        return "" if datatype.value == f"{XSD}string" else f"^^<{datatype.value}>"

    def _part_of(self, node: Node, part: str, word: str, map_word: str) -> Term | None:
        """The value of a word, or the constant of its map."""
        stated = self.graph.one(node, part, word, map_word)
        if stated is None or not self.graph.all(node, map_word):
            return stated
        inner = self.graph.node_of(stated, map_word)
        name = f"{word} map"
        if self.graph.words.get(inner, {}).keys() & {"reference", "template"}:
            raise self.graph.text.error(
                f"a {name} has a constant: references and templates are not in the subset there",
                *(value.value for value in self.graph.all(inner, "reference", "template")),
            )
        self.graph.check_words(inner, name)
        constant = self.graph.one(inner, name, "constant")
        if constant is None:
            raise self.graph.text.error(f"the {name} needs a constant", *self.graph.places(node, map_word))
        return constant


def encoded_constant(term: NamedNode | Literal) -> str:
    """The term as it is encoded in columns (`penstock.model.term_encoding`, which stands above)."""
    if isinstance(term, NamedNode):
        return f"<{term.value}>"
    if term.language:
        return f'"{term.value}"@{term.language}'
    datatype = term.datatype.value
    return f'"{term.value}"' if datatype == f"{XSD}string" else f'"{term.value}"^^<{datatype}>'


def split_template(text: str) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The texts of a template and the references between them; no texts if braces do not match.

    A backslash before a brace makes it an ordinary character.
    """
    texts, names = [""], list[str]()
    place = 0
    while place < len(text):
        match = _PIECE.match(text, place)
        if match is None:
            return None, ()
        if match[1] is not None:
            names.append(_ESCAPE.sub(r"\1", match[1]))
            texts.append("")
        else:
            texts[-1] += _ESCAPE.sub(r"\1", match[2])
        place = match.end()
    return tuple(texts), tuple(names)

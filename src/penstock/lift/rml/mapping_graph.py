"""A mapping in RML as a graph: its nodes with the words that they have, checked as they are read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

from penstock.errors import MappingError
from penstock.lift.mapping_text import MappingText
from penstock.lift.rml.vocabulary import REFUSED, RML, WORDS, local_name
from penstock.syntax.suggest import did_you_mean

__all__ = ["MappingGraph", "Node", "Term"]

Node: TypeAlias = NamedNode | BlankNode
Term: TypeAlias = NamedNode | BlankNode | Literal
_BASE = "urn:penstock:mapping#"


@dataclass(frozen=True)
class MappingGraph:
    """The words of each node in the order of the text, and the names of the nodes."""

    text: MappingText
    words: dict[Node, dict[str, list[Term]]] = field(repr=False)
    written: dict[tuple[Node, str], str] = field(repr=False)

    @classmethod
    def of(cls, text: MappingText) -> MappingGraph:
        words: dict[Node, dict[str, list[Term]]] = defaultdict(lambda: defaultdict(list))
        written: dict[tuple[Node, str], str] = {}
        for subject, predicate, object in _triples(text):
            name = local_name(predicate.value)
            if name is not None and isinstance(subject, Node) and isinstance(object, Term):
                words[subject][name].append(object)
                written[subject, name] = predicate.value
        return cls(text, words, written)

    def triples_maps(self) -> list[Node]:
        """The nodes that have what only a triples map has."""
        marks = {"logicalSource", "logicalTable", "subjectMap", "subject", "predicateObjectMap"}
        return [node for node, words in self.words.items() if marks & words.keys() and "object" not in words]

    def name(self, node: Term) -> str:
        """The node as the mapping writes it."""
        if isinstance(node, NamedNode):
            return self.text.short(node.value)
        return f'"{node.value}"' if isinstance(node, Literal) else "a node without a name"

    def places(self, node: Term, *words: str) -> list[str]:
        """The places that a message about a node points to: its words, then its name."""
        words_there = [
            self.written[node, word] for word in words if not isinstance(node, Literal) and (node, word) in self.written
        ]
        return words_there + ([node.value] if isinstance(node, NamedNode) else [])

    def word_places(self, word: str) -> list[str]:
        """The places at which the mapping has a word at all."""
        return list(dict.fromkeys(iri for (_, name), iri in self.written.items() if name == word))

    def check_words(self, node: Node, part: str) -> None:
        """Raise an error if the node has a word of RML that this part of a mapping cannot have."""
        for word in self.words.get(node, {}):
            if word in WORDS[part]:
                continue
            iri = self.written[node, word]
            shown = self.text.short(iri)
            if word in REFUSED:
                raise self.text.error(f"{shown}: {REFUSED[word]}", iri)
            if any(word in known for known in WORDS.values()):
                raise self.text.error(f"a {part} has no {shown}", iri)
            near = did_you_mean(word, WORDS[part])
            raise self.text.error(f"{shown} is not a word of RML", iri, hint=near)

    def one(self, node: Node, part: str, *words: str) -> Term | None:
        """The only value of these words, or None; an error if there are several."""
        values = self.all(node, *words)
        if len(values) > 1:
            raise self.text.error(f"a {part} has at most one {' or '.join(words)}", *self.places(node, *words))
        return values[0] if values else None

    def all(self, node: Node, *words: str) -> list[Term]:
        """All values of these words."""
        return [value for word in words for value in self.words.get(node, {}).get(word, [])]

    def text_of(self, node: Node, part: str, word: str) -> str | None:
        """The text that a word has."""
        value = self.one(node, part, word)
        if value is None:
            return None
        if not isinstance(value, Literal):
            raise self.text.error(f"{word} of a {part} is a string, not {self.name(value)}", *self.places(node, word))
        return value.value

    def node_of(self, term: Term, word: str) -> Node:
        """The node that a word refers to."""
        if isinstance(term, Literal):
            hint = "use reference or template in a map" if word.endswith("Map") else None
            raise self.text.error(f"{word} is a node, not {self.name(term)}", term.value, hint=hint)
        return term


def _triples(text: MappingText) -> Iterator[tuple[object, NamedNode, object]]:
    try:
        for quad in parse(text.text.encode(), RdfFormat.TURTLE, base_iri=_BASE):
            yield quad.subject, quad.predicate, quad.object
    except SyntaxError as error:
        raise _syntax_error(text, error) from None


def _syntax_error(text: MappingText, error: SyntaxError) -> MappingError:
    reason = error.msg.partition(": ")[2] or error.msg
    reason = reason.removesuffix(f" (line {error.lineno})") if error.lineno else reason
    hint = f"the words of RML need the line  @prefix rml: <{RML}> ." if "prefix" in reason.lower() else None
    if error.lineno is None or error.offset is None:
        return text.error(f"not Turtle: {reason}")
    return text.error_at(f"not Turtle: {reason}", error.lineno, error.offset, hint=hint)

"""The plan of a mapping in RML: immutable, made once, applied to every batch of messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from penstock.lift.message_references import MessageReference
from penstock.lift.records import reference_values
from penstock.lift.records.jsonpath import JsonPath
from penstock.lift.records.xpath import XPath

__all__ = [
    "Constant", "Formulation", "Reference", "RmlPlan", "Statement", "Template", "TermMap", "TermType", "TriplesMap",
]  # fmt: skip


Reference: TypeAlias = reference_values.Reference | MessageReference
"""A value of a record, or of the message that it is in."""


class Formulation(StrEnum):
    """The language of references, and so the format of the messages."""

    JSON = "JSONPath"
    CSV = "CSV"
    XML = "XPath"


class TermType(StrEnum):
    """The kind of term that a term map makes."""

    IRI = "IRI"
    BLANK = "BlankNode"
    LITERAL = "Literal"


@dataclass(frozen=True, slots=True)
class Constant:
    """The same encoded term for every record."""

    term: str

    def references(self) -> tuple[Reference, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Template:
    """A term of values: the texts around them, one more than there are references.

    A term map with a reference alone is a template with empty texts; its value is not percent-encoded. `tail` is the
    datatype or language of literals as it is encoded, None for the natural one.
    """

    texts: tuple[str, ...]
    values: tuple[Reference, ...]
    term_type: TermType
    encoded: bool = False
    tail: str | None = None
    base: str = ""

    def references(self) -> tuple[Reference, ...]:
        return self.values

    @property
    def alone(self) -> bool:
        """Whether it is a reference and nothing else."""
        return len(self.values) == 1 and not any(self.texts) and not self.encoded


TermMap: TypeAlias = Constant | Template


@dataclass(frozen=True, slots=True)
class Statement:
    """Predicate, object and graph of a triple (None: the default graph); the subject is that of its triples map."""

    predicate: TermMap
    object: TermMap
    graph: TermMap | None = None

    def term_maps(self) -> tuple[TermMap, ...]:
        return (self.predicate, self.object) if self.graph is None else (self.predicate, self.object, self.graph)


@dataclass(frozen=True, slots=True)
class TriplesMap:
    """The statements about the records that an iterator finds in a message (None: rows of CSV)."""

    name: str
    iterator: JsonPath | XPath | None
    subject: TermMap
    statements: tuple[Statement, ...]

    def references(self) -> tuple[Reference, ...]:
        """All references, each once."""
        return tuple(dict.fromkeys(self._references()))

    def _references(self) -> Iterator[Reference]:
        for term_map in (self.subject, *(part for statement in self.statements for part in statement.term_maps())):
            yield from term_map.references()


@dataclass(frozen=True, slots=True)
class RmlPlan:
    """The triples maps of a mapping, all in one formulation."""

    formulation: Formulation
    triples_maps: tuple[TriplesMap, ...]

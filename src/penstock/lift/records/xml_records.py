"""Elements of XML as records. Documents that declare entities are refused: a few of them can make gigabytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

import numpy as np

from penstock.lift.columns import Column, Ints, strings
from penstock.lift.records.reference_values import Records, ReferenceValues
from penstock.lift.records.xpath import XPath

__all__ = ["XmlRecords", "read_messages"]


@dataclass(frozen=True, slots=True)
class XmlRecords(Records):
    """Elements, each with the document that it is in, for absolute paths."""

    elements: list[Element]
    documents: list[Element]
    messages: Ints

    def iterate(self, path: XPath) -> XmlRecords:
        """The elements that an iterator finds in the documents of these."""
        elements = [(row, element) for row, top in enumerate(self.documents) for element in path.elements(top)]
        rows = [row for row, _ in elements]
        documents = [self.documents[row] for row in rows]
        return XmlRecords([element for _, element in elements], documents, self.messages[np.array(rows, np.int64)])

    def find(self, references: Sequence[Any]) -> list[ReferenceValues]:
        return [ReferenceValues.plain(self._column(path)) for path in references]

    def _column(self, path: XPath) -> Column:
        starts = self.documents if path.absolute else self.elements
        texts = [(row, text) for row, start in enumerate(starts) for text in path.values(start)]
        return Column(np.array([row for row, _ in texts], np.int64), strings([text for _, text in texts]))

    def names(self) -> list[str]:
        if not self.elements:
            return []
        first = self.elements[0]
        tags = [child.tag for child in first if isinstance(child.tag, str)]
        return [*dict.fromkeys(tags), *(f"@{name}" for name in first.attrib)]


def read_messages(messages: Sequence[bytes]) -> tuple[XmlRecords, dict[int, str]]:
    """The documents of messages, and the reasons why some are none."""
    documents: list[Element] = []
    numbers: list[int] = []
    reasons: dict[int, str] = {}
    for number, message in enumerate(messages):
        try:
            document = Element("")
            document.append(_root(message))
        except ValueError as error:
            reasons[number] = str(error)
            continue
        documents.append(document)
        numbers.append(number)
    return XmlRecords(documents, documents, np.array(numbers, np.int64)), reasons


def _root(message: bytes) -> Element:
    """The root of a document; a `ValueError` says why it is not one."""
    try:
        if b"<!DOCTYPE" in message or b"\0" in message:
            _refuse_entities(message)
        return fromstring(message)
    except ParseError as error:
        line, column = error.position
        raise ValueError(f"not XML: {ErrorString(error.code)} at line {line}, column {column + 1}") from None
    except ExpatError as error:
        raise ValueError(f"not XML: {error}") from None
    except (LookupError, UnicodeError) as error:
        raise ValueError(f"not XML: {error}") from None


def _refuse_entities(message: bytes) -> None:
    parser = ParserCreate()
    parser.EntityDeclHandler = _refuse
    parser.Parse(message, True)


def _refuse(name: str, *_rest: object) -> None:
    raise ValueError(f"the document declares the entity {name}, and entities are refused: write it out")

"""Items of a polled document: an array of JSON, or elements of XML, each with the value that identifies it.

A path is a JSON Pointer (RFC 6901), as in /posts or /user/id; the empty one is the document itself. In XML its steps
are names of elements from the root on, whatever their namespaces, and a last step /@NAME is an attribute.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

__all__ = ["Item", "Paths", "pointed"]


@dataclass(frozen=True, slots=True)
class Item:
    """An item as a document of its own, and its id as text (None: it has none)."""

    payload: bytes
    id: str | None


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths to the items of a document (None: it is one item) and from an item to its id (None: it has none)."""

    items: str | None = None
    id: str | None = None

    def split(self, document: bytes) -> list[Item]:
        """The items in their order; a `ValueError` says in a few words why there are none."""
        if self.items is None and self.id is None:
            return [Item(document, None)]
        if document.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            return list(self._of_xml(_parsed(document)))
        return list(self._of_json(_loaded(document)))

    def _of_json(self, document: Any) -> Iterator[Item]:
        items = [document] if self.items is None else pointed(document, self.items)
        if not isinstance(items, list):
            raise ValueError(f"there is no array at {self.items or 'the root'} of its answer")
        for item in items:
            id = None if self.id is None else pointed(item, self.id)
            yield Item(json.dumps(item, ensure_ascii=False).encode(), None if id is None else _text(id))

    def _of_xml(self, root: ElementTree.Element) -> Iterator[Item]:
        for item in [root] if self.items is None else _elements(root, self.items):
            item.tail = None
            yield Item(ElementTree.tostring(item, "utf-8"), None if self.id is None else _value(item, self.id))


def pointed(document: Any, pointer: str) -> Any:
    """The value that a JSON Pointer leads to; None if it leads nowhere."""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            document = document.get(key)
        elif isinstance(document, list) and key.isdecimal() and int(key) < len(document):
            document = document[int(key)]
        else:
            return None
    return document


def _loaded(document: bytes) -> Any:
    try:
        return json.loads(document)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"its answer is not JSON ({reason})") from None


def _parsed(document: bytes) -> ElementTree.Element:
    """Entities are refused, since a short document could become a very long one by them."""
    if b"<!DOCTYPE" in document or b"<!ENTITY" in document:
        raise ValueError("its answer is XML with a document type, which is not read")
    try:
        return ElementTree.fromstring(document)
    except ElementTree.ParseError as error:
        raise ValueError(f"its answer is not XML ({error})") from None


def _elements(root: ElementTree.Element, path: str) -> list[ElementTree.Element]:
    first, *steps = path.split("/")[1:] or [""]
    if root.tag.rpartition("}")[2] != first:
        raise ValueError(f"the root of its answer is {root.tag.rpartition('}')[2]}, not {first}")
    return root.findall("/".join(f"{{*}}{step}" for step in steps)) if steps else [root]


def _value(item: ElementTree.Element, path: str) -> str | None:
    above, _, last = path.rpartition("/")
    place = "/".join(f"{{*}}{step}" for step in (above if last.startswith("@") else path).split("/")[1:])
    element = item.find(place) if place else item
    if element is None:
        return None
    return element.get(last[1:]) if last.startswith("@") else element.text


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)

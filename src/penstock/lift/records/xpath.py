"""XPath, the part that mappings may use: steps along elements with simple predicates, then an attribute or `text()`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

__all__ = ["Predicate", "Step", "XPath", "parse"]

_NAME = r"(?:(?:[\w.-]+:)?[^\W\d][\w.-]*|\*)"
_STEP = re.compile(rf"(?P<down>//?)(?:(?P<self>\.)|@(?P<attribute>{_NAME})|(?P<text>text\(\))|(?P<name>{_NAME}))(?!\()")
_PREDICATE = re.compile(
    rf"\[\s*(?:(?P<position>[1-9][0-9]{{0,8}})|(?P<at>@)?(?P<name>{_NAME})\s*(?:=\s*(?:'(?P<one>[^']*)'|\"(?P<two>[^\"]*)\"))?)\s*\]"
)
_SUBSET = "/name, //name, *, ., @name, text(), [n], [name], [name='text'], [@name] and [@name='text']"


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition on elements: the n-th of its parent, or a child or attribute that is there or has this text."""

    position: int | None = None
    name: str = ""
    attribute: bool = False
    text: str | None = None

    def holds(self, element: Element) -> bool:
        if self.attribute:
            value = element.get(self.name)
            return value is not None and self.text in (None, value)
        return any(self.text in (None, "".join(child.itertext())) for child in element if _matches(child, self.name))


@dataclass(frozen=True, slots=True)
class Step:
    """Elements below the elements so far: its children, or all descendants if it is `deep`."""

    name: str
    deep: bool = False
    predicates: tuple[Predicate, ...] = ()

    def below(self, element: Element) -> Iterator[Element]:
        parents = element.iter() if self.deep else (element,)
        for parent in parents:
            children = [child for child in parent if _matches(child, self.name)]
            for predicate in self.predicates:
                children = _kept(children, predicate)
            yield from children


@dataclass(frozen=True, slots=True)
class XPath:
    """Steps to elements, and what of them is the value: an attribute, their own text, or all text in them (None)."""

    steps: tuple[Step, ...]
    attribute: str | None = None
    own_text: bool = False
    absolute: bool = False
    text: str = "."

    def __str__(self) -> str:
        return self.text

    def elements(self, context: Element) -> list[Element]:
        """The elements that the steps find."""
        elements = [context]
        for step in self.steps:
            below = (child for element in elements for child in step.below(element))
            elements = list({id(child): child for child in below}.values()) if step.deep else list(below)
        return elements

    def values(self, record: Element) -> list[str]:
        """The texts that the path finds."""
        elements = self.elements(record)
        if self.attribute is not None:
            return [value for element in elements if (value := element.get(self.attribute)) is not None]
        if self.own_text:
            return [text for element in elements for text in (element.text, *(child.tail for child in element)) if text]
        return ["".join(element.itertext()) for element in elements]


def _matches(element: Element, name: str) -> bool:
    return isinstance(element.tag, str) and (name == "*" or element.tag == name)


def _kept(elements: list[Element], predicate: Predicate) -> list[Element]:
    if predicate.position is not None:
        return elements[predicate.position - 1 : predicate.position]
    return [element for element in elements if predicate.holds(element)]


def parse(text: str, prefixes: Mapping[str, str]) -> XPath:
    """The path of a text, with these prefixes in its names. A `ValueError` says what is not in the subset."""
    rest = written = text.strip()
    if not rest:
        raise ValueError("an empty XPath")
    absolute = rest.startswith("/")
    rest = rest if absolute else f"/{rest}"
    steps: list[Step] = []
    attribute, own_text = None, False
    while rest:
        match = _STEP.match(rest)
        if match is None or attribute is not None or own_text:
            raise ValueError(f"{rest!r} is not in the subset of XPath; there are {_SUBSET}")
        rest = rest[match.end() :]
        deep = match["down"] == "//"
        predicates = []
        while match["name"] and (condition := _PREDICATE.match(rest)):
            predicates.append(_predicate(condition, prefixes))
            rest = rest[condition.end() :]
        attribute = _resolved(match["attribute"], prefixes) if match["attribute"] else None
        own_text = bool(match["text"])
        if (deep and not match["name"]) or attribute == "*":
            raise ValueError(f"{match[0]!r} is not in the subset of XPath; there are {_SUBSET}")
        if match["name"]:
            steps.append(Step(_resolved(match["name"], prefixes), deep, tuple(predicates)))
    return XPath(tuple(steps), attribute, own_text, absolute, written)


def _predicate(match: re.Match[str], prefixes: Mapping[str, str]) -> Predicate:
    if match["position"]:
        return Predicate(int(match["position"]))
    text = match["one"] if match["one"] is not None else match["two"]
    return Predicate(None, _resolved(match["name"], prefixes), bool(match["at"]), text)


def _resolved(name: str, prefixes: Mapping[str, str]) -> str:
    """The name as ElementTree has it. A name without a prefix is in no namespace."""
    prefix, _, local = name.rpartition(":")
    if not prefix:
        return local
    if prefix not in prefixes:
        raise ValueError(f"the prefix {prefix}: is not declared in the mapping")
    return f"{{{prefixes[prefix]}}}{local}"

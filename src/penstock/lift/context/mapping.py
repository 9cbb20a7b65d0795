"""Reads a mapping by a JSON-LD context: the context, and the nodes of messages with templates for their IRIs.

{"@context": {"@vocab": "http://example.org/"},
 "@id": "http://example.org/sensor/{id}", "@type": "Sensor",
 "room": {"@id": "http://example.org/room/{name}"}}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyoxigraph import NamedNode, RdfFormat, parse

from penstock.lift.mapping_text import MappingText
from penstock.lift.message_references import MessageReference, reader
from penstock.lift.records import jsonpath
from penstock.lift.records.jsonpath import JsonPath
from penstock.lift.rml.term_maps import split_template
from penstock.lift.terms import is_iri
from penstock.syntax.suggest import did_you_mean

__all__ = ["ContextPlan", "IdTemplate", "NodeShape", "read_mapping", "subject_of"]

_IN_CONTEXT = frozenset(
    ("@base", "@direction", "@import", "@language", "@propagate", "@protected", "@type", "@version", "@vocab")
)
_IN_TERM = frozenset(
    ("@container", "@context", "@direction", "@id", "@index", "@language", "@nest", "@prefix", "@protected",
     "@reverse", "@type")
)  # fmt: skip
_IN_NODE = frozenset(("@id", "@type"))
_PROBE = "urn:penstock:probe"


@dataclass(frozen=True, slots=True)
class IdTemplate:
    """An absolute IRI with values of an object or its message in it: the texts around them, one more than there are."""

    texts: tuple[str, ...]
    values: tuple[JsonPath | MessageReference, ...]


@dataclass(frozen=True, slots=True)
class NodeShape:
    """The additions of a mapping to an object of a message: its IRI, its types, and the same for objects in it."""

    id: IdTemplate | None = None
    types: tuple[str, ...] = ()
    nested: tuple[tuple[str, NodeShape], ...] = ()

    def at(self, path: tuple[str, ...]) -> NodeShape:
        """The shape of the objects at a path of names."""
        shape = self
        for name in path:
            shape = dict(shape.nested).get(name, _PLAIN)
        return shape


_PLAIN = NodeShape()


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """The context as a text of JSON, and the shape of messages.

    `scoped` says that terms have contexts of their own, in which names mean something else. `id_aliases` are the names
    that the context gives to @id, and `structured` those whose values are lists, maps, or links back.
    """

    context: str
    shape: NodeShape
    scoped: bool
    id_aliases: tuple[str, ...]
    structured: frozenset[str]


def read_mapping(text: MappingText) -> ContextPlan:
    """The plan of a mapping by a JSON-LD context."""
    document = _document(text)
    if "@context" not in document:
        near = did_you_mean("@context", document)
        raise text.error("the mapping has no @context", *document, hint=near and "name it @context")
    context = document.pop("@context")
    definitions = list(_definitions(text, context))
    written = json.dumps(context, ensure_ascii=False)
    _check_context(text, written)
    terms = [(name, value) for each in definitions for name, value in each.items() if not name.startswith("@")]
    scoped = any(isinstance(value, dict) and "@context" in value for _, value in terms)
    aliases = tuple(dict.fromkeys(name for name, value in terms if _id_of(value) == "@id"))
    structured = frozenset(name for name, value in terms if isinstance(value, dict) and _is_structured(value))
    return ContextPlan(written, _shape(text, document, written), scoped, aliases, structured)


def _document(text: MappingText) -> dict[str, Any]:
    try:
        document = json.loads(text.text)
    except json.JSONDecodeError as error:
        raise text.error_at(f"not JSON: {error.msg}", error.lineno, error.colno) from None
    except (ValueError, RecursionError) as error:
        raise text.error(f"not JSON: {error}") from None
    if not isinstance(document, dict):
        raise text.error("a mapping is an object of JSON with an @context")
    return document


def _definitions(text: MappingText, context: Any) -> Iterator[dict[str, Any]]:
    """The parts of a context, whose keywords are checked."""
    for part in context if isinstance(context, list) else [context]:
        if isinstance(part, str):
            raise text.error(
                "the @context is elsewhere, and Penstock does not fetch it", part, hint="copy it into the file"
            )
        if not isinstance(part, dict):
            raise text.error("an @context is an object of JSON, or an array of such", "@context")
        _check_keywords(text, part, _IN_CONTEXT, "a context")
        for term in part.values():
            if isinstance(term, dict):
                _check_keywords(text, term, _IN_TERM, "a term of a context")
        yield part


def _check_keywords(text: MappingText, definition: dict[str, Any], known: frozenset[str], part: str) -> None:
    for name in definition:
        if name.startswith("@") and name not in known:
            raise text.error(f"{part} has no {name}", name, hint=did_you_mean(name, known))


def _is_structured(term: dict[str, Any]) -> bool:
    return term.get("@container") not in (None, "@set", ["@set"]) or not {"@reverse", "@nest", "@index"}.isdisjoint(
        term
    )


def _id_of(value: Any) -> Any:
    return value.get("@id") if isinstance(value, dict) else value


def _check_context(text: MappingText, context: str) -> None:
    """Raise an error if the context is not one."""
    probe = f'{{"@context": {context}, "@id": "{_PROBE}", "{_PROBE}": 1}}'
    try:
        list(parse(probe.encode(), RdfFormat.JSON_LD))
    except (SyntaxError, ValueError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise text.error(f"the @context is not one of JSON-LD: {reason}", "@context") from None


def _shape(text: MappingText, node: dict[str, Any], context: str) -> NodeShape:
    """The shape that an object of the mapping says."""
    _check_keywords(text, node, _IN_NODE, "a node of a mapping")
    types = node.get("@type", [])
    types = tuple(types if isinstance(types, list) else [types])
    if not all(isinstance(name, str) for name in types):
        raise text.error("@type is a name, or an array of names", "@type")
    nested = []
    for name, value in node.items():
        if name.startswith("@"):
            continue
        if not isinstance(value, dict):
            hint = "values come from the messages; a nested object may have an @id and an @type"
            raise text.error(f"{name!r} is no object of the mapping", name, hint=hint)
        nested.append((name, _shape(text, value, context)))
    template = _template(text, node["@id"], context) if "@id" in node else None
    return NodeShape(template, types, tuple(nested))


def _template(text: MappingText, written: Any, context: str) -> IdTemplate:
    if not isinstance(written, str):
        raise text.error("@id is a template, as in http://example.org/{id}", "@id")
    texts, names = split_template(written)
    if texts is None:
        raise text.error(f"the template {written!r} has a brace without its other one", written)
    try:
        values = tuple(map(reader(jsonpath.parse), names))
    except ValueError as error:
        raise text.error(f"the template {written!r}: {error}", written) from None
    expanded = _expanded(texts, context)
    if expanded is None:
        hint = "begin it with a scheme, as in http://example.org/{id}, or with a prefix of the context"
        raise text.error(f"the template {written!r} makes no absolute IRI", written, hint=hint)
    return IdTemplate(expanded, values)


def _expanded(texts: tuple[str, ...], context: str) -> tuple[str, ...] | None:
    """The texts of a template as they are after prefixes and the base of the context; None if it makes no IRI."""
    for sample in ("x", "1"):
        relative = sample.join(texts)
        iri = subject_of(context, "@id", relative)
        if iri is None:
            continue
        prefix = relative.partition(":")[0] + ":" if not iri.endswith(relative) else ""
        if iri.endswith(relative.removeprefix(prefix)) and texts[0].startswith(prefix):
            start = iri[: len(iri) - len(relative.removeprefix(prefix))]
            return (start + texts[0].removeprefix(prefix), *texts[1:])
    return None


def subject_of(context: str, name: str, value: str) -> str | None:
    """The IRI that a value of @id, or of another name for it, stands for; None if it stands for none."""
    written = json.dumps({name: value, _PROBE: 1}, ensure_ascii=False)
    try:
        quads = list(parse(f'{{"@context": {context}, {written[1:]}'.encode(), RdfFormat.JSON_LD))
    except (SyntaxError, ValueError):
        return None
    if len(quads) != 1 or not isinstance(quads[0].subject, NamedNode):
        return None
    return quads[0].subject.value if is_iri(quads[0].subject.value) else None

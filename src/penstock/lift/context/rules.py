"""The rules by which a context reads the values of a name: pyoxigraph reads a document with a value of each kind.

So the columns of a batch become the triples that pyoxigraph would make of each message. What a value of its kind does
not settle (lists, maps by language, …) has no rule, and messages that have it are read as documents, one by one.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, parse

from penstock.io.nquads_slow import encoded
from penstock.lift.columns import BOOLEAN, DOUBLE, INTEGER, TEXT
from penstock.lift.context.mapping import ContextPlan, subject_of
from penstock.tuning import DEFAULT, Tuning

__all__ = ["ABSENT", "IRI", "NameRules", "Rule", "Rules"]

_NODE, _TARGET, _INNER = "urn:penstock:node", "urn:penstock:target", "urn:penstock:inner"
_SAMPLES: dict[int, tuple[Any, str]] = {INTEGER: (5, "5"), DOUBLE: (2.5, "2.5E0"), BOOLEAN: (True, "true")}


@dataclass(frozen=True, slots=True)
class Rule:
    """The terms of values of a kind: literals with this tail, the integers as doubles if `canonical`; or IRIs."""

    tail: str = ""
    iri: bool = False
    canonical: bool = False


ABSENT = Rule("absent")
"""Values of this kind make no triple."""
IRI = Rule(iri=True)


@dataclass(frozen=True, slots=True)
class NameRules:
    """The predicate of a name as it is encoded, and the rules for the kinds of its values; a kind without a rule is
    left to documents. Likewise whether objects are nodes, or absent; items of arrays several values; null is none."""

    predicate: str
    kinds: dict[int, Rule]
    nodes: bool = False
    no_objects: bool = False
    arrays: bool = False
    nulls: bool = False

    @property
    def absent(self) -> bool:
        """Whether nothing is made of the name, whatever it has."""
        kinds = len(self.kinds) == 4 and all(rule is ABSENT for rule in self.kinds.values())
        return kinds and self.no_objects and self.nulls


class Rules:
    """The rules of a plan, for each name of objects at each path of names, found when they are first asked for."""

    def __init__(self, plan: ContextPlan, tuning: Tuning = DEFAULT) -> None:
        self._plan, self.tuning = plan, tuning
        self._names: dict[tuple[tuple[str, ...], str], NameRules] = {}
        self._iris: dict[tuple[tuple[str, ...], str, str], str | None] = {}
        self._types: dict[tuple[str, ...], tuple[tuple[str, str], ...]] = {}

    def of(self, path: tuple[str, ...], name: str) -> NameRules:
        """The rules of a name."""
        if (path, name) not in self._names:
            if len(self._names) >= self.tuning.lift_rules:
                self._names.clear()
            self._names[path, name] = self._asked(path, name)
        return self._names[path, name]

    def types(self, path: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        """Predicates and objects, as they are encoded, that the mapping itself adds to objects at a path."""
        if path not in self._types:
            quads = self._read(path, {}) or []
            own = [quad for quad in quads if quad.subject == NamedNode(_at(path))]
            self._types[path] = tuple((encoded(quad.predicate, ""), encoded(quad.object, "")) for quad in own)
        return self._types[path]

    def iri(self, path: tuple[str, ...], name: str, value: str) -> str | None:
        """The IRI that a value of a name stands for as it is encoded, "" if the value is dropped; None: a document has
        to tell."""
        key = (path, name, value)
        if key not in self._iris:
            if len(self._iris) >= self.tuning.lift_rules:
                self._iris.clear()
            extra = self._extra(path, name, value)
            term = extra[0].object if extra is not None and len(extra) == 1 else None
            iri = f"<{term.value}>" if isinstance(term, NamedNode) else None
            self._iris[key] = "" if extra == [] else iri
        return self._iris[key]

    def subject(self, name: str, value: str) -> str | None:
        """The IRI that a value of another name for @id stands for, as it is encoded."""
        key = ((), f"@id {name}", value)
        if key not in self._iris:
            iri = subject_of(self._plan.context, name, value)
            self._iris[key] = None if iri is None else f"<{iri}>"
        return self._iris[key]

    def _asked(self, path: tuple[str, ...], name: str) -> NameRules:
        predicate, kinds = "", dict[int, Rule]()
        if name in self._plan.structured:
            return NameRules(predicate, kinds)
        for kind in (TEXT, *_SAMPLES):
            rule, own = self._text_rule(path, name) if kind == TEXT else self._rule(path, name, kind)
            if rule is not None and (not own or predicate in ("", own)):
                kinds[kind] = rule
                predicate = own or predicate
        node = self._node(path, name)
        if node and predicate not in ("", node):
            node = None
        arrays = self._arrays(path, name, kinds.get(TEXT))
        nulls = self._extra(path, name, None) == []
        return NameRules(predicate or node or "", kinds, bool(node), node == "", arrays, nulls)

    def _text_rule(self, path: tuple[str, ...], name: str) -> tuple[Rule | None, str]:
        """The rule for texts, and the predicate that was found."""
        extra = self._extra(path, name, _TARGET)
        if extra == [] and self._extra(path, name, "x") == []:
            return ABSENT, ""
        quad = _only(extra, _at(path))
        if quad is None:
            return None, ""
        if quad.object == NamedNode(_TARGET):
            return IRI, encoded(quad.predicate, "")
        return self._literal(quad, _TARGET)

    def _rule(self, path: tuple[str, ...], name: str, kind: int) -> tuple[Rule | None, str]:
        sample, expected = _SAMPLES[kind]
        extra = self._extra(path, name, sample)
        if extra == []:
            return ABSENT, ""
        quad = _only(extra, _at(path))
        if quad is None:
            return None, ""
        if kind == INTEGER and isinstance(quad.object, Literal) and quad.object.value == "5.0E0":
            rule, predicate = self._literal(quad, "5.0E0")
            return rule and Rule(rule.tail, canonical=True), predicate
        return self._literal(quad, expected)

    def _literal(self, quad: Quad, value: str) -> tuple[Rule | None, str]:
        term = quad.object
        if not isinstance(term, Literal) or term.value != value or term.direction is not None:
            return None, ""
        return Rule(encoded(term, "")[len(value) + 2 :]), encoded(quad.predicate, "")

    def _node(self, path: tuple[str, ...], name: str) -> str | None:
        """The predicate to objects that are nodes; "" if they are absent, None if they are something else."""
        extra = self._extra(path, name, {_INNER: "x"})
        if extra == []:
            return "" if self._extra(path, name, {}) == [] else None
        link = [quad for quad in extra or [] if quad.subject == NamedNode(_at(path))]
        if extra is None or len(extra) != 2 or len(link) != 1:
            return None
        inner = next(quad for quad in extra if quad not in link)
        node = link[0].object
        fine = isinstance(node, BlankNode) and inner.subject == node and inner.predicate == NamedNode(_INNER)
        plain = all(quad.graph_name == DefaultGraph() for quad in extra)
        return encoded(link[0].predicate, "") if fine and plain else None

    def _arrays(self, path: tuple[str, ...], name: str, texts: Rule | None) -> bool:
        """Whether items of arrays, and of arrays in these, are as many values."""
        count = 0 if texts is ABSENT else 2
        for value in ([_TARGET, _TARGET], [[_TARGET], [[_TARGET]]]):
            extra = self._extra(path, name, value)
            if texts is None or extra is None or len(extra) != count or len(set(extra)) > 1:
                return False
        return True

    def _extra(self, path: tuple[str, ...], name: str, value: Any) -> list[Quad] | None:
        """The quads that a name with this value adds to an object; None if the document is wrong."""
        before, after = self._read(path, {}), self._read(path, {name: value})
        if before is None or after is None:
            return None
        before_counts = Counter(before)
        return [] if before == after else list((Counter(after) - before_counts).elements())

    def _read(self, path: tuple[str, ...], fields: dict[str, Any]) -> list[Quad] | None:
        """The quads of an object with these fields, inside of the objects of its path."""
        node: dict[str, Any] = {}
        for depth in range(len(path), -1, -1):
            inner = {path[depth]: node} if depth < len(path) else fields
            types = list(self._plan.shape.at(path[:depth]).types)
            node = {"@id": _at(path[:depth]), **({"@type": types} if types else {}), **inner}
        written = json.dumps(node, ensure_ascii=False)
        try:
            return list(parse(f'{{"@context": {self._plan.context}, {written[1:]}'.encode(), RdfFormat.JSON_LD))
        except (SyntaxError, ValueError):
            return None


def _only(extra: list[Quad] | None, subject: str) -> Quad | None:
    """The one quad, if there is one about the object, in the default graph."""
    if extra is None or len(extra) != 1:
        return None
    (quad,) = extra
    return quad if quad.subject == NamedNode(subject) and quad.graph_name == DefaultGraph() else None


def _at(path: tuple[str, ...]) -> str:
    return f"{_NODE}:{len(path)}"

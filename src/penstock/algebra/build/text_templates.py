"""Templates of query texts: a text that is equal to earlier ones but for constants is not parsed again.

    SELECT ?n WHERE { c:gate1 c:has ?n }     a text, cut at all that may be a constant
    SELECT ?n WHERE { c:$ c:has ?n }         its template: `has` is a predicate, and stays
    SELECT ?n WHERE { c:gate2 c:has ?n }     the same algebra, with another term

A template is tried out: with another constant of the same form, the algebra of its text has to be the same but for that
constant. Texts that are warned about have no template, so that each warning shows its place.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TypeAlias, TypeVar

from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.build.query import build
from penstock.algebra.expressions import Term
from penstock.algebra.template import Template, filled, template
from penstock.errors import PenstockError, PenstockWarning
from penstock.syntax.checks.graph_warnings import foreign_graphs, foreign_streams
from penstock.syntax.checks.warnings import warnings_of
from penstock.syntax.functions import XSD
from penstock.syntax.iri import resolve
from penstock.syntax.parser import parse, read
from penstock.tuning import DEFAULT, Tuning

__all__ = ["TextTemplates", "Translation"]

_CONSTANT = re.compile(
    r"""(<[^<>"{}|^`\\\x00-\x20:][^<>"{}|^`\\\x00-\x20]*>"""  # an IRI
    r"""|"[^"\\\n\r]+"|'[^'\\\n\r]+'"""  # a string
    r"""|(?<=:)[A-Za-z_][A-Za-z0-9_]*(?![\w:%\\-]|\.\S)"""  # the part of a name after its prefix
    r"""|(?<![\w.:+%\\?$@-])[+-]?[0-9]+(?:\.[0-9]+)?(?![\w.:%\\-]))"""  # a number
)
_TRIED = {
    "<": "<urn:penstock:tried:{}>",
    '"': '"tried {}"',
    "'": "'tried {}'",
    "integer": "73000{}",
    "decimal": "7.3{}",
}
_LOCAL = "penstock_tried_{}"

Key: TypeAlias = tuple[object, ...]
_Quiet: TypeAlias = tuple[ops.Query, str | None, frozenset[str]]
"""A query without warnings, its base, and its foreign graphs."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Translation:
    """A text as algebra. `template` is that of the query, if it is known. `graphs` are those that GRAPH names and the
    query has no window on."""

    query: ops.Query
    template: Template | None
    text: str
    base: str | None
    graphs: frozenset[str]

    def foreign_streams(self, streams: Collection[str]) -> Iterator[PenstockWarning]:
        """Warnings about GRAPH with the name of one of these streams."""
        if not self.graphs.isdisjoint(streams):
            yield from foreign_streams(read(self.text, self.base), streams)


@dataclass(frozen=True, slots=True)
class TextTemplate:
    """A text with places for constants. `slots` has for each parameter of the query's template the number of a constant
    of the text, or the term that all texts have there; `namespaces` has what stands before each constant."""

    template: Template
    registration: ops.Registration | None
    base: str | None
    graphs: frozenset[str]
    slots: tuple[int | Term, ...]
    namespaces: tuple[str, ...]

    def translation(self, varying: Sequence[str], text: str, base: str | None) -> Translation | None:
        """The translation of another text; None if it has to be parsed."""
        try:
            terms = [_term(*pair, self.base) for pair in zip(varying, self.namespaces, strict=True)]
        except ValueError:  # no IRI
            return None
        same = {slot for slot in self.slots if not isinstance(slot, int)}
        if not same.isdisjoint(terms) or len(set(terms)) < len(terms):  # equal constants may be one in the algebra
            return None
        made = replace(self.template, constants=tuple(terms[s] if isinstance(s, int) else s for s in self.slots))
        return Translation(_query(made, self.registration), made, text, base, self.graphs)


class TextTemplates:
    """Translates texts. Those of which there are some alike get a template; the templates used last are kept."""

    def __init__(self, tuning: Tuning = DEFAULT) -> None:
        self._tuning = tuning
        self._seen: OrderedDict[Key, int] = OrderedDict()
        self._varying: OrderedDict[Key, tuple[int, ...]] = OrderedDict()  # the places of constants that may differ
        self._templates: OrderedDict[Key, TextTemplate | None] = OrderedDict()
        self._lock = Lock()

    def translate(self, text: str, base: str | None = None) -> Translation:
        """A query's text as algebra. Raises `QueryError`, or `RefusedError` for features that Penstock does not
        support. Warns of likely mistakes."""
        if (made := self._from_template(text, base)) is not None:
            return made
        parsed = parse(text, base, self._tuning)
        graphs = frozenset(iri.value for iri in foreign_graphs(parsed))
        return Translation(build(parsed, self._tuning), None, text, base, graphs)

    def _from_template(self, text: str, base: str | None) -> Translation | None:
        if not text.isascii() or "\\" in text:  # there are more forms than are told apart here
            return None
        cut = CutText(text, base)
        with self._lock:
            if not self._is_common(cut.key):
                return None
            if (varying := self._varying.get(cut.key)) is None:
                varying = self._keep(self._varying, cut.key, cut.varying(self._tuning))
            key = cut.key, *(constant for n, constant in enumerate(cut.constants) if n not in varying)
            if key not in self._templates:
                self._keep(self._templates, key, cut.template(varying, self._tuning) if varying else None)
            known = self._keep(self._templates, key, self._templates[key])
        return None if known is None else known.translation([cut.constants[n] for n in varying], text, base)

    def _is_common(self, key: Key) -> bool:
        """Whether there have been so many texts alike that a template is worth its cost."""
        return self._keep(self._seen, key, self._seen.get(key, 0) + 1) >= self._tuning.template_texts

    def _keep(self, kept: OrderedDict[Key, T], key: Key, value: T) -> T:
        """Keep a value as the newest, in place of the oldest."""
        kept[key] = value
        kept.move_to_end(key)
        if len(kept) > self._tuning.text_templates:
            kept.popitem(last=False)
        return value


class CutText:
    """A text, cut at all that may be a constant. Texts with an equal `key` differ in these only, and equal ones of one
    text are one constant."""

    def __init__(self, text: str, base: str | None) -> None:
        parts = _CONSTANT.split(text)
        numbers: dict[str, int] = {}
        self._between, self._places = parts[::2], [numbers.setdefault(part, len(numbers)) for part in parts[1::2]]
        self._base, self.constants = base, tuple(numbers)
        self._own: _Quiet | None = None
        self.key: Key = (base, *self._between, *self._places, *map(_form, self.constants))

    def varying(self, tuning: Tuning) -> tuple[int, ...]:
        """The numbers of the constants in whose place another may stand."""
        return tuple(n for n in range(len(self.constants)) if self.template((n,), tuning) is not None)

    def template(self, varying: Sequence[int], tuning: Tuning) -> TextTemplate | None:
        """The template with these constants varying; None if they may not."""
        tried = {n: _tried(self.constants[n], place) for place, n in enumerate(varying)}
        try:
            if self._own is None:
                self._own = self._quietly({}, tuning)
            (query, base, graphs), (other, *_) = self._own, self._quietly(tried, tuning)
            made = template(other)
            if made is None:
                return None
            slots, namespaces = _slots(made, list(tried.values()), base)
            own = [_term(self.constants[n], namespace, base) for n, namespace in zip(varying, namespaces, strict=True)]
        except (PenstockError, ValueError):
            return None
        again = replace(made, constants=tuple(own[slot] if isinstance(slot, int) else slot for slot in slots))
        if not set(range(len(own))) <= set(slots) or _query(again, other.registration) != query:
            return None
        return TextTemplate(made, other.registration, base, graphs, slots, namespaces)

    def _quietly(self, others: Mapping[int, str], tuning: Tuning) -> _Quiet:
        """The query with other constants. A ValueError if it is warned about."""
        constants = [others.get(n, constant) for n, constant in enumerate(self.constants)]
        after = [*(constants[n] for n in self._places), ""]
        parts = (part + constant for part, constant in zip(self._between, after, strict=True))
        parsed = read("".join(parts), self._base, tuning)
        if any(True for _ in warnings_of(parsed)):
            raise ValueError("each warning shows its place")
        return build(parsed, tuning), parsed.base, frozenset(iri.value for iri in foreign_graphs(parsed))


def _slots(made: Template, tried: Sequence[str], base: str | None) -> tuple[tuple[int | Term, ...], tuple[str, ...]]:
    """The slots of the parameters (the number of the constant that is tried there, else the term) and namespaces."""
    namespaces = [_namespace(made.constants, constant) for constant in tried]
    numbers = {_term(constant, namespaces[n], base): n for n, constant in enumerate(tried)}
    return tuple(numbers.get(term, term) for term in made.constants), tuple(namespaces)


def _namespace(terms: Sequence[Term], constant: str) -> str:
    """The text that the query puts before the part of a name that is tried; nothing before other constants."""
    if _form(constant) != "local":
        return ""
    names = (term.value for term in terms if isinstance(term, NamedNode) and term.value.endswith(constant))
    return next(names, "").removesuffix(constant)


def _query(made: Template, registration: ops.Registration | None) -> ops.Query:
    query = filled(made.query, dict(zip(made.parameters, made.constants, strict=True)))
    return replace(query, registration=registration)


def _form(constant: str) -> str:
    """The form of a constant, by which it is read."""
    if constant[0] in "<\"'":
        return constant[0]
    sign = constant[0] if constant[0] in "+-" else ""
    if not sign and not constant[0].isdigit():
        return "local"
    return sign + ("decimal" if "." in constant else "integer")


def _tried(constant: str, number: int) -> str:
    form = _form(constant)
    sign = form[0] if form[0] in "+-" else ""
    return sign + _TRIED.get(form.removeprefix(sign), _LOCAL).format(number)


def _term(constant: str, namespace: str, base: str | None) -> Term:
    """The term of a constant. A ValueError if it is no IRI."""
    form = _form(constant)
    if form == "<":
        return NamedNode(resolve(constant[1:-1], base))
    if form in "\"'":
        return Literal(constant[1:-1])
    if form == "local":
        return NamedNode(namespace + constant)
    return Literal(constant, datatype=NamedNode(XSD + form.lstrip("+-")))

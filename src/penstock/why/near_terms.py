"""Terms that are nearly another one: a query that matches nothing often has a term that the data has otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from difflib import SequenceMatcher

from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.algebra.expressions import Term
from penstock.model.term_encoding import INTEGER_TYPES, STRING, XSD

__all__ = ["NearTerm", "near_terms"]

_NUMBERS = frozenset(XSD + name for name in (*INTEGER_TYPES, "decimal", "double", "float"))
_ALIKE = 0.8  # of the letters in the same order
_MOST = 3


@dataclass(frozen=True, slots=True)
class NearTerm:
    """A term of the data that is nearly the one asked for, and how it differs."""

    term: Term
    how: str


def near_terms(asked: Term, present: Iterable[Term], most: int = _MOST) -> list[NearTerm]:
    """The terms that are nearly the one asked for, the nearest first."""
    ranked = [(*nearness, term) for term in present if term != asked and (nearness := _nearness(asked, term))]
    nearest = sorted(ranked, key=lambda each: (each[0], str(each[2])))[:most]
    return [NearTerm(term, how) for _, how, term in nearest]


def _nearness(asked: Term, term: Term) -> tuple[int, str] | None:
    """The rank of the first test that the two terms pass, and how they differ; None if they are not near."""
    if isinstance(asked, BlankNode) or isinstance(term, BlankNode):
        return None
    tests = _TESTS[isinstance(asked, NamedNode), isinstance(term, NamedNode)]
    for rank, test in enumerate(tests):
        if (how := test(asked, term)) is not None:
            return rank, how
    return None


_Test = Callable[..., str | None]


def _scheme(asked: NamedNode, term: NamedNode) -> str | None:
    one, other = asked.value.partition("://"), term.value.partition("://")
    return f"it begins with {other[0]}" if one[2] == other[2] and one[0] != other[0] and one[2] else None


def _iri_case(asked: NamedNode, term: NamedNode) -> str | None:
    return "upper and lower case differ" if asked.value.lower() == term.value.lower() else None


def _separator(asked: NamedNode, term: NamedNode) -> str | None:
    if asked.value.replace("#", "/").rstrip("/") != term.value.replace("#", "/").rstrip("/"):
        return None
    return "they differ in # and /"


def _namespace(asked: NamedNode, term: NamedNode) -> str | None:
    """A term with the same local name in another namespace."""
    one, other = _local(asked.value), _local(term.value)
    return "it has another prefix" if one and one.lower() == other.lower() else None


def _iri_spelling(asked: NamedNode, term: NamedNode) -> str | None:
    one, other = _local(asked.value), _local(term.value)
    same = asked.value.removesuffix(one) == term.value.removesuffix(other)
    return "it is spelled nearly so" if same and _alike(one, other) else None


def _local(iri: str) -> str:
    return iri[max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":")) + 1 :]


def _alike(one: str, other: str) -> bool:
    if not one or not other:
        return False
    return SequenceMatcher(None, one.lower(), other.lower(), autojunk=False).ratio() >= _ALIKE


def _language(asked: Literal, term: Literal) -> str | None:
    if asked.value != term.value or asked.language == term.language:
        return None
    return f"it has the language tag @{term.language}" if term.language else "it has no language tag"


def _number_or_string(asked: Literal, term: Literal) -> str | None:
    if asked.value != term.value:
        return None
    if term.datatype.value in _NUMBERS and asked.datatype.value == STRING:
        return "it is a number, not a string"
    return "it is a string, not a number" if _is_text(term) and asked.datatype.value in _NUMBERS else None


def _is_text(term: Literal) -> bool:
    return term.datatype.value == STRING


def _datatype(asked: Literal, term: Literal) -> str | None:
    if asked.value != term.value or asked.datatype == term.datatype:
        return None
    return f"it has the datatype {_short(term.datatype.value)}"


def _short(datatype: str) -> str:
    return f"xsd:{datatype.removeprefix(XSD)}" if datatype.startswith(XSD) else f"<{datatype}>"


def _number(asked: Literal, term: Literal) -> str | None:
    one, other = _value(asked), _value(term)
    return "it is the same number, written otherwise" if one is not None and one == other else None


def _value(literal: Literal) -> Decimal | None:
    try:
        return Decimal(literal.value) if literal.datatype.value in _NUMBERS else None
    except InvalidOperation:
        return None


def _text_case(asked: Literal, term: Literal) -> str | None:
    same = asked.value.strip().lower() == term.value.strip().lower()
    return "upper and lower case or spaces differ" if same else None


def _text_spelling(asked: Literal, term: Literal) -> str | None:
    plain = asked.datatype == term.datatype and asked.datatype.value not in _NUMBERS
    return "it is spelled nearly so" if plain and _alike(asked.value, term.value) else None


def _literal_for_iri(asked: NamedNode, term: Literal) -> str | None:
    return "it is a literal, not an IRI" if term.value in (asked.value, _local(asked.value)) else None


def _iri_for_literal(asked: Literal, term: NamedNode) -> str | None:
    return "it is an IRI, not a literal" if asked.value in (term.value, _local(term.value)) else None


_TESTS: dict[tuple[bool, bool], tuple[_Test, ...]] = {
    (True, True): (_scheme, _iri_case, _separator, _namespace, _iri_spelling),
    (False, False): (_language, _number_or_string, _datatype, _number, _text_case, _text_spelling),
    (True, False): (_literal_for_iri,),
    (False, True): (_iri_for_literal,),
}
"""The tests of nearness, for an IRI or a literal that was asked for, and for a term that is one; the nearest first."""

"""Are two answers the same? As bags of solutions, up to the names of blank nodes and the spelling of numbers.

Numbers are equal by value within one datatype (decimal 2 is 2.0); decimals agree to fifteen places, because where a
division stops is not fixed, and doubles to ten digits, because the order in which a sum is taken is not. Everything
else is equal as a term.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

XSD = "http://www.w3.org/2001/XMLSchema#"
INEXACT = {XSD + "double", XSD + "float"}
EXACT = {XSD + "decimal", XSD + "integer"} | {
    XSD + prefix + kind
    for prefix, kinds in {
        "": ("int", "long", "short", "byte"),
        "unsigned": ("Int", "Long", "Short", "Byte"),
        "non": ("NegativeInteger", "PositiveInteger"),
        "negative": ("Integer",),
        "positive": ("Integer",),
    }.items()
    for kind in kinds
}


@dataclass(frozen=True, slots=True)
class Blank:
    """A blank node in a solution; its label says nothing beyond this answer."""

    label: str


Cell: TypeAlias = Hashable  # a Blank, the key of a term, or None where the variable is unbound
Row: TypeAlias = tuple[Cell, ...]
Bag: TypeAlias = Counter[Row]
Colours: TypeAlias = dict[Blank, int]


def cell(term: Any) -> Cell:
    """What of a term has to agree."""
    match term:
        case None:
            return None
        case BlankNode():
            return Blank(term.value)
        case NamedNode():
            return ("iri", term.value)
        case Literal() if term.language:
            return ("text", term.value, term.language.lower())
        case Literal():
            return (term.datatype.value, number(term) or term.value)
    return ("term", str(term))


def number(literal: Literal) -> tuple[str, Hashable] | None:
    """The value of a numeric literal, tagged so that it never equals a lexical form; None if it has none."""
    datatype, lexical = literal.datatype.value, literal.value
    try:
        if datatype in EXACT:
            return ("exact", round(Decimal(lexical), 15))
        if datatype in INEXACT:
            return ("inexact", _rounded(float(lexical.replace("INF", "inf"))))
    except (InvalidOperation, ValueError):
        pass
    return None


def _rounded(value: float) -> Hashable:
    if math.isnan(value):
        return "NaN"
    return "0" if abs(value) < 1e-12 else f"{value:.9e}"


def solutions(variables: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Bag:
    """The rows as a bag, with one cell for each variable."""
    return Counter(tuple(cell(row.get(name)) for name in variables) for row in rows)


def graph(triples: Iterable[Triple]) -> Bag:
    """A graph is a set of rows of three."""
    return Counter({tuple(cell(term) for term in (t.subject, t.predicate, t.object)) for t in triples})


def same_bag(left: Bag, right: Bag) -> bool:
    """Whether renaming blank nodes one to one makes the bags equal."""
    if left == right:
        return True
    if left.total() != right.total():
        return False
    return _search(left, right, _uncoloured(left), _uncoloured(right))


def explain_difference(actual: Bag, expected: Bag, limit: int = 12) -> str:
    """The rows that one side has and the other lacks (blank nodes by label, so read those with care)."""
    lines = [f"  got {actual.total()} rows, expected {expected.total()}"]
    for title, rows in (("not expected", actual - expected), ("missing", expected - actual)):
        lines += [f"  {title} ({count}×): {row}" for row, count in list(rows.items())[:limit]]
    return "\n".join(lines)


# Isomorphism by colour refinement: blank nodes start alike and are told apart by the rows they stand in. Where that
# leaves a class with several members, one of the left is paired with each of the right in turn.


def _uncoloured(bag: Bag) -> Colours:
    return {item: 0 for row in bag for item in row if isinstance(item, Blank)}


def _search(left: Bag, right: Bag, left_colours: Colours, right_colours: Colours) -> bool:
    left_colours, right_colours = _refine(left, left_colours), _refine(right, right_colours)
    sizes = Counter(left_colours.values())
    if sizes != Counter(right_colours.values()):
        return False
    ambiguous = [(size, colour) for colour, size in sizes.items() if size > 1]
    if not ambiguous:
        return _coloured(left, left_colours) == _coloured(right, right_colours)
    colour = min(ambiguous)[1]
    chosen = next(blank for blank, c in left_colours.items() if c == colour)
    fresh = max(sizes) + 1
    return any(
        _search(left, right, left_colours | {chosen: fresh}, right_colours | {partner: fresh})
        for partner, c in right_colours.items()
        if c == colour
    )


def _refine(bag: Bag, colours: Colours) -> Colours:
    while True:
        refined = _one_round(bag, colours)
        if len(set(refined.values())) == len(set(colours.values())):
            return refined
        colours = refined


def _one_round(bag: Bag, colours: Colours) -> Colours:
    """Colour each blank node by its own colour and the coloured rows it stands in, at which places."""
    seen: dict[Blank, list[int]] = {blank: [] for blank in colours}
    for row, count in bag.items():
        painted = _painted(row, colours)
        for blank in {item for item in row if isinstance(item, Blank)}:
            places = tuple(item == blank for item in row)
            seen[blank].append(hash((painted, places, count)))
    return {blank: hash((colours[blank], tuple(sorted(marks)))) for blank, marks in seen.items()}


def _painted(row: Row, colours: Colours) -> Row:
    return tuple(("blank", colours[item]) if isinstance(item, Blank) else item for item in row)


def _coloured(bag: Bag, colours: Colours) -> Bag:
    painted: Bag = Counter()
    for row, count in bag.items():
        painted[_painted(row, colours)] += count
    return painted

"""Are two answers the same? As bags or in order, up to the names of blank nodes and the spelling of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal

from penstock.algebra.expressions import terms_of
from penstock.answer import Answer, Term
from penstock.io.results.values import value
from penstock.io.results.vocabulary import NUMBERS
from penstock.logic.model import Cells

__all__ = ["cells", "difference", "same_rows"]

Names: TypeAlias = dict[BlankNode, BlankNode]  # of the expectation's blank nodes in the answer, one to one


def cells(answer: Answer) -> list[Cells]:
    """The answer's rows in the order of its variables, or its triples as rows of three."""
    if answer.triples is not None:
        return list(map(terms_of, answer.triples))
    return [tuple(row.get(name) for name in answer.variables) for row in answer.rows]


def same_rows(expected: Sequence[Cells], actual: Sequence[Cells], *, ordered: bool = False) -> bool:
    """Whether some renaming of blank nodes makes them equal."""
    return len(expected) == len(actual) and _match(list(expected), list(actual), {}, ordered)


def _match(expected: list[Cells], actual: list[Cells], names: Names, ordered: bool) -> bool:
    """The renaming that matches the first expected row with some row (in order: with the first), and then the
    others."""
    if not expected:
        return True
    first, rest = expected[0], expected[1:]
    for place, row in enumerate(actual[:1] if ordered else actual):
        renamed = _match_row(first, row, names)
        if renamed is None:
            continue
        if _match(rest, actual[:place] + actual[place + 1 :], renamed, ordered):
            return True
        if renamed == names:  # equal rows without new names: any of them is as good as this one
            return False
    return False


def _match_row(expected: Cells, actual: Cells, names: Names) -> Names | None:
    """The names with which the rows are equal, if there are such."""
    if len(expected) != len(actual):
        return None
    names = dict(names)
    for expected_term, actual_term in zip(expected, actual, strict=True):
        if isinstance(expected_term, BlankNode) and isinstance(actual_term, BlankNode):
            if expected_term not in names and actual_term in names.values():
                return None
            if names.setdefault(expected_term, actual_term) != actual_term:
                return None
        elif not _equal(expected_term, actual_term):
            return None
    return names


def _equal(expected: Term | None, actual: Term | None) -> bool:
    """Numbers of one datatype by value (decimal 2 is 2.0), all else as terms."""
    if not isinstance(expected, Literal) or not isinstance(actual, Literal):
        return expected == actual
    if expected.datatype != actual.datatype or expected.datatype not in NUMBERS:
        return expected == actual
    left, right = value(expected), value(actual)
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12) or expected == actual
    return left == right


def difference(expected: Sequence[Cells], answer: Answer) -> str:
    """Two tables: the expected rows, and the actual ones."""
    names = answer.variables if answer.triples is None else ("subject", "predicate", "object")
    return "\n".join(["expected:", _table(names, expected), "got:", _table(names, cells(answer))])


def _table(names: Sequence[str], rows: Sequence[Cells]) -> str:
    if not rows:
        return "(no rows)"
    widest = max(len(names), *map(len, rows))
    columns = [*names, *(f"column {place + 1}" for place in range(len(names), widest))]
    return str(
        Answer.solutions(
            columns,
            [{name: term for name, term in zip(columns, row, strict=False) if term is not None} for row in rows],
        )
    )

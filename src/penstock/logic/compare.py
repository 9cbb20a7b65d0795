"""Are two answers the same? As bags or in order, up to the names of blank nodes and the spelling of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal

from penstock.answer import Answer, Term
from penstock.io.results.values import value
from penstock.io.results.vocabulary import NUMBERS
from penstock.logic.model import Cells

__all__ = ["cells", "difference", "same"]

Names: TypeAlias = dict[BlankNode, BlankNode]  # of the expectation's blank nodes in the answer, one to one


def cells(answer: Answer) -> list[Cells]:
    """The answer's rows in the order of its variables, or its triples as rows of three."""
    if answer.triples is not None:
        return [(triple.subject, triple.predicate, triple.object) for triple in answer.triples]  # type: ignore[misc]
    return [tuple(row.get(name) for name in answer.variables) for row in answer.rows]


def same(expected: Sequence[Cells], actual: Sequence[Cells], *, ordered: bool = False) -> bool:
    """Whether some renaming of blank nodes makes them equal."""
    return len(expected) == len(actual) and _match(list(expected), list(actual), {}, ordered)


def _match(expected: list[Cells], actual: list[Cells], names: Names, ordered: bool) -> bool:
    """The renaming that matches the first expected row with some row (in order: with the first), and then the
    others."""
    if not expected:
        return True
    first, rest = expected[0], expected[1:]
    for place, row in enumerate(actual[:1] if ordered else actual):
        renamed = _row(first, row, names)
        if renamed is None:
            continue
        if _match(rest, actual[:place] + actual[place + 1 :], renamed, ordered):
            return True
        if renamed == names:  # equal rows without new names: any of them is as good as this one
            return False
    return False


def _row(expected: Cells, actual: Cells, names: Names) -> Names | None:
    """The names with which the rows are equal, if there are such."""
    if len(expected) != len(actual):
        return None
    names = dict(names)
    for wanted, got in zip(expected, actual, strict=True):
        if isinstance(wanted, BlankNode) and isinstance(got, BlankNode):
            if wanted not in names and got in names.values():
                return None
            if names.setdefault(wanted, got) != got:
                return None
        elif not _equal(wanted, got):
            return None
    return names


def _equal(wanted: Term | None, got: Term | None) -> bool:
    """Numbers of one datatype by value (decimal 2 is 2.0), all else as terms."""
    if isinstance(wanted, Literal) and isinstance(got, Literal) and wanted.datatype == got.datatype in NUMBERS:
        left, right = value(wanted), value(got)
        if isinstance(left, float) and isinstance(right, float):
            return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12) or wanted == got
        return left == right
    return wanted == got


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

"""Evaluates expressions on rows: simple ones directly (`fast_expressions`), the others by pyoxigraph, many rows per
query.

The engine holds numbers and dates as values, so that a term that only passes through it (`COALESCE(?x, 1)`) comes back
in its canonical form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Store, Variable

from penstock.algebra.expressions import Expr, Occurrence, Term, walk
from penstock.algebra.scope import references
from penstock.algebra.sparql_writer import SparqlWriter
from penstock.model.term_encoding import decode, encode
from penstock.recursive_rules.solutions.fast_expressions import ERROR, Slow, as_term, as_truth, fast_evaluator
from penstock.recursive_rules.solutions.moments import with_ordered_moments
from penstock.recursive_rules.solutions.rows import Layout, Row, slots
from penstock.recursive_rules.solutions.time_terms import occurrence
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Expression"]

_KINDS = ("duration", "start", "end")
_TRUE = encode(Literal(True))

Operands = tuple[str | None, ...]


class Expression:
    """An expression, compiled for rows of one layout."""

    def __init__(self, expr: Expr, layout: Layout, base: str | None = None, tuning: Tuning = DEFAULT) -> None:
        places = slots(layout)
        self._places = [places[var] for var in sorted(references(expr)) if var in places]
        self._kinds = tuple(kind for kind in _KINDS if Occurrence(kind) in walk(expr))
        self._names = [f"v{i}" for i in range(len(self._places) + len(self._kinds))]
        known = [var for var in sorted(references(expr)) if var in places]
        named: dict[Expr, str] = dict.fromkeys(references(expr), "unbound")
        named |= zip((*known, *map(Occurrence, self._kinds)), self._names, strict=True)
        self._text = f"({SparqlWriter(named).expression(with_ordered_moments(expr))})"
        self._base, self._tuning = base, tuning
        self._quick = fast_evaluator(expr, places)
        self._answers: dict[tuple[bool, Operands], str | None] = {}

    def values(self, rows: Sequence[Row]) -> list[str | None]:
        """The value for each row; None where it is an error."""
        if self._quick is not None:
            try:
                return [as_term(value) for value in map(self._quick, rows)]
            except Slow:
                pass
        return self._evaluate(rows, truth=False)

    def holds(self, rows: Sequence[Row]) -> list[bool]:
        """Whether the expression is true, for each row; an error is not true."""
        if self._quick is not None:
            try:
                return [as_truth(value) is True for value in map(self._quick, rows)]
            except Slow:
                pass
        return [value == _TRUE for value in self._evaluate(rows, truth=True)]

    def _evaluate(self, rows: Sequence[Row], truth: bool) -> list[str | None]:
        values: list[str | None] = []
        slow: list[int] = []
        for row in rows:
            try:
                values.append(self._quickly(row, truth))
            except Slow:
                slow.append(len(values))
                values.append(None)
        for place, value in zip(slow, self._slowly([rows[i] for i in slow], truth), strict=True):
            values[place] = value
        return values

    def _quickly(self, row: Row, truth: bool) -> str | None:
        if self._quick is None:
            raise Slow
        value = self._quick(row)
        if not truth:
            return as_term(value)
        value = as_truth(value)
        return _TRUE if value is not ERROR and value else None

    def _slowly(self, rows: Sequence[Row], truth: bool) -> list[str | None]:
        if not rows:
            return []
        keys = [(truth, self._operands(row)) for row in rows]
        if len(self._answers) > self._tuning.rule_values:
            self._answers.clear()
        new = [operands for kind, operands in dict.fromkeys(keys) if (kind, operands) not in self._answers]
        most = self._tuning.rule_query_rows
        for start in range(0, len(new), most):
            part = new[start : start + most]
            values = self._query(part, f"IF({self._text}, true, false)" if truth else self._text)
            self._answers.update(((truth, operands), value) for operands, value in zip(part, values, strict=True))
        return [self._answers[key] for key in keys]

    def _operands(self, row: Row) -> Operands:
        return (*[row[i] for i in self._places], *[occurrence(kind, row) for kind in self._kinds])

    def _query(self, operands: Sequence[Operands], text: str) -> list[str | None]:
        is_blank = any(term is not None and term[0] == "_" for row in operands for term in row)
        source, store = _stored(operands, self._names) if is_blank else (_inline(operands, self._names), Store())
        base = "" if self._base is None else f"BASE <{self._base}> "
        solutions = store.query(f"{base}SELECT ?i ({text} AS ?v) {{ {source} }}")
        assert isinstance(solutions, QuerySolutions)
        values: list[str | None] = [None] * len(operands)
        for solution in solutions:
            value = solution[Variable("v")]
            values[int(_lexical(solution[Variable("i")]))] = None if value is None else encode(value)
        return values


def _lexical(term: Term | None) -> str:
    assert isinstance(term, Literal)
    return term.value


def _inline(rows: Iterable[Operands], names: Sequence[str]) -> str:
    """The operands as VALUES, which has no blank nodes."""
    written = (f"({i} {' '.join('UNDEF' if t is None else str(decode(t)) for t in row)})" for i, row in enumerate(rows))
    return f"VALUES ({' '.join(f'?{name}' for name in ('i', *names))}) {{ {' '.join(written)} }}"


def _stored(rows: Iterable[Operands], names: Sequence[str]) -> tuple[str, Store]:
    """The operands as triples."""
    store = Store()
    for i, row in enumerate(rows):
        node = NamedNode(f"urn:row:{i}")
        store.add(Quad(node, NamedNode("urn:row"), Literal(i)))
        bound = ((name, term) for name, term in zip(names, row, strict=True) if term is not None)
        store.extend(Quad(node, NamedNode(f"urn:{name}"), decode(term)) for name, term in bound)
    optional = " ".join(f"OPTIONAL {{ ?r <urn:{name}> ?{name} }}" for name in names)
    return f"?r <urn:row> ?i {optional}", store

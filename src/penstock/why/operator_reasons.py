"""Why an operator has no rows although its operands have: joins, filters, MINUS, sequences, paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from penstock.algebra import ops
from penstock.algebra.expressions import Expr, Term, Var
from penstock.algebra.ops import Op
from penstock.algebra.scope import references, visible
from penstock.explain.labels import label
from penstock.explain.notation import variables
from penstock.why.blame import Blamed
from penstock.why.near_terms import near_terms
from penstock.why.reasons import Reason
from penstock.why.search import Search
from penstock.why.triple_reasons import bgp_reasons
from penstock.why.wording import counted

__all__ = ["operator_reasons"]


def operator_reasons(search: Search, blamed: Blamed) -> Iterator[Reason]:
    """The reasons why an operator has no rows."""
    for kind, reasons in _BY_KIND.items():
        if isinstance(blamed.op, kind):
            yield from reasons(search, blamed)
            return
    title = label(blamed.op, search.names).title
    yield search.reason(f"The operator “{title}” has no rows", "See where it stands with query.explain()")


def _join(search: Search, blamed: Blamed) -> Iterator[Reason]:
    """No row of the one side fits to one of the other: by which variable, and with which values."""
    left, right = blamed.op.children
    sides = f"{counted(search.count(left), 'row')} on the one side and {search.count(right):,} on the other"
    shared = sorted(var for var in visible(left) & visible(right) if not var.internal)
    for var in shared:
        ours, theirs = search.values(left, var.name), search.values(right, var.name)
        if ours and theirs and not set(ours) & set(theirs):
            text = f"{sides} have no value of {search.names.term(var)} in common"
            yield search.reason(text, _pair(search, ours, theirs))
            return
    what = f"have the same {variables(shared)}" if shared else "hold"
    yield search.reason(f"{sides} never {what} at the same instant", "Widen RANGE, or compare the sources' clocks")


def _pair(search: Search, ours: list[Term], theirs: list[Term]) -> str:
    """Two terms that are nearly the same, and how they differ; or just two."""
    for term in ours:
        for near in near_terms(term, theirs, 1):
            return f"The one has {search.names.term(term)}, the other {search.names.term(near.term)}: {near.how}"
    return f"The one has {search.listed(ours)}, the other {search.listed(theirs)}"


def _filter(search: Search, blamed: Blamed) -> Iterator[Reason]:
    """The filter keeps nothing: of how many rows, and with which values."""
    assert isinstance(blamed.op, ops.Filter)
    below, condition, aggregates = blamed.op.pattern, blamed.op.condition, _aggregates(blamed.op.pattern)
    shown = [
        f"{search.names.expression(aggregates.get(var, var))} is {search.listed(values)}"
        for var in sorted(references(condition) & visible(below))
        if (values := search.values(below, var.name))
    ]
    word, written = "HAVING" if aggregates else "FILTER", search.names.expression(_replaced(condition, aggregates))
    text = f"{word} ({written}) keeps none of {counted(search.count(below), 'row')}"
    yield search.reason(text, f"In these rows, {'; '.join(shown)}" if shown else "")


def _aggregates(op: Op) -> dict[Expr, Expr]:
    """The aggregates of a GROUP BY by their variables; none if the operator is no such."""
    while isinstance(op, ops.Extend):
        op = op.pattern
    return dict(op.aggregates) if isinstance(op, ops.Group) else {}


def _replaced(expr: Expr, by: dict[Expr, Expr]) -> Expr:
    return by[expr] if isinstance(expr, Var) and expr in by else expr.map_children(lambda part: _replaced(part, by))


def _minus(search: Search, blamed: Blamed) -> Iterator[Reason]:
    left, right = blamed.op.children
    shared = variables(sorted(visible(left) & visible(right)))
    text = f"MINUS removes all of {counted(search.count(left), 'row')}"
    yield search.reason(text, f"Its pattern matches with the same {shared} each time")


def _sequence(search: Search, blamed: Blamed) -> Iterator[Reason]:
    left, right = map(search.count, blamed.op.children)
    text = f"{counted(left, 'event')} on the left of SEQ and {right:,} on the right are in no sequence"
    yield search.reason(text, "The left one has to end before the right one starts, with the same shared variables")


def _path(search: Search, blamed: Blamed) -> Iterator[Reason]:
    assert isinstance(blamed.op, ops.Path)
    subject, object = search.names.term(blamed.op.subject), search.names.term(blamed.op.object)
    text = f"The path {subject} {search.names.path(blamed.op.path)} {object} connects nothing at any instant"
    yield search.reason(text, "Look whether its predicates occur in the window or graph that it reads")


_BY_KIND: dict[type[Op], Callable[[Search, Blamed], Iterator[Reason]]] = {
    ops.Bgp: bgp_reasons,
    ops.Join: _join,
    ops.Filter: _filter,
    ops.Minus: _minus,
    ops.Seq: _sequence,
    ops.Path: _path,
}

"""Checks AGGREGATE clauses: the first variable must be new, the others must be bound in WHERE."""

from __future__ import annotations

from collections.abc import Collection

from penstock.errors import QueryError
from penstock.syntax import tree
from penstock.syntax.scope import unaggregated
from penstock.syntax.suggest import nearest

__all__ = ["check_annotations"]


def check_annotations(annotations: tuple[tree.Annotation, ...], bound: Collection[str], text: str) -> None:
    """Raise a `QueryError` at the first mistake; `bound` are the variables of WHERE."""
    seen = set(bound)
    annotated = {annotation.variable.name for annotation in annotations}
    for annotation in annotations:
        variable = annotation.variable
        if variable.name in seen:
            reason = f"?{variable.name} is already bound, so AGGREGATE cannot bind it"
            raise variable.span.error(QueryError, reason, text, "use a new variable")
        seen.add(variable.name)
        for variable_read in (*_argument(annotation.aggregate, text), *annotation.keys):
            if variable_read.name not in bound:
                _unbound(variable_read, bound, annotated, text)


def _argument(aggregate: tree.Aggregate, text: str) -> tuple[tree.Variable, ...]:
    """The variables that the aggregate reads."""
    name = aggregate.name
    if aggregate.argument is None and name != "COUNT":
        hint = f"write it as {name}(?x); only COUNT can do without, and then counts rows"
        raise aggregate.span.error(QueryError, f"{name} needs a variable to aggregate", text, hint)
    return () if aggregate.argument is None else tuple(unaggregated(aggregate.argument))


def _unbound(variable: tree.Variable, bound: Collection[str], made: Collection[str], text: str) -> None:
    name = variable.name
    if name in made:
        hint = "AGGREGATE clauses are independent of each other: a sub-SELECT can aggregate what they compute"
    else:
        near = nearest(name, bound)
        hint = f"did you mean ?{near}?" if near else "AGGREGATE groups and aggregates what WHERE binds"
    raise variable.span.error(QueryError, f"WHERE does not bind ?{name}", text, hint)

"""The variables that a pattern makes visible: https://www.w3.org/TR/sparql11-query/#variableScope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.syntax import tree

__all__ = [
    "aggregates", "annotated", "outside_aggregates", "subexpressions", "unaggregated", "visible", "visible_in_select",
]  # fmt: skip


def visible(group: tree.Group) -> dict[str, None]:
    """The visible names in order of first appearance (a dictionary, as an ordered set)."""
    return dict.fromkeys(name for element in group.elements for name in of_element(element))


def of_element(element: tree.Element) -> Iterable[str]:
    """The variables that one element of a group makes visible in it: none for FILTER and MINUS."""
    match element:
        case tree.Triples(triples):
            return _names(term for t in triples for term in (t.subject, t.predicate, t.object))
        case tree.Bind(_, variable):
            return (variable.name,)
        case tree.InlineData(variables):
            return _names(variables)
        case tree.Optional(group) | tree.StreamBlock(_, _, group):
            return visible(group)
        case tree.Union() | tree.Chain():
            return [name for group in element.groups for name in visible(group)]
        case tree.NamedGraph(name, group) | tree.WindowBlock(name, group) | tree.Service(name, group):
            return [*_names([name]), *visible(group)]
        case tree.SubSelect(select, where, modifiers, values):
            return visible_in_select(select, where, modifiers, values)
    return ()


def visible_in_select(
    select: tree.Select, where: tree.Group, modifiers: tree.Modifiers, values: tree.InlineData | None
) -> dict[str, None]:
    """The variables that a SELECT projects."""
    if select.items is not None:
        return dict.fromkeys(item.variable.name for item in select.items)
    return visible(where) | annotated(modifiers) | dict.fromkeys(_names(values.variables if values else ()))


def annotated(modifiers: tree.Modifiers) -> dict[str, None]:
    """The variables that AGGREGATE clauses add."""
    return dict.fromkeys(annotation.variable.name for annotation in modifiers.annotations)


def _names(terms: Iterable[object]) -> Iterator[str]:
    return (term.name for term in terms if isinstance(term, tree.Variable))


def subexpressions(expression: tree.Expression) -> Iterator[tree.Expression]:
    """The expression and its parts at any depth, without the patterns of EXISTS."""
    yield expression
    for part in _parts(expression):
        yield from subexpressions(part)


def aggregates(expression: tree.Expression) -> Iterator[tree.Aggregate]:
    """The aggregates in an expression."""
    return (part for part in subexpressions(expression) if isinstance(part, tree.Aggregate))


def unaggregated(expression: tree.Expression) -> Iterator[tree.Variable]:
    """The variables in an expression that no aggregate encloses."""
    return (part for part in outside_aggregates(expression) if isinstance(part, tree.Variable))


def outside_aggregates(expression: tree.Expression) -> Iterator[tree.Expression]:
    """The expression and its parts, down to its aggregates."""
    if not isinstance(expression, tree.Aggregate):
        yield expression
        for part in _parts(expression):
            yield from outside_aggregates(part)


def _parts(expression: tree.Expression) -> tuple[tree.Expression, ...]:
    match expression:
        case tree.Call(_, args) | tree.FunctionCall(_, args):
            return args
        case tree.Aggregate(_, argument) if argument is not None:
            return (argument,)
    return ()

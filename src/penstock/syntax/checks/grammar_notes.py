"""Checks that the grammar cannot express: https://www.w3.org/TR/sparql11-query/#sparqlGrammar, notes 5 to 13, and
aggregates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from penstock.errors import QueryError
from penstock.syntax import tree
from penstock.syntax.bare_aggregates import loose_keys, nested
from penstock.syntax.checks.annotations import check_annotations
from penstock.syntax.functions import BUILTINS, SPELLED
from penstock.syntax.scope import (
    aggregates,
    annotated,
    of_element,
    outside_aggregates,
    subexpressions,
    unaggregated,
    visible,
)

__all__ = ["check", "is_grouped"]


def check(query: tree.Query) -> None:
    """Raise a `QueryError` at the first mistake."""
    checker = _Checker(query.text)
    if isinstance(query.form, tree.Construct):
        checker.template(query.form.template)
    select = query.form if isinstance(query.form, tree.Select) else None
    checker.level(select, query.where, query.modifiers, query.values)


def is_grouped(select: tree.Select | None, modifiers: tree.Modifiers) -> bool:
    """Whether this level of the query has groups: by GROUP BY, or because an aggregate asks for one."""
    return bool(modifiers.group_by) or any(True for place in _over_groups(select, modifiers) for _ in aggregates(place))


@dataclass(slots=True)
class _Checker:
    text: str
    label_owner: dict[str, object] = field(default_factory=dict)

    def fail(self, reason: str, span: tree.Span, hint: str | None = None) -> NoReturn:
        raise span.error(QueryError, reason, self.text, hint)

    # A query or sub-query

    def level(
        self,
        select: tree.Select | None,
        where: tree.Group,
        modifiers: tree.Modifiers,
        values: tree.InlineData | None,
    ) -> None:
        self.group(where)
        self.annotations(modifiers, visible(where))
        scope = visible(where) | annotated(modifiers)
        self.modifiers(modifiers, scope)
        if select is not None:
            self.projection(select, scope | _aliases(modifiers))
        if is_grouped(select, modifiers):
            self.grouped_timestamps(_over_groups(select, modifiers))
            if select is not None:
                self.grouped_projection(select, modifiers)
        if values is not None:
            self.inline_data(values)

    def annotations(self, modifiers: tree.Modifiers, scope: dict[str, None]) -> None:
        check_annotations(modifiers.annotations, scope, self.text)
        for annotation in modifiers.annotations:
            self.expression(annotation.aggregate)
        for filter_ in modifiers.annotation_filters:
            self.expression(filter_.condition, no_aggregates="FILTER")

    def modifiers(self, modifiers: tree.Modifiers, scope: dict[str, None]) -> None:
        for key in modifiers.group_by:
            self.expression(key.expression, no_aggregates="GROUP BY")
            if key.alias is not None and key.alias.name in scope:
                self.fail(f"?{key.alias.name} is already in scope, so AS cannot bind it again", key.alias.span)
        for condition in [*modifiers.having, *(key.expression for key in modifiers.order_by)]:
            self.expression(condition)

    def projection(self, select: tree.Select, scope: dict[str, None]) -> None:
        seen: set[str] = set()
        for item in select.items or ():
            name = item.variable.name
            if item.expression is not None:
                self.expression(nested(item) or item.expression)
                if name in seen:
                    self.fail(f"?{name} is projected twice", item.variable.span, "give one of them another name")
                if name in scope:
                    self.fail(f"?{name} is already in scope, so AS cannot bind it again", item.variable.span)
            seen.add(name)

    def grouped_projection(self, select: tree.Select, modifiers: tree.Modifiers) -> None:
        if select.items is None:
            hint = "name the grouped variables and the aggregates after SELECT"
            self.fail("SELECT * cannot be used with GROUP BY", select.span, hint)
        allowed = {key.expression.name for key in modifiers.group_by if isinstance(key.expression, tree.Variable)}
        allowed |= _aliases(modifiers).keys() | {variable.name for variable in loose_keys(select, modifiers)}
        self.nested(select, modifiers)
        for item in select.items:
            for variable in unaggregated(item.expression or item.variable):
                if variable.name not in allowed:
                    self.ungrouped(variable)
            allowed.add(item.variable.name)

    def grouped_timestamps(self, expressions: Iterable[tree.Expression]) -> None:
        for part in (part for expression in expressions for part in outside_aggregates(expression)):
            if isinstance(part, tree.Call) and part.name == "TIMESTAMP":
                hint = "aggregate the timestamps, as in MAX(timestamp(?v))"
                self.fail("a group has no timestamp of its own", part.span, hint)

    def nested(self, select: tree.Select, modifiers: tree.Modifiers) -> None:
        nesting = [inner for item in select.items or () if (inner := nested(item))]
        if nesting and not modifiers.group_by:
            self.fail(f"{nesting[0].name} has no groups to be computed over", nesting[0].span, "add GROUP BY")
        if len(nesting) > 1:
            self.fail("only one aggregate of aggregates can stand here", nesting[1].span, "use a sub-SELECT")

    def ungrouped(self, variable: tree.Variable) -> NoReturn:
        name = variable.name
        hint = f"add ?{name} to GROUP BY, or aggregate it, as in (SAMPLE(?{name}) AS ?any_{name})"
        self.fail(f"?{name} is projected, but neither grouped nor aggregated", variable.span, hint)

    # Graph patterns

    def group(self, group: tree.Group) -> None:
        scope: set[str] = set()
        pattern = object()  # the basic graph pattern that triples join, until something other than a filter ends it
        for element in group.elements:
            if isinstance(element, tree.Triples):
                self.labels(element.triples, pattern)
            elif not isinstance(element, tree.Filter):
                pattern = object()
            if isinstance(element, tree.Bind) and element.variable.name in scope:
                reason = f"?{element.variable.name} is already used in this group, so BIND cannot bind it"
                self.fail(reason, element.variable.span, "bind a new variable")
            self.element(element)
            scope.update(of_element(element))

    def element(self, element: tree.Element) -> None:
        match element:
            case tree.Filter(condition):
                self.expression(condition, no_aggregates="FILTER")
            case tree.Bind(expression):
                self.expression(expression, no_aggregates="BIND")
            case tree.InlineData():
                self.inline_data(element)
            case tree.Union(groups):
                for group in groups:
                    self.group(group)
            case tree.Chain(first, links):
                for group in (first, *(link.group for link in links)):
                    self.group(group)
            case tree.Optional(group) | tree.Minus(group) | tree.NamedGraph(_, group) | tree.Service(_, group):
                self.group(group)
            case tree.WindowBlock(_, group) | tree.StreamBlock(_, _, group):
                self.group(group)
            case tree.SubSelect(select, where, modifiers, values):
                self.level(select, where, modifiers, values)

    def labels(self, triples: Iterable[tree.Triple], pattern: object) -> None:
        for triple in triples:
            for term in (triple.subject, triple.object):
                if isinstance(term, tree.BlankNode) and self.label_owner.setdefault(term.label, pattern) != pattern:
                    reason = f"the blank node _:{term.label} is already used in another group of triples"
                    self.fail(reason, term.span, "a variable can stand in several groups, a blank node cannot")

    def inline_data(self, data: tree.InlineData) -> None:
        seen: set[str] = set()
        for variable in data.variables:
            if variable.name in seen:
                self.fail(f"?{variable.name} stands twice in VALUES", variable.span)
            seen.add(variable.name)
        for row in data.rows:
            if len(row.values) != len(data.variables):
                counts = f"{_count(len(row.values), 'value')} for {_count(len(data.variables), 'variable')}"
                self.fail(f"this row has {counts}", row.span, "write UNDEF where there is no value")

    def template(self, triples: Iterable[tree.Triple]) -> None:
        for triple in triples:
            if not isinstance(triple.predicate, tree.Variable | tree.Iri):
                span = triple.subject.span.to(triple.object.span)
                self.fail("a property path cannot stand in a template", span)

    # Expressions

    def expression(self, expression: tree.Expression, no_aggregates: str | None = None) -> None:
        for part in subexpressions(expression):
            match part:
                case tree.Aggregate(name, argument):
                    self.aggregate(part, no_aggregates)
                    if argument is not None:
                        for inner in aggregates(argument):
                            self.fail(f"{inner.name} stands inside {name}", inner.span, "use a sub-SELECT")
                case tree.Call():
                    self.call(part)
                case tree.Exists(group):
                    self.group(group)

    def aggregate(self, aggregate: tree.Aggregate, place: str | None) -> None:
        if place is not None:
            hint = "use HAVING after GROUP BY, or a sub-SELECT" if place == "FILTER" else "use a sub-SELECT"
            self.fail(f"{aggregate.name} is an aggregate, which {place} cannot compute", aggregate.span, hint)

    def call(self, call: tree.Call) -> None:
        least, most = BUILTINS.get(call.name, (0, None))
        if len(call.args) < least or (most is not None and len(call.args) > most):
            name = SPELLED.get(call.name, call.name)
            self.fail(f"{name} takes {_arity(least, most)}, not {len(call.args)}", call.span)
        if call.name in ("BOUND", "TIMESTAMP") and not isinstance(call.args[0], tree.Variable):
            self.fail(f"{call.name} takes a variable", call.span)
        if call.name == "TIMESTAMP" and not all(isinstance(arg, tree.Variable | tree.Iri) for arg in call.args):
            self.fail("the stream that TIMESTAMP takes is an IRI or a variable", call.span)


def _over_groups(select: tree.Select | None, modifiers: tree.Modifiers) -> list[tree.Expression]:
    """The expressions that are computed once a group, where there are groups."""
    items = (select.items or ()) if select else ()
    places = [item.expression for item in items if item.expression is not None]
    return [*places, *modifiers.having, *(key.expression for key in modifiers.order_by)]


def _aliases(modifiers: tree.Modifiers) -> dict[str, None]:
    return dict.fromkeys(key.alias.name for key in modifiers.group_by if key.alias is not None)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _arity(least: int, most: int | None) -> str:
    if most == 0:
        return "no arguments"
    if most is None or most == least:
        return _count(least, "argument")
    return f"{least} or {most} arguments"

"""Tree → algebra: https://www.w3.org/TR/sparql11-query/#sparqlQuery, section by section."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from itertools import chain, groupby

from penstock.algebra import ops
from penstock.algebra.build.base import Grouping
from penstock.algebra.build.blocks import BlockBuilder
from penstock.algebra.build.cqels import CqelsBuilder
from penstock.algebra.build.events import EventBuilder
from penstock.algebra.build.expressions import ExpressionBuilder
from penstock.algebra.build.streams import StreamBuilder, conjunction
from penstock.algebra.build.terms import TermBuilder
from penstock.algebra.build.windows import WindowBuilder
from penstock.algebra.depth import depth_of
from penstock.algebra.expressions import Expr, Term, Var
from penstock.algebra.windows import Window
from penstock.errors import RefusedError
from penstock.syntax import parse, tree
from penstock.syntax.bare_aggregates import nested
from penstock.syntax.checks.grammar_notes import is_grouped
from penstock.syntax.parser import too_long
from penstock.syntax.scope import visible, visible_in_select
from penstock.tuning import DEFAULT, Tuning

__all__ = ["build", "translate", "window_of"]


def translate(text: str, base: str | None = None, tuning: Tuning = DEFAULT) -> ops.Query:
    """A query's text as algebra. Raises `QueryError`, or `RefusedError` for features that Penstock does not support."""
    return build(parse(text, base, tuning), tuning)


def build(query: tree.Query, tuning: Tuning = DEFAULT) -> ops.Query:
    """A query's tree as algebra."""
    try:
        built = Builder(query).query(query)
    except RecursionError:
        raise too_long(query.text) from None
    if (depth := depth_of(built.pattern)) > tuning.plan_depth:
        raise too_long(query.text, f"{depth:,}", tuning.plan_depth)
    return built


def window_of(query: tree.Query, window: tree.Window) -> Window:
    """The algebra of a window in the query."""
    return Builder(query).window(window)


class Builder(TermBuilder, ExpressionBuilder, WindowBuilder, BlockBuilder, EventBuilder, StreamBuilder, CqelsBuilder):
    """All builders as one, and those of SPARQL's patterns, modifiers and query forms."""

    # Graph patterns (18.2.2)

    def group(self, group: tree.Group) -> ops.Op:
        with self.reading(group):
            conditions, pattern = self.conditions(group), self.pattern(group)
        return self.overridden(group, pattern if conditions is None else ops.Filter(conditions, pattern))

    def conditions(self, group: tree.Group) -> Expr | None:
        """The group's filters, which hold for all of it."""
        conditions = [self.expression(e.condition) for e in group.elements if isinstance(e, tree.Filter)]
        return conjunction(conditions) if conditions else None

    def pattern(self, group: tree.Group) -> ops.Op:
        pattern: ops.Op = ops.Bgp(())
        for element in _merged(e for e in group.elements if not isinstance(e, tree.Filter)):
            pattern = self.add(pattern, element)
        return pattern

    def optional(self, left: ops.Op, group: tree.Group) -> ops.Op:
        condition, right = self.optional_side(group)
        return ops.LeftJoin(condition, left, right)

    def optional_side(self, group: tree.Group) -> tuple[Expr | None, ops.Op]:
        """The filters of an optional group, and its pattern. The filters see both sides, so they are outside of the
        group's window."""
        with self.reading(group):
            with self.condition_of(group):
                condition = self.conditions(group)
            pattern = self.pattern(group)
        return condition, self.overridden(group, pattern)

    def add(self, pattern: ops.Op, element: tree.Element) -> ops.Op:
        """The pattern so far, and the next element of its group."""
        match element:
            case tree.Optional(group):
                return self.optional(pattern, group)
            case tree.Minus(group):
                return ops.Minus(pattern, self.group(group))
            case tree.Bind(expression, variable):
                return ops.Extend(Var(variable.name), self.expression(expression), pattern)
            case _:
                return _join(pattern, self.element(element))

    def element(self, element: tree.Element) -> ops.Op:
        """An element that is joined with those before it."""
        match element:
            case tree.Triples(triples):
                self.triples_read()
                return self.triples(triples)
            case tree.Union(groups):
                return reduce(ops.Union, map(self.group, groups))
            case tree.Chain():
                return self.chain(element)
            case tree.NamedGraph():
                return self.graph_block(element)
            case tree.WindowBlock():
                return self.window_block(element)
            case tree.StreamBlock():
                return self.stream_block(element)
            case tree.InlineData():
                return self.table(element)
            case tree.SubSelect(select, where, modifiers, values):
                return self.select(select, where, modifiers, values)
            case tree.Service(span=span):
                reason = "SERVICE is not supported: Penstock sends no part of a query to other endpoints"
                hint = "load that data, or make the endpoint the background store"
                raise span.error(RefusedError, reason, self.text, hint)
        raise AssertionError(f"no translation for {type(element).__name__}")

    def table(self, data: tree.InlineData) -> ops.Table:
        variables = tuple(Var(variable.name) for variable in data.variables)
        return ops.Table(variables, tuple(tuple(map(self.cell, row.values)) for row in data.rows))

    def cell(self, value: tree.Iri | tree.Literal | None) -> Term | None:
        return None if value is None else self.constant(value)

    # Grouping, HAVING, VALUES, SELECT expressions, modifiers (18.2.4, 18.2.5)

    def select(
        self, select: tree.Select, where: tree.Group, modifiers: tree.Modifiers, values: tree.InlineData | None
    ) -> ops.Op:
        variables = _variables(visible_in_select(select, where, modifiers, values))
        return self.level(self.group(where), select, modifiers, values, variables)

    def level(
        self,
        pattern: ops.Op,
        select: tree.Select | None,
        modifiers: tree.Modifiers,
        values: tree.InlineData | None,
        variables: tuple[Var, ...] = (),
    ) -> ops.Op:
        pattern = self.annotated(pattern, modifiers)
        grouping: Grouping | None = None
        keys: tuple[Var, ...] = ()
        if is_grouped(select, modifiers):
            keys, pattern = self.keys(modifiers.group_by, pattern)
            keys, pattern = self.loose_keys(select, modifiers, keys, pattern)
            grouping = Grouping(set(keys))
        having = [self.expression(condition, grouping) for condition in modifiers.having]
        extensions = self.extensions(select, grouping)
        order = tuple(ops.OrderKey(self.expression(k.expression, grouping), k.descending) for k in modifiers.order_by)
        if grouping is not None:
            aggregates = tuple((var, aggregate) for aggregate, var in grouping.aggregates.items())
            pattern = ops.Group(keys, aggregates, pattern)
        if having:
            pattern = ops.Filter(conjunction(having), pattern)
        pattern = self.reaching_groups(select, grouping, pattern)
        if values is not None:
            pattern = _join(pattern, self.table(values))
        for var, expression in extensions:
            pattern = ops.Extend(var, expression, pattern)
        return _modified(pattern, select, modifiers, order, variables)

    def keys(self, group_by: tuple[tree.GroupKey, ...], pattern: ops.Op) -> tuple[tuple[Var, ...], ops.Op]:
        """The variables to group by, and the pattern with those computed that are expressions."""
        keys: dict[Var, None] = {}
        for key in group_by:
            if isinstance(key.expression, tree.Variable) and key.alias is None:
                var = Var(key.expression.name)
            else:
                var = Var(key.alias.name) if key.alias is not None else self.fresh("g")
                pattern = ops.Extend(var, self.expression(key.expression), pattern)
            keys[var] = None
        return tuple(keys), pattern

    def extensions(self, select: tree.Select | None, grouping: Grouping | None) -> list[tuple[Var, Expr]]:
        """The expressions of SELECT; each one sees those before it."""
        extensions = []
        for item in (select.items or ()) if select else ():
            var = Var(item.variable.name)
            if (inner := nested(item)) is not None:
                self.expression(inner, grouping)
            elif item.expression is not None:
                extensions.append((var, self.expression(item.expression, grouping)))
            if grouping is not None:
                grouping.visible.add(var)
        return extensions

    # Query forms

    def query(self, query: tree.Query) -> ops.Query:
        where, modifiers, values = query.where, query.modifiers, query.values
        select = query.form if isinstance(query.form, tree.Select) else None
        variables = _variables(visible_in_select(select, where, modifiers, values)) if select else ()
        pattern = self.level(self.group(where), select, modifiers, values, variables)
        form, dataset = self.form(query), self.dataset(query)
        streams, registration = self.streams(query), self.registration(query)
        return ops.Query(form, pattern, variables, dataset, query.base, streams, registration, self.emit(query))

    def form(self, query: tree.Query) -> ops.Form:
        match query.form:
            case tree.Select():
                return ops.Select()
            case tree.Ask():
                return ops.Ask()
            case tree.Construct(template):
                return ops.Construct(self.template(template))
            case tree.Describe(terms):
                if terms is not None:
                    return ops.Describe(tuple(dict.fromkeys(map(self.name, terms))))
                return ops.Describe(_variables(chain(visible(query.where), _value_names(query.values))))

    def template(self, triples: tuple[tree.Triple, ...]) -> tuple[ops.TriplePattern, ...]:
        """The triples of a template. Its blank nodes are no variables of the pattern, whatever their labels."""
        self.blank_nodes = {}
        return tuple(part for t in triples for part in self.triple(t) if isinstance(part, ops.TriplePattern))

    def dataset(self, query: tree.Query) -> ops.Dataset | None:
        """The dataset; beside windows of CQELS, whose own queries need it, FROM NAMED alone hides nothing."""
        clauses = query.datasets
        if not clauses:
            return None
        default, named = (tuple(self.iri(c.iri) for c in clauses if c.named is kind) for kind in (False, True))
        return ops.Dataset(default, named, adds=not default and "cqels" in query.languages)


def _merged(elements: Iterable[tree.Element]) -> Iterable[tree.Element]:
    """Blocks of triples that only a filter separates are one block."""
    for is_triples, run in groupby(elements, lambda element: isinstance(element, tree.Triples)):
        if is_triples:
            yield tree.Triples(tuple(t for block in run if isinstance(block, tree.Triples) for t in block.triples))
        else:
            yield from run


def _modified(
    pattern: ops.Op,
    select: tree.Select | None,
    modifiers: tree.Modifiers,
    order: tuple[ops.OrderKey, ...],
    variables: tuple[Var, ...],
) -> ops.Op:
    if order:
        pattern = ops.OrderBy(order, pattern)
    if select is not None:
        pattern = ops.Project(variables, pattern)
        if select.distinct:
            pattern = ops.Distinct(pattern)
        if select.reduced:
            pattern = ops.Reduced(pattern)
    if modifiers.offset or modifiers.limit is not None:
        pattern = ops.Slice(modifiers.offset, modifiers.limit, pattern)
    return pattern


def _value_names(values: tree.InlineData | None) -> list[str]:
    return [variable.name for variable in values.variables] if values else []


def _variables(names: Iterable[str]) -> tuple[Var, ...]:
    return tuple(dict.fromkeys(map(Var, names)))


def _join(left: ops.Op, right: ops.Op) -> ops.Op:
    """The join, without an operand that is the empty pattern."""
    if left == ops.Bgp(()):
        return right
    return left if right == ops.Bgp(()) else ops.Join(left, right)

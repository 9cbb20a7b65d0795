"""Parse tree → the parts of a query, for the rules of `sparql.lark`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from lark import Token

from penstock.syntax import tree
from penstock.syntax.transform.base import TransformerBase
from penstock.syntax.transform.terms import RDF

__all__ = ["Clause", "SparqlTransformer", "Where"]


class _Node(NamedTuple):
    """A node that stands for itself and the triples that `[…]` or `(…)` says about it."""

    term: tree.Term
    triples: tuple[tree.Triple, ...]


_Object: TypeAlias = tree.Term | _Node
_Verb: TypeAlias = tree.Variable | tree.PathExpr
_Properties: TypeAlias = tuple[tuple[_Verb, tuple[_Object, ...]], ...]
Clause: TypeAlias = tree.DatasetClause | tree.StreamClause | tree.WindowClause
_Datasets: TypeAlias = tuple[Clause, ...]
Where: TypeAlias = tuple[tree.Form, _Datasets, tree.Group, tree.Modifiers]


class SparqlTransformer(TransformerBase):
    # Query forms

    def select_query(self, form: tree.Select, *rest: object) -> tuple[object, ...]:
        return (form, *rest)

    def sub_select(
        self, select: tree.Select, where: tree.Group, modifiers: tree.Modifiers, values: tree.InlineData | None
    ) -> tree.SubSelect:
        return tree.SubSelect(select, where, modifiers, values)

    def construct_query(self, template: tree.Triples, *rest: object) -> tuple[object, ...]:
        return (tree.Construct(template.triples), *rest)

    def construct_where(self, datasets: _Datasets, template: tree.Triples, modifiers: tree.Modifiers) -> Where:
        start = self.source.span(0, 0)
        return (tree.Construct(template.triples), datasets, tree.Group((template,), start), modifiers)

    def describe_query(
        self,
        form: tree.Describe,
        datasets: _Datasets,
        where: tree.Group | None,
        modifiers: tree.Modifiers,
    ) -> Where:
        return (form, datasets, where or tree.Group((), self.source.span(0, 0)), modifiers)

    def ask_query(self, *rest: object) -> tuple[object, ...]:
        return (tree.Ask(), *rest)

    def select_clause(
        self, token: Token, duplicates: Token | None, items: tuple[tree.SelectItem, ...] | None
    ) -> tree.Select:
        kind = duplicates.type if duplicates is not None else None
        return tree.Select(items, kind == "DISTINCT", kind == "REDUCED", self.span(token))

    def select_items(self, *items: tree.SelectItem) -> tuple[tree.SelectItem, ...]:
        return items

    def select_all(self) -> None:
        return None

    def select_variable(self, variable: tree.Variable) -> tree.SelectItem:
        return tree.SelectItem(variable, None)

    def select_expression(self, expression: tree.Expression, variable: tree.Variable) -> tree.SelectItem:
        return tree.SelectItem(variable, expression)

    def describe_terms(self, *terms: tree.Variable | tree.Iri) -> tree.Describe:
        return tree.Describe(terms)

    def describe_all(self) -> tree.Describe:
        return tree.Describe(None)

    def datasets(self, *clauses: Clause) -> _Datasets:
        return clauses

    def default_graph(self, iri: tree.Iri) -> tree.DatasetClause:
        return tree.DatasetClause(iri, named=False)

    def named_graph(self, iri: tree.Iri) -> tree.DatasetClause:
        return tree.DatasetClause(iri, named=True)

    # Solution modifiers

    def solution_modifier(self, *clauses: dict[str, Any]) -> tree.Modifiers:
        """The modifiers. Each clause names the fields that it fills; AGGREGATE may come several times."""
        fields: dict[str, Any] = {}
        for clause in clauses:
            for name, value in clause.items():
                fields[name] = fields[name] + value if name in fields else value
        return tree.Modifiers(**fields)

    def group_clause(self, *keys: tree.GroupKey) -> dict[str, Any]:
        return {"group_by": keys}

    def group_condition(self, expression: tree.Expression, alias: tree.Variable | None = None) -> tree.GroupKey:
        return tree.GroupKey(expression, alias)

    def having_clause(self, *conditions: tree.Expression) -> dict[str, Any]:
        return {"having": conditions}

    def order_clause(self, *keys: tree.OrderKey) -> dict[str, Any]:
        return {"order_by": keys}

    def ascending(self, expression: tree.Expression) -> tree.OrderKey:
        return tree.OrderKey(expression, descending=False)

    def descending(self, expression: tree.Expression) -> tree.OrderKey:
        return tree.OrderKey(expression, descending=True)

    def limit_offset(self, *clauses: tuple[str, int]) -> dict[str, Any]:
        return dict(clauses)

    def limit_clause(self, number: Token) -> tuple[str, int]:
        return ("limit", int(number))

    def offset_clause(self, number: Token) -> tuple[str, int]:
        return ("offset", int(number))

    # Graph patterns

    def group_graph_pattern(self, brace: Token, *elements: tree.Element) -> tree.Group:
        return tree.Group(elements, self.span(brace))

    def optional(self, group: tree.Group) -> tree.Optional:
        return tree.Optional(group)

    def minus(self, group: tree.Group) -> tree.Minus:
        return tree.Minus(group)

    def graph(self, name: tree.Variable | tree.Iri, group: tree.Group) -> tree.NamedGraph | tree.WindowBlock:
        window = self.window_of(name)
        return tree.NamedGraph(name, group) if window is None else tree.WindowBlock(window, group)

    def service(
        self, token: Token, silent: Token | None, name: tree.Variable | tree.Iri, group: tree.Group
    ) -> tree.Service:
        return tree.Service(name, group, silent is not None, self.span(token))

    def bind(self, expression: tree.Expression, variable: tree.Variable) -> tree.Bind:
        return tree.Bind(expression, variable)

    def filter(self, condition: tree.Expression) -> tree.Filter:
        return tree.Filter(condition)

    # Inline data

    def values_clause(self, values: tree.InlineData | None) -> tree.InlineData | None:
        return values

    def inline_data_one_var(
        self, token: Token, variable: tree.Variable, *values: tree.Iri | tree.Literal | None
    ) -> tree.InlineData:
        rows = tuple(tree.Row((value,), variable.span) for value in values)
        return tree.InlineData((variable,), rows, self.span(token))

    def inline_data_full(self, token: Token, variables: tuple[tree.Variable, ...], *rows: tree.Row) -> tree.InlineData:
        return tree.InlineData(variables, rows, self.span(token))

    def data_vars(self, *variables: tree.Variable) -> tuple[tree.Variable, ...]:
        return variables

    def data_row(self, bracket: Token, *values: tree.Iri | tree.Literal | None) -> tree.Row:
        return tree.Row(values, self.span(bracket))

    def undef(self, token: Token) -> None:
        return None

    # Triples

    def template(self, block: tree.Triples | None = None) -> tree.Triples:
        return block or tree.Triples(())

    def triples_block(self, *parts: tuple[tree.Triple, ...]) -> tree.Triples:
        return tree.Triples(tuple(triple for part in parts for triple in part))

    def triples_same_subject(self, subject: _Object, properties: _Properties = ()) -> tuple[tree.Triple, ...]:
        term, triples = _node(subject)
        return (*triples, *_triples(term, properties))

    def property_list_not_empty(self, *parts: _Verb | tuple[_Object, ...]) -> _Properties:
        return tuple(zip(parts[::2], parts[1::2], strict=True))  # type: ignore[arg-type]

    def object_list(self, *objects: _Object) -> tuple[_Object, ...]:
        return objects

    def blank_node_property_list(self, bracket: Token, properties: _Properties) -> _Node:
        term = self.new_blank_node(self.span(bracket))
        return _Node(term, tuple(_triples(term, properties)))

    def collection(self, bracket: Token, *members: _Object) -> _Node:
        span = self.span(bracket)
        first, rest, nil = (tree.Iri(RDF + name, span) for name in ("first", "rest", "nil"))
        cells: list[tree.Term] = [self.new_blank_node(span) for _ in members]
        triples: list[tree.Triple] = []
        for (cell, following), member in zip(pairwise([*cells, nil]), members, strict=True):
            properties: _Properties = ((first, (member,)), (rest, (following,)))
            triples += _triples(cell, properties)
        return _Node(cells[0], tuple(triples))


def _node(item: _Object) -> _Node:
    return item if isinstance(item, _Node) else _Node(item, ())


def _triples(subject: tree.Term, properties: _Properties) -> Iterable[tree.Triple]:
    for verb, objects in properties:
        for item in objects:
            term, triples = _node(item)
            yield tree.Triple(subject, verb, term)
            yield from triples

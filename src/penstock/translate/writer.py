"""Groups, modifiers and query forms of the tree as SPARQL. A language writes its windows in a subclass."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.syntax import tree
from penstock.syntax.scope import visible, visible_in_select
from penstock.translate.expressions import TermWriter

__all__ = ["SparqlWriter"]


class SparqlWriter:
    def __init__(self, query: tree.Query) -> None:
        self.query = query
        self.terms = TermWriter(query.text, query.base)

    # Graph patterns

    def group(self, group: tree.Group) -> str:
        lines = [line for element in group.elements for line in self.element(element)]
        inside = "\n".join(lines).replace("\n", "\n  ")  # line breaks in strings are escaped
        return f"{{\n  {inside}\n}}" if lines else "{ }"

    def element(self, element: tree.Element) -> Iterator[str]:
        match element:
            case tree.Triples(triples):
                yield from self.triples(triples)
            case tree.Filter(condition):
                yield f"FILTER {self.bracketed(condition)}"
            case tree.Bind(expression, variable):
                yield f"BIND ({self.expression(expression)} AS ?{variable.name})"
            case tree.InlineData():
                yield self.values(element)
            case tree.Optional(group):
                yield f"OPTIONAL {self.group(group)}"
            case tree.Minus(group):
                yield f"MINUS {self.group(group)}"
            case tree.Union(groups):
                yield " UNION ".join(map(self.group, groups))
            case tree.Chain():
                yield self.chain(element)
            case tree.SubSelect(select, where, modifiers, values):
                items = self.items(select, where, modifiers, values)
                end = [*self.modifiers(modifiers), *([] if values is None else [self.values(values)])]
                yield "\n".join([f"SELECT {items} WHERE {self.group(where)}", *end])
            case tree.NamedGraph():
                yield self.graph(element)
            case tree.WindowBlock():
                yield self.window_block(element)
            case tree.StreamBlock():
                yield self.stream_block(element)
            case tree.Service():
                raise AssertionError("SERVICE is refused before")

    def triples(self, triples: tuple[tree.Triple, ...]) -> Iterator[str]:
        return (f"{self.triple(triple)} ." for triple in triples)

    def triple(self, triple: tree.Triple) -> str:
        subject, object_ = self.term(triple.subject), self.term(triple.object)
        return f"{subject} {self.terms.path(triple.predicate)} {object_}"

    def term(self, term: tree.Term) -> str:
        return self.terms.term(term)

    def graph(self, block: tree.NamedGraph) -> str:
        return f"GRAPH {self.term(block.name)} {self.group(block.group)}"

    def chain(self, chain: tree.Chain) -> str:
        raise NotImplementedError

    def window_block(self, block: tree.WindowBlock) -> str:
        raise NotImplementedError

    def stream_block(self, block: tree.StreamBlock) -> str:
        raise NotImplementedError

    def values(self, data: tree.InlineData) -> str:
        names = " ".join(f"?{variable.name}" for variable in data.variables)
        rows = (" ".join("UNDEF" if v is None else self.term(v) for v in row.values) for row in data.rows)
        return f"VALUES ({names}) {{ {' '.join(f'({row})' for row in rows)} }}"

    def expression(self, expression: tree.Expression) -> str:
        self.check(expression)
        return self.terms.expression(expression, self.group)

    def check(self, expression: tree.Expression) -> None:
        """Raise a `CannotSay` if the language has no such expression."""

    def bracketed(self, expression: tree.Expression) -> str:
        self.check(expression)
        return self.terms.bracketed(expression, self.group)

    # Modifiers and query forms

    def items(
        self, select: tree.Select, where: tree.Group, modifiers: tree.Modifiers, values: tree.InlineData | None
    ) -> str:
        """The projected variables by name: further variables may be in scope."""
        word = "DISTINCT " if select.distinct else "REDUCED " if select.reduced else ""
        if select.items is None:
            names = visible_in_select(select, where, modifiers, values)
            return word + (" ".join(f"?{name}" for name in names) or "*")
        return word + " ".join(map(self._item, select.items))

    def _item(self, item: tree.SelectItem) -> str:
        if item.expression is None:
            return f"?{item.variable.name}"
        written = self.expression(item.expression)
        return written if item.bare else f"({written} AS ?{item.variable.name})"

    def modifiers(self, modifiers: tree.Modifiers) -> Iterator[str]:
        if modifiers.group_by:
            yield f"GROUP BY {' '.join(map(self._key, modifiers.group_by))}"
        for condition in modifiers.having:
            yield f"HAVING {self.bracketed(condition)}"
        if modifiers.order_by:
            keys = (("DESC" if k.descending else "ASC") + self.bracketed(k.expression) for k in modifiers.order_by)
            yield f"ORDER BY {' '.join(keys)}"
        if modifiers.limit is not None:
            yield f"LIMIT {modifiers.limit}"
        if modifiers.offset:
            yield f"OFFSET {modifiers.offset}"

    def _key(self, key: tree.GroupKey) -> str:
        written = self.expression(key.expression)
        if key.alias is not None:
            return f"({written} AS ?{key.alias.name})"
        return written if isinstance(key.expression, tree.Variable) else f"({written})"

    def form(self) -> str:
        query = self.query
        match query.form:
            case tree.Select():
                return f"SELECT {self.items(query.form, query.where, query.modifiers, query.values)}"
            case tree.Ask():
                return "ASK"
            case tree.Construct(template):
                return f"CONSTRUCT {{ {self.template(template)} }}"
            case tree.Describe(terms):
                return f"DESCRIBE {' '.join(self._described() if terms is None else map(self.term, terms)) or '*'}"

    def _described(self) -> list[str]:
        values = self.query.values.variables if self.query.values else ()
        names = dict.fromkeys([*visible(self.query.where), *(variable.name for variable in values)])
        return [f"?{name}" for name in names]

    def template(self, triples: tuple[tree.Triple, ...]) -> str:
        return " ".join(f"{self.triple(triple)} ." for triple in triples)

    def datasets(self) -> Iterator[str]:
        for clause in self.query.datasets:
            yield f"FROM {'NAMED ' if clause.named else ''}{self.terms.iri(clause.iri.value)}"

    def text(self) -> str:
        """The whole query. WHERE is written first, so that its windows are known."""
        query, form = self.query, self.form()
        end = [f"WHERE {self.group(query.where)}", *self.modifiers(query.modifiers)]
        end += [] if query.values is None else [self.values(query.values)]
        lines = [*self.registration(), form, *self.datasets(), *self.streams(), *end]
        return self.terms.prologue() + "\n".join(lines) + "\n"

    def registration(self) -> Iterator[str]:
        return iter(())

    def streams(self) -> Iterator[str]:
        return iter(())

"""SQL as a tree: the items of FROM, and queries. A query knows whether it is volatile and whether rows hold always."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.compile.sql.tree import ALWAYS, VOLATILE, Alias, Column, Expr, Literal, Operand

_FACTS = VOLATILE | ALWAYS  # facts that an outer SELECT inherits; the sides of a join are not among them


class From:
    """An item of FROM. It has an alias if columns are read by it."""

    __slots__ = ("facts",)

    facts: int

    def called(self, alias: str) -> From:
        """Return the item under another alias."""
        raise NotImplementedError


class Table(From):
    """A table or view."""

    __slots__ = ("alias", "name")

    def __init__(self, name: str, alias: str | None = None) -> None:
        self.name, self.alias, self.facts = name, alias, 0

    def called(self, alias: str) -> From:
        return Table(self.name, alias)


class Derived(From):
    """The rows of a query."""

    __slots__ = ("alias", "query")

    def __init__(self, query: Query, alias: str = "t") -> None:
        self.query, self.alias, self.facts = query, alias, query.facts

    def called(self, alias: str) -> From:
        return Derived(self.query, alias)


class Values(From):
    """Rows of constants."""

    __slots__ = ("alias", "columns", "rows")

    def __init__(self, rows: Sequence[tuple[Expr, ...]], columns: tuple[str, ...], alias: str = "t") -> None:
        self.rows, self.columns, self.alias, self.facts = tuple(rows), columns, alias, 0

    def called(self, alias: str) -> From:
        return Values(self.rows, self.columns, alias)


class Numbers(From):
    """A given number of rows without meaningful columns."""

    __slots__ = ("count",)

    def __init__(self, count: int) -> None:
        self.count, self.facts = count, 0


class Join(From):
    """Two items joined; `kind` is JOIN, LEFT JOIN, LEFT SEMI JOIN or LEFT ANTI JOIN."""

    __slots__ = ("kind", "left", "on", "right")

    def __init__(self, left: From, right: From, on: Expr | None, kind: str = "JOIN") -> None:
        self.left, self.right, self.on, self.kind = left, right, on, kind
        self.facts = left.facts | right.facts | (0 if on is None else on.facts & _FACTS)


class Query:
    """A query: a SELECT or a union of them."""

    __slots__ = ("facts",)

    facts: int

    @property
    def volatile(self) -> bool:
        """Whether each read may give other rows, because of UUID() or LIMIT."""
        return bool(self.facts & VOLATILE)

    @property
    def holds_always(self) -> bool:
        """Whether some of its rows have an unbounded validity interval."""
        return bool(self.facts & ALWAYS)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of its columns; None if it selects a star."""
        raise NotImplementedError


UNIT = Alias(Literal(1, "INT"), ".unit")  # a relation of no columns still has rows, hence the constant


class Select(Query):
    """SELECT items FROM source, with its further clauses.

    `hints` are names with arguments for Spark's planner. `spread` has the expressions by which rows are distributed to
    tasks.
    """

    __slots__ = (
        "distinct", "group", "having", "hints", "items", "limit", "offset", "order", "source", "spread", "where",
    )  # fmt: skip

    def __init__(
        self,
        items: Iterable[Expr],
        source: From | Query | None = None,
        where: Expr | None = None,
        *,
        group: Sequence[Expr] = (),
        having: Expr | None = None,
        order: Sequence[Expr] = (),
        limit: int | None = None,
        offset: int = 0,
        distinct: bool = False,
        hints: Sequence[Hint] = (),
        spread: Sequence[Expr] = (),
    ) -> None:
        self.items = tuple(items) or (UNIT,)
        self.source = Derived(source) if isinstance(source, Query) else source
        self.where, self.group, self.having, self.order = where, tuple(group), having, tuple(order)
        self.limit, self.offset, self.distinct = limit, offset, distinct
        self.hints, self.spread = tuple(hints), tuple(spread)
        facts = VOLATILE if limit is not None or offset else 0
        for expr in self.expressions:
            facts |= expr.facts
        self.facts = (facts & _FACTS) | (0 if self.source is None else self.source.facts)

    def spread_by(self, keys: Sequence[Expr]) -> Select:
        """Return the same rows, those with equal keys in one task."""
        return Select(
            self.items, self.source, self.where, group=self.group, having=self.having, order=self.order,
            limit=self.limit, offset=self.offset, distinct=self.distinct, hints=self.hints, spread=keys,
        )  # fmt: skip

    @property
    def is_cut(self) -> bool:
        """Whether its rows are sorted, limited or distributed."""
        return bool(self.order or self.spread or self.limit is not None or self.offset)

    @property
    def expressions(self) -> Iterable[Expr]:
        yield from self.items
        yield from (test for test in (self.where, self.having) if test is not None)
        yield from (*self.group, *self.order, *self.spread)

    @property
    def columns(self) -> tuple[str, ...] | None:
        names = tuple(item.name for item in self.items if isinstance(item, Column | Alias))
        return names if len(names) == len(self.items) else None


class Union(Query):
    """The rows of several queries; `all` keeps duplicates."""

    __slots__ = ("all", "parts")

    def __init__(self, parts: Iterable[Query], all: bool = True) -> None:
        self.parts, self.all = tuple(parts), all
        self.facts = 0
        for part in self.parts:
            self.facts |= part.facts

    @property
    def columns(self) -> tuple[str, ...] | None:
        return self.parts[0].columns


Hint = tuple[str, tuple[Operand | str, ...]]
"""A hint of SELECT: its name and its arguments, which are aliases of tables, numbers and columns."""


def table_names(query: Query) -> frozenset[str]:
    """Return the names of all tables that a query reads."""
    names: set[str] = set()
    seen: set[int] = set()
    todo: list[object] = [query]
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        match node:
            case Table():
                names.add(node.name)
            case Derived():
                todo.append(node.query)
            case Join():
                todo += [node.left, node.right, node.on]
            case Select():
                todo += [node.source, *node.expressions]
            case Union():
                todo += node.parts
            case Expr():
                todo += [*node.args, *(part for part in node.data if isinstance(part, Query))]
    return frozenset(names)

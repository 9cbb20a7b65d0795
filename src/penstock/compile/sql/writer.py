"""The writer of SQL: a tree printed in a dialect. No other module makes text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.compile.sql import queries, tree
from penstock.compile.sql.dialect import SPARK, Dialect
from penstock.compile.sql.queries import From, Query
from penstock.compile.sql.tree import Expr

__all__ = ["write", "write_expression"]

# Precedence of operators. An operand of lower precedence than its place is put in parentheses.
_ANY, _OR, _AND, _NOT, _TEST, _SUM, _PRODUCT, _SIGN, _ATOM = range(9)
_RANKS = {
    "OR": _OR, "AND": _AND, "NOT": _NOT, "=": _TEST, "<>": _TEST, "<=>": _TEST, "<": _TEST, "<=": _TEST, ">": _TEST,
    ">=": _TEST, "RLIKE": _TEST, "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT, "div": _PRODUCT,
}  # fmt: skip


def write(query: Query, dialect: Dialect = SPARK) -> str:
    """Return the text of a query."""
    writer = _Writer(dialect)
    writer.query(query)
    return "".join(writer.parts)


def write_expression(expr: Expr, dialect: Dialect = SPARK) -> str:
    """Return the text of an expression, or of an item of SELECT."""
    writer = _Writer(dialect)
    writer.expr(expr)
    return "".join(writer.parts)


class _Writer:
    """A writer that collects the parts of a text."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.parts: list[str] = []
        self.put = self.parts.append

    def quoted(self, name: str) -> str:
        quote = self.dialect.quote
        return f"{quote}{name.replace(quote, quote * 2)}{quote}"

    # Queries

    def query(self, query: Query) -> None:
        if isinstance(query, queries.Select):
            self.select(query)
        elif isinstance(query, queries.Union):
            self._between(query.parts, self._part, " UNION ALL " if query.all else " UNION ")
        else:
            raise AssertionError(f"no query: {query!r}")

    def _part(self, query: Query) -> None:
        """Write a part of a union: another union, or a SELECT that is sorted or cut, is in parentheses."""
        if isinstance(query, queries.Select) and not query.is_cut:
            self.select(query)
        else:
            self._in_parentheses(lambda: self.query(query))

    def select(self, select: queries.Select) -> None:
        self.put("SELECT ")
        self._hints(select.hints)
        self.put("DISTINCT " if select.distinct else "")
        self.list(select.items)
        if select.source is not None:
            self.put(" FROM ")
            self.source(select.source)
        self._clause(" WHERE ", () if select.where is None else (select.where,))
        self._clause(" GROUP BY ", select.group)
        self._clause(" HAVING ", () if select.having is None else (select.having,))
        if select.spread and self.dialect.spread:
            before, _, after = self.dialect.spread.partition("{}")
            self._clause(before, select.spread)
            self.put(after)
        self._clause(" ORDER BY ", select.order)
        self.put("" if select.limit is None else f" LIMIT {select.limit}")
        self.put(f" OFFSET {select.offset}" if select.offset else "")

    def _hints(self, hints: tuple[queries.Hint, ...]) -> None:
        known = [(name, args) for name, args in hints if name in self.dialect.hints]
        if known:
            calls = (f"{name}({', '.join(map(self._hinted, args))})" for name, args in known)
            self.put(self.dialect.hint.format(", ".join(calls)))

    def _hinted(self, arg: tree.Operand | str) -> str:
        return write_expression(arg, self.dialect) if isinstance(arg, Expr) else str(arg)

    def _clause(self, word: str, exprs: tuple[Expr, ...]) -> None:
        if exprs:
            self.put(word)
            self.list(exprs)

    def source(self, source: From) -> None:
        _SOURCES[type(source)](self, source)

    def _table(self, table: queries.Table) -> None:
        self.put(table.name if table.alias is None else f"{table.name} {table.alias}")

    def _derived(self, derived: queries.Derived) -> None:
        self._in_parentheses(lambda: self.query(derived.query))
        self.put(f" {derived.alias}")

    def _values(self, values: queries.Values) -> None:
        rows = ", ".join(f"({', '.join(write_expression(cell, self.dialect) for cell in row)})" for row in values.rows)
        columns = ", ".join(map(self.quoted, values.columns))
        self.put(self.dialect.values.format(rows=rows, alias=values.alias, columns=columns))

    def _numbers(self, numbers: queries.Numbers) -> None:
        self.put(self.dialect.numbers.format(numbers.count))

    def _join(self, join: queries.Join) -> None:
        self.source(join.left)
        self.put(f" {self.dialect.joins.get(join.kind, join.kind)} ")
        if isinstance(join.right, queries.Join):
            self._in_parentheses(lambda: self.source(join.right))
        else:
            self.source(join.right)
        self._clause(" ON ", () if join.on is None else (join.on,))

    # Expressions

    def expr(self, expr: Expr, level: int = _ANY) -> None:
        while isinstance(expr, tree.Let):
            expr = expr.args[0]
        if level and self._rank(expr) < level:
            self.put("(")
            _EXPRESSIONS[type(expr)](self, expr)
            self.put(")")
        else:
            _EXPRESSIONS[type(expr)](self, expr)

    def _rank(self, expr: Expr) -> int:
        kind = type(expr)
        if kind is tree.Operator:
            symbol = expr.data[0]
            if "{" in self.dialect.operators.get(symbol, ""):
                return _ATOM
            return _RANKS[symbol]
        if kind is tree.Prefix:
            return _NOT if expr.data[0] == "NOT" else _SIGN
        if kind is tree.IsNull or kind is tree.In or kind is tree.InQuery:
            return _TEST
        if kind is tree.Literal and isinstance(expr.data[0], int | float) and expr.data[0] < 0:
            return _SIGN
        return _ANY + 1 if kind is tree.Lambda else _ATOM

    def list(self, exprs: Iterable[Expr]) -> None:
        self._between(exprs, self.expr, ", ")

    def _between(self, things: Iterable[Any], each: Callable[[Any], None], separator: str) -> None:
        for number, thing in enumerate(things):
            if number:
                self.put(separator)
            each(thing)

    def _in_parentheses(self, inside: Callable[[], None]) -> None:
        self.put("(")
        inside()
        self.put(")")

    def _column(self, column: Expr) -> None:
        name, table = column.data
        self.put(self.quoted(name) if table is None else f"{table}.{self.quoted(name)}")

    def _literal(self, literal: Expr) -> None:
        value, type = literal.data
        if type == "STRING":
            self.put(self._text(value))
        elif type in ("BOOLEAN", "NULL"):
            self.put({True: "true", False: "false", None: "NULL"}[value])
        else:
            self.put(self.dialect.literals[type].format(value))

    def _text(self, value: str) -> str:
        return f"'{value.translate(self.dialect.translation)}'"

    def _call(self, call: Expr) -> None:
        function, distinct = call.data
        written = self.dialect.functions.get(function, function)
        if "{" in written:
            self._filled(written, call.args)
            return
        self.put(f"{written}(DISTINCT " if distinct else f"{written}(")
        self.list(call.args)
        self.put(")")

    def _filled(self, template: str, args: tuple[Expr, ...]) -> None:
        self.put(template.format(*(write_expression(arg, self.dialect) for arg in args)))

    def _operator(self, operator: Expr) -> None:
        symbol = operator.data[0]
        written = self.dialect.operators.get(symbol, symbol)
        if "{" in written:
            self._filled(written, operator.args)
            return
        rank = self._rank(operator)
        first = rank + 1 if rank in (_OR, _AND, _TEST) else rank  # sums and products group from the left
        for number, arg in enumerate(operator.args):
            if number:
                self.put(f" {written} ")
            self.expr(arg, rank + 1 if number else first)

    def _prefix(self, prefix: Expr) -> None:
        self.put("NOT " if prefix.data[0] == "NOT" else "-")
        self.expr(prefix.args[0], _TEST if prefix.data[0] == "NOT" else _SIGN + 1)

    def _is_null(self, test: Expr) -> None:
        self.expr(test.args[0], _SUM)
        self.put(" IS NOT NULL" if test.data[0] else " IS NULL")

    def _in(self, test: Expr) -> None:
        self.expr(test.args[0], _SUM)
        self.put(" NOT IN (" if test.data[0] else " IN (")
        self.list(test.args[1:])
        self.put(")")

    def _in_query(self, test: Expr) -> None:
        negated, query = test.data
        self.expr(test.args[0], _SUM)
        self.put(" NOT IN " if negated else " IN ")
        self._in_parentheses(lambda: self.query(query))

    def _scalar(self, scalar: Expr) -> None:
        self._in_parentheses(lambda: self.query(scalar.data[0]))

    def _cast(self, cast: Expr) -> None:
        self.put("CAST(")
        self.expr(cast.args[0])
        self.put(f" AS {self.dialect.type(cast.data[0])})")

    def _case(self, case: Expr) -> None:
        self.put("CASE")
        args = case.args
        for i in range(0, len(args) - 1, 2):
            self.put(" WHEN ")
            self.expr(args[i])
            self.put(" THEN ")
            self.expr(args[i + 1])
        if len(args) % 2:
            self.put(" ELSE ")
            self.expr(args[-1])
        self.put(" END")

    def _struct(self, struct: Expr) -> None:
        before, each, after = self.dialect.struct
        fields = (
            each.format(name=self._text(name), column=self.quoted(name), value=write_expression(value, self.dialect))
            for name, value in zip(struct.data[0], struct.args, strict=True)
        )
        self.put(f"{before}{', '.join(fields)}{after}")

    def _field(self, field: Expr) -> None:
        self.expr(field.args[0], _ATOM)
        self.put(f".{self.quoted(field.data[0])}")

    def _parameter(self, parameter: Expr) -> None:
        self.put(parameter.data[0])

    def _lambda(self, function: Expr) -> None:
        names = function.data[0]
        written = names[0] if len(names) == 1 else f"({', '.join(names)})"
        self.put(self.dialect.arrow.format(names=written, body=write_expression(function.args[0], self.dialect)))

    def _over(self, over: Expr) -> None:
        count, frame = over.data
        call, by, order = over.args[0], over.args[1 : 1 + count], over.args[1 + count :]
        self.expr(call, _ATOM)
        self.put(" OVER (")
        self._clause("PARTITION BY ", by)
        self._clause(" ORDER BY " if by else "ORDER BY ", order)
        self.put(f" {frame})" if frame else ")")

    def _order(self, order: Expr) -> None:
        self.expr(order.args[0])
        self.put(" DESC" if order.data[0] else "")

    def _alias(self, alias: Expr) -> None:
        self.expr(alias.args[0])
        self.put(f" AS {self.quoted(alias.data[0])}")

    def _star(self, star: Expr) -> None:
        table, without = star.data
        self.put("*" if table is None else f"{table}.*")
        if without:
            self.put(" " + self.dialect.without.format(", ".join(map(self.quoted, without))))


_SOURCES: dict[type[From], Callable[[_Writer, Any], None]] = {
    queries.Table: _Writer._table,
    queries.Derived: _Writer._derived,
    queries.Values: _Writer._values,
    queries.Numbers: _Writer._numbers,
    queries.Join: _Writer._join,
}
_EXPRESSIONS: dict[type[Expr], Callable[[_Writer, Any], None]] = {
    tree.Column: _Writer._column,
    tree.Literal: _Writer._literal,
    tree.Call: _Writer._call,
    tree.Operator: _Writer._operator,
    tree.Prefix: _Writer._prefix,
    tree.IsNull: _Writer._is_null,
    tree.In: _Writer._in,
    tree.InQuery: _Writer._in_query,
    tree.Scalar: _Writer._scalar,
    tree.Cast: _Writer._cast,
    tree.Case: _Writer._case,
    tree.Struct: _Writer._struct,
    tree.Field: _Writer._field,
    tree.Parameter: _Writer._parameter,
    tree.Lambda: _Writer._lambda,
    tree.Over: _Writer._over,
    tree.Order: _Writer._order,
    tree.Alias: _Writer._alias,
    tree.Star: _Writer._star,
}

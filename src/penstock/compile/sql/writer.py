"""The writer of SQL: a tree printed in a dialect. No other module makes text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.compile.sql import queries, tree
from penstock.compile.sql.dialect import SPARK, All, Dialect, Form, Unsupported
from penstock.compile.sql.queries import From, Query
from penstock.compile.sql.tree import Expr

__all__ = ["Written", "write", "write_expression", "written"]

# Precedence of operators. An operand of lower precedence than its place is put in parentheses.
_ANY, _OR, _AND, _NOT, _TEST, _SUM, _PRODUCT, _SIGN, _ATOM = range(9)
_RANKS = {
    "OR": _OR, "AND": _AND, "NOT": _NOT, "=": _TEST, "<>": _TEST, "<=>": _TEST, "<": _TEST, "<=": _TEST, ">": _TEST,
    ">=": _TEST, "RLIKE": _TEST, "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT, "div": _PRODUCT,
    "exact +": _SUM, "exact -": _SUM, "exact *": _PRODUCT, "exact /": _PRODUCT,
}  # fmt: skip
_PATTERNS = {"RLIKE": 1, "regexp_extract": 1, "regexp_replace": 1}  # the operands that are regular expressions
_REPLACEMENTS = {"regexp_replace": 2}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a query, and the functions that it calls and that have to be added to the engine.

    `refusal` says what the dialect has no exact counterpart of; the text is then of no use.
    """

    text: str
    functions: frozenset[str]
    refusal: str | None


def written(query: Query, dialect: Dialect) -> Written:
    """Return the text of a query with the functions that the engine lacks, or why there is no exact text."""
    writer = _Writer(dialect)
    writer.query(query)
    return Written("".join(writer.parts), frozenset(writer.functions), writer.refusal)


def write(query: Query, dialect: Dialect = SPARK) -> str:
    """Return the text of a query, of which the dialect has every part."""
    writer = _Writer(dialect)
    writer.query(query)
    return writer.text()


def write_expression(expr: Expr, dialect: Dialect = SPARK) -> str:
    """Return the text of an expression, or of an item of SELECT."""
    writer = _Writer(dialect)
    writer.expr(expr)
    return writer.text()


class _Writer:
    """A writer that collects the parts of a text."""

    def __init__(self, dialect: Dialect, outer: _Writer | None = None) -> None:
        self.dialect = dialect
        self.names: dict[str, str] = {} if outer is None else outer.names  # by their lower case
        self.functions: set[str] = set() if outer is None else outer.functions  # those that the engine lacks
        self.lacks: list[str] = [] if outer is None else outer.lacks  # parts without an exact counterpart
        self.parts: list[str] = []
        self.put = self.parts.append

    @property
    def refusal(self) -> str | None:
        """The reason why the text is not exact; None if it is."""
        return self.lacks[0] if self.lacks else None

    def text(self) -> str:
        if self.refusal is not None:
            raise Unsupported(self.refusal)
        return "".join(self.parts)

    def exact(self, form: T | None, part: str, name: str) -> T | str:
        """Return the dialect's form of a part; without one, note that, and return the name in its place."""
        if form is None:
            self.lacks.append(f"{self.dialect.name} has no exact counterpart of {part} {name}")
            return name
        return form

    def quoted(self, name: str) -> str:
        quote = self.dialect.quote
        if not self.dialect.case_sensitive and self.names.setdefault(name.lower(), name) != name:
            other = self.names[name.lower()]
            self.lacks.append(f"{self.dialect.name} does not tell the names {other} and {name} apart")
        return f"{quote}{name.replace(quote, quote * 2)}{quote}"

    def text_of(self, expr: Expr, level: int = _ANY) -> str:
        """Return the text of a part, which is not written yet."""
        inner = _Writer(self.dialect, self)
        inner.expr(expr, level)
        return "".join(inner.parts)

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
        self._clause(" ORDER BY ", tuple(map(_ordered, select.order)))
        self.put("" if select.limit is None else f" LIMIT {select.limit}")
        self.put(f" OFFSET {select.offset}" if select.offset else "")

    def _hints(self, hints: tuple[queries.Hint, ...]) -> None:
        supported = [(name, args) for name, args in hints if name in self.dialect.hints]
        if supported:
            calls = (f"{name}({', '.join(map(self._hinted, args))})" for name, args in supported)
            self.put(self.dialect.hint.format(", ".join(calls)))

    def _hinted(self, arg: tree.Operand | str) -> str:
        return self.text_of(arg) if isinstance(arg, Expr) else str(arg)

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
        rows = ", ".join(f"({', '.join(self.text_of(cell) for cell in row)})" for row in values.rows)
        columns = ", ".join(map(self.quoted, values.columns))
        self.put(self.dialect.values.format(rows=rows, alias=values.alias, columns=columns))

    def _numbers(self, numbers: queries.Numbers) -> None:
        self.put(self.dialect.numbers.format(numbers.count))

    def _join(self, join: queries.Join) -> None:
        self.source(join.left)
        self.put(f" {self.exact(self.dialect.join(join.kind), 'the join', join.kind)} ")
        if isinstance(join.right, queries.Join):
            self._in_parentheses(lambda: self.source(join.right))
        else:
            self.source(join.right)
        if join.on is None:
            self.put(self.dialect.unconditional)
        else:
            self._clause(" ON ", (join.on,))

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
            return _ATOM if "{" in (self.dialect.operator(symbol) or "") else _RANKS[symbol]
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
        if "\0" in value and "\0" not in self.dialect.escapes:
            self.lacks.append(f"{self.dialect.name} has no constant with the character U+0000")
        return f"'{value.translate(self.dialect.translation)}'"

    def _call(self, call: Expr) -> None:
        self._called(call, "")

    def _called(self, call: Expr, over: str) -> None:
        """Write a call, with its OVER clause if it is a window function."""
        function, distinct = call.data
        args = self._translated(function, call.args)
        last = args[-1].data[0] if args and type(args[-1]) is tree.Literal else None
        form: Form = self.exact(self.dialect.function(function, len(args), last), "the function", function)
        if isinstance(form, All):
            parts = form.between.join(form.each.format(self.text_of(arg)) for arg in args)
            self.put(f"{form.before}{parts}{form.after}{over}")
            return
        self._note(form)
        if "(" in form:
            self.put(form.format(*map(self.text_of, args), over=over))
            self.put("" if "{over}" in form else over)
        else:
            self.put(f"{form}(DISTINCT " if distinct else f"{form}(")
            self.list(args)
            self.put(f"){over}")

    def _note(self, form: str) -> None:
        """Note the function that a form calls, if the engine lacks it."""
        added = self.dialect.added_function(form)
        if added is not None:
            self.functions.add(added)

    def _translated(self, name: str, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Return the operands of a function or operator, regular expressions in the dialect's syntax."""
        for places, translate in ((_PATTERNS, self.dialect.pattern), (_REPLACEMENTS, self.dialect.replacement)):
            if translate is not None and name in places:
                args = tuple(self._constant(e, translate) if i == places[name] else e for i, e in enumerate(args))
        return args

    def _constant(self, expr: Expr, translate: Callable[[str], str | None]) -> Expr:
        if isinstance(expr, tree.Literal) and expr.is_text:
            translated = self.exact(translate(expr.value), "the regular expression", expr.value)
            return tree.Literal(translated, "STRING")
        if not (isinstance(expr, tree.Cast) and expr.args[0].data[0] is None):  # which is an invalid pattern
            self.lacks.append("a regular expression is computed, so it cannot be translated with the query")
        return expr

    def _operator(self, operator: Expr) -> None:
        symbol = operator.data[0]
        form = self.exact(self.dialect.operator(symbol), "the operator", symbol)
        if "{" in form:
            self._note(form)
            args = self._translated(symbol, operator.args)
            self.put(form.format(*(self.text_of(arg, _ATOM) for arg in args)))
            return
        rank = self._rank(operator)
        first = rank + 1 if rank in (_OR, _AND, _TEST) else rank  # sums and products group from the left
        for number, arg in enumerate(operator.args):
            if number:
                self.put(f" {form} ")
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
        type, of = cast.data
        template = self.exact(self.dialect.cast_of(of, type), "the cast", f"{of} AS {type}")
        self._note(template)
        value = self.text_of(cast.args[0])
        self.put(template.format(value=value, type=self.exact(self.dialect.type(type), "the type", type)))

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
            each.format(name=self._text(name), column=self.quoted(name), value=self.text_of(value))
            for name, value in zip(struct.data[0], struct.args, strict=True)
        )
        self.put(f"{before}{', '.join(fields)}{after}")

    def _field(self, field: Expr) -> None:
        self.expr(field.args[0], _ATOM)
        self.put(f".{self.quoted(field.data[0])}")

    def _parameter(self, parameter: Expr) -> None:
        self.put(self.dialect.parameter.format(parameter.data[0]))

    def _variable(self, variable: Expr) -> None:
        self.put(self.dialect.variable.format(variable.data[0]))

    def _lambda(self, function: Expr) -> None:
        names = function.data[0]
        listed = ", ".join(map(self.dialect.parameter.format, names))
        written = listed if len(names) == 1 else self.dialect.several.format(listed)
        self.put(self.dialect.arrow.format(names=written, body=self.text_of(function.args[0])))

    def _over(self, over: Expr) -> None:
        count, frame = over.data
        call, by, order = over.args[0], over.args[1 : 1 + count], over.args[1 + count :]
        while isinstance(call, tree.Let):
            call = call.args[0]
        inner = _Writer(self.dialect, self)
        inner.put(" OVER (")
        inner._clause("PARTITION BY ", by)
        inner._clause(" ORDER BY " if by else "ORDER BY ", tuple(map(_ordered, order)))
        inner.put(f" {frame})" if frame else ")")
        self._called(call, "".join(inner.parts))

    def _order(self, order: Expr) -> None:
        self.put(self.dialect.order[order.data[0]].format(self.text_of(order.args[0])))

    def _alias(self, alias: Expr) -> None:
        self.expr(alias.args[0])
        self.put(f" AS {self.quoted(alias.data[0])}")

    def _star(self, star: Expr) -> None:
        table, without = star.data
        self.put("*" if table is None else f"{table}.*")
        if without:
            self.put(" " + self.dialect.without.format(", ".join(map(self.quoted, without))))


def _ordered(expr: Expr) -> Expr:
    return expr if isinstance(expr, tree.Order) else tree.Order(expr)


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
    tree.Variable: _Writer._variable,
    tree.Lambda: _Writer._lambda,
    tree.Over: _Writer._over,
    tree.Order: _Writer._order,
    tree.Alias: _Writer._alias,
    tree.Star: _Writer._star,
}

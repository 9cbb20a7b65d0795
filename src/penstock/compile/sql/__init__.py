"""SQL as a tree of nodes, and the small constructors that the compiler builds it with."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.compile.sql.common_subexpressions import lets_in, lower
from penstock.compile.sql.dialect import SPARK, Dialect, Unsupported
from penstock.compile.sql.duckdb import DUCKDB
from penstock.compile.sql.nested_selects import merged
from penstock.compile.sql.queries import (
    Derived,
    From,
    Hint,
    Join,
    Numbers,
    Query,
    Select,
    Table,
    Union,
    Values,
    table_names,
)
from penstock.compile.sql.tree import (
    ALWAYS,
    Alias,
    Call,
    Case,
    Cast,
    Column,
    Expr,
    Field,
    InQuery,
    Lambda,
    Let,
    Literal,
    Operand,
    Operator,
    Order,
    Over,
    Parameter,
    Prefix,
    Scalar,
    Star,
    Struct,
    Variable,
    let,
    lifted,
    rewritten,
)
from penstock.compile.sql.writer import Written, write, write_expression, written

__all__ = [
    "ALWAYS",
    "BEFORE",
    "DUCKDB",
    "FALSE",
    "NULL",
    "SPARK",
    "STAR",
    "TRUE",
    "Alias",
    "Call",
    "Case",
    "Cast",
    "Column",
    "Derived",
    "Dialect",
    "Expr",
    "Field",
    "From",
    "Hint",
    "InQuery",
    "Join",
    "Lambda",
    "Let",
    "Literal",
    "Numbers",
    "Operand",
    "Operator",
    "Order",
    "Over",
    "Parameter",
    "Prefix",
    "Query",
    "Scalar",
    "Select",
    "Star",
    "Struct",
    "Table",
    "Union",
    "Unsupported",
    "Values",
    "Variable",
    "Written",
    "alias",
    "all_of",
    "any_of",
    "array",
    "arrow_call",
    "call",
    "case",
    "coalesce",
    "column",
    "double",
    "exact",
    "let",
    "lets_in",
    "lifted",
    "long",
    "lower",
    "merged",
    "name",
    "null",
    "rewritten",
    "struct",
    "table_names",
    "text",
    "texts",
    "union_all",
    "view",
    "when",
    "write",
    "write_expression",
    "written",
]

TRUE, FALSE = Literal(True, "BOOLEAN"), Literal(False, "BOOLEAN")
STAR = Star()
BEFORE = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"  # the frame of a window function without the row itself


def null(type: str) -> Expr:
    return Cast(Literal(None, "NULL"), type)


NULL = null("STRING")


def text(value: str) -> Literal:
    return Literal(value, "STRING")


def texts(values: Iterable[str]) -> list[Expr]:
    return [text(value) for value in values]


def long(value: int) -> Literal:
    return Literal(value, "BIGINT")


def double(value: str) -> Literal:
    return Literal(value, "DOUBLE")


def name(identifier: str) -> Column:
    """Return a column of any item of FROM."""
    return Column(identifier)


def column(table: str, identifier: str) -> Column:
    return Column(identifier, table)


def call(function: str, *arguments: Operand) -> Expr:
    return Call(function, tuple(map(lifted, arguments)))


def arrow_call(function: str, *arguments: Expr) -> Expr:
    """Return a call of a function that runs in Python, on batches of rows."""
    return Call(function, arguments, arrow=True)


def array(*members: Expr) -> Expr:
    return Call("array", members)


def struct(**fields: Expr) -> Expr:
    return Struct(tuple(fields), tuple(fields.values()))


def alias(expression: Operand, identifier: str) -> Expr:
    return Alias(lifted(expression), identifier)


def exact(symbol: str, left: Expr, right: Operand) -> Expr:
    """Return the sum, difference, product or quotient of numbers of DECIMAL(38,18); NULL if it is too large."""
    return Operator(f"exact {symbol}", (left, lifted(right)))


def all_of(conditions: Iterable[Expr]) -> Expr:
    """Return the conjunction; of nothing it is true."""
    return _joined("AND", conditions, TRUE)


def any_of(conditions: Iterable[Expr]) -> Expr:
    """Return the disjunction; of nothing it is false."""
    return _joined("OR", conditions, FALSE)


def _joined(symbol: str, conditions: Iterable[Expr], neutral: Expr) -> Expr:
    operands = tuple(conditions)
    if len(operands) < 2:
        return operands[0] if operands else neutral
    return Operator(symbol, operands)


def case(*branches: tuple[Expr, Operand], otherwise: Operand | None = None) -> Expr:
    """Return CASE WHEN … THEN …; without `otherwise`, no match is NULL."""
    args = [lifted(part) for branch in branches for part in branch]
    return Case(tuple(args if otherwise is None else [*args, lifted(otherwise)]))


def coalesce(*values: Operand) -> Expr:
    return lifted(values[0]) if len(values) == 1 else call("coalesce", *values)


def when(condition: Expr, value: Operand) -> Expr:
    """Return the value where the condition is true, else NULL (which is SPARQL's error)."""
    return case((condition, value))


def view(name: str) -> Select:
    """Return all rows of a view."""
    return Select([STAR], Table(name))


def union_all(parts: Iterable[Query]) -> Query:
    """Return all rows of all parts."""
    queries = list(parts)
    return queries[0] if len(queries) == 1 else Union(queries)

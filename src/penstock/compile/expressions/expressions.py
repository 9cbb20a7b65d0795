"""Expressions of the algebra as SQL: variables and special forms. Functions are in the tables of `functions/`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from penstock.algebra.expressions import Call, Const, Exists, Expr, Occurrence, Var, walk
from penstock.compile import sql
from penstock.compile.expressions import iri, term_columns, timestamps
from penstock.compile.expressions.functions import FUNCTIONS, comparison
from penstock.compile.expressions.functions.terms import UUID
from penstock.compile.expressions.values import (
    NOTHING,
    Instant,
    Length,
    Node,
    Text,
    Truth,
    Value,
    count,
    of_term,
    term,
    text,
    truth,
)
from penstock.compile.relation import ENDS, INSTANT, STARTS
from penstock.compile.sql import let
from penstock.errors import QueryError
from penstock.model import term_encoding

_BLANK = sql.text("_:")


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of an expression: the columns of variables and EXISTS, and the values that the query provides."""

    columns: dict[str, sql.Expr]
    base: str | None
    now: str
    row: sql.Expr | None = None
    marks: dict[Exists, sql.Expr] = field(default_factory=dict)
    counts: frozenset[str] = frozenset()  # variables that hold results of COUNT

    def read(self, name: str) -> Value:
        """Return the column of a variable; NULL if the relation does not have it."""
        if name not in self.columns:
            return NOTHING
        column = self.columns[name]
        return count(column) if name in self.counts else Node(column)


def value(expr: Expr, scope: Scope) -> Value:
    """Return the typed value of an expression."""
    match expr:
        case Var(name):
            return scope.read(name)
        case Const(constant):
            return of_term(constant)
        case Exists():
            return Truth(scope.marks[expr])
        case Occurrence(kind):
            return _occurrence(kind, scope)
        case Call(name, args) if name in _FORMS:
            return _FORMS[name](args, scope)
        case Call(name, args):
            return _function(name)(*(value(arg, scope) for arg in args))
    raise AssertionError(f"no expression of a pattern: {expr}")


def _function(name: str) -> Callable[..., Value]:
    if name not in FUNCTIONS:
        raise QueryError(f"there is no function {name}")
    return FUNCTIONS[name]


def condition(expr: Expr, scope: Scope) -> sql.Expr:
    """Return the condition of a filter: an error counts as false, so equality with a constant is one plain
    comparison."""
    match expr:
        case Call("&&" | "||" as name, args):
            join = sql.all_of if name == "&&" else sql.any_of
            return join(condition(arg, scope) for arg in args)
        case Call("=", (left, right)):
            return comparison.surely_equal(value(left, scope), value(right, scope))
        case Call("IN", (left, *options)):
            needle = value(left, scope)
            return sql.any_of(comparison.surely_equal(needle, value(option, scope)) for option in options)
    return truth(value(expr, scope))


def implied(expr: Expr, scope: Scope) -> list[sql.Expr]:
    """Return plain comparisons that hold wherever the condition of a filter does."""
    match expr:
        case Call("&&", args):
            return [plain for arg in args for plain in implied(arg, scope)]
        case Call("<" | "<=" | ">" | ">=" as symbol, (left, right)):
            return comparison.implied(symbol, value(left, scope), value(right, scope))
    return []


Args = tuple[Expr, ...]


def _bound(args: Args, scope: Scope) -> Value:
    return Truth(term(value(args[0], scope)).not_null())


def _if(args: Args, scope: Scope) -> Value:
    test = let(truth(value(args[0], scope)))
    yes, no = value(args[1], scope), value(args[2], scope)
    return _same_type((yes, no), lambda a, b: let(sql.case((test, a), (~test, b))))


def _coalesce(args: Args, scope: Scope) -> Value:
    if not args:
        return NOTHING
    return _same_type(tuple(value(arg, scope) for arg in args), sql.coalesce)


def _same_type(values: tuple[Value, ...], combine: Callable[..., sql.Expr]) -> Value:
    for kind in (Text, Truth):
        if all(isinstance(v, kind) for v in values):
            return kind(combine(*(v.sql for v in values)))  # type: ignore[union-attr]
    return Node(combine(*(term(v) for v in values)))


def _in(args: Args, scope: Scope) -> Truth:
    needle = value(args[0], scope)
    return Truth(sql.any_of(comparison.equal(needle, value(option, scope)).sql for option in args[1:]))


def _logical(join: Callable[..., sql.Expr]) -> Callable[[Args, Scope], Value]:
    return lambda args, scope: Truth(join(truth(value(arg, scope)) for arg in args))


def _bnode(args: Args, scope: Scope) -> Value:
    """Return a new blank node; with an argument, the same one for the same string within a solution."""
    if not args:
        return Node(sql.call("concat", _BLANK, sql.call("replace", UUID, sql.text("-"), sql.text(""))))
    label = text(value(args[0], scope))
    assert scope.row is not None
    return Node(sql.call("concat", _BLANK, sql.call("md5", sql.call("concat", scope.row, sql.text(" "), label))))


def _iri(args: Args, scope: Scope) -> Value:
    argument = value(args[0], scope)
    if isinstance(argument, Text):
        return Node(iri.resolved(argument.sql, scope.base))
    encoded = term(argument)
    written = iri.resolved(text(argument), scope.base)
    return Node(sql.case((term_columns.is_iri(encoded), encoded), otherwise=written))


def _timestamp(args: Args, scope: Scope) -> Value:
    """Return the latest timestamp among the triples that bound the variable, in any stream or in one."""
    variable = args[0].name if isinstance(args[0], Var) else ""
    if len(args) == 1:
        return Instant(scope.columns.get(timestamps.column(variable), timestamps.NONE))
    wanted = term(value(args[1], scope))
    branches = [(wanted.eq(sql.text(g)), column) for g, column in timestamps.by_stream(variable, scope.columns)]
    return Instant(let(sql.case(*branches)) if branches else timestamps.NONE)


def _occurrence(kind: str, scope: Scope) -> Value:
    starts, ends = (scope.columns.get(c, timestamps.NONE) for c in (STARTS, ENDS))
    if kind == "duration":
        length = let(ends - starts)
        return Length(length, length)
    return Instant({"start": starts, "end": ends}[kind])


def _now(args: Args, scope: Scope) -> Value:
    return Instant(scope.columns[INSTANT]) if INSTANT in scope.columns else Node(sql.text(scope.now))


_FORMS: dict[str, Callable[[Args, Scope], Value]] = {
    "BOUND": _bound,
    "IF": _if,
    "COALESCE": _coalesce,
    "IN": _in,
    "NOT IN": lambda args, scope: Truth(~_in(args, scope).sql),
    "&&": _logical(sql.all_of),
    "||": _logical(sql.any_of),
    "!": lambda args, scope: Truth(~truth(value(args[0], scope))),
    "BNODE": _bnode,
    "IRI": _iri,
    "URI": _iri,
    "NOW": _now,
    "TIMESTAMP": _timestamp,
}


def asks_now(expr: Expr) -> bool:
    """Whether the expression calls NOW()."""
    return any(isinstance(part, Call) and part.name == "NOW" for part in walk(expr))


def needs_row(expr: Expr) -> bool:
    """Whether the expression calls BNODE(label)."""
    return any(isinstance(part, Call) and part.name == "BNODE" and part.args for part in walk(expr))


def now_term(moment: datetime) -> str:
    """Return the encoded xsd:dateTime of NOW()."""
    return f'"{moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")}"{term_encoding.tail_of("dateTime")}'


def supported() -> tuple[str, ...]:
    """Return the sorted names of all functions that an expression can call."""
    return tuple(sorted({*FUNCTIONS, *_FORMS}))

"""`=`, `<` and their kin: https://www.w3.org/TR/sparql11-query/#OperatorMapping.

Values compare within their family (numbers, strings, booleans, moments). Where the family of one side is known, only
that one is emitted. Literals of different known families are unequal; with an unknown datatype the answer is an error.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.functions import durations
from penstock.compile.expressions.functions.arithmetic import is_numeric
from penstock.compile.expressions.functions.moments import Moment, moment
from penstock.compile.expressions.values import (
    Instant,
    Length,
    Node,
    Number,
    Text,
    Truth,
    Value,
    as_boolean,
    boolean,
    number,
    term,
    text,
)
from penstock.compile.sql.common_subexpressions import let
from penstock.model import term_encoding

Compare = Callable[[Value, Value], Truth]


def _ordering(symbol: str) -> Compare:
    return lambda left, right: Truth(sql.coalesce(*_families(symbol, left, right)))


def _families(symbol: str, left: Value, right: Value) -> list[str]:
    """The comparison in every family that both sides may belong to; NULL where they do not."""
    known = {type(left), type(right)} - {Node}
    if len(known) == 2:
        return ["CAST(NULL AS BOOLEAN)"]
    if known == {Length}:  # only beside a length that is known to be one: other durations are terms like any
        return [durations.compare(symbol, left, right)]
    every = {Number: _numbers, Text: _strings, Truth: _truths, Instant: _moments}
    return [compare(symbol, left, right) for kind, compare in every.items() if not known or kind in known]


def _numbers(symbol: str, left: Value, right: Value) -> str:
    a, b = number(left), number(right)
    exact = [] if a.exact is None or b.exact is None else [f"{a.exact} {symbol} {b.exact}"]
    real = [] if a.real is None and b.real is None else [_reals(symbol, a, b)]
    return sql.coalesce(*exact, *real)


def _reals(symbol: str, a: Number, b: Number) -> str:
    """Spark orders NaN above everything and equal to itself; in SPARQL every comparison with it is false."""
    if a.constant and not b.constant:
        return _reals(_MIRRORED[symbol], b, a)
    if b.constant and "NaN" not in str(b.term):
        return _real_and_constant(symbol, a, b)
    x, y = a.as_real(), b.as_real()
    nan = sql.any_of(f"isnan({n.real})" for n in (a, b) if n.real is not None)
    comparison = f"{x} {symbol} {y}"
    return sql.case((f"({nan}) AND {comparison} IS NOT NULL", "false"), otherwise=comparison)


def _real_and_constant(symbol: str, a: Number, b: Number) -> str:
    """Where NaN would pass as the greatest, both sides are negated: a filter reads the number just once.

    Beside an exact constant, an exact number has been compared before it comes to this.
    """
    x, y = str(a.as_real() if b.exact is None else a.real), b.as_real()
    return f"(- {x}) {_MIRRORED[symbol]} (- {y})" if symbol in (">", ">=") else f"{x} {symbol} {y}"


_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}


def _strings(symbol: str, left: Value, right: Value) -> str:
    if isinstance(left, Node) and isinstance(right, Node):
        same = f"{term_columns.tail(left.sql)} = {term_columns.tail(right.sql)} AND {term_columns.is_string(left.sql)}"
        return sql.when(same, f"{term_columns.lexical(left.sql)} {symbol} {term_columns.lexical(right.sql)}")
    return f"{text(left)} {symbol} {text(right)}"


def _truths(symbol: str, left: Value, right: Value) -> str:
    return f"({as_boolean(left)}) {symbol} ({as_boolean(right)})"


def _moments(symbol: str, left: Value, right: Value) -> str:
    if isinstance(left, Instant) and isinstance(right, Instant):
        return f"{left.micros} {symbol} {right.micros}"
    return _moment(left).compare(symbol, _moment(right))


def _moment(value: Value) -> Moment:
    if isinstance(value, Instant):
        return Moment(sql.text(term_encoding.tail_of("dateTime")), value.micros, "true")
    return moment(term(value))


def equal(left: Value, right: Value) -> Truth:
    if isinstance(left, Node) or isinstance(right, Node):
        return Truth(_term_equal(left, right))
    if type(left) is type(right):
        return Truth(_families("=", left, right)[0])
    return Truth(sql.when(f"{term(left)} IS NOT NULL AND {term(right)} IS NOT NULL", "false"))


def _term_equal(left: Value, right: Value) -> str:
    a, b = term(left), term(right)
    values = [] if isinstance(left, Text) or isinstance(right, Text) else _families("=", left, right)
    return sql.case(
        (f"{a} IS NULL OR {b} IS NULL", "CAST(NULL AS BOOLEAN)"),
        (f"NOT ({term_columns.is_literal(a)} AND {term_columns.is_literal(b)})", f"{a} = {b}"),
        otherwise=sql.coalesce(*values, *_same_or_unequal(left, right)),
    )


def _same_or_unequal(left: Value, right: Value) -> list[str]:
    """sameTerm is equality; two different literals are unequal only if both datatypes are understood."""
    a, b = term(left), term(right)
    understood = [understands(v.sql) for v in (left, right) if isinstance(v, Node)]
    return [sql.when(f"{a} = {b}", "true"), sql.when(sql.all_of(understood), "false")]


def understands(encoded: str) -> str:
    """Whether the literal's datatype has values that Penstock knows and the lexical form denotes one."""
    return sql.any_of(
        (
            term_columns.is_string(encoded),
            is_numeric(Node(encoded)),
            f"{moment(encoded).micros} IS NOT NULL",
            f"{boolean(encoded)} IS NOT NULL",
        )
    )


def surely_equal(left: Value, right: Value) -> str:
    """Equality where an error may as well be false, as in a filter: one plain comparison for IRIs and strings."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Text) or (isinstance(one, Node) and one.sql.startswith("'<")):
            return f"{term(one)} = {term(other)}"
    if isinstance(left, Number) or isinstance(right, Number):
        return _numbers("=", left, right)
    if isinstance(left, Node) and isinstance(right, Node) and "'" not in (left.sql + right.sql):
        return f"{_hash_key(left)} = {_hash_key(right)} AND ({equal(left, right).sql})"
    return equal(left, right).sql


def _hash_key(node: Node) -> str:
    """Equal for equal values, so that Spark can join on it: the term itself, unless other terms have the same value."""
    encoded, tail = node.sql, term_columns.tail(node.sql)
    plain = f"NOT {term_columns.is_literal(encoded)} OR {tail} = '' OR startswith({tail}, '@')"
    real = number(node).as_real()
    return let(
        sql.case((plain, encoded), (f"{real} IS NOT NULL", f"CAST({real} + 0D AS STRING)"), otherwise="'other'")
    )  # 0D: zero has two signs


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "=": equal,
    "!=": lambda left, right: Truth(f"NOT ({equal(left, right).sql})"),
    "<": _ordering("<"),
    ">": _ordering(">"),
    "<=": _ordering("<="),
    ">=": _ordering(">="),
    "SAMETERM": lambda left, right: Truth(f"{term(left)} = {term(right)}"),
}

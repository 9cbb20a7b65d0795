"""Comparison operators, `=`, `<` and so on: https://www.w3.org/TR/sparql11-query/#OperatorMapping.

Values compare within their family (numbers, strings, booleans, moments). Where the family of one side is known, only
that one is emitted. Literals of different known families are unequal; with an unknown datatype the answer is an error.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.functions import durations
from penstock.compile.expressions.functions.arithmetic import is_numeric
from penstock.compile.expressions.functions.moments import MOMENTS, Moment, moment
from penstock.compile.expressions.values import (
    EXACT,
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
from penstock.compile.sql import Expr, let
from penstock.model import term_encoding

Compare = Callable[[Value, Value], Truth]


def _ordering(symbol: str) -> Compare:
    return lambda left, right: Truth(sql.coalesce(*_families(symbol, left, right)))


def _families(symbol: str, left: Value, right: Value) -> list[Expr]:
    """Return the comparison in every family that both sides may belong to; NULL if they do not."""
    known = {type(left), type(right)} - {Node}
    if len(known) == 2:
        return [sql.null("BOOLEAN")]
    if known == {Length}:  # only beside a known duration: others are terms like any
        return [durations.compare(symbol, left, right)]
    every = {Number: _numbers, Text: _strings, Truth: _truths, Instant: _moments}
    return [compare(symbol, left, right) for kind, compare in every.items() if not known or kind in known]


def _numbers(symbol: str, left: Value, right: Value) -> Expr:
    a, b = number(left), number(right)
    exact = [] if a.exact is None or b.exact is None else [a.exact.compared(symbol, b.exact)]
    real = [] if a.real is None and b.real is None else [_reals(symbol, a, b)]
    return sql.coalesce(*exact, *real)


def _reals(symbol: str, a: Number, b: Number) -> Expr:
    """Return the comparison of doubles. Spark orders NaN above everything; in SPARQL every comparison with it is
    false."""
    if a.constant and not b.constant:
        return _reals(_MIRRORED[symbol], b, a)
    if b.constant and not _is_nan(b):
        return _real_and_constant(symbol, a, b)
    x, y = a.as_real(), b.as_real()
    nan = sql.any_of(sql.call("isnan", n.real) for n in (a, b) if n.real is not None)
    comparison = x.compared(symbol, y)
    return sql.case((nan & comparison.not_null(), sql.FALSE), otherwise=comparison)


def _is_nan(constant: Number) -> bool:
    return isinstance(constant.term, sql.Literal) and constant.term in _NAN


_NAN = {sql.text(f'"NaN"{term_encoding.tail_of(name)}') for name in ("float", "double")}


def _real_and_constant(symbol: str, a: Number, b: Number) -> Expr:
    """Return the comparison with a constant. If NaN would pass as the greatest, both sides are negated.

    So a filter reads the number just once. Beside an exact constant, exact numbers have been compared before.
    """
    x, y = a.as_real() if b.exact is None or a.real is None else a.real, b.as_real()
    return (-x).compared(_MIRRORED[symbol], -y) if symbol in (">", ">=") else x.compared(symbol, y)


_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}


def implied(symbol: str, left: Value, right: Value) -> list[Expr]:
    """Return comparisons of one column of each side that hold wherever the values compare so; none for values that are
    no numbers.

    A pair of rows is tried by them before the comparison itself. A number that is not of their type passes.
    """
    if ({type(left), type(right)} - {Node}) - {Number}:
        return []
    low, high = map(number, (left, right) if symbol in ("<", "<=") else (right, left))
    parts = ((low.exact, high.exact, EXACT, _MOST), (low.real, high.real, "DOUBLE", "Infinity"))
    return [
        let(sql.coalesce(a, sql.text(f"-{most}").cast(kind))) <= let(sql.coalesce(b, sql.text(most).cast(kind)))
        for a, b, kind, most in parts
        if a is not None and b is not None
    ]


_MOST = "99999999999999999999.999999999999999999"  # the greatest exact number


def _strings(symbol: str, left: Value, right: Value) -> Expr:
    if isinstance(left, Node) and isinstance(right, Node):
        same = term_columns.tail(left.sql).eq(term_columns.tail(right.sql)) & term_columns.is_string(left.sql)
        return sql.when(same, term_columns.lexical(left.sql).compared(symbol, term_columns.lexical(right.sql)))
    return text(left).compared(symbol, text(right))


def _truths(symbol: str, left: Value, right: Value) -> Expr:
    return as_boolean(left).compared(symbol, as_boolean(right))


def _moments(symbol: str, left: Value, right: Value) -> Expr:
    if isinstance(left, Instant) and isinstance(right, Instant):
        return left.micros.compared(symbol, right.micros)
    return _moment(left).compare(symbol, _moment(right))


def _moment(value: Value) -> Moment:
    if isinstance(value, Instant):
        return Moment(sql.text(term_encoding.tail_of("dateTime")), value.micros, sql.TRUE)
    return moment(term(value))


def equal(left: Value, right: Value) -> Truth:
    if isinstance(left, Node) or isinstance(right, Node):
        return Truth(_term_equal(left, right))
    if type(left) is type(right):
        return Truth(_families("=", left, right)[0])
    return Truth(sql.when(term(left).not_null() & term(right).not_null(), sql.FALSE))


def _term_equal(left: Value, right: Value) -> Expr:
    a, b = term(left), term(right)
    values = [] if isinstance(left, Text) or isinstance(right, Text) else _families("=", left, right)
    undecided = [(_incomparable(left, right), sql.null("BOOLEAN"))] if _may_be_moments(left, right) else []
    return sql.case(
        (a.is_null() | b.is_null(), sql.null("BOOLEAN")),
        (~(term_columns.is_literal(a) & term_columns.is_literal(b)), a.eq(b)),
        *undecided,
        otherwise=sql.coalesce(*values, *_same_or_unequal(left, right)),
    )


def _may_be_moments(left: Value, right: Value) -> bool:
    """Whether both sides may be moments. A constant that is none settles it."""
    return {type(left), type(right)} <= {Node, Instant} and not any(map(_is_other_constant, (left, right)))


def _is_other_constant(value: Value) -> bool:
    constant = value.sql if isinstance(value, Node) else None
    known = constant.value if isinstance(constant, sql.Literal) and constant.is_text else None
    return known is not None and not known.endswith(MOMENTS)


def _incomparable(left: Value, right: Value) -> Expr:
    return _moment(left).is_incomparable(_moment(right))


def _same_or_unequal(left: Value, right: Value) -> list[Expr]:
    """Return sameTerm as equality; two different literals are unequal only if both datatypes are supported."""
    a, b = term(left), term(right)
    understood = [understands(v.sql) for v in (left, right) if isinstance(v, Node)]
    return [sql.when(a.eq(b), sql.TRUE), sql.when(sql.all_of(understood), sql.FALSE)]


def understands(encoded: Expr) -> Expr:
    """Whether the literal's datatype is supported and its lexical form is valid."""
    return sql.any_of(
        (
            term_columns.is_string(encoded),
            is_numeric(Node(encoded)),
            moment(encoded).micros.not_null(),
            boolean(encoded).not_null(),
        )
    )


def surely_equal(left: Value, right: Value) -> Expr:
    """Return equality for a filter, where an error counts as false: one plain comparison for IRIs and strings."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Text) or (isinstance(one, Node) and _is_iri(one.sql)):
            return term(one).eq(term(other))
    if isinstance(left, Number) or isinstance(right, Number):
        return _numbers("=", left, right)
    if isinstance(left, Node) and isinstance(right, Node) and _is_read(left.sql) and _is_read(right.sql):
        return _hash_key(left).eq(_hash_key(right)) & equal(left, right).sql
    return equal(left, right).sql


def _is_iri(encoded: Expr) -> bool:
    """Whether it is an IRI that the query gives."""
    return isinstance(encoded, sql.Literal) and encoded.is_text and encoded.value[:1] == "<"


def _is_read(encoded: Expr) -> bool:
    """Whether the term is read from columns, without constants of the query."""
    if isinstance(encoded, sql.Let):
        return True
    return not (isinstance(encoded, sql.Literal) and encoded.is_text) and all(map(_is_read, encoded.args))


def _hash_key(node: Node) -> Expr:
    """Return a key that is equal for equal values, so that Spark can join on it: the term itself, if no other term
    has its value."""
    encoded = node.sql
    plain = sql.any_of(
        [~term_columns.is_literal(encoded), term_columns.is_plain(encoded), term_columns.has_language(encoded)]
    )
    real = number(node).as_real()
    written = (real + sql.double("0")).cast("STRING", of="DOUBLE")  # zero has two signs
    return let(sql.case((plain, encoded), (real.not_null(), written), otherwise=sql.text("other")))


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "=": equal,
    "!=": lambda left, right: Truth(~equal(left, right).sql),
    "<": _ordering("<"),
    ">": _ordering(">"),
    "<=": _ordering("<="),
    ">=": _ordering(">="),
    "SAMETERM": lambda left, right: Truth(term(left).eq(term(right))),
}

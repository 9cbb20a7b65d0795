"""Functions on strings and hashes: https://www.w3.org/TR/sparql11-query/#func-strings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.functions import regex
from penstock.compile.expressions.functions.arithmetic import integer
from penstock.compile.expressions.values import INTEGER, Node, Text, Truth, Value, magnitude, number, text
from penstock.compile.sql import Expr, let

_EMPTY = sql.text("")
_NO_FLAGS = Text(_EMPTY, "")


@dataclass(frozen=True, slots=True)
class Chars:
    """A string with or without a language: its lexical form (NULL for other terms) and its tail."""

    lexical: Expr
    tail: Expr

    @property
    def plain(self) -> bool:
        return self.tail == _EMPTY

    def with_lexical(self, lexical: Expr) -> Node | Text:
        """Return another string in the same language."""
        return Text(lexical) if self.plain else Node(term_columns.literal(lexical, self.tail))

    def accepts(self, other: Chars) -> Expr:
        """Argument compatibility: https://www.w3.org/TR/sparql11-query/#func-arg-compatibility."""
        return other.tail.eq(_EMPTY) | other.tail.eq(self.tail)


def chars(value: Value) -> Chars:
    if isinstance(value, Node):
        lexical = sql.when(term_columns.is_string(value.sql), term_columns.lexical(value.sql))
        return Chars(let(lexical), term_columns.tail(value.sql))
    return Chars(text(value), _EMPTY)


def _map(function: str) -> Callable[[Value], Value]:
    def emit(value: Value) -> Value:
        c = chars(value)
        return c.with_lexical(sql.call(function, c.lexical))

    return emit


def _test(function: str) -> Callable[[Value, Value], Truth]:
    def emit(value: Value, part: Value) -> Truth:
        a, b = chars(value), chars(part)
        return Truth(sql.when(a.accepts(b), sql.call(function, a.lexical, b.lexical)))

    return emit


def _substr(value: Value, start: Value, length: Value | None = None) -> Value:
    """Return the characters at positions p with start ≤ p < start + length, counted from 1, also outside of the
    string."""
    c, first = chars(value), _whole(start)
    begin = sql.call("greatest", first, 1)
    last = None if length is None else let(first + _whole(length))
    count = sql.call("length", c.lexical) if last is None else sql.call("greatest", last - begin, 0)
    known = (first if last is None else last).not_null()
    return c.with_lexical(sql.when(known, sql.call("substring", c.lexical, begin, count)))


def _whole(value: Value) -> Expr:
    """Return an integer; no string is longer than a billion characters."""
    n = number(value)
    if n.exact is None:
        return sql.null("INT")
    most = sql.double("1e9")
    within = sql.case((magnitude(n.exact) < most, n.exact), otherwise=sql.call("sign", n.exact) * most)
    return let(sql.when(n.is_kind(INTEGER), within).cast("INT", of="DOUBLE"))


def _around(piece: Callable[[Expr, Expr, Expr], Expr]) -> Callable[[Value, Value], Value]:
    """Return STRBEFORE or STRAFTER: the result keeps the language; without a match it is the plain empty string."""

    def emit(value: Value, part: Value) -> Value:
        a, b = chars(value), chars(part)
        position = let(sql.call("instr", a.lexical, b.lexical))
        cut = piece(a.lexical, b.lexical, position)
        hit = a.with_lexical(cut)
        encoded = term_columns.plain(cut) if isinstance(hit, Text) else hit.sql
        accepts = a.accepts(b)
        return Node(sql.case((accepts & (position > 0), encoded), (accepts & position.eq(0), sql.text('""'))))

    return emit


def _concat(*values: Value) -> Value:
    parts = [chars(v) for v in values]
    lexical = sql.call("concat", _EMPTY, *(p.lexical for p in parts))
    if not parts or any(p.plain for p in parts):
        return Text(lexical)
    same = sql.all_of(p.tail.eq(parts[0].tail) for p in parts[1:])
    return Node(term_columns.literal(lexical, sql.case((same, parts[0].tail), otherwise=_EMPTY)))


def _encode_for_uri(value: Value) -> Text:
    encoded = sql.call("url_encode", chars(value).lexical)
    for written, wanted in (("+", "%20"), ("*", "%2A"), ("%7E", "~")):
        encoded = sql.call("replace", encoded, sql.text(written), sql.text(wanted))
    return Text(encoded)


def _lang_matches(tag: Value, range_: Value) -> Truth:
    """Return the basic filtering of RFC 4647: equal, or a prefix that ends where a subtag does; `*` is any tag."""
    t, r = sql.call("lower", text(tag)), sql.call("lower", text(range_))
    begins = sql.call("startswith", t, sql.call("concat", r, sql.text("-")))
    return Truth(sql.case((r.eq(sql.text("*")), t.ne(_EMPTY)), otherwise=t.eq(r) | begins))


def _translated(function: str, translate: Callable[..., str | None], *values: Value) -> Expr:
    """Return the arguments for Java: constants are translated now, others on the workers; NULL if invalid."""
    constants = [v.constant for v in values if isinstance(v, Text)]
    if len(constants) < len(values) or None in constants:
        return let(sql.arrow_call(function, *map(text, values)))
    java = translate(*constants)
    return sql.NULL if java is None else sql.text(java)


def _pattern(pattern: Value, flags: Value) -> Expr:
    return _translated(regex.PATTERN, regex.to_java, pattern, flags)


def _regex(value: Value, pattern: Value, flags: Value = _NO_FLAGS) -> Truth:
    return Truth(chars(value).lexical.rlike(_pattern(pattern, flags)))


def _replace(value: Value, pattern: Value, replacement: Value, flags: Value = _NO_FLAGS) -> Value:
    """Return the replaced string; a pattern that matches the empty string is an error (err:FORX0003)."""
    c, java = chars(value), _pattern(pattern, flags)
    by = _translated(regex.REPLACEMENT, regex.replacement_to_java, replacement, pattern, flags)
    return c.with_lexical(sql.when(~_EMPTY.rlike(java), sql.call("regexp_replace", c.lexical, java, by)))


def _hash(function: str, *bits: int) -> Callable[[Value], Text]:
    return lambda value: Text(sql.call(function, text(value), *bits))


def _before(a: Expr, b: Expr, at: Expr) -> Expr:
    return sql.call("substring", a, 1, at - 1)


def _after(a: Expr, b: Expr, at: Expr) -> Expr:
    return sql.call("substring", a, at + sql.call("length", b))


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "STRLEN": lambda value: integer(sql.call("length", chars(value).lexical)),
    "SUBSTR": _substr,
    "UCASE": _map("upper"),
    "LCASE": _map("lower"),
    "STRSTARTS": _test("startswith"),
    "STRENDS": _test("endswith"),
    "CONTAINS": _test("contains"),
    "STRBEFORE": _around(_before),
    "STRAFTER": _around(_after),
    "CONCAT": _concat,
    "ENCODE_FOR_URI": _encode_for_uri,
    "LANGMATCHES": _lang_matches,
    "REGEX": _regex,
    "REPLACE": _replace,
    "MD5": _hash("md5"),
    "SHA1": _hash("sha1"),
    "SHA256": _hash("sha2", 256),
    "SHA384": _hash("sha2", 384),
    "SHA512": _hash("sha2", 512),
}

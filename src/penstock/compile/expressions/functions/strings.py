"""Functions on strings and hashes: https://www.w3.org/TR/sparql11-query/#func-strings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.functions import regex
from penstock.compile.expressions.functions.arithmetic import integer
from penstock.compile.expressions.values import INTEGER, Node, Text, Truth, Value, number, text
from penstock.compile.sql.common_subexpressions import let


@dataclass(frozen=True, slots=True)
class Chars:
    """A string with or without a language: its lexical form (NULL for other terms) and its tail."""

    lexical: str
    tail: str

    @property
    def plain(self) -> bool:
        return self.tail == "''"

    def with_lexical(self, lexical: str) -> Value:
        """Another string in the same language."""
        return Text(lexical) if self.plain else Node(term_columns.literal(lexical, self.tail))

    def accepts(self, other: Chars) -> str:
        """Argument compatibility: https://www.w3.org/TR/sparql11-query/#func-arg-compatibility."""
        return f"({other.tail} = '' OR {other.tail} = {self.tail})"


def chars(value: Value) -> Chars:
    if isinstance(value, Node):
        lexical = sql.when(term_columns.is_string(value.sql), term_columns.lexical(value.sql))
        return Chars(let(lexical), term_columns.tail(value.sql))
    return Chars(text(value), "''")


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
    """Positions p with start ≤ p < start + length, counted from 1, wherever those lie."""
    c, first = chars(value), _whole(start)
    begin = f"greatest({first}, 1)"
    last = None if length is None else let(f"({first} + {_whole(length)})")
    count = f"length({c.lexical})" if last is None else f"greatest({last} - {begin}, 0)"
    return c.with_lexical(sql.when(f"{last or first} IS NOT NULL", f"substring({c.lexical}, {begin}, {count})"))


def _whole(value: Value) -> str:
    """An integer; no string is longer than a billion characters."""
    n = number(value)
    if n.exact is None:
        return "CAST(NULL AS INT)"
    within = f"CASE WHEN abs({n.exact}) < 1e9 THEN {n.exact} ELSE sign({n.exact}) * 1e9 END"
    return let(f"CAST({sql.when(n.is_kind(INTEGER), within)} AS INT)")


def _around(piece: str) -> Callable[[Value, Value], Value]:
    """STRBEFORE and STRAFTER: the piece keeps the language; where there is no match, the plain empty string."""

    def emit(value: Value, part: Value) -> Value:
        a, b = chars(value), chars(part)
        found = let(f"instr({a.lexical}, {b.lexical})")
        cut = piece.format(a=a.lexical, b=b.lexical, at=found)
        hit = a.with_lexical(cut)
        encoded = term_columns.plain(cut) if isinstance(hit, Text) else hit.sql  # type: ignore[union-attr]
        accepts = a.accepts(b)
        return Node(sql.case((f"{accepts} AND {found} > 0", encoded), (f"{accepts} AND {found} = 0", "'\"\"'")))

    return emit


def _concat(*values: Value) -> Value:
    parts = [chars(v) for v in values]
    lexical = sql.call("concat", "''", *(p.lexical for p in parts))
    if not parts or any(p.plain for p in parts):
        return Text(lexical)
    same = sql.all_of(f"{p.tail} = {parts[0].tail}" for p in parts[1:])
    return Node(term_columns.literal(lexical, f"CASE WHEN {same} THEN {parts[0].tail} ELSE '' END"))


def _encode_for_uri(value: Value) -> Text:
    encoded = f"url_encode({chars(value).lexical})"
    for found, wanted in (("+", "%20"), ("*", "%2A"), ("%7E", "~")):
        encoded = f"replace({encoded}, '{found}', '{wanted}')"
    return Text(encoded)


def _lang_matches(tag: Value, range_: Value) -> Truth:
    """Basic filtering of RFC 4647: equal, or a prefix that ends where a subtag does; `*` is any tag at all."""
    t, r = f"lower({text(tag)})", f"lower({text(range_)})"
    return Truth(sql.case((f"{r} = '*'", f"{t} <> ''"), otherwise=f"({t} = {r} OR startswith({t}, concat({r}, '-')))"))


_NO_FLAGS = Text("''", "")


def _translated(function: str, translate: Callable[..., str | None], *values: Value) -> str:
    """In Java's terms: constants are translated now, anything else on the workers; NULL where it is wrong."""
    constants = [v.constant for v in values if isinstance(v, Text)]
    if len(constants) < len(values) or None in constants:
        return let(sql.call(function, *map(text, values)))
    java = translate(*constants)
    return sql.NULL if java is None else sql.text(java)


def _pattern(pattern: Value, flags: Value) -> str:
    return _translated(regex.PATTERN, regex.to_java, pattern, flags)


def _regex(value: Value, pattern: Value, flags: Value = _NO_FLAGS) -> Truth:
    return Truth(f"{chars(value).lexical} RLIKE {_pattern(pattern, flags)}")


def _replace(value: Value, pattern: Value, replacement: Value, flags: Value = _NO_FLAGS) -> Value:
    """A pattern that matches the empty string is an error (err:FORX0003)."""
    c, java = chars(value), _pattern(pattern, flags)
    by = _translated(regex.REPLACEMENT, regex.replacement_to_java, replacement, pattern, flags)
    return c.with_lexical(sql.when(f"NOT ('' RLIKE {java})", f"regexp_replace({c.lexical}, {java}, {by})"))


def _hash(template: str) -> Callable[[Value], Text]:
    return lambda value: Text(template.format(text(value)))


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "STRLEN": lambda value: integer(f"length({chars(value).lexical})"),
    "SUBSTR": _substr,
    "UCASE": _map("upper"),
    "LCASE": _map("lower"),
    "STRSTARTS": _test("startswith"),
    "STRENDS": _test("endswith"),
    "CONTAINS": _test("contains"),
    "STRBEFORE": _around("substring({a}, 1, {at} - 1)"),
    "STRAFTER": _around("substring({a}, {at} + length({b}))"),
    "CONCAT": _concat,
    "ENCODE_FOR_URI": _encode_for_uri,
    "LANGMATCHES": _lang_matches,
    "REGEX": _regex,
    "REPLACE": _replace,
    "MD5": _hash("md5({})"),
    "SHA1": _hash("sha1({})"),
    "SHA256": _hash("sha2({}, 256)"),
    "SHA384": _hash("sha2({}, 384)"),
    "SHA512": _hash("sha2({}, 512)"),
}

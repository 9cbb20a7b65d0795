"""Functions on strings and hashes: https://www.w3.org/TR/sparql11-query/#func-strings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.spark import encoding, sql
from penstock.spark.functions.arithmetic import integer
from penstock.spark.lets import let
from penstock.spark.values import INTEGER, Node, Text, Truth, Value, number, text


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
        return Text(lexical) if self.plain else Node(encoding.literal(lexical, self.tail))

    def accepts(self, other: Chars) -> str:
        """Argument compatibility: https://www.w3.org/TR/sparql11-query/#func-arg-compatibility."""
        return f"({other.tail} = '' OR {other.tail} = {self.tail})"


def chars(value: Value) -> Chars:
    if isinstance(value, Node):
        tail = encoding.tail(value.sql)
        is_string = f"{tail} = '' OR startswith({tail}, '@')"
        return Chars(let(sql.when(is_string, encoding.lexical(value.sql))), tail)
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
    count = f"length({c.lexical})" if length is None else f"greatest({first} + {_whole(length)} - {begin}, 0)"
    defined = sql.all_of(f"{x} IS NOT NULL" for x in (first, count))
    return c.with_lexical(sql.when(defined, f"substring({c.lexical}, {begin}, {count})"))


def _whole(value: Value) -> str:
    n = number(value)
    return let(sql.when(n.is_kind(INTEGER), f"CAST({n.exact} AS INT)")) if n.exact is not None else "CAST(NULL AS INT)"


def _around(piece: str) -> Callable[[Value, Value], Value]:
    """STRBEFORE and STRAFTER: the piece keeps the language; where there is no match, the plain empty string."""

    def emit(value: Value, part: Value) -> Value:
        a, b = chars(value), chars(part)
        found = let(f"instr({a.lexical}, {b.lexical})")
        cut = piece.format(a=a.lexical, b=b.lexical, at=found)
        hit = a.with_lexical(cut)
        encoded = encoding.plain(cut) if isinstance(hit, Text) else hit.sql  # type: ignore[union-attr]
        return Node(sql.case((f"{a.accepts(b)} AND {found} > 0", encoded), (f"{a.accepts(b)} AND {found} = 0", "'\"\"'")))

    return emit


def _concat(*values: Value) -> Value:
    parts = [chars(v) for v in values]
    lexical = sql.call("concat", "''", *(p.lexical for p in parts))
    if not parts or any(p.plain for p in parts):
        return Text(lexical)
    same = sql.all_of(f"{p.tail} = {parts[0].tail}" for p in parts[1:])
    return Node(encoding.literal(lexical, f"CASE WHEN {same} THEN {parts[0].tail} ELSE '' END"))


def _encode_for_uri(value: Value) -> Text:
    encoded = f"url_encode({chars(value).lexical})"
    for found, wanted in (("+", "%20"), ("*", "%2A"), ("%7E", "~")):
        encoded = f"replace({encoded}, '{found}', '{wanted}')"
    return Text(encoded)


def _lang_matches(tag: Value, range_: Value) -> Truth:
    """Basic filtering of RFC 4647: equal, or a prefix that ends where a subtag does; `*` is any tag at all."""
    t, r = f"lower({text(tag)})", f"lower({text(range_)})"
    return Truth(sql.case((f"{r} = '*'", f"{t} <> ''"), otherwise=f"({t} = {r} OR startswith({t}, concat({r}, '-')))"))


def _pattern(pattern: Value, flags: Value | None) -> str:
    """A Java regular expression: flags go in front of it, `q` quotes it; an unknown flag is an error."""
    p = text(pattern)
    if flags is None:
        return p
    f = text(flags)
    quoted = f"CASE WHEN contains({f}, 'q') THEN concat('\\\\Q', {p}, '\\\\E') ELSE {p} END"
    inline = f"regexp_replace({f}, 'q', '')"
    prefix = f"CASE WHEN {inline} = '' THEN '' ELSE concat('(?', {inline}, ')') END"
    return let(sql.when(f"{f} RLIKE '^[smixq]*$'", f"concat({prefix}, {quoted})"))


def _regex(value: Value, pattern: Value, flags: Value | None = None) -> Truth:
    return Truth(f"{chars(value).lexical} RLIKE {_pattern(pattern, flags)}")


def _replace(value: Value, pattern: Value, replacement: Value, flags: Value | None = None) -> Value:
    """A pattern that matches the empty string is an error (err:FORX0003)."""
    c, regex = chars(value), _pattern(pattern, flags)
    replaced = f"regexp_replace({c.lexical}, {regex}, {text(replacement)})"
    return c.with_lexical(sql.when(f"NOT ('' RLIKE {regex})", replaced))


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

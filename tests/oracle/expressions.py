"""Generated expressions. A variable's name tells its kind, see `KIND`.

Kept out on purpose, because pyoxigraph and the recommendation differ there or because neither promises anything:

- `=`, `!=` and IN between literals of different kinds (`1 = "a"`, `"a" = "a"@en`): a type error by the
  recommendation, false for pyoxigraph; hence nodes and mixed values are compared by sameTerm or with an IRI only;
- `<` on booleans (pyoxigraph: an error) and on language-tagged strings (pyoxigraph: their texts);
- the truth value of a language-tagged string (pyoxigraph: an error; by the recommendation that of its text);
- xsd:string of a language-tagged string (pyoxigraph: its text; by the recommendation no such cast);
- STR, sameTerm and joins on computed numbers: how a computed double is spelt is not fixed;
- BNODE with an argument (pyoxigraph: one node for all solutions), RAND, NOW, UUID, STRUUID.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.data import BOOLEANS, DATES, INTEGERS, NODES, NUMBERS, STRINGS
from tests.support.tape import Tape

KIND = {
    **dict.fromkeys("xyz", "node"),
    "g": "node",
    "w": "predicate",
    **dict.fromkeys("ij", "integer"),
    **dict.fromkeys("nm", "number"),
    **dict.fromkeys("st", "string"),
    **dict.fromkeys("lk", "tagged"),
    **dict.fromkeys("de", "date"),
    **dict.fromkeys("fh", "boolean"),
    **dict.fromkeys("ou", "mixed"),
}
NAMES = {kind: tuple(name for name, k in KIND.items() if k == kind) for kind in sorted(set(KIND.values()))}


def variable(draw: Tape, *kinds: str) -> str:
    """A variable of one of the kinds, mostly one that is likely to be bound."""
    names = [name for kind in kinds for name in NAMES[kind]]
    known = [name for name in names if name in draw.scope]
    return "?" + draw.pick(known * 4 + names if known else names)


def _weight(draw: Tape, *kinds: str) -> int:
    """How much rather a variable than a constant: much, if one is likely to be bound."""
    return 4 if any(name in draw.scope for kind in kinds for name in NAMES[kind]) else 1


def number(draw: Tape, depth: int) -> str:
    leaves: list[Callable[[], str]] = [
        lambda: draw.pick(NUMBERS),
        *(lambda: variable(draw, "number", "integer"),) * _weight(draw, "number", "integer"),
    ]
    operator = draw.pick("+-*/")
    function = draw.pick(("ABS", "CEIL", "FLOOR", "ROUND", "-", "+", "xsd:double", "xsd:decimal"))
    part = draw.pick(("YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS"))
    inner: list[Callable[[], str]] = [
        lambda: f"({number(draw, depth - 1)} {operator} {number(draw, depth - 1)})",
        lambda: f"{function}({number(draw, depth - 1)})",
        lambda: f"STRLEN({string(draw, depth - 1)})",
        lambda: f"{part}({date(draw)})",
        lambda: f"IF({boolean(draw, depth - 1)}, {number(draw, depth - 1)}, {number(draw, depth - 1)})",
        lambda: f"COALESCE({number(draw, depth - 1)}, {number(draw, depth - 1)})",
        lambda: f"({variable(draw, 'mixed')} + {draw.pick(INTEGERS)})",
        lambda: f"xsd:integer({string(draw, depth - 1)})",
    ]
    return _one_of(draw, leaves, inner, depth)


def string(draw: Tape, depth: int) -> str:
    leaves: list[Callable[[], str]] = [
        lambda: draw.pick(STRINGS),
        *(lambda: variable(draw, "string"),) * _weight(draw, "string"),
        lambda: f"STR({variable(draw, 'node', 'mixed', 'date', 'tagged', 'integer')})",
        lambda: f"LANG({variable(draw, 'tagged', 'mixed')})",
        lambda: f"STR(DATATYPE({variable(draw, 'tagged', 'mixed', 'number')}))",
    ]
    one = draw.pick(("UCASE", "LCASE", "ENCODE_FOR_URI", "MD5", "SHA1", "SHA256"))
    two = draw.pick(("CONCAT", "STRBEFORE", "STRAFTER"))
    start, length = draw.count(0, 3), draw.count(0, 3)
    inner: list[Callable[[], str]] = [
        lambda: f"{one}({string(draw, depth - 1)})",
        lambda: f"{two}({string(draw, depth - 1)}, {string(draw, depth - 1)})",
        lambda: f"SUBSTR({string(draw, depth - 1)}, {start})",
        lambda: f"SUBSTR({string(draw, depth - 1)}, {start}, {length})",
        lambda: f'REPLACE({string(draw, depth - 1)}, "[ab]", "z")',
        lambda: f"IF({boolean(draw, depth - 1)}, {string(draw, depth - 1)}, {string(draw, depth - 1)})",
        lambda: f"COALESCE({string(draw, depth - 1)}, {string(draw, depth - 1)})",
        lambda: f"TZ({date(draw)})",
    ]
    return _one_of(draw, leaves, inner, depth)


def tagged(draw: Tape) -> str:
    """A string that may carry a language tag, for functions that keep it."""
    name = variable(draw, "tagged")
    forms = (name, f"UCASE({name})", f"SUBSTR({name}, 1, 1)", f"CONCAT({name}, ?k)", f'STRAFTER({name}, "a")')
    return draw.pick((*forms, 'STRLANG("a", "en")', f'REPLACE({name}, "a", "o")'))


def date(draw: Tape) -> str:
    return draw.pick((variable(draw, "date"), *DATES[: 4 // _weight(draw, "date")]))


def boolean(draw: Tape, depth: int) -> str:
    order = draw.pick(("=", "!=", "<", ">", "<=", ">="))
    equal = draw.pick(("=", "!="))
    leaves: list[Callable[[], str]] = [
        lambda: f"BOUND({variable(draw, 'node', 'number', 'string', 'mixed')})",
        lambda: f"({variable(draw, 'node')} {equal} :{draw.pick(NODES)})",
        lambda: f"sameTerm({variable(draw, 'node', 'mixed')}, {variable(draw, 'node', 'mixed')})",
        lambda: f"{draw.pick(TESTS)}({variable(draw, 'node', 'mixed', 'number', 'tagged')})",
        *(lambda: f"({number(draw, 0)} {order} {number(draw, 0)})",) * _weight(draw, "number", "integer"),
        *(lambda: f"({date(draw)} {order} {date(draw)})",) * (_weight(draw, "date") // 2),
        *(lambda: f"(?f {equal} {draw.pick((*BOOLEANS, '?f', '?h'))})",) * (_weight(draw, "boolean") // 2),
        *(lambda: variable(draw, "boolean"),) * (_weight(draw, "boolean") // 2),
    ]
    contains = draw.pick(("CONTAINS", "STRSTARTS", "STRENDS"))
    junction, negation = draw.pick(("&&", "||")), draw.pick(("", "NOT "))
    inner: list[Callable[[], str]] = [
        lambda: f"({boolean(draw, depth - 1)} {junction} {boolean(draw, depth - 1)})",
        lambda: f"(!{boolean(draw, depth - 1)})",
        lambda: f"({number(draw, depth - 1)} {order} {number(draw, depth - 1)})",
        lambda: f"({string(draw, depth - 1)} {order} {string(draw, depth - 1)})",
        lambda: f"({number(draw, 0)} {negation}IN ({number(draw, 0)}, {number(draw, depth - 1)}))",
        lambda: f"({string(draw, 0)} {negation}IN ({string(draw, 0)}, {string(draw, depth - 1)}))",
        lambda: f"{contains}({string(draw, depth - 1)}, {string(draw, 0)})",
        lambda: f"REGEX({string(draw, depth - 1)}, {draw.pick(PATTERNS)})",
        lambda: f"LANGMATCHES(LANG({variable(draw, 'tagged')}), {draw.pick(RANGES)})",
        lambda: f"COALESCE({boolean(draw, depth - 1)}, {draw.pick(BOOLEANS)})",
    ]
    return _one_of(draw, leaves, inner, depth)


TESTS = ("isIRI", "isBlank", "isLiteral", "isNumeric")
PATTERNS = ('"a"', '"^a"', '"A$", "i"', '"a.*b"', '"[^a]"')
RANGES = ('"*"', '"en"', '"EN"', '"fr"')


def anything(draw: Tape, depth: int) -> str:
    """An expression for BIND or a projection, of any kind."""
    makers: tuple[Callable[[], str], ...] = (
        lambda: number(draw, depth),
        lambda: string(draw, depth),
        lambda: boolean(draw, depth),
        lambda: tagged(draw),
        lambda: variable(draw, *NAMES),
        lambda: f"IRI({variable(draw, 'node')})",
        lambda: f"DATATYPE({variable(draw, 'mixed', 'number', 'string')})",
    )
    return draw.pick(makers)()


def condition(draw: Tape, depth: int) -> str:
    """What a FILTER may ask: mostly a boolean, sometimes the truth value of a number or a string."""
    makers: tuple[Callable[[], str], ...] = (
        *(lambda: boolean(draw, depth),) * 6,
        lambda: number(draw, depth),
        lambda: string(draw, depth),
    )
    return draw.pick(makers)()


def _one_of(draw: Tape, leaves: list[Callable[[], str]], inner: list[Callable[[], str]], depth: int) -> str:
    return draw.pick(leaves if depth <= 0 else leaves + inner)()

"""The built-in functions of SPARQL 1.1 ([121] of its grammar), C-SPARQL's timestamp, EP-SPARQL's functions of when
something occurred, and the casts, with how many arguments each takes."""

from __future__ import annotations

__all__ = ["BUILTINS", "CASTS", "OCCURRENCES", "SPELLED", "XSD"]

XSD = "http://www.w3.org/2001/XMLSchema#"

OCCURRENCES = {"GETDURATION": "duration", "GETSTARTTIME": "start", "GETENDTIME": "end"}
"""EP-SPARQL's functions → the part of a solution's interval that each returns."""

SPELLED = {name: f"get{name.removeprefix('GET')}" for name in OCCURRENCES}
"""Names that are printed otherwise than in upper case."""

_BY_ARITY: dict[tuple[int, int | None], str] = {
    (0, 0): f"NOW RAND STRUUID UUID {' '.join(OCCURRENCES)}",
    (0, 1): "BNODE",
    (0, None): "COALESCE CONCAT",
    (1, 1): """ABS BOUND CEIL DATATYPE DAY ENCODE_FOR_URI FLOOR HOURS IRI ISBLANK ISIRI ISLITERAL ISNUMERIC ISURI LANG
        LCASE MD5 MINUTES MONTH ROUND SECONDS SHA1 SHA256 SHA384 SHA512 STR STRLEN TIMEZONE TZ UCASE URI YEAR""",
    (1, 2): "TIMESTAMP",
    (2, 2): "CONTAINS LANGMATCHES SAMETERM STRAFTER STRBEFORE STRDT STRENDS STRLANG STRSTARTS",
    (2, 3): "REGEX SUBSTR",
    (3, 3): "IF",
    (3, 4): "REPLACE",
}

BUILTINS: dict[str, tuple[int, int | None]] = {
    name: arity for arity, names in _BY_ARITY.items() for name in names.split()
}
"""Name → least and greatest number of arguments; None is any number."""

_CAST_NAMES = """boolean double float decimal integer dateTime string
    date time duration dayTimeDuration yearMonthDuration"""

CASTS: frozenset[str] = frozenset(XSD + name for name in _CAST_NAMES.split())
"""IRIs of the functions that https://www.w3.org/TR/sparql11-query/#FunctionMapping defines, and of the like."""

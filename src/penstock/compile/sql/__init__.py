"""Spark SQL text: the only place that quotes. Everything else composes what these functions return."""

from __future__ import annotations

from collections.abc import Iterable

NULL = "CAST(NULL AS STRING)"

RESERVED = ("\ue000", "\ue001")  # private-use characters that `lets` puts around its tokens

_ESCAPES = str.maketrans(
    {
        "\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\0": "\\0", "\x1a": "\\Z",
        RESERVED[0]: "\\uE000", RESERVED[1]: "\\uE001",
    }
)  # fmt: skip


def text(value: str) -> str:
    """A string literal."""
    return f"'{value.translate(_ESCAPES)}'"


def texts(values: Iterable[str]) -> str:
    """String literals, for IN (…)."""
    return ", ".join(text(value) for value in values)


def name(identifier: str) -> str:
    """A quoted column or table name."""
    return "`" + identifier.replace("`", "``") + "`"


def column(table: str, identifier: str) -> str:
    return f"{table}.{name(identifier)}"


def call(function: str, *arguments: str) -> str:
    return f"{function}({', '.join(arguments)})"


def alias(expression: str, identifier: str) -> str:
    return f"{expression} AS {name(identifier)}"


def all_of(conditions: Iterable[str]) -> str:
    """Conjunction; of nothing it is true."""
    return " AND ".join(f"({c})" for c in conditions) or "true"


def any_of(conditions: Iterable[str]) -> str:
    """Disjunction; of nothing it is false."""
    return " OR ".join(f"({c})" for c in conditions) or "false"


def case(*branches: tuple[str, str], otherwise: str | None = None) -> str:
    """CASE WHEN … THEN …; without `otherwise` what matches no branch is NULL."""
    whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in branches)
    return f"CASE {whens}{'' if otherwise is None else f' ELSE {otherwise}'} END"


def coalesce(*values: str) -> str:
    return values[0] if len(values) == 1 else call("coalesce", *values)


def when(condition: str, value: str) -> str:
    """The value where the condition is true, else NULL (which is SPARQL's error)."""
    return case((condition, value))

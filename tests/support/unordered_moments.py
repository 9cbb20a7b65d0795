"""Comparisons of dates and dateTimes of which one has a time zone: an error, unless they are 14 hours apart."""

from __future__ import annotations

__all__ = ["UNORDERED"]

_PAIRS = {  # whether they are equal; None: nobody can know
    ("2006-08-23", "2006-08-23Z", "date"): None,
    ("2006-08-23+00:00", "2006-08-23", "date"): None,
    ("2006-08-23", "2006-08-23+13:00", "date"): None,
    ("2006-08-23", "2006-08-24Z", "date"): False,
    ("2006-08-23", "2001-01-01Z", "date"): False,
    ("2006-08-23", "2006-08-23", "date"): True,
    ("2006-08-23", "2006-08-24", "date"): False,
    ("2006-08-23Z", "2006-08-23+00:00", "date"): True,
    ("2006-08-23T10:00:00", "2006-08-23T10:00:00Z", "dateTime"): None,
    ("2006-08-23T00:00:00", "2006-08-23T14:00:00Z", "dateTime"): None,
    ("2006-08-23T00:00:00", "2006-08-23T14:00:01Z", "dateTime"): False,
}


def _written(value: bool | None) -> str | None:
    return None if value is None else str(value).lower()


def _cases() -> dict[str, str | None]:
    """Expressions with the expected term, None for an error."""
    found: dict[str, str | None] = {}
    for (left, right, datatype), equal in _PAIRS.items():
        a, b = (f'"{form}"^^xsd:{datatype}' for form in (left, right))
        unequal = None if equal is None else not equal
        found |= {f"({a} = {b})": _written(equal), f"({a} != {b})": _written(unequal)}
        found |= {f"({a} IN (5, {b}))": _written(equal), f"({a} NOT IN ({b}, 5))": _written(unequal)}
    return found


UNORDERED = _cases()

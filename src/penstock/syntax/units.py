"""The units of time that a query may be written in."""

from __future__ import annotations

__all__ = ["UNITS"]

_WORDS = {
    "ms": "ms msec msecs millisecond milliseconds",
    "s": "s sec secs second seconds",
    "m": "m min mins minute minutes",
    "h": "h hour hours",
    "d": "d day days",
    "w": "w week weeks",
}

UNITS: dict[str, str] = {word: unit for unit, words in _WORDS.items() for word in words.split()}
"""Word, in lower case → unit as C-SPARQL abbreviates it."""

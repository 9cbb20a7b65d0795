"""W3C evaluation tests that Penstock does not pass, by IRI, each with its reason: at most three.

A test listed here that passes fails the run, so that the list cannot grow stale.
"""

from __future__ import annotations

KNOWN_FAILURES: dict[str, str] = {}

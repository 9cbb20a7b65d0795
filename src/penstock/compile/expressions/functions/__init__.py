"""What Penstock can compute, as tables: SPARQL name → the value it compiles to. The rest is in `expressions.py`."""

from __future__ import annotations

from collections.abc import Callable

from penstock.compile.expressions.functions import arithmetic, casts, comparison, moments, strings, terms
from penstock.compile.expressions.values import Value

FUNCTIONS: dict[str, Callable[..., Value]] = {
    **arithmetic.FUNCTIONS,
    **comparison.FUNCTIONS,
    **terms.FUNCTIONS,
    **strings.FUNCTIONS,
    **moments.FUNCTIONS,
    **casts.FUNCTIONS,
}

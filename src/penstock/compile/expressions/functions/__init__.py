"""The functions of SPARQL as tables: name → the value that a call compiles to. Special forms are in
`expressions.py`."""

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

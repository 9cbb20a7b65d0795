"""How many generated examples a property has that runs Spark plans: a fixed sample, or many new ones.

A plan takes tenths of a second, so an ordinary run tries a small sample of each property, always the same one.
`make thorough` draws twenty times as many, other ones each time. For one test and a number of one's own:

    PENSTOCK_ORACLE_EXAMPLES=5000 python -m pytest tests/oracle/test_oracle.py
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import ParamSpec

from hypothesis import HealthCheck, Phase, settings

__all__ = ["ORDINARY", "OutOfSample", "sampled"]

P = ParamSpec("P")
_ASKED = os.environ.get("PENSTOCK_ORACLE_EXAMPLES")
_THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
_MORE = 20
ORDINARY = _ASKED is None and not _THOROUGH  # whether a run has the fixed sample alone


class OutOfSample(Exception):
    """Raised by an example that an ordinary run leaves out on the plan under test: see `plan_under_test`."""


def sampled(
    examples: int,
    phases: tuple[Phase, ...] = tuple(Phase),
    suppressed: tuple[HealthCheck, ...] = (HealthCheck.too_slow, HealthCheck.data_too_large),
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Return the decorator of a property whose fixed sample has so many examples.

    Examples that raise `OutOfSample` pass: only tests that name their plan have any."""
    chosen = settings(
        max_examples=int(_ASKED or examples * (_MORE if _THOROUGH else 1)),
        derandomize=ORDINARY,
        deadline=None,
        print_blob=True,
        phases=phases,
        suppress_health_check=suppressed,
    )

    def decorated(test: Callable[P, None]) -> Callable[P, None]:
        @wraps(test)
        def example(*args: P.args, **kwargs: P.kwargs) -> None:
            with suppress(OutOfSample):
                test(*args, **kwargs)

        return chosen(example)

    return decorated

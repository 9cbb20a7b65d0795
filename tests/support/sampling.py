"""How many generated examples a property has that runs Spark plans: a fixed sample, or many new ones.

A plan takes tenths of a second, so an ordinary run tries a small sample of each property, always the same one.
`make thorough` draws twenty times as many, other ones each time. For one test and a number of one's own:

    PENSTOCK_ORACLE_EXAMPLES=5000 python -m pytest tests/oracle/test_oracle.py
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

__all__ = ["ORDINARY", "sampled"]

_ASKED = os.environ.get("PENSTOCK_ORACLE_EXAMPLES")
_THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
_MORE = 20
ORDINARY = _ASKED is None and not _THOROUGH  # whether a run has the fixed sample alone


def sampled(examples: int) -> settings:
    """Settings for a property whose fixed sample has so many examples."""
    return settings(
        max_examples=int(_ASKED or examples * (_MORE if _THOROUGH else 1)),
        derandomize=ORDINARY,
        deadline=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )

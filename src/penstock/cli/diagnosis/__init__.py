"""Commands that show how a query is evaluated, why it has no answer, and what was dropped: `explain`, `why`, `dead`.

`doctor` has the checks of `penstock doctor`.
"""

from penstock.cli.diagnosis import dead, explain, why

__all__ = ["dead", "explain", "why"]

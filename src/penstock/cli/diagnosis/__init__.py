"""Commands that show how a query is evaluated, why it has no answer, and the dead letters: `explain`, `why`, `dead`.

`doctor` has the checks of `penstock doctor`.
"""

from penstock.cli.diagnosis import dead_letters, explain, why

__all__ = ["dead_letters", "explain", "why"]

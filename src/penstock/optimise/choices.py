"""The names by which rules and physical choices are switched on and off: `Engine(rules=…)`.

A rule rewrites the plan (`rules/`). A physical choice decides between two algorithms for the same operator
(`compile/physical/`). Without it the operator has the algorithm that always works. None of them changes an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from penstock.errors import OptionError
from penstock.optimise.rule import Rule
from penstock.optimise.rules import ALL_RULES

__all__ = ["PHYSICAL_CHOICES", "enabled"]

PHYSICAL_CHOICES: dict[str, str] = {
    "sliced_plan": "Evaluate a query slice by slice of time with DuckDB, where that gives exactly the same answers.",
    "broadcast_join": "Send the side of a join that has a small upper bound to every task.",
    "hash_join": "Shuffle both sides of a join of many elements into a hash join, which needs no sorting.",
    "time_bucket_join": "Join rows with validity intervals by their keys and a bucket of time.",
    "sequence_buckets": "Join the sides of a SEQ with a bounded duration in buckets of time.",
    "sequence_tasks": "Evaluate a SEQ of single events in tasks that each read one piece of time.",
    "interval_operators": "Evaluate OPTIONAL, MINUS and DISTINCT on validity intervals, not instant by instant.",
    "window_union": "Unite the windows of a default graph in one relation, which each pattern reads once.",
    "running_counts": "Count groups by running sums over time, not instant by instant.",
    "view_lookup": "Look up the rows of a large static view by the terms of a few elements.",
    "semijoin_reduction": "Drop elements whose terms have no partner among the rows that were looked up.",
    "delta_reports": "Report ISTREAM and DSTREAM from the rows that start or end in the span, without state.",
}
"""Each physical choice with its purpose."""


def enabled(names: Collection[str] | None, rules: Sequence[Rule] = ALL_RULES) -> frozenset[str]:
    """Return the rules and choices to use.

    None means all of them. Names with a leading minus are left out of all; other names are the only ones.
    """
    known = {*(rule.name for rule in rules), *PHYSICAL_CHOICES}
    if isinstance(names, str):
        raise OptionError(f'rules is a list of names, not a text: write ["{names}"]')
    wanted = set(names or ())
    if unknown := sorted(wanted - known - {f"-{name}" for name in known}):
        raise OptionError(f"unknown rules: {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    left_out = {name.removeprefix("-") for name in wanted - known}
    if left_out and wanted & known:
        raise OptionError("rules are either named, or left out with a minus before each name; not both")
    return frozenset(known - left_out if names is None or left_out else wanted)

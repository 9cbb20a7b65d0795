"""Queries of events among each other: what each of them reads, and which rules have to be evaluated together.

The triples of a rule are a stream of its own. Whoever reads all streams, or that of the rules, reads those of the rules
that may say something to it. Rules that feed each other are evaluated as one group, each for what it derives itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.rules.depend import feeds, layers
from penstock.rules.rule import Rule
from penstock.stream.task import Task

__all__ = ["arrange"]


def arrange(tasks: Sequence[Task], declared: Iterable[str]) -> None:
    """Tell every query of events which streams it reads, and rules that feed themselves who belongs to them."""
    events = {task.name: Rule(task.name, task.asked) for task in tasks if task.asked.emit == "events"}
    rules = [task for task in tasks if task.is_rule]
    groups = _groups([events[task.name] for task in rules])
    for task in tasks:
        if task.name in events:
            group = groups.get(task.name, ())
            together = group or (events[task.name],)
            named = {rule.name for rule in together}
            fed = (
                other.output
                for other in rules
                if other.name not in named and any(feeds(events[other.name], rule) for rule in together)
            )
            task.read([*declared, *filter(None, fed)], group)


def _groups(rules: Sequence[Rule]) -> dict[str, tuple[Rule, ...]]:
    recursive = (layer.rules for layer in layers(rules) if layer.recursive)
    return {rule.name: group for group in recursive for rule in group}

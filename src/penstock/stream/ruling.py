"""Queries of events among each other: what each of them reads, and which rules have to be evaluated together.

The triples of a rule are a stream of its own. Whoever reads all streams, or that of the rules, reads those of the rules
that may say something to it, be it by what follows from their triples. Rules that feed each other are evaluated as one
group, each for what it derives itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from penstock.knowledge.store import Store
from penstock.reasoning import Ontology
from penstock.rules.depend import feeds, layers, read_by
from penstock.rules.following import Following, following
from penstock.rules.rule import Rule
from penstock.stream.task import Task

__all__ = ["Ruling", "arrange"]


class Ruling:
    """Arranges queries, and does so anew when there are other streams, other queries, or another ontology."""

    def __init__(self, store: Store, streams: Mapping[str, object]) -> None:
        self._store, self._streams = store, streams
        self._seen: tuple[object, ...] | None = None

    def all(self, tasks: Iterable[Task]) -> None:
        arrange(list(tasks), self._streams, self._ontology(tasks))
        self._seen = self._state(tasks)

    def one(self, task: Task, others: Iterable[Task]) -> None:
        """A new one; the others hear of it when they are arranged again."""
        tasks = [*others, task]
        arrange(tasks, self._streams, self._ontology(tasks), only=task)

    def again(self, tasks: Iterable[Task]) -> None:
        """All, if something has changed. Nobody is being answered just now."""
        if self._seen != self._state(tasks):
            self.all(tasks)

    def _ontology(self, tasks: Iterable[Task]) -> Ontology | None:
        """What is asked for may follow from what rules derive."""
        return getattr(self._store, "ontology", None) if any(task.is_rule for task in tasks) else None

    def _state(self, tasks: Iterable[Task]) -> tuple[object, ...]:
        version = self._store.version if any(task.is_rule for task in tasks) else None
        return tuple(self._streams), tuple(task.name for task in tasks), version


def arrange(
    tasks: Sequence[Task], declared: Iterable[str], ontology: Ontology | None = None, only: Task | None = None
) -> None:
    """Tell every query of events, or one, which streams it reads, and rules that feed themselves, by whom they do."""
    events = {task.name: Rule(task.name, task.asked) for task in tasks if task.asked.emit == "events"}
    rules = [task for task in tasks if task.is_rule]
    followed = following(ontology, (pattern for rule in events.values() for pattern in read_by(rule)))
    groups = _groups([events[task.name] for task in rules], followed)
    for task in tasks if only is None else (only,):
        if task.name in events:
            group = groups.get(task.name, ())
            together = group or (events[task.name],)
            named = {rule.name for rule in together}
            fed = (
                other.output
                for other in rules
                if other.name not in named and any(feeds(events[other.name], rule, followed) for rule in together)
            )
            task.read([*declared, *_derived(task, tasks), *filter(None, fed)], group)


def _derived(task: Task, tasks: Iterable[Task]) -> list[str]:
    """The streams that queries with streams of their own derive, not by way of this one."""
    named = {other.output: {s.iri.value for s in other.asked.streams} for other in tasks if not other.is_rule}

    def follows(stream: str) -> bool:
        return stream == task.output or any(map(follows, named.get(stream, ())))

    return [stream for stream, read in named.items() if stream is not None and read and not follows(stream)]


def _groups(rules: Sequence[Rule], followed: Following) -> dict[str, tuple[Rule, ...]]:
    recursive = (layer.rules for layer in layers(rules, followed) if layer.recursive)
    return {rule.name: group for group in recursive for rule in group}

"""Rule dependencies: the streams that each event query reads, and the rules that are evaluated together.

The triples of a rule are a stream of its own. A query that reads all streams, or the stream of the rules, reads the
rules whose triples, or triples entailed by them, may match its patterns. Rules that feed each other are evaluated as
one group, each for the triples that it derives itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from penstock.knowledge.store import Store
from penstock.reasoning import Ontology
from penstock.recursive_rules.analysis.dependencies import feeds, layers, read_by
from penstock.recursive_rules.analysis.entailment import Entailment, entailment_of
from penstock.recursive_rules.analysis.rule import Rule
from penstock.stream.registry.registered_query import RegisteredQuery

__all__ = ["RuleDependencies", "arrange"]


class RuleDependencies:
    """Binds event queries to their streams, and again when streams, queries or the ontology change.

    Only event queries and queries that derive streams are needed: no other query reads the stream of a rule.
    """

    def __init__(self, store: Store, streams: Mapping[str, object]) -> None:
        self._store, self._streams = store, streams
        self._bound_state: tuple[object, ...] | None = None

    def bind_all(self, tasks: Sequence[RegisteredQuery]) -> list[RegisteredQuery]:
        """Bind all queries to their streams, and return those that read other streams from now on."""
        changed = arrange(tasks, self._streams, self._ontology(tasks))
        self._bound_state = self._state(tasks)
        return changed

    def bind_new(self, task: RegisteredQuery, others: Iterable[RegisteredQuery]) -> None:
        """Bind a new query; `bind_changed` binds the others again where it matters to them."""
        if task.original.emit == "events":
            tasks = [*others, task]
            arrange(tasks, self._streams, self._ontology(tasks), only=task)

    def bind_changed(self, tasks: Sequence[RegisteredQuery]) -> list[RegisteredQuery]:
        """Bind event queries anew if streams, queries or the ontology have changed. No evaluation is in progress."""
        return self.bind_all(tasks) if self._bound_state != self._state(tasks) else []

    def _ontology(self, tasks: Iterable[RegisteredQuery]) -> Ontology | None:
        """The ontology, if there are rules: queries may match triples that derived ones entail."""
        return getattr(self._store, "ontology", None) if any(task.is_rule for task in tasks) else None

    def _state(self, tasks: Iterable[RegisteredQuery]) -> tuple[object, ...]:
        version = self._store.version if any(task.is_rule for task in tasks) else None
        return tuple(self._streams), tuple(task.name for task in tasks), version


def arrange(
    tasks: Sequence[RegisteredQuery],
    declared: Iterable[str],
    ontology: Ontology | None = None,
    only: RegisteredQuery | None = None,
) -> list[RegisteredQuery]:
    """Bind every event query, or one, to the streams that it reads, and recursive rules to the rules of their cycle.

    Returns the queries that changed."""
    rules = [task for task in tasks if task.is_rule]
    event_queries = [task for task in (tasks if only is None else (only,)) if task.original.emit == "events"]
    events = {task.name: Rule(task.name, task.original) for task in (*rules, *event_queries)}
    followed = entailment_of(ontology, (pattern for rule in events.values() for pattern in read_by(rule)))
    groups = _groups([events[task.name] for task in rules], followed)
    inputs_of = {task.output: task.named for task in tasks if task.output is not None and not task.is_rule}

    def bind(task: RegisteredQuery) -> bool:
        group = groups.get(task.name, ())
        together = group or (events[task.name],)
        named = {rule.name for rule in together}
        fed = (
            other.output
            for other in rules
            if other.name not in named and any(feeds(events[other.name], rule, followed) for rule in together)
        )
        return task.bind_streams([*declared, *_derived(task, inputs_of), *filter(None, fed)], group)

    return [task for task in event_queries if bind(task)]


def _derived(task: RegisteredQuery, inputs_of: Mapping[str, Sequence[str]]) -> list[str]:
    """The streams that queries with streams of their own derive, not by way of this one; `inputs_of` has the streams
    that each is derived from."""

    def follows(stream: str) -> bool:
        return stream == task.output or any(map(follows, inputs_of.get(stream, ())))

    return [stream for stream, own in inputs_of.items() if own and not follows(stream)]


def _groups(rules: Sequence[Rule], followed: Entailment) -> dict[str, tuple[Rule, ...]]:
    recursive = (layer.rules for layer in layers(rules, followed) if layer.recursive)
    return {rule.name: group for group in recursive for rule in group}

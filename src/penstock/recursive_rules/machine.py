"""The machine: evaluates recursive rules event by event.

Time goes in steps of equal ends. In each step all elements that end there go through the network of the rules'
patterns; the triples that come of them end there too, and go the same way, until nothing new comes. The memories
of the nodes are all the state between steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from pyoxigraph import NamedNode

from penstock.errors import QueryError
from penstock.model.term_encoding import encode
from penstock.recursive_rules.analysis.background import Background, Nothing
from penstock.recursive_rules.analysis.entailment import NOTHING, Entailment
from penstock.recursive_rules.analysis.rule import Rule
from penstock.recursive_rules.rete.evaluation_order import Stage, stages
from penstock.recursive_rules.rete.memory import State
from penstock.recursive_rules.rete.network import Network
from penstock.recursive_rules.rete.nodes import Leaf, Receive
from penstock.recursive_rules.solutions.rows import Row, ends
from penstock.recursive_rules.state_format import read_state, write_state
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Element", "Limits", "Machine", "merged"]


class Element(NamedTuple):
    """A triple, its terms as the log writes them, that occurred from `start` to `end` in a stream. Without a stream it
    is seen by all rules."""

    start: int
    end: int
    subject: str
    predicate: str
    object: str
    stream: str | None = None


@dataclass(frozen=True)
class Limits:
    """The limits of one step, iterations and triples, beyond which rules count as not terminating."""

    rounds: int = 10_000
    triples: int = 1_000_000


class Machine:
    """Evaluates rules on elements and the triples that these entail.

    With `saved` it continues from the state of another machine: patterns of both keep their memories, and new patterns
    begin empty. Rows without a bound are kept for `retention` after their end."""

    def __init__(
        self,
        rules: Sequence[Rule],
        background: Background | None = None,
        limits: Limits | None = None,
        saved: str | None = None,
        entailment: Entailment = NOTHING,
        retention: int | None = None,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self._tuning = tuning
        self.now: int | None = None
        self._network = Network(rules, background or Nothing(), entailment, tuning)
        self._stages = stages(self._network)
        self._limits = limits or Limits()
        self._steps = 0
        self._given: set[Row] = set()
        self._derived: dict[Row, str] = {}
        self._readers: dict[str | None, list[Receive]] = {}
        for memory in self._network.memories.values():
            memory.retention = retention
        for head in self._network.heads:
            head.derive = self._derive
        self._begin()
        if saved is not None:
            self._restore(saved)

    def _begin(self) -> None:
        """Derive the triples of the background alone."""
        for node in self._network.nodes:
            rows = node.first()
            for receive in node.outputs if rows else ():
                receive(rows)
        self._settle()
        self._end(None)

    def feed(self, elements: Iterable[Row], rule: str | None = None) -> list[Element]:
        """Takes the elements (as `Element` has them) of one end, later than all before, and gives the triples derived
        from them, by all rules or by one: they have the same end. Given elements are not derived again."""
        new_elements = list(dict.fromkeys(elements if self._network.apart else [(*row[:5], None) for row in elements]))
        if not new_elements:
            return []
        self._start(new_elements[0][1], new_elements)
        for element in [*new_elements, *self._network.entailment.rows(new_elements)]:
            for receive in self._reading(element[3]):
                receive([element])
        self._settle()
        derived = (row for row, by in self._derived.items() if rule in (None, by))
        results = [Element(*row) for row in derived if row[:5] not in self._given]
        self._end(self.now)
        return results

    def run(self, elements: Iterable[Row], rule: str | None = None) -> Iterator[Element]:
        """Feed elements of any number of ends, in the order of these ends."""
        for _, together in groupby(elements, key=ends):
            yield from self.feed(together, rule)

    def _start(self, now: int, elements: list[Row]) -> None:
        if (self.now is not None and now <= self.now) or {row[1] for row in elements} != {now}:
            raise ValueError(f"the elements of one step end at one time, after {self.now}")
        self.now = now
        self._given = {row[:5] for row in elements}

    def _reading(self, predicate: str) -> list[Receive]:
        """The leaves that may read an element of this predicate."""
        if not self._readers:
            named = {encode(p) for leaf in self._network.leaves if (p := _predicate(leaf)) is not None}
            for name in (*named, None):
                fitting = (leaf for leaf in self._network.leaves if _reads(leaf, name))
                self._readers[name] = [leaf.input(0) for leaf in fitting]
        return self._readers[predicate if predicate in self._readers else None]

    def _settle(self) -> None:
        for stage in self._stages:
            if stage.circular:
                self._run_round(stage)
            elif stage.nodes[0].waiting:
                stage.nodes[0].run()

    def _run_round(self, stage: Stage) -> None:
        rounds = 0
        while any(node.waiting for node in stage.nodes):
            for node in stage.nodes:
                if node.waiting:
                    node.run()
            rounds += 1
            if rounds > self._limits.rounds:
                raise self._endless(f"more than {self._limits.rounds} iterations")

    def _derive(self, rule: str, elements: list[Row]) -> list[Row]:
        """The elements that are new in this step."""
        new = [element for element in elements if element not in self._derived]
        if not self._network.apart:
            new = [element for element in new if element[:5] not in self._given]
        self._derived.update(dict.fromkeys(new, rule))
        if len(self._derived) > self._limits.triples:
            raise self._endless(f"more than {self._limits.triples} triples")
        return new

    def _endless(self, much: str) -> QueryError:
        """The error for rules that do not terminate. It names the rule that has derived the most triples lately."""
        latest = list(self._derived.values())[-1000:]
        name = Counter(latest).most_common(1)[0][0] if latest else self._network.heads[0].rule
        return QueryError(
            f"rule {name} does not terminate: {much} at one time ({self.now})",
            hint="write SEQ, so that a triple comes after those that it is made of, or a FILTER that stops it",
        )

    def _end(self, now: int | None) -> None:
        self._given = set()
        self._derived = {}
        for node in self._network.used:
            node.end()
        self._network.used.clear()
        self._steps += 1
        if now is not None and self._steps % self._tuning.rule_prune_steps == 0:
            for memory in self._network.memories.values():
                memory.prune(now, self._tuning.rule_prune_rows)

    # State

    def save(self) -> str:
        """The state between two steps: the rows of all memories, as `state_format` writes them."""
        return write_state(self.now, {mark: memory.state for mark, memory in self._network.memories.items()})

    def _restore(self, saved: str) -> None:
        self.now, states = read_state(saved)
        for mark, state in states.items():
            if mark in self._network.memories:
                self._network.memories[mark].state = state


def merged(states: Iterable[str]) -> str:
    """The states of machines that had parts of the elements, as that of one machine; there is at least one."""
    memories: dict[str, State] = {}
    times, parts = zip(*map(read_state, states), strict=True)
    for mark, rows in (memory for part in parts for memory in part.items()):
        merged_rows = memories.setdefault(mark, {})
        for key, part_rows in rows.items():
            merged_rows[key] = sorted([*merged_rows.get(key, ()), *part_rows], key=ends)
    return write_state(max(times), memories)


def _predicate(leaf: Leaf) -> NamedNode | None:
    return leaf.pattern.predicate if isinstance(leaf.pattern.predicate, NamedNode) else None


def _reads(leaf: Leaf, predicate: str | None) -> bool:
    known = _predicate(leaf)
    return known is None or encode(known) == predicate

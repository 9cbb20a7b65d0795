"""Rules → network of nodes. Equal patterns of all rules are one node; the names of their variables do not matter."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from hashlib import blake2b
from typing import TypeVar

from penstock.algebra import ops
from penstock.algebra.ops import TriplePattern
from penstock.recursive_rules.analysis.background import Background
from penstock.recursive_rules.analysis.check import check
from penstock.recursive_rules.analysis.dependencies import may_match
from penstock.recursive_rules.analysis.entailment import NOTHING, Entailment
from penstock.recursive_rules.analysis.rule import Rule
from penstock.recursive_rules.rete.builder import Builder
from penstock.recursive_rules.rete.memory import Memory
from penstock.recursive_rules.rete.nodes import Leaf, Node, View
from penstock.recursive_rules.rete.template import TemplateNode
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Edge", "Network"]

Edge = tuple[Node, Node, int]
"""From a node to an input of another."""

Made = TypeVar("Made", bound=Node)


class Network:
    """The nodes of all rules, and the edges between them."""

    def __init__(
        self,
        rules: Sequence[Rule],
        background: Background,
        entailment: Entailment = NOTHING,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self.apart = any(rule.streams is not None for rule in rules)  # whether some read streams that others do not
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.leaves: list[Leaf] = []
        self.used: list[Node] = []
        self.entailment, self.tuning = entailment, tuning
        self.memories: dict[str, Memory] = {}
        self._background = background
        self._known: dict[Hashable, Node] = {}
        heads = [(rule, self._head(rule)) for rule in rules]
        self.heads = [head for _, head in heads]
        for rule, head in heads:
            self._feed(rule, head)

    def _head(self, rule: Rule) -> TemplateNode:
        check(rule)
        root = Builder(self, rule).build(rule.pattern, (), read=False)
        return self.add(TemplateNode(rule, root.layout, self.entailment), rule, (root,))

    def _feed(self, rule: Rule, head: TemplateNode) -> None:
        for triple, readers in zip(rule.template, head.readers, strict=True):
            for leaf in self.leaves:
                reads = leaf.streams is None or ops.RULES.value in leaf.streams
                if reads and may_match(rule, triple, leaf.pattern, self.entailment):
                    readers.append(leaf.input(0))
                    self.edges.append((head, leaf, 0))

    def leaf(self, pattern: TriplePattern, rule: Rule) -> Node:
        def make() -> Leaf:
            may_repeat = self.apart or bool(self.entailment)
            leaf = Leaf(pattern, rule.streams, self._background.matches(pattern), may_repeat)
            self.leaves.append(leaf)
            return self.add(leaf, rule, ())

        return self.once((pattern, *_reading(rule)), make)

    def once(self, key: Hashable, make: Callable[[], Node]) -> Node:
        if key not in self._known:
            node = self._known[key] = make()
            for number, memory in node.memories().items():
                self.memories[_mark(key, number)] = memory
        return self._known[key]

    def add(self, node: Made, rule: Rule, operands: tuple[Node | View, ...]) -> Made:
        node.rule = rule.name
        node.used = self.used
        self.nodes.append(node)
        for number, operand in enumerate(operands):
            operand.source.outputs.append(node.input(number))
            self.edges.append((operand.source, node, number))
        return node


def _reading(rule: Rule) -> tuple[str, ...]:
    return tuple(sorted(rule.streams or ()))


def _mark(key: Hashable, number: int) -> str:
    """The name of a memory in a saved state: nodes with the same key hold the same rows, whatever rule they belong
    to."""
    return blake2b(repr((key, number)).encode(), digest_size=16).hexdigest()

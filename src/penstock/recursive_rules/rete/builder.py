"""Builds the nodes of one rule's pattern, operator by operator."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.algebra import ops
from penstock.algebra.expressions import Exists, Expr, Var
from penstock.algebra.ops import Bgp, Op, TriplePattern, variables_of
from penstock.algebra.retention_bounds import greatest
from penstock.algebra.scope import exists_in, expressions_of
from penstock.algebra.smart_constructors import TRUE
from penstock.algebra.substitute import rename
from penstock.model.term_encoding import encode
from penstock.recursive_rules.analysis.check import exists_operands
from penstock.recursive_rules.analysis.rule import Place, Rule, terms_of
from penstock.recursive_rules.rete import negation, nodes
from penstock.recursive_rules.rete.negated_sequence import Gap, NegatedSequence, gap
from penstock.recursive_rules.rete.nodes import Node, View
from penstock.recursive_rules.solutions.expressions import Expression
from penstock.recursive_rules.solutions.rows import STATIC, Layout, RowJoin, key_of, slots

if TYPE_CHECKING:
    from penstock.recursive_rules.rete.network import Network

__all__ = ["Builder"]

_SAME = (ops.Distinct, ops.Reduced)  # solutions are sets already
_PASSING = (ops.Filter, ops.Extend, ops.Project, ops.Union)  # what they make of a row without interval has none either


class Builder:
    """`place` is where an operator stands; `read` tells whether its rows without interval are read by anything but the
    template, which does nothing with them."""

    def __init__(self, network: Network, rule: Rule) -> None:
        self._network = network
        self._rule = rule

    def build(self, op: Op, place: Place, read: bool) -> Node | View:
        if isinstance(op, _SAME):
            return self.build(op.children[0], (*place, 0), read)
        if isinstance(op, Bgp):
            return self._bgp(op, place)
        if isinstance(op, ops.Filter) and (sequence := gap(op)) is not None:
            return self._gap(op, sequence, place)
        passing = isinstance(op, _PASSING)
        parts = [self.build(part, (*place, i), read or not passing) for i, part in enumerate(op.children)]
        if isinstance(op, ops.Filter | ops.Extend):
            return self._asking(op, parts[0], place, read)
        order = (1, 0) if isinstance(op, ops.OptionalSeq) else tuple(range(len(parts)))
        node = self._once(
            op, lambda: _MAKERS[type(op)](self, op, *(part.layout for part in parts)), *(parts[i] for i in order)
        )
        self._remember(node, [self._bound(op.children[i], (*place, i)) for i in order], read)
        return node

    def expression(self, expr: Expr, layout: Layout) -> Expression:
        return Expression(expr, layout, self._rule.query.base, self._network.tuning)

    def _once(self, op: Any, make: Callable[[], Node], *operands: Node | View) -> Node:
        key = (op, tuple(sorted(self._rule.streams or ())), self._rule.query.base)
        return self._network.once(key, lambda: self._network.add(make(), self._rule, operands))

    def _remember(self, node: Node, bounds: list[int | None], read: bool) -> None:
        """Set how long a node keeps rows: as long as any of the patterns that share it needs them."""
        for number, memory in node.memories().items():
            memory.bound = greatest(memory.bound, bounds[number])
        node.read = node.read or read

    def _bound(self, op: Op, place: Place) -> int | None:
        """The greatest age of the start of a row: as old as that of the oldest element that it may be made of."""
        if isinstance(op, Bgp):
            return self._rule.bounds.get(place) if op.patterns else 0
        made_of = op.children[:1] if isinstance(op, ops.Minus) else op.children
        return greatest(0, *(self._bound(part, (*place, i)) for i, part in enumerate(made_of)))

    def _bgp(self, op: Bgp, place: Place) -> Node | View:
        """The nodes of a basic graph pattern, with normalised variable names, so that rules share them."""
        if not op.patterns:
            return self._once(op, lambda: nodes.Table((), [STATIC]))
        ordered = _connected(op.patterns)
        names = dict.fromkeys(var for pattern in ordered for var in variables_of(*terms_of(pattern)))
        numbered = {var: Var(f".{number}") for number, var in enumerate(names)}
        first, *others = rename(tuple(ordered), numbered)
        node, so_far = self._network.leaf(first, self._rule), Bgp((first,))
        for pattern in others:
            leaf, both = self._network.leaf(pattern, self._rule), Bgp((*so_far.patterns, pattern))
            row_join = RowJoin(so_far, node.layout, Bgp((pattern,)), leaf.layout)
            node, so_far = self._once(("bgp", both), partial(nodes.Join, row_join), node, leaf), both
            self._remember(node, [self._bound(op, place)] * 2, read=True)
        original = {number: var for var, number in numbered.items()}
        return View(node, tuple(original[var] for var in node.layout))

    def _asking(self, op: ops.Filter | ops.Extend, below: Node | View, place: Place, read: bool) -> Node:
        """The nodes of FILTER and BIND, after a node per EXISTS that adds its result to each row as a boolean."""
        expr = expressions_of(op)[0]
        marks: dict[Exists, Var] = {}
        node = below
        for number, exists in enumerate(exists_in(expr), 1):
            if exists not in marks:
                marks[exists] = Var(f".exists{number}")
                node = self._mark(op, exists, node, marks[exists], (*place, number), read)
        rewritten = _replaced(expr, marks)
        if isinstance(op, ops.Filter):
            result = self._once(
                (op, "test"), lambda: nodes.Filter(node.layout, self.expression(rewritten, node.layout)), node
            )
        else:
            layout = (*node.layout, op.var)
            result = self._once(
                (op, "value"), lambda: nodes.Extend(layout, self.expression(rewritten, node.layout)), node
            )
        kept = tuple(var for var in result.layout if var not in marks.values())
        return self._once((op, "kept"), lambda: nodes.Project(kept, result.layout), result) if marks else result

    def _mark(self, op: Op, exists: Exists, node: Node | View, mark: Var, place: Place, read: bool) -> Node:
        condition, pattern = exists_operands(exists)
        other = self.build(pattern, place if condition is None else (*place, 0), read=True)
        row_join = RowJoin(op.children[0], node.layout, pattern, other.layout)
        test = None if condition is None else self.expression(condition, row_join.layout)
        marked = self._once((op, mark), lambda: negation.Mark(row_join, (*node.layout, mark), test), node, other)
        self._remember(marked, [0, self._bound(exists.pattern, place)], read)
        return marked

    def _gap(self, op: ops.Filter, sequence: Gap, place: Place) -> Node:
        """The operands stand below the EQUALSOPTIONAL, in its left side and within its right one."""
        places = ((*place, 0, 0, 0), (*place, 0, 1, 0, 1), (*place, 0, 0, 1))
        parts = (sequence.before, sequence.absent, sequence.after)
        before, absent, after = (self.build(part, at, read=True) for part, at in zip(parts, places, strict=True))
        row_join = RowJoin(sequence.after, after.layout, sequence.before, before.layout)
        absent_join = RowJoin(ops.Seq(sequence.before, sequence.after), row_join.layout, sequence.absent, absent.layout)
        shared = [var for var in row_join.layout if var in absent.layout]
        known = slots(after.layout)
        key = key_of([known[var] for var in shared]) if all(var in known for var in shared) else None
        node = self._once((op, "gap"), lambda: NegatedSequence(row_join, absent_join, key), before, absent, after)
        bound = self._bound(sequence.before, places[0])
        self._remember(node, [bound, bound], read=True)
        if sequence.condition == TRUE:
            return node
        test = self.expression(sequence.condition, node.layout)
        return self._once((op, "test"), lambda: nodes.Filter(node.layout, test), node)

    # The node of an operator, by the layouts of its operands

    def join(self, op: ops.Join, left: Layout, right: Layout) -> Node:
        return nodes.Join(RowJoin(op.left, left, op.right, right))

    def seq(self, op: ops.Seq, left: Layout, right: Layout) -> Node:
        return nodes.Seq(RowJoin(op.right, right, op.left, left))

    def equals(self, op: ops.Equals, left: Layout, right: Layout) -> Node:
        return nodes.Equals(RowJoin(op.left, left, op.right, right))

    def left_join(self, op: ops.LeftJoin, left: Layout, right: Layout) -> Node:
        return self._optional(negation.Optional, op.condition, RowJoin(op.left, left, op.right, right))

    def optional_seq(self, op: ops.OptionalSeq, left: Layout, right: Layout) -> Node:
        return self._optional(negation.OptionalBefore, op.condition, RowJoin(op.right, right, op.left, left))

    def equals_optional(self, op: ops.EqualsOptional, left: Layout, right: Layout) -> Node:
        return self._optional(negation.OptionalAtOnce, op.condition, RowJoin(op.left, left, op.right, right))

    def _optional(self, kind: type[negation.Optional], condition: Expr | None, row_join: RowJoin) -> Node:
        return kind(row_join, None if condition is None else self.expression(condition, row_join.layout))

    def minus(self, op: ops.Minus, left: Layout, right: Layout) -> Node:
        return negation.Minus(RowJoin(op.left, left, op.right, right), left)

    def union(self, op: ops.Union, left: Layout, right: Layout) -> Node:
        return nodes.Union((*left, *(var for var in right if var not in left)), left, right)

    def project(self, op: ops.Project, below: Layout) -> Node:
        return nodes.Project(op.vars, below)

    def table(self, op: ops.Table) -> Node:
        rows = [(*STATIC, *(None if term is None else encode(term) for term in row)) for row in op.rows]
        return nodes.Table(op.vars, rows)


_MAKERS: dict[type[Op], Callable[..., Node]] = {
    ops.EqualsOptional: Builder.equals_optional,
    ops.Equals: Builder.equals,
    ops.Join: Builder.join,
    ops.LeftJoin: Builder.left_join,
    ops.Minus: Builder.minus,
    ops.OptionalSeq: Builder.optional_seq,
    ops.Project: Builder.project,
    ops.Seq: Builder.seq,
    ops.Table: Builder.table,
    ops.Union: Builder.union,
}


def _connected(patterns: tuple[TriplePattern, ...]) -> list[TriplePattern]:
    """The patterns in an order in which each shares a variable with those before it, if possible."""
    first, *remaining = patterns
    order = [first]
    while remaining:
        bound = {var for pattern in order for var in variables_of(*terms_of(pattern))}
        following = next((p for p in remaining if bound.intersection(terms_of(p))), remaining[0])
        remaining.remove(following)
        order.append(following)
    return order


def _replaced(expr: Expr, marks: dict[Exists, Var]) -> Expr:
    if isinstance(expr, Exists):
        return marks[expr]
    return expr.map_children(lambda child: _replaced(child, marks))

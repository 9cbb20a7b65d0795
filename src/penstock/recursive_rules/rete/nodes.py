"""Nodes of the network: one per operator, through which rows pass in steps of equal `ends`.

A row's end never changes. So the rows of an operator that end now are made of rows of its operands that end now and of
those that they had before: each node remembers the rows that it will need, and no others. Solutions are sets, as in the
paper: a node passes on no row twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from penstock.algebra.expressions import Var
from penstock.algebra.ops import TriplePattern, variables_of
from penstock.model.term_encoding import encode
from penstock.recursive_rules.analysis.background import BackgroundTriple
from penstock.recursive_rules.analysis.rule import terms_of
from penstock.recursive_rules.rete.memory import Memory, Moment
from penstock.recursive_rules.solutions.expressions import Expression
from penstock.recursive_rules.solutions.rows import STATIC, Layout, Row, RowJoin, picked, replaced, slots

__all__ = [
    "Equals", "Extend", "Filter", "Join", "Leaf", "Node", "Project", "Scheduled", "Seq", "Table", "Union", "View",
]  # fmt: skip

Receive = Callable[[list[Row]], None]


class Node:
    """A node. `take` computes the results of the rows of one input, which are passed on at once. A node that has to
    wait until an input is complete for this step, since it negates, is `Scheduled` instead.

    `past` are inputs of which only earlier rows count: they are remembered, and have no part in the order of a step.
    """

    past: ClassVar[frozenset[int]] = frozenset()
    complete: ClassVar[frozenset[int]] = frozenset()
    repeats: bool = True  # whether it may make the same row twice

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.outputs: list[Receive] = []
        self.rule = ""
        self.read = False  # whether rows without interval are read by more than templates
        self.used: list[Node] = []  # the nodes of the network that have something to forget at the end of a step
        self._passed_on: set[Row] = set()

    @property
    def source(self) -> Node:
        return self

    def memories(self) -> dict[int, Memory]:
        """The memories of the node, by input."""
        return {}

    def input(self, number: int) -> Receive:
        """The function that takes the rows of an operand."""
        return self.memories()[number].add if number in self.past else self._receiver(number)

    def _receiver(self, number: int) -> Receive:
        take, give = self.take, self.give

        def receive(rows: list[Row]) -> None:
            results = take(number, rows)
            if results:
                give(results)

        return receive

    def take(self, number: int, rows: list[Row]) -> list[Row]:
        raise NotImplementedError

    def give(self, rows: list[Row]) -> None:
        """Pass on the rows that have not been passed on in this step."""
        if self.repeats:
            if not self._passed_on:
                self.used.append(self)
            rows = self._without_repeats(rows)
        for receive in self.outputs if rows else ():
            receive(rows)

    def _without_repeats(self, rows: list[Row]) -> list[Row]:
        passed_on = self._passed_on
        if passed_on:
            rows = [row for row in rows if row not in passed_on]
        if len(rows) > 1:
            rows = list(dict.fromkeys(rows))
        passed_on.update(rows)
        return rows

    def first(self) -> list[Row]:
        """The rows without an interval that exist from the beginning."""
        return []

    def end(self) -> None:
        """Forget the rows of the step that is over."""
        self._passed_on.clear()


class View:
    """The rows of a node with other variable names."""

    def __init__(self, source: Node, layout: Layout) -> None:
        self.source = source
        self.layout = layout


class Scheduled(Node):
    """A node that runs when its `complete` inputs have all rows of the step."""

    def __init__(self, layout: Layout, inputs: int = 1) -> None:
        super().__init__(layout)
        self.waiting = False
        self._inbox: list[list[Row]] = [[] for _ in range(inputs)]

    def _receiver(self, number: int) -> Receive:
        def receive(rows: list[Row]) -> None:
            self._inbox[number] += rows
            self.waiting = True

        return receive

    def run(self) -> None:
        inbox, self._inbox = self._inbox, [[] for _ in self._inbox]
        self.waiting = False
        made = self.work(*inbox)
        if made:
            self.give(made)

    def work(self, *inbox: list[Row]) -> list[Row]:
        """The results of the rows of all inputs."""
        raise NotImplementedError


class Leaf(Node):
    """A triple pattern (an alpha node). Its input are elements as rows: (start, end, subject, predicate, object,
    stream), each given once; only where rules read some streams and not others, or something follows from several, may
    equal ones come (`may_repeat`)."""

    def __init__(
        self,
        pattern: TriplePattern,
        streams: frozenset[str] | None,
        known: Iterable[BackgroundTriple],
        may_repeat: bool = False,
    ) -> None:
        terms = terms_of(pattern)
        super().__init__(variables_of(*terms))
        self.repeats = may_repeat
        self.pattern = pattern
        self.streams = streams
        first = {term: place for place, term in reversed(list(enumerate(terms, 2)))}
        fixed = {i: encode(term) for i, term in enumerate(terms, 2) if not isinstance(term, Var)}
        self._constants = picked(tuple(fixed))
        self._wanted = tuple(fixed.values())
        self._same = [(i, first[term]) for i, term in enumerate(terms, 2) if first[term] != i]
        self._pick = replaced([first[var] for var in self.layout])
        self._known = known

    def first(self) -> list[Row]:
        return self.take(0, [(*STATIC, *triple, None) for triple in dict.fromkeys(self._known)])

    def take(self, number: int, rows: list[Row]) -> list[Row]:
        constants, expected, pick = self._constants, self._wanted, self._pick
        if self.streams is not None:
            rows = [row for row in rows if row[5] is None or row[5] in self.streams]
        if self._same:
            rows = [row for row in rows if all(row[i] == row[j] for i, j in self._same)]
        return [pick(row) for row in rows if constants(row) == expected]


class Table(Node):
    def __init__(self, layout: Layout, rows: list[Row]) -> None:
        super().__init__(layout)
        self._rows = rows

    def first(self) -> list[Row]:
        return list(dict.fromkeys(self._rows))


class Project(Node):
    """The rows with other columns."""

    def __init__(self, layout: Layout, below: Layout) -> None:
        super().__init__(layout)
        places = slots(below)
        self._pick = replaced([places.get(var) for var in layout])

    def take(self, number: int, rows: list[Row]) -> list[Row]:
        pick = self._pick
        return [pick(row) for row in rows]


class Union(Node):
    def __init__(self, layout: Layout, *below: Layout) -> None:
        super().__init__(layout)
        self._picks = [replaced([slots(part).get(var) for var in layout]) for part in below]

    def take(self, number: int, rows: list[Row]) -> list[Row]:
        pick = self._picks[number]
        return [pick(row) for row in rows]


class Filter(Node):
    repeats = False

    def __init__(self, layout: Layout, condition: Expression) -> None:
        super().__init__(layout)
        self._condition = condition

    def take(self, number: int, rows: list[Row]) -> list[Row]:
        return [row for row, holds in zip(rows, self._condition.holds(rows), strict=True) if holds]


class Extend(Node):
    repeats = False

    def __init__(self, layout: Layout, expression: Expression) -> None:
        super().__init__(layout)
        self._expression = expression

    def take(self, number: int, rows: list[Row]) -> list[Row]:
        return [(*row, value) for row, value in zip(rows, self._expression.values(rows), strict=True)]


class Join(Node):
    """Joins the rows of this step with each other, and with the remembered rows of the other side."""

    def __init__(self, row_join: RowJoin) -> None:
        super().__init__(row_join.layout)
        self._row_join = row_join
        self._left, self._right = Memory(row_join.key), Memory(row_join.other_key)

    def memories(self) -> dict[int, Memory]:
        return {0: self._left, 1: self._right}

    def take(self, number: int, rows: list[Row]) -> list[Row]:
        row_join = self._row_join
        if number == 0:
            self._left.add(rows)
            return [joined for row in rows for joined in row_join.joined(row, self._right.find(row_join.key(row)))]
        self._right.add(rows)
        met = ((row, left_row) for row in rows for left_row in self._left.find(row_join.other_key(row)))
        return [joined for row, left_row in met for joined in row_join.joined(left_row, (row,))]


class Seq(Node):
    """Joins rows of the left side that have ended with rows of the right side that start later; `meeting` is right with
    left."""

    past = frozenset((0,))

    def __init__(self, row_join: RowJoin) -> None:
        super().__init__(row_join.layout)
        self._row_join = row_join
        self._left = Memory(row_join.other_key)

    def memories(self) -> dict[int, Memory]:
        return {0: self._left}

    def take(self, number: int, rows: list[Row]) -> list[Row]:
        row_join = self._row_join
        return [
            made for row in rows if row[0] is not None
            for made in row_join.joined(row, self._left.before(row_join.key(row), row[0]))
        ]  # fmt: skip


class Equals(Node):
    """Joins rows of the same interval: both end now."""

    def __init__(self, row_join: RowJoin) -> None:
        super().__init__(row_join.layout)
        self._row_join = row_join
        self._left, self._right = Moment(row_join.key), Moment(row_join.other_key)

    def take(self, number: int, rows: list[Row]) -> list[Row]:
        row_join = self._row_join
        self.used.append(self)
        if number == 0:
            self._left.add(rows)
            partners = ((row, self._right.find(row_join.key(row), row[0])) for row in rows)
            return [joined for row, right_rows in partners for joined in row_join.joined(row, right_rows)]
        self._right.add(rows)
        met = ((row, left_row) for row in rows for left_row in self._left.find(row_join.other_key(row), row[0]))
        return [joined for row, left_row in met for joined in row_join.joined(left_row, (row,))]

    def end(self) -> None:
        super().end()
        self._left.clear()
        self._right.clear()

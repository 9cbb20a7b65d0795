"""The retention of the elements of an event query, from the bounds on getDURATION() in its filters.

An answer that ends at T is decided by the rows below it. Each operator passes two numbers down (None: no bound).
Rows of its operand that end more than `lag` before T, or start more than `age` before T, make no difference, be they
there or not. At the root lag is 0, since the answer ends at T. A filter getDURATION() < D lets nothing pass that is
longer, so that below it age ≤ lag + D. And what starts at most `age` before T ends no earlier: lag ≤ age.

    Join, Seq       both sides start no earlier than both together: age stays. The right side of Seq ends when both do:
                    lag stays. Of other sides it is only known that they end after they started.
    Equals, EqualsOptional   both sides have the interval of the whole: lag and age stay.
    LeftJoin, OptionalSeq    the side that has to be there ends with the whole and starts no earlier: lag and age stay.
                    Nothing from outside holds for the optional side: a partner that is too old for a filter above still
                    keeps the bare solution from being an answer. But with D in the operator's own condition only those
                    partners count that started at most D before the other side ends: age = lag + D.
    Minus, EXISTS   whatever ended before counts, however old it is: no bound.
    Group, Annotate, Slice   look at all rows: no bound.

The condition of a LeftJoin bounds only where rows without an interval make no difference (`timed`): background data
that has no partner may still be joined with an event, and its partners may be of any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pyoxigraph import Literal

from penstock.algebra import ops
from penstock.algebra.durations import lengths, written
from penstock.algebra.expressions import Call, Const, Expr, Occurrence
from penstock.algebra.occurrence import inner_plans
from penstock.algebra.ops import Bgp, Op, Query
from penstock.algebra.sse.sexpr import token

__all__ = ["Place", "duration_bounds", "greatest", "kept_for", "least", "longest", "unbounded"]

Place = tuple[int, ...]
"""The way from the root to a pattern: at each operator the number of the operand, in the order of `inner_plans`."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The greatest distance of the rows of an operator from the end of an answer, in microseconds; None: any time.
    `timed`: rows without an interval make no difference."""

    lag: int | None = None
    age: int | None = None
    timed: bool = False

    def within(self, duration: int | None) -> Reach:
        """The reach of rows that are no longer than that."""
        later = None if self.lag is None or duration is None else self.lag + duration
        age = least(self.age, later)
        return Reach(least(self.lag, age), age, self.timed or duration is not None)

    def part(self, timed: bool) -> Reach:
        """The reach of a part that may end before the whole does."""
        return Reach(self.age, self.age, timed)

    def only_timed(self) -> Reach:
        return replace(self, timed=True)


ANY = Reach()


@dataclass(frozen=True, slots=True)
class _Leaf:
    place: Place
    pattern: Bgp
    reach: Reach
    remedy: str | None


def duration_bounds(query: Query) -> dict[Place, int | None]:
    """Each basic graph pattern → the largest (end of an answer − start of an element) that makes a difference to it.

    Only a query of events has bounds. Property paths are not among the patterns: they lead through no events.
    """
    return {leaf.place: leaf.reach.age for leaf in _leaves_of(query)}


def kept_for(query: Query) -> dict[Place, int | None]:
    """The retention of each pattern: how long after its *end* the log has to keep an element for it."""
    return {leaf.place: _bound_of(leaf) for leaf in _leaves_of(query)}


def _bound_of(leaf: _Leaf) -> int | None:
    """The time after its end for which an element is kept for the pattern. A single triple ends with its row."""
    return leaf.reach.lag if len(leaf.pattern.patterns) == 1 else leaf.reach.age


def unbounded(query: Query, retention: int | None = None) -> tuple[str, ...]:
    """A warning for each pattern whose elements have no retention bound, with a remedy."""
    if query.emit != "events":
        return ()
    retained = "" if retention is None else _KEPT.format(written(retention))
    leaves = (leaf for leaf in _leaves_of(query) if _bound_of(leaf) is None)
    texts = ((_pattern_text(leaf.pattern), leaf.remedy or _NONE) for leaf in leaves)
    return tuple(f"{pattern} has no bound in time{retained}; {remedy}" for pattern, remedy in dict.fromkeys(texts))


def _pattern_text(pattern: Bgp) -> str:
    triples = (" ".join(map(token, (p.subject, p.predicate, p.object))) for p in pattern.patterns)
    return f"{{ {' . '.join(triples)} }}"


_FILTER = 'FILTER (getDURATION() < "PT1H"^^xsd:duration)'
_AROUND = f"{_FILTER} in the group around it would help, or another duration"
_INSIDE = f"{_FILTER} inside its own group would help, or another duration"
_NONE = "no filter helps here, but a window on the stream does"
_KEPT = ", and elements are kept for {} (retention): answers that need older ones may be missing or differ"


def _leaves_of(query: Query) -> Iterator[_Leaf]:
    """The patterns of an event query with their reach; none with a window, whose answers may be older than their
    instant, and none for DESCRIBE, which may read any triple."""
    known = query.emit == "events" and not isinstance(query.form, ops.Describe)
    return _leaves(query.pattern, (), Reach(0, timed=True) if known else ANY, _AROUND if known else None)


def _leaves(op: Op, place: Place, reach: Reach, remedy: str | None) -> Iterator[_Leaf]:
    if isinstance(op, Bgp):
        if op.patterns:
            yield _Leaf(place, op, reach, remedy)
        return
    operands = _OPERANDS.get(type(op), _none)(op, reach, remedy)
    for number, inner in enumerate(inner_plans(op)):
        below, advice = operands[number] if number < len(operands) else (ANY, None)  # EXISTS comes last
        yield from _leaves(inner, (*place, number), below, advice)


# The operands of each operator: their reach, and which filter would bound them if nothing does.

Known = tuple[Reach, str | None]


def _none(op: Op, reach: Reach, remedy: str | None) -> list[Known]:
    return [(ANY, None)] * len(op.children)


def _unchanged(op: Op, reach: Reach, remedy: str | None) -> list[Known]:
    return [(reach, remedy)] * len(op.children)


def _alike(op: ops.Equals, reach: Reach, remedy: str | None) -> list[Known]:
    return [(reach.only_timed(), remedy)] * 2


def _filter(op: ops.Filter, reach: Reach, remedy: str | None) -> list[Known]:
    return [(reach.within(longest(op.condition)), remedy)]


def _join(op: Op, reach: Reach, remedy: str | None) -> list[Known]:
    return [(reach.part(timed=False), remedy)] * 2


def _seq(op: ops.Seq, reach: Reach, remedy: str | None) -> list[Known]:
    return [(reach.part(timed=True), remedy), (reach.only_timed(), remedy)]


def _left_join(op: ops.LeftJoin, reach: Reach, remedy: str | None) -> list[Known]:
    needed = replace(reach, timed=False)  # with a partner it has an interval after all
    return [(needed, remedy), _partner(op.condition, reach) if reach.timed else (ANY, None)]


def _optional_seq(op: ops.OptionalSeq, reach: Reach, remedy: str | None) -> list[Known]:
    return [_partner(op.condition, reach), (reach, remedy)]


def _partner(condition: Expr | None, reach: Reach) -> Known:
    """The reach of an optional side: it ends with the other side or before, and both together last no longer than the
    condition allows."""
    return Reach(reach.lag).within(longest(condition)).part(timed=False), None if reach.lag is None else _INSIDE


def _equals_optional(op: ops.EqualsOptional, reach: Reach, remedy: str | None) -> list[Known]:
    return [(reach, remedy), (reach.only_timed().within(longest(op.condition)), remedy)]


def _minus(op: ops.Minus, reach: Reach, remedy: str | None) -> list[Known]:
    return [(reach, remedy), (ANY, None)]


_OPERANDS: dict[type[Op], Callable[..., list[Known]]] = {
    ops.Distinct: _unchanged,
    ops.Equals: _alike,
    ops.EqualsOptional: _equals_optional,
    ops.Extend: _unchanged,
    ops.Filter: _filter,
    ops.Graph: _unchanged,
    ops.Join: _join,
    ops.LeftJoin: _left_join,
    ops.Minus: _minus,
    ops.OptionalSeq: _optional_seq,
    ops.OrderBy: _unchanged,
    ops.Project: _unchanged,
    ops.Reduced: _unchanged,
    ops.Seq: _seq,
    ops.Union: _unchanged,
}


def longest(condition: Expr | None) -> int | None:
    """The longest duration of a row for which the condition can hold; None: no bound."""
    match condition:
        case Call("&&", args):
            return least(*map(longest, args))
        case Call("||", args):
            return greatest(*map(longest, args))
        case Call("<" | "<=" | "=", (Occurrence("duration"), Const(Literal() as limit))):
            return _limit(limit)
        case Call(">" | ">=" | "=", (Const(Literal() as limit), Occurrence("duration"))):
            return _limit(limit)
    return None


def _limit(limit: Literal) -> int | None:
    """The bound of one conjunct. A duration with months counts as the shortest such duration; no duration is shorter
    than 0."""
    shortest_and_longest = lengths(limit)
    return None if shortest_and_longest is None else max(0, shortest_and_longest[0])


def least(*bounds: int | None) -> int | None:
    """The least bound, for rows to which all apply; None is none."""
    return min((bound for bound in bounds if bound is not None), default=None)


def greatest(*bounds: int | None) -> int | None:
    """The greatest of one bound or more, for rows to which any applies; None if one of them is none."""
    numbers = [bound for bound in bounds if bound is not None]
    return max(numbers) if len(numbers) == len(bounds) else None

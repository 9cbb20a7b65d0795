"""Common sub-plans of the queries of a round: computed for the first query, read by the others.

Two sub-plans are the same if they are equal, read the same windows of the same elements, and have the same instants.
The rows stay until another evaluation needs the sub-plan, or no query has it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import TypeAlias

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.occurrence import everywhere
from penstock.algebra.ops import Bgp, Op
from penstock.algebra.scope import expressions_of, mentioned, references, visible
from penstock.compile import sql
from penstock.compile.context import Context, Graph, NamedGraph
from penstock.compile.relation import INSTANT, Relation
from penstock.compile.sql import Query, Select, Table
from penstock.model.term_encoding import encode
from penstock.optimise.statics import VOLATILE, calls
from penstock.spark.session.jobs import Jobs
from penstock.tuning import DEFAULT, Tuning

__all__ = ["CommonSubplans", "SubplanCache", "shareable"]

_WORK = (
    ops.Annotate, ops.Distinct, ops.Equals, ops.EqualsOptional, ops.Group, ops.Join, ops.LeftJoin, ops.Minus,
    ops.OptionalSeq, ops.Seq,
)  # fmt: skip
_numbers = count()


Place: TypeAlias = tuple[Graph, str | None, int]  # graph, window and tag, as in `Context`


@dataclass(frozen=True, slots=True)
class _MaterialisedSubplan:
    """The materialised rows of a sub-plan, and the evaluation that they belong to."""

    now: Hashable
    relation: Relation
    view: str


class SubplanCache:
    """The sub-plans that the queries of an engine share."""

    def __init__(self, jobs: Jobs, tuning: Tuning = DEFAULT) -> None:
        self._jobs, self._tuning = jobs, tuning
        self._users: dict[Hashable, set[object]] = {}
        self._plans: dict[object, frozenset[Hashable]] = {}
        self._made: dict[Hashable, _MaterialisedSubplan] = {}

    def plan(self, user: object, parts: frozenset[Hashable]) -> None:
        """Register the current sub-plans of a query."""
        before = self._plans.get(user, frozenset())
        if parts == before:
            return
        self._plans[user] = parts
        for part in before - parts:
            self._leave(user, part)
        for part in parts - before:
            self._users.setdefault(part, set()).add(user)

    def release(self, user: object) -> None:
        """Forget a query."""
        for part in self._plans.pop(user, ()):
            self._leave(user, part)

    def _leave(self, user: object, part: Hashable) -> None:
        self._users[part].discard(user)
        if not self._users[part]:
            del self._users[part]
            if part in self._made:
                self._jobs.drop([self._made.pop(part).view])

    def relation(self, part: Hashable, now: Hashable, rows: int, compile: Callable[[], Relation]) -> Relation | None:
        """Return the rows of a sub-plan, if enough queries have it."""
        tuning = self._tuning
        enough = tuning.shared_by_many if rows >= tuning.hinted_elements else tuning.shared_by
        if len(self._users.get(part, ())) < enough:
            return None
        made = self._made.get(part)
        if made is None or made.now != now:
            made = self._materialise(part, now, compile().plain())
        return made.relation

    def view(self, part: Hashable, now: Hashable, query: Query) -> str:
        """Return a view of the rows of a query that has to be computed in any case."""
        made = self._made.get(part)
        if made is None or made.now != now:
            made = self._materialise(part, now, Relation(query, (), frozenset()))
        return made.view

    def _materialise(self, part: Hashable, now: Hashable, relation: Relation) -> _MaterialisedSubplan:
        if part in self._made:
            self._jobs.drop([self._made.pop(part).view])
        view = f"penstock_shared_{next(_numbers)}"
        self._jobs.materialise(relation.sql, view)
        rows = Select(map(sql.name, relation.vars), Table(view))
        self._made[part] = _MaterialisedSubplan(now, replace(relation, sql=rows), view)
        return self._made[part]


@dataclass(slots=True)
class CommonSubplans:
    """The shared sub-plans of one query in one evaluation: see `Plan.shared`. A shared sub-plan has no shared parts."""

    subplans: SubplanCache
    alike: Hashable
    now: Hashable
    rows: int
    compile: Callable[[Op, Context], Relation]
    inside: bool = False

    def __call__(self, op: Op, context: Context) -> Relation | None:
        keys = {key for universe in context.universes for key in universe.keys}
        if self.inside or context.static or keys - {INSTANT}:
            return None
        if not _is_work(op):
            return None
        whole = unprojected(op)
        part = whole, (context.graph, context.window, context.tag), self.alike
        found = self.subplans.relation(part, self.now, self.rows, lambda: self._compile_unshared(whole, context))
        return None if found is None else _only(found, op)

    def _compile_unshared(self, op: Op, context: Context) -> Relation:
        self.inside = True
        try:
            return self.compile(op, context)
        finally:
            self.inside = False


def _only(relation: Relation, op: Op) -> Relation:
    """Return the relation without variables that this query does not read."""
    own = {var.name for var in visible(op)}
    vars = tuple(v for v in relation.vars if v in own or v not in relation.solution)
    rows = Select(map(sql.name, vars), relation.sql)
    return replace(relation, sql=rows, vars=vars, certain=relation.certain & set(vars))


@lru_cache(maxsize=1024)
def unprojected(op: Op) -> Op:
    """Return the operator with all variables, so that queries with different projections share it.

    A projection that hides a variable whose name occurs elsewhere has to stay.
    """
    return _unprojected(op, frozenset())


def _unprojected(op: Op, around: frozenset[Var]) -> Op:
    if isinstance(op, ops.Project) and not (mentioned(op.pattern) - set(op.vars)) & around:
        return _unprojected(op.pattern, around | set(op.vars))
    own = around | frozenset(v for e in expressions_of(op) for v in references(e))
    children = op.children
    others = [own.union(*(mentioned(other) for other in children if other is not child)) for child in children]
    depends_on_all_variables = isinstance(op, ops.Group | ops.Distinct | ops.Annotate | ops.Minus)
    if not children or depends_on_all_variables:
        return op
    return op.with_children(tuple(_unprojected(c, rest) for c, rest in zip(children, others, strict=True)))


def shareable(pattern: Op, place: Place = (None, None, 0)) -> Iterator[tuple[Op, Place]]:
    """Return the sub-plans that are worth sharing, each with its place.

    A GRAPH or window with a variable is not entered: its place depends on that variable.
    """
    if isinstance(pattern, ops.StaticView) or isinstance(getattr(pattern, "name", None), Var):
        return
    if _is_work(pattern):
        yield unprojected(pattern), place
    for child in pattern.children:
        yield from shareable(child, _inside(pattern, place))


def _inside(op: Op, place: Place) -> Place:
    """Return the place of an operator's pattern, as `Context.in_graph` and the like do."""
    graph, window, tag = place
    match op:
        case ops.Graph(NamedNode() as name, _):
            return NamedGraph(encode(name)), window, tag
        case ops.InWindow(NamedNode() as name, _):
            return None, encode(name), tag
        case ops.WindowOverride(own, _):
            return graph, window, own
    return place


def _is_work(op: Op) -> bool:
    """Whether the operator joins, groups or compares rows, and has the same rows each time."""
    own = isinstance(op, _WORK) or (isinstance(op, Bgp) and len(op.patterns) > 1)
    return own and not any(calls(e) & VOLATILE for node in everywhere(op) for e in expressions_of(node))

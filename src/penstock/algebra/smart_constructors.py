"""Smart constructors: each builds its operator, or something simpler that always has the same solutions.

They keep `scope.visible` as it is (an empty table keeps the variables it stands for) and hold inside EXISTS as well,
where an outer solution is substituted into the pattern; so a fold that would need to hide or lose a variable is left.
`rebuild` runs the constructor of any operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Call, Const, Expr, PatternTerm, Var
from penstock.algebra.ops import Bgp, Op, Table, TriplePattern
from penstock.algebra.scope import conjuncts, mentioned, visible

__all__ = [
    "FALSE", "TRUE", "annotate", "conjunction", "disjunction", "distinct", "empty", "equals", "equals_optional",
    "extend", "filter", "graph", "group", "in_window", "is_empty", "is_unit", "join", "left_join", "minus",
    "optional_seq", "order", "path", "project", "rebuild", "reduced", "seq", "slice", "union", "window_override",
]  # fmt: skip

TRUE = Const(Literal(True))
FALSE = Const(Literal(False))


def empty(vars: Iterable[Var]) -> Table:
    """No solutions, with these variables in scope."""
    return Table(tuple(sorted(set(vars))), ())


def is_empty(op: Op) -> bool:
    """Whether the operator certainly has no solution, whatever the data."""
    return isinstance(op, Table) and not op.rows


def is_unit(op: Op) -> bool:
    """Whether the operator certainly has just the one solution that binds nothing."""
    return op in (ops.UNIT, Bgp(()))


def join(left: Op, right: Op) -> Op:
    if is_empty(left) or is_empty(right):
        return empty(visible(left) | visible(right))
    if is_unit(left) or is_unit(right):
        return right if is_unit(left) else left
    return ops.Join(left, right)


def left_join(condition: Expr | None, left: Op, right: Op) -> Op:
    if is_empty(left):
        return empty(visible(left) | visible(right))
    needed_condition = None if condition == TRUE else condition
    never = is_empty(right) or condition == FALSE
    if (never and visible(right) <= visible(left)) or is_unit(right):
        return left
    return ops.LeftJoin(needed_condition, left, right)


def seq(left: Op, right: Op) -> Op:
    return empty(visible(left) | visible(right)) if _never_meet(left, right) else ops.Seq(left, right)


def equals(left: Op, right: Op) -> Op:
    return empty(visible(left) | visible(right)) if _never_meet(left, right) else ops.Equals(left, right)


def optional_seq(left: Op, right: Op, condition: Expr | None = None) -> Op:
    return _optional_event(ops.OptionalSeq(left, right, None if condition == TRUE else condition), right, left)


def equals_optional(left: Op, right: Op, condition: Expr | None = None) -> Op:
    return _optional_event(ops.EqualsOptional(left, right, None if condition == TRUE else condition), left, right)


def _optional_event(event: ops.OptionalSeq | ops.EqualsOptional, needed: Op, optional: Op) -> Op:
    if is_empty(needed):
        return empty(visible(event))
    never = event.condition == FALSE or _never_meet(needed, optional)
    return needed if never and visible(optional) <= visible(needed) else event


def _never_meet(left: Op, right: Op) -> bool:
    """Whether a side certainly has no interval: inline solutions occur at no time."""
    return any(isinstance(side, Table) or is_unit(side) for side in (left, right))


def union(left: Op, right: Op) -> Op:
    if is_empty(right) and visible(right) <= visible(left):
        return left
    if is_empty(left) and visible(left) <= visible(right):
        return right
    return ops.Union(left, right)


def minus(left: Op, right: Op) -> Op:
    """MINUS; the left side where no variable is shared, since such solutions never exclude each other."""
    if is_empty(left) or is_empty(right) or not visible(left) & visible(right):
        return left
    return ops.Minus(left, right)


def conjunction(parts: Iterable[Expr]) -> Expr:
    """The `&&` of conditions: `true` is left out, and one `false` is enough."""
    return _chain("&&", parts, neutral=TRUE, decisive=FALSE)


def disjunction(parts: Iterable[Expr]) -> Expr:
    """The `||` of conditions: `false` is left out, and one `true` is enough."""
    return _chain("||", parts, neutral=FALSE, decisive=TRUE)


def _chain(name: str, parts: Iterable[Expr], neutral: Expr, decisive: Expr) -> Expr:
    operands = [part for part in parts if part != neutral]
    if decisive in operands:
        return decisive
    return reduce(lambda left, right: Call(name, (left, right)), operands) if operands else neutral


def filter(condition: Expr, pattern: Op) -> Op:
    inner: tuple[Expr, ...] = ()
    if isinstance(pattern, ops.Filter):
        inner, pattern = conjuncts(pattern.condition), pattern.pattern
    combined = conjunction((*inner, *conjuncts(condition)))
    if combined == FALSE or is_empty(pattern):
        return empty(visible(pattern))
    return pattern if combined == TRUE else ops.Filter(combined, pattern)


def extend(var: Var, expression: Expr, pattern: Op) -> Op:
    return empty(visible(pattern) | {var}) if is_empty(pattern) else ops.Extend(var, expression, pattern)


def graph(name: Var | NamedNode, pattern: Op) -> Op:
    """GRAPH; empty for an empty pattern. GRAPH of the unit is not the unit, as it asks whether there is such a
    graph."""
    if is_empty(pattern):
        return empty(visible(ops.Graph(name, pattern)))
    return ops.Graph(name, pattern)


def in_window(name: Var | NamedNode, pattern: Op) -> Op:
    """A window block; empty for an empty pattern."""
    if is_empty(pattern):
        return empty(visible(ops.InWindow(name, pattern)))
    return ops.InWindow(name, pattern)


def window_override(tag: int, pattern: Op) -> Op:
    """The pattern with other windows; the pattern itself if it reads no stream or has an inner window, which counts."""
    return (
        pattern
        if is_unit(pattern) or isinstance(pattern, Table | ops.WindowOverride)
        else ops.WindowOverride(tag, pattern)
    )


def group(keys: tuple[Var, ...], aggregates: tuple[tuple[Var, Aggregate], ...], pattern: Op) -> Op:
    """GROUP BY; without keys there is a group even of an empty pattern."""
    operator = ops.Group(keys, aggregates, pattern)
    return empty(visible(operator)) if keys and is_empty(pattern) else operator


def annotate(var: Var, aggregate: Aggregate, keys: tuple[Var, ...], pattern: Op) -> Op:
    return empty(visible(pattern) | {var}) if is_empty(pattern) else ops.Annotate(var, aggregate, keys, pattern)


def project(vars: tuple[Var, ...], pattern: Op) -> Op:
    """The projection; dropped if it hides nothing. It hides variables that the pattern only mentions (the right of a
    MINUS) too, since inside an EXISTS the outer solution would be substituted there."""
    if is_empty(pattern):
        return Table(tuple(dict.fromkeys(vars)), ())
    if isinstance(pattern, ops.Project) and set(vars) <= set(pattern.vars):
        pattern = pattern.pattern
    if set(vars) == visible(pattern) and mentioned(pattern) <= visible(pattern):
        return pattern
    return ops.Project(vars, pattern)


def distinct(pattern: Op) -> Op:
    """DISTINCT; dropped on a group, which has one solution per key already."""
    if isinstance(pattern, ops.Distinct | ops.Group) or is_empty(pattern) or is_unit(pattern):
        return pattern
    return ops.Distinct(pattern.pattern if isinstance(pattern, ops.Reduced) else pattern)


def reduced(pattern: Op) -> Op:
    if isinstance(pattern, ops.Distinct | ops.Reduced | ops.Group) or is_empty(pattern) or is_unit(pattern):
        return pattern
    return ops.Reduced(pattern)


def order(conditions: tuple[ops.OrderKey, ...], pattern: Op) -> Op:
    return pattern if not conditions or is_empty(pattern) or is_unit(pattern) else ops.OrderBy(conditions, pattern)


def slice(offset: int, limit: int | None, pattern: Op) -> Op:
    if isinstance(pattern, ops.Slice):
        left = None if pattern.limit is None else max(0, pattern.limit - offset)
        limit = min((n for n in (left, limit) if n is not None), default=None)
        offset, pattern = offset + pattern.offset, pattern.pattern
    if limit == 0 or is_empty(pattern):
        return empty(visible(pattern))
    return pattern if offset == 0 and limit is None else ops.Slice(offset, limit, pattern)


def path(subject: PatternTerm, path_: ops.PathExpr, object: PatternTerm) -> Op:
    """The path; a single link is a triple pattern, and an inverse the path from the other end."""
    match path_:
        case ops.Link(iri):
            return Bgp((TriplePattern(subject, iri, object),))
        case ops.Inverse(inner):
            return path(object, inner, subject)
    return ops.Path(subject, path_, object)


def rebuild(op: Op) -> Op:
    """The operator through its smart constructor; the same object where nothing folds."""
    make = _MAKERS.get(type(op))
    if make is None:
        return op
    made = make(*(getattr(op, name) for name in type(op).__match_args__))  # type: ignore[attr-defined]
    return op if made == op else made


_MAKERS: dict[type[Op], Callable[..., Any]] = {
    ops.Join: join,
    ops.LeftJoin: left_join,
    ops.Seq: seq,
    ops.Equals: equals,
    ops.OptionalSeq: optional_seq,
    ops.EqualsOptional: equals_optional,
    ops.Union: union,
    ops.Minus: minus,
    ops.Filter: filter,
    ops.Extend: extend,
    ops.Graph: graph,
    ops.InWindow: in_window,
    ops.WindowOverride: window_override,
    ops.Group: group,
    ops.Annotate: annotate,
    ops.Project: project,
    ops.Distinct: distinct,
    ops.Reduced: reduced,
    ops.OrderBy: order,
    ops.Slice: slice,
    ops.Path: path,
}

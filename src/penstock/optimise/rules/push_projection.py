"""Variables that no operator above reads are projected away before joins and groups."""

from __future__ import annotations

from penstock.algebra import ops
from penstock.algebra import smart_constructors as make
from penstock.algebra.expressions import Aggregate, Var
from penstock.algebra.ops import Op
from penstock.algebra.scope import Vars, expressions_of, references, union_of, visible
from penstock.optimise.walk import map_children

__all__ = ["push_projection"]


def push_projection(op: Op) -> Op:
    """Project(V, Join(P, Q)) → Project(V, Join(Project(V ∪ shared, P), Project(V ∪ shared, Q))), and so on down.

    Only where that drops a variable, and never all of them. Multiplicities stay: nothing below a DISTINCT is dropped.
    What is needed is known only from above, so the rule starts at the root and goes down by itself. It is kept out
    of EXISTS, where a variable that looks unused may be one of the outer solution.
    """
    return _narrowed(op, visible(op))


def _narrowed(op: Op, needed: Vars) -> Op:
    """`op` with the same solutions as far as the needed variables go; it may still bind others."""
    read = needed | union_of(references(expr) for expr in expressions_of(op))
    match op:
        case (
            ops.Join(left, right) | ops.Seq(left, right) | ops.Equals(left, right)
            | ops.LeftJoin(_, left, right) | ops.OptionalSeq(left, right) | ops.EqualsOptional(left, right)
        ):  # fmt: skip
            shared = visible(left) & visible(right)
            return map_children(op, lambda side: _cut(side, read | shared))
        case ops.Minus(left, right):
            return _narrowed_minus(op, left, right, needed)
        case ops.Union() | ops.OrderBy():
            return map_children(op, lambda side: _cut(side, read))
        case ops.Extend(var, _, pattern) | ops.Annotate(var, _, _, pattern) if var not in needed:
            return _narrowed(pattern, needed)
        case ops.Graph(Var() as name, _) | ops.InWindow(Var() as name, _):
            return map_children(op, lambda side: _narrowed(side, read | {name}))
        case ops.Group(_, _, pattern):
            inside = _read_by(op.keys, [made for _, made in op.aggregates], visible(pattern))
            return map_children(op, lambda side: _cut(side, inside))
        case ops.Annotate(_, aggregate, keys, pattern):
            inside = _read_by(keys, [aggregate], visible(pattern)) | needed
            return map_children(op, lambda side: _cut(side, inside))
        case ops.Project(vars, pattern):
            kept = tuple(var for var in vars if var in needed) or vars
            inner = _narrowed(pattern, frozenset(kept))
            return op if kept == vars and inner is pattern else make.project(kept, inner)
        case ops.Distinct() | ops.Reduced():
            return map_children(op, lambda side: _narrowed(side, visible(side)))
    return map_children(op, lambda side: _narrowed(side, read))


def _narrowed_minus(op: Op, left: Op, right: Op, needed: Vars) -> Op:
    """MINUS with narrowed sides: only shared variables decide which rows are removed, and those of the right are not
    visible outside."""
    shared = visible(left) & visible(right)
    kept, taken = _cut(left, needed | shared), _cut(right, shared)
    return op if kept is left and taken is right else op.with_children((kept, taken))


def _read_by(keys: tuple[Var, ...], aggregates: list[Aggregate], inside: Vars) -> Vars:
    """COUNT(DISTINCT *) compares whole solutions."""
    if any(aggregate.argument is None and aggregate.distinct for aggregate in aggregates):
        return inside
    return frozenset(keys).union(*map(references, aggregates))


def _cut(op: Op, needed: Vars) -> Op:
    """`op` restricted to the needed variables, if it binds others."""
    if isinstance(op, ops.StaticView):
        return map_children(op, lambda pattern: _cut(pattern, needed))
    inner = _narrowed(op, needed)
    kept = visible(inner) & needed
    return make.project(tuple(sorted(kept)), inner) if kept and kept != visible(inner) else inner

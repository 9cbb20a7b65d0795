"""The branches of a UNION, and the values that a variable can have in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra import smart_constructors as make
from penstock.algebra.expressions import Call, Const, Expr, Term, Var
from penstock.algebra.ops import Op
from penstock.algebra.scope import certain, conjuncts, references, visible
from penstock.optimise.statics import is_steady
from penstock.optimise.statistics import Uniform

__all__ = ["Values", "branches", "reads_same", "values"]


def branches(op: Op) -> tuple[Op, ...]:
    """Plans whose union has the solutions of `op`: the operands of a UNION, each inside the operators around the
    UNION."""
    if isinstance(op, ops.Union):
        return branches(op.left) + branches(op.right)
    if not isinstance(op, _ROW_BY_ROW):
        return (op,)
    inner = branches(op.children[0])
    return tuple(make.rebuild(op.with_children((each,))) for each in inner) if _same_in_each(op, inner) else (op,)


_ROW_BY_ROW = (ops.Extend, ops.Filter, ops.Graph, ops.InWindow, ops.WindowOverride, ops.Project)


def _same_in_each(op: Op, inner: tuple[Op, ...]) -> bool:
    """Whether the operator's expression sees the same in each branch. One that is not visible there is unbound just as
    well, but inside EXISTS it would be taken from the outer solution."""
    match op:
        case ops.Extend(_, expression, pattern) | ops.Filter(expression, pattern):
            return len(inner) > 1 and is_steady(expression, Uniform()) and reads_same(expression, pattern, inner)
    return len(inner) > 1


def reads_same(expression: Expr, pattern: Op, inner: tuple[Op, ...]) -> bool:
    """Whether the variables of a pattern that the expression reads are visible in each of its branches."""
    read = references(expression) & visible(pattern)
    return all(read <= visible(each) for each in inner)


@dataclass(frozen=True, slots=True)
class Values:
    """The possible values of a variable: one of `terms` (None: any), and perhaps unbound."""

    terms: frozenset[Term] | None
    unbound: bool

    def differ(self, other: Values) -> bool:
        """Whether no solution here has the same as one there."""
        if self.unbound and other.unbound:
            return False
        nothing = frozenset[Term]()
        if nothing in (self.terms, other.terms):
            return True
        return self.terms is not None and other.terms is not None and not self.terms & other.terms

    def among(self, terms: frozenset[Term]) -> Values:
        return Values(terms if self.terms is None else self.terms & terms, unbound=False)


NEVER = Values(frozenset(), unbound=True)


def values(op: Op, var: Var) -> Values:
    """The values to which solutions of `op` can bind the variable; never too few, often too many."""
    if var not in visible(op):
        return NEVER
    known = _VALUES.get(type(op), _unknown)(op, var)
    return Values(known.terms, unbound=False) if var in certain(op) else known


def _unknown(op: Op, var: Var) -> Values:
    return Values(None, unbound=var not in certain(op))


def _below(op: Any, var: Var) -> Values:
    """The values of the variable in the operand."""
    return values(op.pattern, var)


def _of_graph(op: ops.Graph | ops.InWindow, var: Var) -> Values:
    return _unknown(op, var) if var == op.name else _below(op, var)


def _of_group(op: ops.Group, var: Var) -> Values:
    return _below(op, var) if var in op.keys else _unknown(op, var)


def _of_annotate(op: ops.Annotate, var: Var) -> Values:
    return _unknown(op, var) if var == op.var else _below(op, var)


def _of_extend(op: ops.Extend, var: Var) -> Values:
    if var == op.var and isinstance(op.expression, Const):
        return Values(frozenset((op.expression.term,)), unbound=False)
    return _unknown(op, var) if var == op.var else _below(op, var)


def _of_filter(op: ops.Filter, var: Var) -> Values:
    column_values = values(op.pattern, var)
    for part in conjuncts(op.condition):
        asked = _asked(part, var)
        column_values = column_values if asked is None else column_values.among(asked)
    return column_values


def _asked(part: Expr, var: Var) -> frozenset[Term] | None:
    """The values that a condition allows. Equal IRIs are the same term; equal literals need not be."""
    match part:
        case Call("=", (Var() as one, Const(NamedNode() as term)) | (Const(NamedNode() as term), Var() as one)):
            return frozenset((term,)) if one == var else None
        case Call("SAMETERM", (Var() as one, Const(term)) | (Const(term), Var() as one)):
            return frozenset((term,)) if one == var else None
        case Call("IN", (Var() as one, *others)) if one == var:
            terms = [other.term for other in others if isinstance(other, Const) and isinstance(other.term, NamedNode)]
            return frozenset(terms) if len(terms) == len(others) else None
    return None


def _of_table(op: ops.Table, var: Var) -> Values:
    column = {row[op.vars.index(var)] for row in op.rows}
    return Values(frozenset(term for term in column if term is not None), unbound=None in column)


def _of_union(op: ops.Union, var: Var) -> Values:
    left, right = values(op.left, var), values(op.right, var)
    terms = None if left.terms is None or right.terms is None else left.terms | right.terms
    return Values(terms, left.unbound or right.unbound)


def _of_join(op: Op, var: Var) -> Values:
    """The values in an operand that is not optional and always binds the variable."""
    kept = op.children if isinstance(op, ops.Join) else op.children[:1]
    known = [values(side, var) for side in kept if var in certain(side)]
    return next((each for each in known if each.terms is not None), _unknown(op, var))


_VALUES: dict[type[Op], Callable[[Any, Var], Values]] = {
    ops.Annotate: _of_annotate,
    ops.Distinct: _below,
    ops.Extend: _of_extend,
    ops.Filter: _of_filter,
    ops.Graph: _of_graph,
    ops.Group: _of_group,
    ops.InWindow: _of_graph,
    ops.Join: _of_join,
    ops.StaticView: _below,
    ops.LeftJoin: _of_join,
    ops.Minus: _of_join,
    ops.OrderBy: _below,
    ops.WindowOverride: _below,
    ops.Project: _below,
    ops.Reduced: _below,
    ops.Slice: _below,
    ops.Table: _of_table,
    ops.Union: _of_union,
}

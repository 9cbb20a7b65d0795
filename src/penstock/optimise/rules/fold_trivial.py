"""Trivial operators and constant conditions are removed."""

from __future__ import annotations

from dataclasses import replace

from pyoxigraph import NamedNode

from penstock.algebra import smart_constructors as make
from penstock.algebra.expressions import Call, Const, Exists, Expr, Var
from penstock.algebra.ops import EqualsOptional, Filter, LeftJoin, Op, OptionalSeq
from penstock.algebra.scope import Vars, certain
from penstock.algebra.smart_constructors import FALSE, TRUE

__all__ = ["fold_trivial"]


def fold_trivial(op: Op) -> Op:
    """`make.rebuild`, after conditions are folded: Filter(true, P) → P, Join(P, {}) → {}, and so on.

    A condition is folded as what it is, a test: `true && e` and `e` differ as values, but not as tests.
    """
    match op:
        case Filter(condition, pattern):
            return make.rebuild(_with_condition(op, _test(condition, certain(pattern))))
        case LeftJoin(Expr() as condition, left, right) | OptionalSeq(left, right, Expr() as condition):
            return make.rebuild(_with_condition(op, _test(condition, certain(left) | certain(right))))
        case EqualsOptional(left, right, Expr() as condition):
            return make.rebuild(_with_condition(op, _test(condition, certain(left) | certain(right))))
    return make.rebuild(op)


def _with_condition(op: Filter | LeftJoin | OptionalSeq | EqualsOptional, condition: Expr) -> Op:
    return op if condition == op.condition else replace(op, condition=condition)


def _test(expr: Expr, bound: Vars) -> Expr:
    """An expression with the same effective boolean value (or error), given variables that are surely bound."""
    match expr:
        case Call("&&", args):
            return make.conjunction(_test(arg, bound) for arg in args)
        case Call("||", args):
            return make.disjunction(_test(arg, bound) for arg in args)
        case Call("!", (arg,)):
            return _negation(_test(arg, bound))
        case Call("BOUND", (Var() as var,)) if var in bound:
            return TRUE
        case Call("=" | "!=" | "SAMETERM" as name, (Const(NamedNode() as left), Const(NamedNode() as right))):
            return TRUE if (left == right) != (name == "!=") else FALSE
        case Exists(pattern) if make.is_empty(pattern) or make.is_unit(pattern):
            return TRUE if make.is_unit(pattern) else FALSE
    return expr


def _negation(arg: Expr) -> Expr:
    if arg in (TRUE, FALSE):
        return FALSE if arg == TRUE else TRUE
    return Call("!", (arg,))

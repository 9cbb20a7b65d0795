"""Runs the rules, owns their recursion, and checks the invariants after each rule.

A rule is a pure function on one operator that returns the same object when it has nothing to do. The driver takes it
through the plan in the rule's direction, into the patterns of EXISTS as well, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from penstock import log
from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.occurrence import is_timed
from penstock.algebra.ops import Op, Query
from penstock.algebra.scope import certain, free, visible
from penstock.optimise.choices import enabled
from penstock.optimise.rule import Direction, Rule
from penstock.optimise.rules import ALL_RULES
from penstock.optimise.statistics import Statistics
from penstock.optimise.walk import map_children, map_exists, nodes
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Optimised", "RuleError", "Step", "optimise"]


class RuleError(AssertionError):
    """A rule broke an invariant: a bug in Penstock, never in the query."""


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that changed the plan, and the purpose of the rule in a sentence."""

    rule: str
    before: Op
    after: Op
    why: str = ""


@dataclass(frozen=True, slots=True)
class Optimised:
    """The query with its final plan, and the steps that led to it."""

    query: Query
    trace: tuple[Step, ...]


def optimise(
    query: Query,
    statistics: Statistics,
    rules: Collection[str] | None = None,
    tuning: Tuning = DEFAULT,
    known: Sequence[Rule] = ALL_RULES,
) -> Optimised:
    """The query with a plan that has the same answers; `rules` names those of `known` to use (`choices.enabled`)."""
    trace: list[Step] = []
    plan = query.pattern
    for rule in _chosen(rules, known, on_events=is_timed(query)):
        changed = apply(rule, plan, statistics, tuning)
        if changed is not plan:
            _check(rule, plan, changed)
            trace.append(Step(rule.name, plan, changed, rule.why))
            plan = changed
    return Optimised(replace(query, pattern=plan), tuple(trace))


def _chosen(names: Collection[str] | None, rules: Sequence[Rule], on_events: bool) -> tuple[Rule, ...]:
    wanted = enabled(names, rules)
    chosen = tuple(rule for rule in rules if rule.name in wanted)
    return tuple(map(_for_events, filter(lambda rule: rule.on_events, chosen))) if on_events else chosen


def _for_events(rule: Rule) -> Rule:
    return rule if isinstance(rule.on_events, bool) else replace(rule, rewrite=rule.on_events)


def apply(rule: Rule, plan: Op, statistics: Statistics, tuning: Tuning = DEFAULT) -> Op:
    """The rule everywhere in the plan until nothing changes; the same object if it never did.

    A rule that goes down by itself sees the whole plan at once, so that once is enough.
    """
    if rule.direction is Direction.ROOT:
        changed = _pass(rule, plan, statistics, tuning)
        return plan if changed == plan else changed
    current = plan
    for _ in range(tuning.rule_passes):
        changed = _pass(rule, current, statistics, tuning)
        if changed is current or changed == current:
            return current
        current = changed
    log.fallback(None, rule.name, f"it still changes the plan after {tuning.rule_passes} passes, and was stopped")
    return current


def _pass(rule: Rule, op: Op, statistics: Statistics, tuning: Tuning) -> Op:
    if rule.inside_exists:
        op = _into_exists(rule, op, statistics, tuning)
    return _WALKS[rule.direction](rule, op, statistics, tuning)


def _into_exists(rule: Rule, op: Op, statistics: Statistics, tuning: Tuning) -> Op:
    inner = map_exists(op, lambda pattern: _pass(rule, pattern, statistics, tuning))
    return map_children(inner, lambda child: _into_exists(rule, child, statistics, tuning))


def _upward(rule: Rule, op: Op, statistics: Statistics, tuning: Tuning) -> Op:
    return rule.rewrite(map_children(op, lambda child: _upward(rule, child, statistics, tuning)), statistics, tuning)


def _downward(rule: Rule, op: Op, statistics: Statistics, tuning: Tuning) -> Op:
    return map_children(rule.rewrite(op, statistics, tuning), lambda child: _downward(rule, child, statistics, tuning))


def _at_root(rule: Rule, op: Op, statistics: Statistics, tuning: Tuning) -> Op:
    return rule.rewrite(op, statistics, tuning)


_WALKS = {Direction.UP: _upward, Direction.DOWN: _downward, Direction.ROOT: _at_root}


def _check(rule: Rule, before: Op, after: Op) -> None:
    """Raise a `RuleError` if the visible variables have changed: rewrites break scope most easily, and no test of
    answers is sure to see it."""
    if visible(after) != visible(before):
        _fail(rule, "changed which variables are visible", visible(after) ^ visible(before))
    if extra := certain(after) - visible(after):
        _fail(rule, "made variables certain that are not visible", extra)
    if lost := free(after) - free(before):
        _fail(rule, "left an expression with variables that are not visible", lost)
    if clash := _rebound(after) - _rebound(before):
        _fail(rule, "bound variables that were bound already", clash)


def _rebound(op: Op) -> frozenset[Var]:
    binding = (node for node in nodes(op) if isinstance(node, ops.Extend | ops.Annotate))
    return frozenset(node.var for node in binding if node.var in visible(node.pattern))


def _fail(rule: Rule, what: str, vars: frozenset[Var]) -> None:
    raise RuleError(f"rule {rule.name} {what}: {', '.join(f'?{var.name}' for var in sorted(vars))}")

"""The dependency graph of rules, and the order in which they are evaluated (stratification).

A rule feeds another if a triple of its template, or a triple entailed by it, may match a pattern of the other.
Rules that feed themselves, be it through others, are one group, which `machine` evaluates; all the others are layers of
plain derived streams.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import BlankNode

from penstock.algebra import ops
from penstock.algebra.expressions import PatternTerm, Var
from penstock.algebra.occurrence import everywhere
from penstock.algebra.ops import Op, TriplePattern
from penstock.recursive_rules.analysis.components import components
from penstock.recursive_rules.analysis.entailment import NOTHING, Entailment
from penstock.recursive_rules.analysis.rule import Rule, terms_of

__all__ = ["Layer", "feeds", "layers", "may_match", "read_by"]

_ANYTHING = TriplePattern(Var(".s"), Var(".p"), Var(".o"))


@dataclass(frozen=True)
class Layer:
    """Rules that may run at once, when all layers before have. The rules of a recursive layer feed each other."""

    rules: tuple[Rule, ...]
    recursive: bool = False


def layers(rules: Sequence[Rule], entailment: Entailment = NOTHING) -> list[Layer]:
    """The rules in dependency order: rules without recursion as early as possible, each recursive group by itself."""
    leads_to = [[j for j, other in enumerate(rules) if feeds(rule, other, entailment)] for rule in rules]
    groups = components(leads_to)
    depths: dict[int, int] = {}
    for group in groups:
        before = (depths[i] for i in depths if any(j in group for j in leads_to[i]))
        depths.update(dict.fromkeys(group, 1 + max(before, default=-1)))
    result: list[Layer] = []
    for depth in range(max(depths.values(), default=-1) + 1):
        result += _at_depth([group for group in groups if depths[group[0]] == depth], rules, leads_to)
    return result


def _at_depth(groups: list[list[int]], rules: Sequence[Rule], leads_to: list[list[int]]) -> Iterator[Layer]:
    plain = [i for group in groups for i in group if len(group) == 1 and i not in leads_to[i]]
    if plain:
        yield Layer(tuple(rules[i] for i in sorted(plain)))
    for group in groups:
        if group[0] not in plain:
            yield Layer(tuple(rules[i] for i in group), recursive=True)


def feeds(rule: Rule, other: Rule, entailment: Entailment = NOTHING) -> bool:
    """Whether some triple of `rule` may match a pattern of `other`."""
    if not other.reads_rules:
        return False
    wanted = read_by(other)
    return any(may_match(rule, triple, pattern, entailment) for triple in rule.template for pattern in wanted)


def read_by(rule: Rule) -> list[TriplePattern]:
    """The triple patterns of a rule, with those of the steps of its paths."""
    return [pattern for op in everywhere(rule.pattern) for pattern in _read_by(op)]


def _read_by(op: Op) -> Iterator[TriplePattern]:
    if isinstance(op, ops.Bgp):
        yield from op.patterns
    elif isinstance(op, ops.Path):
        yield from _steps(op.path)


def _steps(path: ops.PathExpr) -> Iterator[TriplePattern]:
    """The triple patterns of the single steps of a path. A path of no step connects every node of every triple with
    itself."""
    match path:
        case ops.Link(iri):
            yield TriplePattern(Var(".s"), iri, Var(".o"))
        case ops.Inverse(inner) | ops.OneOrMore(inner):
            yield from _steps(inner)
        case ops.Sequence(left, right) | ops.Alternative(left, right):
            yield from _steps(left)
            yield from _steps(right)
        case _:
            yield _ANYTHING


def may_match(rule: Rule, triple: TriplePattern, pattern: TriplePattern, entailment: Entailment = NOTHING) -> bool:
    """Whether a triple that the rule makes of this part of its template, or one that it entails, may match the
    pattern."""
    return any(_fits(rule, made, pattern) for made in entailment.patterns(triple))


def _fits(rule: Rule, triple: TriplePattern, pattern: TriplePattern) -> bool:
    pairs = zip(terms_of(triple), terms_of(pattern), strict=True)
    return all(_may_be(rule, made, wanted) for made, wanted in pairs)


def _may_be(rule: Rule, derived: PatternTerm, read: PatternTerm) -> bool:
    if isinstance(read, Var):
        return True
    if isinstance(derived, Var):
        return isinstance(read, BlankNode) or not rule.is_new(derived)
    return derived == read

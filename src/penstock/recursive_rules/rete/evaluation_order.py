"""The order in which scheduled nodes run within one step: stages, some of which run to a fixpoint.

A node runs after the nodes that feed it. Where rules feed themselves at one instant, the nodes of the cycle run until
no new rows appear: the least fixpoint. It exists only if no node of the cycle negates (stratified negation), since rows
of the cycle would change its answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import QueryError
from penstock.recursive_rules.analysis.components import components
from penstock.recursive_rules.rete.network import Network
from penstock.recursive_rules.rete.nodes import Node, Scheduled

__all__ = ["Stage", "stages"]


@dataclass(frozen=True)
class Stage:
    """Nodes that run together; `circular`: repeatedly, until no new rows appear."""

    nodes: tuple[Scheduled, ...]
    circular: bool


def stages(network: Network) -> list[Stage]:
    number = {node: i for i, node in enumerate(network.nodes)}
    leads_to: list[list[int]] = [[] for _ in network.nodes]
    for node, other, input in network.edges:
        if input not in other.past:
            leads_to[number[node]].append(number[other])
    groups = components(leads_to)
    group_of = {member: i for i, group in enumerate(groups) for member in group}
    for node, other, input in network.edges:
        if input in other.complete and group_of[number[node]] == group_of[number[other]]:
            raise _unfounded(other)
    result = []
    for group in groups:
        waiting = tuple(node for i in group if isinstance(node := network.nodes[i], Scheduled))
        if waiting:
            result.append(Stage(waiting, circular=len(group) > 1))
    return result


def _unfounded(node: Node) -> QueryError:
    return QueryError(
        f"rule {node.rule} negates a pattern that its own triples may match at the same time, directly or through "
        "other rules (the negation is not stratified)",
        hint="negate only events that ended before, with SEQ, OPTIONALSEQ or NOT between two events",
    )

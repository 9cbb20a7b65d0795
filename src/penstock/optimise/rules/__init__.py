"""All rules, in the order in which they run."""

from penstock.optimise.rule import Direction, Rule, plain
from penstock.optimise.rules.fold_trivial import fold_trivial
from penstock.optimise.rules.group_annotated import group_annotated
from penstock.optimise.rules.materialise_static import materialise_static
from penstock.optimise.rules.merge_joined_patterns import merge_joined_patterns
from penstock.optimise.rules.order_joins import order_joins
from penstock.optimise.rules.push_aggregate import push_aggregate
from penstock.optimise.rules.push_filter import push_filter, push_filter_of_events
from penstock.optimise.rules.push_projection import push_projection
from penstock.optimise.rules.split_zero_length import split_zero_length

__all__ = ["ALL_RULES"]

ALL_RULES: tuple[Rule, ...] = (
    # first, so that no other rule has to think of units, empty tables and constant filters
    Rule("fold_trivial", Direction.UP, plain(fold_trivial)),
    # before anything is pushed between DISTINCT and the aggregates below it
    # (rows of a group that occurred at different times are different rows, and a group is just one)
    Rule("group_annotated", Direction.UP, plain(group_annotated), on_events=False),
    # before patterns are merged, so that those beside a path are merged in each of its two branches
    # (an event is no node of a graph)
    Rule("split_zero_length", Direction.UP, split_zero_length, inside_exists=False, on_events=False),
    # before ordering, which then sees all triple patterns of a group at once
    Rule("merge_joined_patterns", Direction.UP, plain(merge_joined_patterns)),
    # after GROUP BY has taken the place of DISTINCT; before static parts become views, which may then be groups of rows
    # (inside EXISTS only whether there is a group matters, and a group occurs when all its rows have)
    Rule("push_aggregate", Direction.ROOT, push_aggregate, inside_exists=False, on_events=False),
    # after merging, so that parts are as large as can be; before ordering, for which each of them is one operand
    # (it goes into EXISTS by itself, where fewer parts can be views)
    Rule("materialise_static", Direction.ROOT, materialise_static, inside_exists=False),
    # before filters go down, since a filter between two joins would keep their operands apart
    Rule("order_joins", Direction.ROOT, order_joins),
    # onto the operands in their final order, so that a filter stops at the earliest that binds its variables
    Rule("push_filter", Direction.DOWN, plain(push_filter), on_events=plain(push_filter_of_events)),
    # last, since only now is it settled where each variable is read for the last time
    Rule("push_projection", Direction.ROOT, plain(push_projection), inside_exists=False),
)

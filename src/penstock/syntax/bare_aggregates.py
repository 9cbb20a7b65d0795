"""The meaning of CQELS aggregates without a name in SELECT, beside variables that are not grouped.

Figures 2 and 6 of its paper print

    Q4    SELECT ?person1 ?person2 max(?numPub) … GROUP BY ?person2
    Q4'   SELECT ?locName max(count(?citedAuthor)) … GROUP BY ?loc

and say that Q4 is about the author who is cited *the most*, and Q4' about the place where *the highest number* of
cited authors are. In both the maximum chooses what is projected with it, so it is read as follows.

- `max(?x)` or `min(?x)` and nothing else computed, beside variables that are not grouped: per group the rows that
  reach it, each combination of those variables once. So Q4 has, for each ?person2, who cites ?person2 the most.
- `max(count(?x))`: a count per group, and of all groups those that reach the maximum. So Q4' has the places with the
  most cited authors; several, if they tie.
- Otherwise, and in Q4' for ?locName, the variables that are not grouped are keys too. A place has one name, so that
  this makes no further groups.

Taking just any value of the group (SAMPLE) would give answers that the same input does not determine.
"""

from __future__ import annotations

from penstock.syntax import tree

__all__ = ["chosen_by", "loose_keys", "nested"]


def loose_keys(select: tree.Select | None, modifiers: tree.Modifiers) -> tuple[tree.Variable, ...]:
    """The projected variables that are neither grouped nor aggregated, where that is allowed."""
    items = _items(select)
    if not modifiers.group_by or not any(item.bare for item in items):
        return ()
    bound = {key.expression.name for key in modifiers.group_by if isinstance(key.expression, tree.Variable)}
    bound |= {key.alias.name for key in modifiers.group_by if key.alias is not None}
    bound |= {item.variable.name for item in items if item.expression is not None}
    return tuple(item.variable for item in items if item.expression is None and item.variable.name not in bound)


def chosen_by(select: tree.Select | None, modifiers: tree.Modifiers) -> tree.Aggregate | None:
    """The `max(?x)` or `min(?x)` that chooses the rows of a group from which the loose variables are taken."""
    computed = [item.expression for item in _items(select) if item.expression is not None]
    match computed:
        case [tree.Aggregate("MAX" | "MIN", tree.Variable()) as aggregate] if loose_keys(select, modifiers):
            return aggregate
    return None


def nested(item: tree.SelectItem) -> tree.Aggregate | None:
    """The inner aggregate of `max(count(?x))`."""
    match item.expression:
        case tree.Aggregate(_, tree.Aggregate() as inner) if item.bare:
            return inner
    return None


def _items(select: tree.Select | None) -> tuple[tree.SelectItem, ...]:
    return (select.items or ()) if select is not None else ()

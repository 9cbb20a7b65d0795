"""Tree → algebra: aggregates without a name beside variables that are not grouped (`syntax/bare_aggregates.py`)."""

from __future__ import annotations

from penstock.algebra import ops
from penstock.algebra.build.base import BuilderBase, Grouping
from penstock.algebra.expressions import Aggregate, Call, Var
from penstock.syntax import tree
from penstock.syntax.bare_aggregates import chosen_by, loose_keys, nested

__all__ = ["CqelsBuilder"]


class CqelsBuilder(BuilderBase):
    def loose_keys(
        self, select: tree.Select | None, modifiers: tree.Modifiers, keys: tuple[Var, ...], pattern: ops.Op
    ) -> tuple[tuple[Var, ...], ops.Op]:
        """The keys with the ungrouped variables added, and the pattern; with `max(?x)` only rows with the group's
        maximum stay."""
        chosen = chosen_by(select, modifiers)
        if chosen is not None and isinstance(chosen.argument, tree.Variable):
            pattern = self._reaching(chosen.name, Var(chosen.argument.name), keys, self.fresh("m"), pattern)
        return (*keys, *(Var(variable.name) for variable in loose_keys(select, modifiers))), pattern

    def reaching_groups(self, select: tree.Select | None, grouping: Grouping | None, pattern: ops.Op) -> ops.Op:
        """`max(count(?x))`: of the groups, which have their count, those that reach the maximum."""
        for item in (select.items or ()) if select is not None and grouping is not None else ():
            if (inner := nested(item)) is not None and isinstance(item.expression, tree.Aggregate):
                count = self.expression(inner, grouping)
                assert isinstance(count, Var), "groups have a variable for each aggregate"
                pattern = self._reaching(item.expression.name, count, (), Var(item.variable.name), pattern)
        return pattern

    def _reaching(self, name: str, var: Var, keys: tuple[Var, ...], extreme: Var, pattern: ops.Op) -> ops.Op:
        annotated = ops.Annotate(extreme, Aggregate(name, var), keys, pattern)
        return ops.Filter(Call("=", (var, extreme)), annotated)

"""Parse tree → windows that a variable names, and STREAM blocks, for the rules of `cqels.lark`.

In `FROM NAMED <s> […] AS ?w` the variable stands for the window: it is bound to nothing, and nothing but GRAPH (or
WINDOW) may name it. The clauses come before WHERE, so that the windows are known when GRAPH ?w comes by.
"""

from __future__ import annotations

from dataclasses import replace

from lark import Token

from penstock.errors import QueryError
from penstock.syntax import tree
from penstock.syntax.transform.base import TransformerBase

__all__ = ["CqelsTransformer"]

LANGUAGE = "cqels"
_WINDOWS = "urn:penstock:window:"


class CqelsTransformer(TransformerBase):
    def variable_window(self, iri: tree.Iri, window: tree.Window, variable: tree.Variable) -> tree.WindowClause:
        self.languages.add(LANGUAGE)
        self.naming.add(variable.span)
        if variable.name in self.window_variables:
            reason = f"?{variable.name} names a window already"
            self.fail(reason, variable.span, "give each window a variable of its own")
        name = tree.Iri(_WINDOWS + variable.name, variable.span)
        clause = tree.WindowClause(name, iri, self.with_units(window), variable)
        self.window_variables[variable.name] = clause
        return clause

    def stream_block(self, token: Token, iri: tree.Iri, window: tree.Window, group: tree.Group) -> tree.StreamBlock:
        self.languages.add(LANGUAGE)
        return tree.StreamBlock(iri, self.with_units(window), group)

    def check_window_variables(self) -> None:
        """Raise an error at the first window variable that is used like any other variable."""
        for variable in self.variables:
            if variable.name in self.window_variables and variable.span not in self.naming:
                reason = f"?{variable.name} names a window, so it cannot stand here"
                hint = f"its patterns stand in GRAPH ?{variable.name} {{ … }}; other variables need another name"
                self.fail(reason, variable.span, hint)

    def grouped_sub_select(self, group: tree.Group, grouping: dict[str, tuple[tree.GroupKey, ...]]) -> tree.Union:
        """`{ SELECT … WHERE { … } } GROUP BY …`, as figure 2 prints Q4: the GROUP BY is the sub-SELECT's."""
        keys = grouping["group_by"]
        match group.elements:
            case (tree.SubSelect(_, _, modifiers) as select,) if not modifiers.group_by:
                grouped = replace(select, modifiers=replace(modifiers, group_by=keys))
                return tree.Union((replace(group, elements=(grouped,)),))
        reason, hint = "GROUP BY cannot stand here", "it belongs to a SELECT: put it after the closing } of its WHERE"
        raise keys[0].expression.span.error(QueryError, reason, self.source.text, hint)

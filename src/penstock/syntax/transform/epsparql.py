"""Parse tree → groups with operators of EP-SPARQL between them, for the rules of `epsparql.lark`.

`{A} SEQ NOT {N} SEQ {B}` asks for A and B with no N in between, so that NOT stands between two SEQ and nowhere else:
events before the stream began are unknown, and an event after B may still come.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from lark import Token

from penstock.syntax import tree
from penstock.syntax.scope import visible
from penstock.syntax.source import Source
from penstock.syntax.transform.base import TransformerBase

__all__ = ["EventTransformer"]

_BETWEEN = "NOT stands between two events, as in {…} SEQ NOT {…} SEQ {…}"
_SO_FAR = f"{_BETWEEN}; for absence so far, write FILTER NOT EXISTS {{…}}"
_NEITHER = "NOT { {…} UNION {…} } is neither of them, and NOT { {…} SEQ {…} } not one after the other"


class _Absent(NamedTuple):
    """`NOT {…}`"""

    group: tree.Group
    span: tree.Span


class EventTransformer(TransformerBase):
    def __init__(self, source: Source, base: str | None) -> None:
        super().__init__(source, base)
        self._named_first: set[tree.Span] = set()  # the places of new names in SELECT that stand before AS

    # Groups with operators between them

    def absent(self, token: Token, group: tree.Group) -> _Absent:
        return _Absent(group, self.span(token))

    def linked(self, operator: Token, operand: tree.Group | _Absent) -> tree.Linked:
        if isinstance(operand, _Absent):
            return tree.Linked(operator.type, operand.group, True, operand.span)
        return tree.Linked(operator.type, operand, False, self.span(operator))

    def linked_groups(self, first: tree.Group | _Absent, *links: tree.Linked) -> tree.Union | tree.Chain:
        if isinstance(first, _Absent):
            self.fail("NOT cannot stand first", first.span, _SO_FAR)
        for link, following in zip_longest(links, links[1:]):
            if link.negated:
                self._check_absent(link, following)
        if all(link.operator == "UNION" for link in links):
            return tree.Union((first, *(link.group for link in links)))
        return tree.Chain(first, links)

    def _check_absent(self, absent: tree.Linked, following: tree.Linked | None) -> None:
        if absent.operator != "SEQ":
            self.fail(f"NOT cannot stand after {absent.operator}", absent.span, _BETWEEN)
        if following is None:
            reason = "NOT cannot stand last: a later event may still match it"
            self.fail(reason, absent.span, _SO_FAR)
        if following.negated:
            self.fail("NOT cannot stand after another NOT", following.span, _NEITHER)
        if following.operator != "SEQ":
            reason = f"{following.operator} cannot stand after NOT {{…}}"
            self.fail(reason, following.span, _BETWEEN)

    def open_where(self, first: tree.Group, *rest: tree.Linked | tree.Filter) -> tree.Group:
        """WHERE without braces around its groups and filters."""
        links = [part for part in rest if isinstance(part, tree.Linked)]
        filters = [part for part in rest if isinstance(part, tree.Filter)]
        return tree.Group((self.linked_groups(first, *links), *filters), first.span)

    # SELECT without brackets

    def select_named_first(self, variable: tree.Variable, expression: tree.Expression) -> tree.SelectItem:
        """`?count AS ?prevcount + 1`"""
        self._named_first.add(variable.span)
        return tree.SelectItem(variable, expression)

    def with_new_names(self, select: tree.Select, where: tree.Group) -> tree.Select:
        """The SELECT with new names in the right place: of `?a AS ?b` the new name is the one that WHERE does not
        bind."""
        if select.items is None or not any(item.variable.span in self._named_first for item in select.items):
            return select
        bound = visible(where)
        return replace(select, items=tuple(self._new_name(item, bound) for item in select.items))

    def _new_name(self, item: tree.SelectItem, bound: dict[str, None]) -> tree.SelectItem:
        other = item.expression
        if item.variable.span not in self._named_first or not isinstance(other, tree.Variable):
            return item
        last = item.variable.name in bound and other.name not in bound
        return tree.SelectItem(other, item.variable) if last else item

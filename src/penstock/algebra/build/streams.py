"""Tree → algebra, streams: FROM, REGISTER and AGGREGATE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from penstock.algebra import ops
from penstock.algebra.build.base import BuilderBase
from penstock.algebra.expressions import Aggregate, Call, Expr, Var
from penstock.algebra.windows import SlideWindow, Window
from penstock.syntax import tree

__all__ = ["StreamBuilder", "conjunction"]

_EMITS = {"streaming": "intervals", "cqels": "istream"}  # the first that a query has counts


class StreamBuilder(BuilderBase):
    # Windows

    def streams(self, query: tree.Query) -> tuple[ops.StreamWindow, ...]:
        """The streams' own windows, those that override them, and those with names. WHERE has to be built already."""
        own = self.own_windows(query.streams)
        overriding = [replace(each, window=window, tag=tag) for window, tag in self.tags.items() for each in own]
        return (*own, *overriding, *self.named_windows())

    def own_windows(self, clauses: tuple[tree.StreamClause, ...]) -> tuple[ops.StreamWindow, ...]:
        """One window a stream. A clause given twice counts once; it is in the default graph if one of them says so."""
        windows: dict[object, ops.StreamWindow] = {}
        for clause in clauses:
            window = ops.StreamWindow(self.iri(clause.iri), self.own_window(clause), clause.named)
            earlier = windows.get(window.iri, window)
            if earlier.window != window.window:
                hint = "name the windows, as in FROM NAMED WINDOW <w> ON <s> […], or use one window for both"
                self.fail("this stream has another window already", clause.iri.span, hint)
            windows[window.iri] = replace(window, named=window.named and earlier.named)
        return tuple(windows.values())

    def own_window(self, clause: tree.StreamClause) -> Window:
        """A stream without a window has one of those that the groups give it; nothing reads it then. Where there are no
        windows at all, everything stays visible."""
        if clause.window is not None:
            return self.window(clause.window)
        if not self.windowed:
            return SlideWindow(None)
        if self.own_windows_read or not self.tags:
            where = "some patterns of WHERE stand in no group with a window" if self.tags else "there is none in WHERE"
            hint = "add one, as in [RANGE 10m STEP 1m] or WINDOW RANGE 10 MINUTE SLIDE"
            self.fail(f"a stream needs a window, and {where}", clause.iri.span, hint)
        return next(iter(self.tags))

    def named_windows(self) -> Iterator[ops.StreamWindow]:
        """RSP-QL says that the content of a window is a graph, in which equal triples are one."""
        for name, clause in self.declared.items():
            merge = clause.variable is None
            yield ops.StreamWindow(self.iri(clause.iri), self.window(clause.window), name=name, merge=merge)
        for (iri, window), name in self.blocks.items():
            yield ops.StreamWindow(iri, window, name=name)

    # REGISTER

    def registration(self, query: tree.Query) -> ops.Registration | None:
        clause = query.registration
        if self.is_rule(query):
            return self.rule(clause)
        if clause is None:
            return None
        every = None if clause.every is None else self.microseconds(clause.every, "a query cannot be computed every 0")
        derives = clause.derives and isinstance(query.form, tree.Construct | tree.Describe)
        return ops.Registration(clause.name, every, self.iri(clause.iri) if derives else None)

    def emit(self, query: tree.Query) -> str | None:
        """The relation-to-stream operator: the one that REGISTER names, else the default of the language of the
        windows."""
        if self.of_events(query):
            return "events"
        if query.registration is not None and query.registration.emit is not None:
            return query.registration.emit
        return next((_EMITS[language] for language in _EMITS if language in query.languages), None)

    # AGGREGATE

    def annotated(self, pattern: ops.Op, modifiers: tree.Modifiers) -> ops.Op:
        """The pattern with AGGREGATE clauses. Each sees the variables of WHERE, not those of the others; the filters
        see all."""
        for annotation in modifiers.annotations:
            keys = tuple(dict.fromkeys(Var(key.name) for key in annotation.keys))
            aggregate = self.aggregate(annotation.aggregate, None)
            assert isinstance(aggregate, Aggregate), "there are no groups that could share it"
            pattern = ops.Annotate(Var(annotation.variable.name), aggregate, keys, pattern)
        conditions = [self.expression(filter_.condition) for filter_ in modifiers.annotation_filters]
        return ops.Filter(conjunction(conditions), pattern) if conditions else pattern


def conjunction(conditions: list[Expr]) -> Expr:
    """The `&&` of one or more conditions, in their order."""
    return reduce(lambda left, right: Call("&&", (left, right)), conditions)

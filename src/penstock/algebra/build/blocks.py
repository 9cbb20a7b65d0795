"""Tree → algebra: blocks, which read one window alone (CQELS, RSP-QL), and windows at the end of a group, which
override those of the streams in it (Streaming SPARQL).

Of a window in a group and one in a group inside it, the inner one counts inside, as the paper's text says that the more
special one does. Its Algorithm 1 would go back to the streams' windows in an inner group that has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.build.base import BuilderBase
from penstock.algebra.expressions import Var
from penstock.syntax import tree
from penstock.syntax.suggest import nearest

__all__ = ["BlockBuilder"]

_BLOCKS = "urn:penstock:window:."


@dataclass(frozen=True, slots=True)
class _Place:
    """The surroundings of a pattern: a group with a window, a block, GRAPH of something that is no stream."""

    overridden: bool = False
    alone: bool = False
    background: bool = False


class BlockBuilder(BuilderBase):
    def __init__(self, query: tree.Query) -> None:
        super().__init__(query)
        self.stream_iris = {self.iri(clause.iri) for clause in query.streams}
        self.declared = self._declared(query.windows)
        self.has_unnamed = "cqels" in query.languages
        self._place = _Place()
        self._condition_tag = 0

    def _declared(self, clauses: tuple[tree.WindowClause, ...]) -> dict[NamedNode, tree.WindowClause]:
        declared: dict[NamedNode, tree.WindowClause] = {}
        for clause in clauses:
            name = self.iri(clause.name)
            if name in declared:
                self.fail("there is a window of this name already", clause.name.span, "give each window its own name")
            declared[name] = clause
        return declared

    # Blocks

    def window_block(self, block: tree.WindowBlock) -> ops.Op:
        with self.within(alone=True):
            pattern = self.group(block.group)
        if isinstance(block.name, tree.Iri):
            return ops.InWindow(self._declared_name(block.name), pattern)
        return self._each_window(block.name, pattern)

    def _each_window(self, variable: tree.Variable, pattern: ops.Op) -> ops.Op:
        """?w is each window that has a name in the query; those that a variable or a STREAM block made have none."""
        var, names = Var(variable.name), [name for name, clause in self.declared.items() if clause.variable is None]
        if not names:
            self.fail(f"there is no window that ?{var.name} could be", variable.span, _declare("<w>"))
        if not self.has_unnamed:
            return ops.InWindow(var, pattern)
        choices: list[ops.Op] = [ops.Join(ops.Table((var,), ((n,),)), ops.InWindow(n, pattern)) for n in names]
        return reduce(ops.Union, choices)

    def _declared_name(self, name: tree.Iri) -> NamedNode:
        iri = self.iri(name)
        if iri in self.declared:
            return iri
        of_stream = [known for known, clause in self.declared.items() if clause.iri.value == iri.value]
        locals_ = {_local(known): known for known in self.declared}
        near = of_stream[0] if of_stream else locals_.get(nearest(_local(iri), locals_) or "")
        hint = _declare(str(iri)) if near is None else f"did you mean {near}?"
        self.fail(f"the window {iri} is not declared", name.span, hint)

    def stream_block(self, block: tree.StreamBlock) -> ops.Op:
        """Blocks with the same window on the same stream share it."""
        key = (self.iri(block.iri), self.window(block.window))
        name = self.blocks.setdefault(key, NamedNode(f"{_BLOCKS}{len(self.blocks) + 1}"))
        with self.within(alone=True):
            return ops.InWindow(name, self.group(block.group))

    def graph_block(self, block: tree.NamedGraph) -> ops.Op:
        name = self.name(block.name)
        with self.within(background=isinstance(name, NamedNode) and name not in self.stream_iris):
            return ops.Graph(name, self.group(block.group))

    # Windows of groups

    def overridden(self, group: tree.Group, pattern: ops.Op) -> ops.Op:
        """The pattern of the group, with the windows that it is to read."""
        return pattern if group.window is None else ops.WindowOverride(self.tag(group.window), pattern)

    def tag(self, written: tree.Window) -> int:
        if self._place.alone:
            reason = "this group reads a window of its own already"
            self.fail(reason, written.span, "a window at the end of a group overrides those of FROM STREAM alone")
        if not self.stream_iris:
            reason = "there is no stream whose window this could override"
            self.fail(reason, written.span, "name the stream before WHERE, as in FROM STREAM <s>")
        return self.tags.setdefault(self.window(written), len(self.tags) + 1)

    def exists_pattern(self, group: tree.Group) -> ops.Op:
        """The pattern of an EXISTS; in the condition of an OPTIONAL it is outside of the group that the OPTIONAL's
        window overrides."""
        tag, self._condition_tag = self._condition_tag, 0
        pattern = self.group(group)
        self._condition_tag = tag
        return ops.WindowOverride(tag, pattern) if tag and group.window is None else pattern

    @contextmanager
    def condition_of(self, optional: tree.Group) -> Iterator[None]:
        before = self._condition_tag
        self._condition_tag = before if optional.window is None else self.tag(optional.window)
        yield
        self._condition_tag = before

    def reading(self, group: tree.Group) -> AbstractContextManager[None]:
        """A context in which patterns are built that belong to the group itself."""
        return self.within() if group.window is None else self.within(overridden=True)

    @contextmanager
    def within(self, **changes: Any) -> Iterator[None]:
        before = self._place
        self._place = replace(before, **changes)
        yield
        self._place = before

    def triples_read(self) -> None:
        """Note that a pattern stands here, and whether it reads the streams' own windows."""
        place = self._place
        self.own_windows_read |= not (place.overridden or place.alone or place.background)


def _declare(name: str) -> str:
    return f"declare it, as in FROM NAMED WINDOW {name} ON <stream> [RANGE PT10S STEP PT2S]"


def _local(iri: NamedNode) -> str:
    return re.split("[/#:]", iri.value)[-1]

"""The O-Graph: the operators of a plan as nodes, and edges along which the data flows (C-SPARQL, 3.4).

Every triple pattern is a node of its own where the plan is as written, and joined with the others; MergeJoinedGPOs
makes one node of those that stand together. Operators that only choose the source (GRAPH <g>, a window block) are no
nodes: they show in the edges from graphs and windows.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from itertools import groupby

from penstock.algebra import ops
from penstock.algebra.expressions import Expr, PatternTerm, Var
from penstock.algebra.ops import Op
from penstock.algebra.pattern_scope import DEFAULT_SCOPE, PatternScope
from penstock.algebra.scope import exists_in, expressions_of
from penstock.explain.labels import label, of_result
from penstock.explain.model import Edge, Graph, Node
from penstock.explain.notation import Notation
from penstock.explain.sources import KnownPredicates, Source, Sources

__all__ = ["ograph"]

_OPERANDS: dict[type[Op], tuple[str, str]] = {
    ops.LeftJoin: ("", "optional"),
    ops.Minus: ("", "without"),
    ops.Seq: ("first", "then"),
    ops.OptionalSeq: ("first, if any", "then"),
    ops.Equals: ("", "at once"),
    ops.EqualsOptional: ("", "at once, if any"),
}
"""The labels on the edges of an operator whose operands differ."""


def ograph(
    query: ops.Query, title: str, names: Notation, known: KnownPredicates | None = None, merged: bool = True
) -> Graph:
    """The O-Graph of the query's plan; `merged`: the patterns of a basic graph pattern are one node."""
    return _Builder(query, names, known, merged).graph(title)


class _Builder:
    def __init__(self, query: ops.Query, names: Notation, known: KnownPredicates | None, merged: bool) -> None:
        self._query, self._names, self._merged = query, names, merged
        self._sources = Sources(query, known, names)
        self._nodes: dict[str, Node] = {}
        self._edges: list[Edge] = []
        self._of_source: dict[object, str] = {}

    def graph(self, title: str) -> Graph:
        root = self._add("n", of_result(self._query, self._names))
        self._flow(self._op(self._query.pattern, DEFAULT_SCOPE), root)
        return Graph(title, tuple(self._nodes.values()), tuple(self._edges))

    def _add(self, letter: str, node: Node) -> str:
        """Add a node and return its id: a letter for its kind, and the next number."""
        id = f"{letter}{sum(known.startswith(letter) for known in self._nodes) + 1}"
        self._nodes[id] = Node(id, node.kind, node.title, node.lines, node.added, of=node.of)
        return id

    def _flow(self, source: str, target: str, label: str = "", dashed: bool = False) -> None:
        self._edges.append(Edge(source, target, label, dashed))

    def _op(self, op: Op, place: PatternScope) -> str:
        match op:
            case ops.Bgp(patterns) if patterns:
                return self._bgp(op, place)
            case ops.Path(path=path):
                return self._leaf(label(op, self._names), [_predicate(path)], place)
            case ops.Graph(name, pattern) | ops.InWindow(name, pattern) if not isinstance(name, Var):
                return self._op(pattern, place.inside(op))
            case ops.WindowOverride(_, pattern):
                return self._op(pattern, place.inside(op))
        id = self._add("n", label(op, self._names))
        words = _OPERANDS.get(ops.logical_type(op), ("", ""))
        for child, word in zip(op.children, words, strict=False):
            self._flow(self._op(child, place.inside(op)), id, word)
        for expr in expressions_of(op):
            self._exists(expr, id, place)
        return id

    def _exists(self, expr: Expr, target: str, place: PatternScope) -> None:
        for exists in exists_in(expr):
            self._flow(self._op(exists.pattern, place), target, "exists", dashed=True)

    def _bgp(self, op: ops.Bgp, place: PatternScope) -> str:
        if self._merged or len(op.patterns) == 1:
            return self._leaf(label(op, self._names), [p.predicate for p in op.patterns], place)
        by_source = groupby(sorted(op.patterns, key=lambda p: self._rank(p, place)), lambda p: self._rank(p, place))
        sides = [reduce(self._join, self._patterns(group, place)) for _, group in by_source]
        return reduce(self._join, sides)

    def _rank(self, pattern: ops.TriplePattern, place: PatternScope) -> tuple[bool, str]:
        """The sort key of patterns by their sources, so that patterns of the same sources are joined first: background,
        then streams."""
        sources = self._sources.of(pattern.predicate, place)
        return any(source.window for source in sources), str(sources)

    def _patterns(self, patterns: Iterable[ops.TriplePattern], place: PatternScope) -> list[str]:
        return [self._leaf(label(ops.Bgp((p,)), self._names), [p.predicate], place) for p in patterns]

    def _join(self, left: str, right: str) -> str:
        id = self._add("n", Node("", "join", "join"))
        self._flow(left, id)
        self._flow(right, id)
        return id

    def _leaf(self, node: Node, predicates: list[PatternTerm | None], place: PatternScope) -> str:
        id = self._add("n", node)
        for source in dict.fromkeys(s for predicate in predicates for s in self._sources.of(predicate, place)):
            self._flow(self._source(source), id)
        return id

    def _source(self, source: Source) -> str:
        """The node of a source, added when it is first read; a window's together with its stream's."""
        if source not in self._of_source:
            title = self._sources.title(source)
            made = Node("", source.kind, source.kind, (title,), added=source.window is not None, of=source.window)
            self._of_source[source] = id = self._add(source.kind[0], made)
            if source.window is not None:
                self._flow(self._stream(source.window), id)
        return self._of_source[source]

    def _stream(self, window: ops.StreamWindow) -> str:
        if window.iri not in self._of_source:
            title = self._sources.stream_title(window.iri)
            made = Node("", "stream", "stream", (title,), added=True, of=window.iri)
            self._of_source[window.iri] = self._add("s", made)
        return self._of_source[window.iri]


def _predicate(path: ops.PathExpr) -> PatternTerm | None:
    """Paths may go through anything that they do not name, so only a repeated single predicate is one."""
    inner = path.path if isinstance(path, ops.ZeroOrOne | ops.ZeroOrMore | ops.OneOrMore) else path
    return inner.iri if isinstance(inner, ops.Link) else None

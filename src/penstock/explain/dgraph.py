"""The D-Graph: the variables and constants of a query, their relations, and their sources (C-SPARQL, 4).

Made from the operators by the paper's six steps:

1. each variable, IRI and literal of a pattern is a vertex;
2. each triple pattern is two edges, subject → predicate → object;
3. each conjunct of a filter annotates the vertices of its variables, as does what BIND and VALUES give them;
4. an aggregation is a box of its own with its group, function and result, the function linked to its parameter;
5. projected variables are filled;
6. a box for each source holds the vertices that come from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Expr, PatternTerm, Var
from penstock.algebra.ops import Op
from penstock.algebra.pattern_scope import DEFAULT_SCOPE, PatternScope
from penstock.algebra.scope import conjuncts, exists_in, expressions_of, references
from penstock.explain.model import Box, Edge, Graph, Node
from penstock.explain.notation import Notation, variables
from penstock.explain.sources import KnownPredicates, Source, Sources

__all__ = ["dgraph"]

_DOUBTFUL: dict[type[Op], tuple[int, str]] = {
    ops.LeftJoin: (1, "optional"),
    ops.EqualsOptional: (1, "optional"),
    ops.OptionalSeq: (0, "optional"),
    ops.Minus: (1, "minus"),
}
"""Which operand of these need not match, or must not, and how its edges are called."""


def dgraph(query: ops.Query, title: str, names: Notation, known: KnownPredicates | None = None) -> Graph:
    """The D-Graph of the query as it is written."""
    return _Builder(query, names, known).graph(title)


class _Builder:
    def __init__(self, query: ops.Query, names: Notation, known: KnownPredicates | None) -> None:
        self._query, self._names = query, names
        self._sources = Sources(query, known, names)
        self._vertices: dict[object, Node] = {}
        self._triples: list[tuple[str, str, str, str]] = []
        self._links: list[Edge] = []
        self._boxes: dict[object, Box] = {}

    def graph(self, title: str) -> Graph:
        self._visit(self._query.pattern, DEFAULT_SCOPE, "")
        for var in _result_variables(self._query):
            self._vertex(var)  # a variable that no pattern binds has none yet
            self._change(var, filled=True)
        nodes = tuple(self._vertices.values())
        boxes = (replace(b, nodes=tuple(n.id for n in nodes if b.id in n.sources)) for b in self._boxes.values())
        return Graph(title, nodes, (*self._edges(), *self._links), tuple(box for box in boxes if box.nodes))

    # Vertices and boxes

    def _vertex(self, term: PatternTerm, sources: tuple[str, ...] = ()) -> str:
        """Step 1; of its sources those come first that were met first."""
        if term not in self._vertices:
            kind = "variable" if isinstance(term, Var) else "IRI" if isinstance(term, NamedNode) else "literal"
            self._vertices[term] = Node(f"v{len(self._vertices) + 1}", kind, self._names.term(term))
        known = self._vertices[term]
        return self._change(term, sources=tuple(dict.fromkeys((*known.sources, *sources))))

    def _change(self, term: object, **changes: object) -> str:
        changed = self._vertices[term] = replace(self._vertices[term], **changes)  # type: ignore[arg-type]
        return changed.id

    def _annotate(self, var: Var, text: str) -> None:
        self._vertex(var)
        lines = self._vertices[var].lines
        if text not in lines:
            self._change(var, lines=(*lines, text))

    def _box(self, source: Source) -> str:
        """Step 6."""
        if source not in self._boxes:
            id, title = f"b{len(self._boxes) + 1}", self._sources.title(source)
            if source.window is not None:
                title = f"{self._sources.stream_title(source.window.iri)} {title}"
            self._boxes[source] = Box(id, source.kind, title, ())
        return self._boxes[source].id

    # Operators

    def _visit(self, op: Op, place: PatternScope, role: str) -> None:
        doubtful, word = _DOUBTFUL.get(type(op), (-1, ""))
        for i, child in enumerate(op.children):
            self._visit(child, place.inside(op), word if i == doubtful else role)
        match op:
            case ops.Bgp(patterns):
                for p in patterns:
                    self._triple(p, self._from(p.predicate, place), role)
            case ops.Path(subject, path, object):
                boxes = self._from(None, place)
                middle = self._add_vertex("path", self._names.path(path), boxes)
                self._triples.append((self._vertex(subject, boxes), middle, self._vertex(object, boxes), role))
            case ops.Graph(Var() as name, _) | ops.InWindow(Var() as name, _):
                self._vertex(name, self._from(None, place.inside(op)))
            case ops.Table(vars, _):
                for var in vars:
                    self._annotate(var, f"VALUES of {len(op.rows)}")
            case ops.Extend(var, expression, _):
                self._annotate(var, f"= {self._names.expression(expression)}")
            case ops.Annotate(var, aggregate, keys, _):
                self._aggregation(((var, aggregate),), keys)
            case ops.Group(keys, aggregates, _) if aggregates:
                self._aggregation(aggregates, keys)
            case ops.Project(vars, _):
                for var in vars:
                    self._vertex(var)
                    self._change(var, filled=True)
        self._conditions(op, place)

    def _from(self, predicate: PatternTerm | None, place: PatternScope) -> tuple[str, ...]:
        return tuple(map(self._box, self._sources.of(predicate, place)))

    def _triple(self, pattern: ops.TriplePattern, boxes: tuple[str, ...], role: str) -> None:
        terms = (pattern.subject, pattern.predicate, pattern.object)
        subject, predicate, object = (self._vertex(term, boxes) for term in terms)
        self._triples.append((subject, predicate, object, role))

    def _edges(self) -> Iterator[Edge]:
        """Step 2. Edges of a predicate that several patterns use have numbers, so that they can be told apart."""
        uses = Counter(predicate for _, predicate, _, _ in self._triples)
        for number, (subject, predicate, object, role) in enumerate(self._triples, 1):
            label = f"{number} {role}".rstrip() if uses[predicate] > 1 else role
            yield Edge(subject, predicate, label, bool(role))
            yield Edge(predicate, object, label, bool(role))

    def _conditions(self, op: Op, place: PatternScope) -> None:
        """Step 3. The patterns of an EXISTS are patterns too."""
        for expr in expressions_of(op):
            for exists in exists_in(expr):
                self._visit(exists.pattern, place, "exists")
        if isinstance(op, ops.Filter | ops.LeftJoin | ops.OptionalSeq | ops.EqualsOptional) and op.condition:
            for part in conjuncts(op.condition):
                self._condition(part)

    def _condition(self, part: Expr) -> None:
        written = self._names.expression(part)
        for var in sorted(references(part)) if not exists_in(part) else ():
            self._annotate(var, written)

    def _aggregation(self, aggregates: tuple[tuple[Var, Aggregate], ...], keys: tuple[Var, ...]) -> None:
        """Step 4."""
        id = f"b{len(self._boxes) + 1}"
        self._boxes[id] = Box(id, "aggregation", "", ())
        group = self._add_vertex("group", f"G {{{variables(keys)}}}", (id,))
        self._links += [Edge(group, self._vertex(key), "", dashed=True) for key in keys]
        for var, aggregate in aggregates:
            title = f"{aggregate.name}{' DISTINCT' if aggregate.distinct else ''}"
            function = self._add_vertex("function", title, (id,))
            self._links.append(Edge(group, function))
            for read in sorted(references(aggregate)):
                self._links.append(Edge(function, self._vertex(read), "parameter"))
            self._links.append(Edge(function, self._vertex(var, (id,)), "result"))

    def _add_vertex(self, kind: str, title: str, boxes: tuple[str, ...]) -> str:
        """Add a vertex that is no term (a group, a function, a path), and return its id."""
        key = object()
        self._vertices[key] = Node(f"v{len(self._vertices) + 1}", kind, title, sources=boxes)
        return self._vertices[key].id


def _result_variables(query: ops.Query) -> list[Var]:
    """Step 5, for forms that project nothing: the variables that the answer is made of."""
    terms = [*getattr(query.form, "terms", ())]
    for pattern in getattr(query.form, "template", ()):
        terms += (pattern.subject, pattern.predicate, pattern.object)
    return [var for var in ops.variables_of(*terms) if not var.internal]

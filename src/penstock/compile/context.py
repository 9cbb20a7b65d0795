"""The context of a pattern while it is compiled: active graph, window, key columns, and the plan of the whole query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import PatternTerm, Var
from penstock.algebra.pattern_scope import DEFAULT_SCOPE, PatternScope
from penstock.compile import sql
from penstock.compile.entailment import EntailmentRewriter
from penstock.compile.key_domain import Universe
from penstock.compile.relation import INSTANT, Relation, table
from penstock.compile.sql import Derived, Expr, From, Query, Select, Table
from penstock.compile.views.view_types import MaterialisedView, ViewRequest
from penstock.compile.windows.evaluation_instants import EvaluationInstants
from penstock.compile.windows.plan_span import PlanSpan, VariableSpan
from penstock.compile.windows.stream_to_relation import MERGED, WindowRelation
from penstock.model.span import Span
from penstock.model.term_encoding import encode
from penstock.optimise import Statistics
from penstock.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from penstock.compile.parameter_table import ParameterTable

Rows = list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Tables:
    """The background as items of FROM: the default graph, the named graphs, and the encoded graph names.

    `default` has the columns s, p, o; `named` has g, s, p, o.
    """

    default: From
    named: From
    graphs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Streaming:
    """The streaming part of a plan: evaluation instants, window relations, and the variables whose timestamps are read.

    `background` has the predicates of the background, None if they are not known. `static_view` returns the
    materialised view of a pattern that reads the background alone, `family_view` that of a query family.
    """

    timeline: EvaluationInstants
    contents: tuple[WindowRelation, ...]
    default: tuple[WindowRelation, ...]  # the windows of the default graph
    background: frozenset[str] | None
    stamped: dict[str, bool]  # by variable: whether timestamps are read stream by stream
    calls: int  # number of TIMESTAMP calls in the query
    static_view: Callable[[ViewRequest], MaterialisedView | None]
    family_view: Callable[..., tuple[Relation, int] | None]
    statistics: Statistics  # of the background
    occurrence_times: bool = False  # whether rows carry their occurrence times
    entailed: EntailmentRewriter | None = None  # None: no entailment
    outer_projection: ops.Op | None = None  # above this projection no operator reads occurrence times


@dataclass(slots=True)
class Plan:
    """The state that all operators of one query share while they are compiled: tables, fresh names, and Spark jobs.

    `materialise` runs a query, stores its rows under a name and returns their number; `store`, where it is given, does
    so without the number. `fetch` collects the rows into the driver if they are few enough; `publish` makes a view of
    an Arrow table. `run_tasks` makes a view of the rows that Python tasks return: a name, one piece of work per task,
    the function, the columns, and the modules that are sent along.
    """

    tables: Tables
    materialise: Callable[[Query, str], int]
    base: str | None
    now: str
    fetch: Callable[[Query, int], Rows | None] = lambda query, most: None
    publish: Callable[[str, pa.Table], None] = lambda name, table: None
    run_tasks: Callable[..., None] = lambda name, pieces, work, columns, modules: None
    cores: int = 1
    streaming: Streaming | None = None
    dataset: ops.Dataset | None = None
    members: ParameterTable | None = None
    counter: count[int] = field(default_factory=count)
    views: list[str] = field(default_factory=list)
    tuning: Tuning = DEFAULT
    store: Callable[[Query, str], object] | None = None
    filters_in_joins: bool = False  # whether the engine computes the expressions of a filter for each pair of a join
    view_plan: Plan | None = None  # the plan in which static views are compiled; None: this one

    def fresh(self, prefix: str) -> str:
        """Return a name that no other part of the plan has."""
        return f"{prefix}{next(self.counter)}"

    def materialised_view(self, query: Query) -> tuple[str, int]:
        """Compute the rows of a query: the name of their view, which lives as long as the plan, and their number."""
        name = self.new_view()
        return name, self.materialise(query, name)

    def stored_view(self, query: Query) -> str:
        """Store the rows of a query: the name of their view, which lives as long as the plan."""
        name = self.new_view()
        (self.store or self.materialise)(query, name)
        return name

    def publish_rows(self, columns: Sequence[str], rows: Rows) -> str:
        """Return the name of a view of the given rows, which lives as long as the plan."""
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        return self.publish_table(pa.table([pa.array(cell, pa.string()) for cell in cells], names=list(columns)))

    def publish_table(self, table: pa.Table) -> str:
        """Return the name of a view of an Arrow table, which lives as long as the plan."""
        name = self.new_view()
        self.publish(name, table)
        return name

    def new_view(self) -> str:
        """Reserve the name of a view that lives as long as the plan."""
        self.views.append(self.fresh("penstock_view_"))
        return self.views[-1]

    def materialise_volatile(self, relation: Relation) -> Relation:
        """Return the relation, materialised if each read may give other rows because of UUID() or LIMIT."""
        if not relation.sql.volatile:
            return relation
        return replace(relation, sql=sql.view(self.stored_view(relation.sql)))


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a pattern in its query.

    `scope` has the graph and the window that the pattern reads. A variable as graph is the key column that runs over
    the names of all graphs. In a `static` context no pattern reads a window, and no row depends on the instant.
    """

    plan: Plan
    scope: PatternScope = DEFAULT_SCOPE
    universes: tuple[Universe, ...] = ()
    static: bool = False

    def as_static(self) -> Context:
        """Return the context of a static view: without windows, and without keys that change between evaluations."""
        plan = self.plan.view_plan or self.plan
        return replace(self, plan=plan, static=True, universes=tuple(u for u in self.universes if u.static))

    def inside(self, op: ops.Op) -> Context:
        """Return the context of the operands of GRAPH, a window block or an overriding window."""
        return replace(self, scope=self.scope.inside(op))

    def in_each_graph(self, key: str) -> Context:
        """Return the context of GRAPH ?g: the key runs over the names of all graphs."""
        names = Universe((key,), self._graph_names(key), static=not self.in_window)
        return replace(self.with_universe(names), scope=replace(self.scope, graph=Var(key)))

    def _graph_names(self, key: str) -> Query:
        if not self.in_window:
            return table((key,), [(g,) for g in sorted(self.plan.tables.graphs)]).sql
        parts = sql.union_all(Select([sql.alias(_G, key)], c.sql, _G.not_null()) for c in self.contents())
        return Select([sql.STAR], parts, distinct=True)

    @property
    def in_window(self) -> bool:
        """Whether the pattern reads a window block, where the background is not visible."""
        return not self.scope.background

    @property
    def graph_key(self) -> str | None:
        """The key column that runs over the names of all graphs; None outside of GRAPH ?g."""
        return self.scope.graph.name if isinstance(self.scope.graph, Var) else None

    def with_universe(self, universe: Universe) -> Context:
        return replace(self, universes=(*self.universes, universe))

    def source(self) -> tuple[From, str | None]:
        """Return the background that triple patterns read, as an item of FROM, and the key that its column g is, if
        any.

        The graph of a stream has the default graph for its background.
        """
        tables, streams, key = self.plan.tables, self._streams(), self.graph_key
        if self.in_window:
            return _NOTHING, key
        if key is not None:
            return (self._with_streams(streams) if streams else tables.named), key
        graph = self._graph
        if graph is None or graph in streams:
            return tables.default, None
        return Derived(Select(_columns("spo"), tables.named, _G.eq(sql.text(graph)))), None

    @property
    def _graph(self) -> str | None:
        """The one graph that the pattern reads, encoded; None: the default graph, or each graph."""
        return encode(self.scope.graph) if isinstance(self.scope.graph, NamedNode) else None

    def _with_streams(self, streams: tuple[str, ...]) -> From:
        """Return all named graphs; the graph of a stream has the triples of the default graph."""
        tables = self.plan.tables
        behind = (Select([sql.alias(sql.text(s), "g"), *_columns("spo")], tables.default) for s in streams)
        others = Select(_columns("gspo"), tables.named, _G.not_among(sql.texts(streams)))
        return Derived(sql.union_all([others, *behind]))

    def is_whole_default(self) -> bool:
        """Whether the background that patterns read is the store's own default graph."""
        default = self.plan.tables.default
        return not self.in_window and self.source()[0] is default and isinstance(default, Table)

    @property
    def span(self) -> PlanSpan | None:
        """The span of instants to evaluate; None without streams."""
        return None if self.plan.streaming is None else self.plan.streaming.timeline.span

    @property
    def known_span(self) -> Span | None:
        """The span whose instants the planner counts; None without streams."""
        return self.span.known if isinstance(self.span, VariableSpan) else self.span

    def contents(self) -> tuple[WindowRelation, ...]:
        """The windows that triple patterns read."""
        streaming = self.plan.streaming
        if streaming is None or self.static:
            return ()
        default = self.scope.graph is None and not self.in_window
        windows = streaming.default if default else streaming.contents
        return tuple(self._of_graph(c) for c in windows if self.scope.reads(c.source))

    def window_names(self) -> list[NamedNode]:
        """Return the names of all windows that window blocks can read."""
        streaming = self.plan.streaming
        sources = [] if streaming is None else [c.source for c in streaming.contents]
        return [source.name for source in sources if source.name is not None]

    def matching_windows(self, pattern: ops.TriplePattern) -> list[WindowRelation]:
        """Return the windows that may contain the pattern's predicate."""
        return [c for c in self.contents() if can_match(pattern.predicate, c.predicates)]

    def _of_graph(self, content: WindowRelation) -> WindowRelation:
        """Return the elements of a window; in a window block, those that came in the graph that the pattern reads."""
        if self.scope.graph is None or not self.in_window:
            return content
        wanted = _G.not_null() if self._graph is None else _G.eq(sql.text(self._graph))
        return replace(content, sql=Select([sql.STAR], content.each or content.sql, wanted))

    @property
    def has_many_elements(self) -> bool:
        """Whether the windows hold so many elements that a choice of join algorithm pays."""
        streaming = self.plan.streaming
        rows = 0 if streaming is None else sum(c.rows for c in streaming.contents)
        return streaming is not None and rows >= self.plan.tuning.hinted_elements

    def elements(
        self, content: WindowRelation, predicate: PatternTerm | None = None, object: PatternTerm | None = None
    ) -> Query:
        """Return the elements of a window with the triples that they entail.

        Elements without the predicate and object may be missing. Outside of a named window, `g` is the stream, whatever
        graph an element came in.
        """
        elements = self._with_entailed(content, predicate, object)
        if self.in_window:
            return elements
        items = [sql.name(c) for c in ("s", "p", "o", "ts", "start", *content.when)]
        graph = _G if content.source.iri == MERGED else sql.alias(sql.text(content.graph), "g")
        return Select([*items, graph], elements)

    def _with_entailed(
        self, content: WindowRelation, predicate: PatternTerm | None, object: PatternTerm | None
    ) -> Query:
        streaming = self.plan.streaming
        if streaming is None or streaming.entailed is None or content.closed:
            return content.sql
        return streaming.entailed.triples(content.sql, (predicate, object), content.stored)

    def background(self) -> frozenset[str] | None:
        """The predicates of the background that patterns read, None if they are not known."""
        streaming = self.plan.streaming
        return frozenset() if self.in_window or streaming is None else streaming.background

    def _streams(self) -> tuple[str, ...]:
        streaming = self.plan.streaming
        return (
            ()
            if streaming is None
            else tuple(dict.fromkeys(c.graph for c in streaming.contents if c.source.name is None))
        )

    def pointwise(self, relation: Relation) -> Relation:
        """Return the relation with a row for each instant, in place of rows with validity intervals."""
        return self.expand(relation, frozenset((INSTANT,))) if relation.timed else relation

    def expand(self, relation: Relation, keys: frozenset[str]) -> Relation:
        """Return the relation with the given keys: a copy of each row for every value of a key that it lacks."""
        if relation.timed and INSTANT in keys and self.plan.streaming is not None:
            relation = self.plan.streaming.timeline.at_instants(relation)
        for universe in self.universes:
            columns = universe.columns_for(keys)
            if not set(columns) <= relation.keys:
                relation = _expand(relation, universe, columns)
        return relation

    def bind_keys(self, relation: Relation) -> Relation:
        """Return the relation with a copy of each row for every value of a key that the row leaves unbound."""
        for universe in self.universes:
            keys = tuple(k for k in universe.keys if k in relation.keys)
            if not set(keys) <= relation.certain:
                relation = _expand(relation, universe, keys)
        return relation


def _expand(relation: Relation, universe: Universe, keys: tuple[str, ...]) -> Relation:
    domain = Select(map(sql.name, keys), universe.sql, distinct=not universe.dependent)
    vars = relation.vars + tuple(k for k in keys if k not in relation.vars)
    columns = [sql.column("u" if c in keys else "l", c) for c in vars + relation.hidden]
    on = sql.all_of(_agrees(k, relation) for k in keys if k in relation.vars)
    joined = sql.Join(Derived(relation.sql, "l"), Derived(domain, "u"), on)
    source = Select(columns, joined, hints=universe.hints)
    return replace(relation, sql=source, vars=vars, certain=relation.certain | set(keys))


def _agrees(key: str, relation: Relation) -> Expr:
    own, wanted = sql.column("l", key), sql.column("u", key)
    return own.eq(wanted) if key in relation.certain else own.eq(wanted) | own.is_null()


def can_match(predicate: PatternTerm, predicates: frozenset[str] | None) -> bool:
    """Whether the pattern's predicate is among the known ones. A variable is any of them; an unknown set has all."""
    if predicates is None:
        return True
    return encode(predicate) in predicates if isinstance(predicate, NamedNode) else bool(predicates)


def _columns(names: str) -> list[Expr]:
    return [sql.name(name) for name in names]


_G = sql.name("g")
_NOTHING = Derived(Select([sql.alias(sql.text(""), name) for name in "gspo"], None, sql.FALSE))

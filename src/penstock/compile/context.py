"""What a pattern is compiled in: the active graph, the keys around it, and what the whole query shares."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra import ops
from penstock.algebra.expressions import PatternTerm
from penstock.compile import sql
from penstock.compile.entailment import EntailmentRewriter
from penstock.compile.relation import INSTANT, Relation
from penstock.compile.sql import Derived, Expr, From, Hint, Query, Select, Table
from penstock.compile.views.view_types import MaterialisedView, ViewRequest
from penstock.compile.windows.evaluation_instants import EvaluationInstants
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model.span import Span
from penstock.optimise import Statistics

if TYPE_CHECKING:
    from penstock.compile.operators.query_family import ParameterTable

Rows = list[tuple[str, ...]]
MANY = 200_000  # elements from which it pays to look at how rows are joined


@dataclass(frozen=True, slots=True)
class Tables:
    """The data as items of FROM: `default` has columns s, p, o; `named` has g, s, p, o; `graphs` are the encoded graph
    names."""

    default: From
    named: From
    graphs: frozenset[str]


@dataclass(frozen=True, slots=True)
class NamedGraph:
    """One graph, by its encoded IRI."""

    iri: str


@dataclass(frozen=True, slots=True)
class EachGraph:
    """All named graphs: a key runs over their names."""

    key: str


Graph = NamedGraph | EachGraph | None
"""The graph that patterns read; None is the default graph."""


@dataclass(frozen=True, slots=True)
class Streaming:
    """What makes a query continuous: its instants, its windows, and the variables whose timestamps it asks for.

    `background` are the predicates of the background, None if they are not known. `static_view` keeps a part that reads
    the background alone for all evaluations.
    """

    timeline: EvaluationInstants
    contents: tuple[WindowRelation, ...]
    default: tuple[WindowRelation, ...]  # those of the default graph
    background: frozenset[str] | None
    stamped: dict[str, bool]  # whether also stream by stream
    calls: int  # of TIMESTAMP in the whole query
    static_view: Callable[[ViewRequest], MaterialisedView | None]
    family_view: Callable[..., tuple[Relation, int] | None]
    statistics: Statistics  # of the background
    occurrence_times: bool = False  # whether it matters when elements occurred
    entailed: EntailmentRewriter | None = None  # what follows from elements, if anything does
    sequence_bounds: Mapping[ops.Op, int] = field(default_factory=dict)  # how long sequences may be, in microseconds
    outer_projection: ops.Op | None = None  # the projection above which nobody asks when rows occurred


@dataclass(slots=True)
class Plan:
    """What one query's compilation shares: its data, its fresh names, and the jobs that path closures run.

    `compute` runs a query now, leaves its rows with Spark under the given name and returns how many there are. `fetch`
    brings them here if they are at most so many; `send` is the way back, under a name. `run_tasks` makes rows by
    Python tasks: a name, a piece for each, the work, the columns, and the modules that are sent along. `shared` gives
    the rows of an operator that other queries have as well, if they are to be computed once for all.
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
    shared: Callable[[ops.Op, Context], Relation | None] | None = None
    counter: count[int] = field(default_factory=count)
    views: list[str] = field(default_factory=list)
    view_rows: dict[ops.Op, int] = field(default_factory=dict)  # the parts that were answered before, and their rows
    selectivity: dict[ops.Op | ops.TriplePattern, float] = field(
        default_factory=dict
    )  # the share of rows that is asked for
    background_rows: float = 0.0  # about how many triples of the background are read besides, in an evaluation

    def fresh(self, prefix: str) -> str:
        return f"{prefix}{next(self.counter)}"

    def materialised_view(self, query: Query) -> tuple[str, int]:
        """The rows of a query computed once: the name of their view, which lives as long as the query, and how many."""
        name = self.new_view()
        return name, self.materialise(query, name)

    def publish_rows(self, columns: Sequence[str], rows: Rows) -> str:
        """The name of a view of these rows, which lives as long as the query."""
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        return self.publish_table(pa.table([pa.array(cell, pa.string()) for cell in cells], names=list(columns)))

    def publish_table(self, table: pa.Table) -> str:
        """The same, of a table."""
        name = self.new_view()
        self.publish(name, table)
        return name

    def new_view(self) -> str:
        """A name for a view that lives as long as the query."""
        self.views.append(self.fresh("penstock_view_"))
        return self.views[-1]

    def materialise_volatile(self, relation: Relation) -> Relation:
        """The relation, computed now if it may have other rows each time that it is read, by UUID() or by LIMIT."""
        if not relation.sql.volatile:
            return relation
        return replace(relation, sql=sql.view(self.materialised_view(relation.sql)[0]))


@dataclass(frozen=True, slots=True)
class Universe:
    """All values that some keys can take together. `dependent`: further columns, of which the keys say the value; then
    `sql` has each combination of the keys once, and few enough to be sent to every task. `static`: the same values at
    every evaluation."""

    keys: tuple[str, ...]
    sql: Query
    dependent: tuple[str, ...] = ()
    static: bool = False

    def columns_for(self, keys: Collection[str]) -> tuple[str, ...]:
        """Those of its columns that are among these, and what they depend on."""
        dependent = tuple(c for c in self.dependent if c in keys)
        return (self.keys if dependent else tuple(k for k in self.keys if k in keys)) + dependent

    @property
    def hints(self) -> list[Hint]:
        return [("BROADCAST", ("u",))] if self.dependent else []


@dataclass(frozen=True, slots=True)
class Context:
    """`graph` is the one that patterns read. In a `window` there is nothing else, and its graphs are those that its
    elements came in. `tag` says whose windows are read. With `joined_by_filter`, a filter above makes variables equal:
    joins by them as well, so rows meet fewer others. In what is `static` no pattern reads a window, and nothing depends
    on the instant."""

    plan: Plan
    graph: Graph = None
    universes: tuple[Universe, ...] = ()
    window: str | None = None
    tag: int = 0
    joined_by_filter: bool = False
    static: bool = False

    def as_static(self) -> Context:
        """For what is answered once, whatever there is around."""
        return replace(self, static=True, universes=tuple(u for u in self.universes if u.static))

    def in_graph(self, graph: Graph) -> Context:
        return replace(self, graph=graph)

    def in_window(self, name: str) -> Context:
        return replace(self, window=name, graph=None)

    def overridden(self, tag: int) -> Context:
        return replace(self, tag=tag)

    def with_universe(self, universe: Universe) -> Context:
        return replace(self, universes=(*self.universes, universe))

    def source(self) -> tuple[From, str | None]:
        """The background that triple patterns read, as an item of FROM, and the key that its column g is, if any.

        The graph of a stream has the default graph for its background.
        """
        tables, streams = self.plan.tables, self._streams()
        key = self.graph.key if isinstance(self.graph, EachGraph) else None
        if self.window is not None:
            return _NOTHING, key
        if self.graph is None or (isinstance(self.graph, NamedGraph) and self.graph.iri in streams):
            return tables.default, None
        if isinstance(self.graph, NamedGraph):
            return Derived(Select(_columns("spo"), tables.named, _G.eq(sql.text(self.graph.iri)))), None
        return (self._with_streams(streams) if streams else tables.named), key

    def _with_streams(self, streams: tuple[str, ...]) -> From:
        """The named graphs, those of streams with the default graph for their background."""
        tables = self.plan.tables
        behind = (Select([sql.alias(sql.text(s), "g"), *_columns("spo")], tables.default) for s in streams)
        others = Select(_columns("gspo"), tables.named, _G.not_among(sql.texts(streams)))
        return Derived(sql.union_all([others, *behind]))

    def is_whole_default(self) -> bool:
        """Whether the background that patterns read is the store's own default graph."""
        default = self.plan.tables.default
        return self.window is None and self.source()[0] is default and isinstance(default, Table)

    @property
    def span(self) -> Span | None:
        """The time in which answers are wanted, with streams."""
        return None if self.plan.streaming is None else self.plan.streaming.timeline.span

    def contents(self) -> tuple[WindowRelation, ...]:
        """The windows that triple patterns read."""
        streaming = self.plan.streaming
        if streaming is None or self.static:
            return ()
        if self.window is not None:
            return tuple(self._of_graph(c) for c in streaming.contents if c.name == self.window)
        if self.graph is None:
            return tuple(c for c in streaming.default if c.tag == self.tag)
        found = tuple(c for c in streaming.contents if c.name is None and c.tag == self.tag)
        return tuple(c for c in found if c.graph == self.graph.iri) if isinstance(self.graph, NamedGraph) else found

    def _of_graph(self, content: WindowRelation) -> WindowRelation:
        """What of a window came in the graph, or in any graph."""
        if self.graph is None:
            return content
        wanted = _G.eq(sql.text(self.graph.iri)) if isinstance(self.graph, NamedGraph) else _G.not_null()
        return replace(content, sql=Select([sql.STAR], content.each or content.sql, wanted))

    @property
    def has_many_elements(self) -> bool:
        """Whether the windows hold so much that Spark is dependent how to join it."""
        streaming = self.plan.streaming
        return streaming is not None and sum(c.rows for c in streaming.contents) >= MANY

    def elements(
        self, content: WindowRelation, predicate: PatternTerm | None = None, object: PatternTerm | None = None
    ) -> Query:
        """The elements of a window and what follows from them; those without the predicate and object may be missing.

        Outside of the window, `g` is the stream, whatever graph they came in.
        """
        found = self._with_entailed(content, predicate, object)
        if self.window is not None:
            return found
        items = [sql.name(c) for c in ("s", "p", "o", "ts", "start", *content.when)]
        return Select([*items, sql.alias(sql.text(content.graph), "g")], found)

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
        return frozenset() if self.window is not None or streaming is None else streaming.background

    def _streams(self) -> tuple[str, ...]:
        streaming = self.plan.streaming
        return () if streaming is None else tuple(dict.fromkeys(c.graph for c in streaming.contents if c.name is None))

    def pointwise(self, relation: Relation) -> Relation:
        """The relation, with a row for each instant if its rows hold during intervals."""
        return self.expand(relation, frozenset((INSTANT,))) if relation.timed else relation

    def expand(self, relation: Relation, keys: frozenset[str]) -> Relation:
        """The relation with these keys, a copy of each row for every value of those that it lacked."""
        if relation.timed and INSTANT in keys and self.plan.streaming is not None:
            relation = self.plan.streaming.timeline.at_instants(relation)
        for universe in self.universes:
            wanted = universe.columns_for(keys)
            if not set(wanted) <= relation.keys:
                relation = _expand(relation, universe, wanted)
        return relation

    def bind_keys(self, relation: Relation) -> Relation:
        """The relation with a copy of each row that leaves a key open for every value of that key."""
        for universe in self.universes:
            wanted = tuple(k for k in universe.keys if k in relation.keys)
            if not set(wanted) <= relation.certain:
                relation = _expand(relation, universe, wanted)
        return relation


def _expand(relation: Relation, universe: Universe, wanted: tuple[str, ...]) -> Relation:
    domain = Select(map(sql.name, wanted), universe.sql, distinct=not universe.dependent)
    vars = relation.vars + tuple(k for k in wanted if k not in relation.vars)
    columns = [sql.column("u" if c in wanted else "l", c) for c in vars + relation.hidden]
    on = sql.all_of(_agrees(k, relation) for k in wanted if k in relation.vars)
    joined = sql.Join(Derived(relation.sql, "l"), Derived(domain, "u"), on)
    source = Select(columns, joined, hints=universe.hints)
    return replace(relation, sql=source, vars=vars, certain=relation.certain | set(wanted), upper_bound=None)


def _agrees(key: str, relation: Relation) -> Expr:
    own, wanted = sql.column("l", key), sql.column("u", key)
    return own.eq(wanted) if key in relation.certain else own.eq(wanted) | own.is_null()


def _columns(names: str) -> list[Expr]:
    return [sql.name(name) for name in names]


_G = sql.name("g")
_NOTHING = Derived(Select([sql.alias(sql.text(""), name) for name in "gspo"], None, sql.FALSE))

"""GROUP BY and the aggregates: https://www.w3.org/TR/sparql11-query/#aggregates.

Every aggregate is composed of SQL aggregates, which Spark combines before it shuffles; the result is computed from
their columns in a SELECT around the grouping one. An error in SUM, AVG or GROUP_CONCAT makes the aggregate an error;
COUNT, MIN, MAX and SAMPLE ignore errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pyoxigraph import Literal

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Var
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.expressions import Scope, value
from penstock.compile.expressions.functions.arithmetic import divide, integer
from penstock.compile.expressions.functions.terms import string_of
from penstock.compile.expressions.term_order import sort_key
from penstock.compile.expressions.values import DECIMAL, EXACT, INTEGER, Node, Number, Text, Value, number, term
from penstock.compile.operators.joins import sides
from penstock.compile.physical.nodes import RunningCounts
from penstock.compile.relation import ALWAYS, ENDS, FROM, STARTS, TO, Relation, select, unit
from penstock.compile.sql import Expr, Over, Query, Select, let, rewritten

Combined = Callable[[Expr], Expr]


@dataclass(slots=True)
class PartialAggregates:
    """The SQL aggregates of a GROUP BY, each once, and the aggregates that combine partial results (None: not
    possible).

    `combined` has, for each, the aggregate of a column that holds the partial results.
    """

    columns: dict[Expr, str] = field(default_factory=dict)
    combined: dict[Expr, Combined | None] = field(default_factory=dict)

    def __call__(self, aggregate: Expr, combined: Combined | None = None) -> Expr:
        """Return the column of an aggregate, which is added if it is new."""
        if aggregate not in self.columns:
            self.columns[aggregate] = f".part{len(self.columns)}"
            self.combined[aggregate] = combined
        return sql.name(self.columns[aggregate])

    @property
    def can_combine(self) -> bool:
        return all(self.combined.values())

    @property
    def only_counts(self) -> bool:
        """Whether every aggregate is a plain number of rows or values."""
        return all(isinstance(a, sql.Call) and a.function == "count" for a in self.columns)

    def of(self, how: Callable[[Expr], Expr] = lambda aggregate: aggregate) -> list[Expr]:
        """Return the items of a SELECT that computes the aggregates."""
        return [sql.alias(how(aggregate), column) for aggregate, column in self.columns.items()]

    def combine(self) -> list[Expr]:
        """Return the items of a SELECT that combines partial results."""
        pairs = ((self.combined[aggregate], column) for aggregate, column in self.columns.items())
        return [sql.alias(how(sql.name(column)), column) for how, column in pairs if how is not None]


def _called(function: str) -> Combined:
    return lambda column: sql.call(function, column)


SUM, MIN, MAX = _called("sum"), _called("min"), _called("max")  # how partial results are combined
_EXACT_SUM, _REAL_SUM = _called("exact_sum"), _called("real_sum")  # of decimals and of doubles
ROWS = sql.call("count", 1)


def group(op: ops.Group, relation: Relation, scope: Scope, context: Context) -> Relation:
    """Return the groups of a relation with their aggregates."""
    grouped = tuple(k.name for k in op.keys)
    parts = PartialAggregates()
    results = {v.name: _aggregate(a, relation, scope, parts) for v, a in op.aggregates} | _occurred(relation, parts)
    relation, pieces = _computed(op, grouped, parts, relation, context)
    keys = grouped + tuple(sorted(relation.keys - set(grouped))) + ((FROM, TO) if relation.timed else ())
    items = [_key(k, relation) for k in keys] + [sql.alias(result, v) for v, result in results.items()]
    certain = (relation.certain & set(keys)) | {v.name for v, a in op.aggregates if a.name == "COUNT"}
    result = Relation(select(items, pieces), (*keys, *results), certain)
    return _with_empty_groups(op, result, context) if relation.keys and not grouped else result


def _occurred(relation: Relation, parts: PartialAggregates) -> dict[str, Expr]:
    """Return the occurrence time of a group: from the first start to the last end of its rows."""
    extremes = ((STARTS, MIN), (ENDS, MAX))
    return {c: parts(how(sql.name(c)), how) for c, how in extremes if c in relation.vars}


def _computed(
    op: ops.Group, grouped: tuple[str, ...], parts: PartialAggregates, relation: Relation, context: Context
) -> tuple[Relation, Query]:
    """Return the grouped relation, and the SELECT of the aggregates.

    Rows with equal validity intervals form a pane. A pane is aggregated once, and its partial results are copied to the
    instants: with windows that overlap, that is a fraction of the copies of the rows.
    """
    if not relation.timed:
        return relation, _grouped(op, grouped, parts.of(), relation)
    if isinstance(op, RunningCounts):
        counted = _running(parts, grouped, relation)
        counted = counted if grouped else context.pointwise(counted)
        return counted, counted.sql
    if not parts.can_combine:
        relation = context.pointwise(relation)
        return relation, _grouped(op, grouped, parts.of(), relation)
    relation = context.pointwise(_pane(grouped, parts, relation))
    return relation, _grouped(op, grouped, parts.combine(), relation)


def _pane(grouped: tuple[str, ...], parts: PartialAggregates, relation: Relation) -> Relation:
    """Return the partial results of the panes, with the number of rows, so that a pane has a column in any case."""
    parts(ROWS, SUM)
    keys = tuple(k for k in grouped if k in relation.vars) + tuple(sorted(relation.keys - set(grouped)))
    names, begin, end = [sql.name(k) for k in keys], sql.name(FROM), sql.name(TO)
    bounds = [begin, end] if relation.length is None else [begin]  # intervals of one length differ in their start only
    until = [end] if relation.length is None else [sql.alias(begin + relation.length, TO)]
    query = select([*names, begin, *until, *parts.of()], relation.sql, group=[*names, *bounds])
    by = (*keys, FROM, TO)
    return Relation(query, by + tuple(parts.columns.values()), relation.certain & set(by))


def _running(parts: PartialAggregates, grouped: tuple[str, ...], relation: Relation) -> Relation:
    """Return counts with validity intervals: a running sum in the order of time, plus at a start, minus at an end.

    However often windows overlap, a pane counts twice. (Sums of doubles would not return to their former value.)
    """
    assert parts.only_counts, "not all aggregates are counts"
    pane = _pane(grouped, parts, relation)
    keys = [sql.name(v) for v in pane.vars if v not in (FROM, TO, *parts.columns.values())]
    names, t = list(parts.columns.values()), sql.name(".t")
    begin = sql.struct(**{".t": sql.name(FROM)}, **{c: sql.name(c) for c in names})
    end = sql.struct(**{".t": sql.name(TO)}, **{c: -sql.name(c) for c in names})
    spread = pane.sql.spread_by(keys) if keys and isinstance(pane.sql, Select) else pane.sql  # once, for both sorts
    changes = Select([*keys, sql.call("inline", sql.array(begin, end))], spread)
    by = [*keys, t]
    summed = Select([*by, *(sql.alias(SUM(sql.name(c)), c) for c in names)], changes, group=by)
    sums = [sql.alias(Over(SUM(sql.name(c)), keys, [t], "ROWS UNBOUNDED PRECEDING"), c) for c in names]
    until = sql.coalesce(Over(sql.call("lead", t), keys, [t]), sql.long(ALWAYS))
    counts = Select([*keys, sql.alias(t, FROM), sql.alias(until, TO), *sums], summed)
    return replace(pane, sql=Select([sql.STAR], counts, parts(ROWS) > 0))


def _grouped(op: ops.Group, grouped: tuple[str, ...], aggregates: list[Expr], relation: Relation) -> Query:
    keys = grouped + tuple(sorted(relation.keys - set(grouped)))
    items = [_key(k, relation) for k in keys] + aggregates
    by = [sql.name(k) for k in keys if k in relation.vars]
    if by:
        return select(items, relation.sql, group=by)
    # All rows are one group; without keys there is one even of nothing.
    return select([*items, sql.alias(ROWS, ".rows")], relation.sql, having=ROWS > 0 if op.keys else None)


def _key(key: str, relation: Relation) -> Expr:
    return sql.name(key) if key in relation.vars else sql.alias(sql.NULL, key)


def annotate(op: ops.Annotate, relation: Relation, scope: Scope) -> Relation:
    """Return every row with the aggregate of its group: an SQL window function, so no row is lost and none is
    joined."""
    parts = PartialAggregates()
    result = _aggregate(op.aggregate, relation, scope, parts)
    by = [sql.name(k) for k in [*(v.name for v in op.keys), *sorted(relation.keys)] if k in relation.vars]
    own = [sql.name(c) for c in relation.columns]
    counted = select([*own, *parts.of(lambda aggregate: _over(aggregate, by))], relation.sql)
    var = op.var.name
    certain = relation.certain | ({var} if op.aggregate.name == "COUNT" else set())
    return replace(
        relation, sql=select([*own, sql.alias(result, var)], counted), vars=(*relation.vars, var), certain=certain
    )


def _over(aggregate: Expr, by: Sequence[Expr]) -> Expr:
    """Return the aggregate as a window function; Spark has none that count distinct values."""
    if isinstance(aggregate, sql.Call) and aggregate.distinct:
        return sql.call("size", Over(sql.call("collect_set", *aggregate.args), by)).cast("BIGINT")
    if aggregate == _ANY_ROW:
        return rewritten(aggregate, lambda part: Over(part, by) if part == ROWS else None)
    return Over(aggregate, by)


def _with_empty_groups(op: ops.Group, result: Relation, context: Context) -> Relation:
    """Return the result with a group for every value of the outer keys, since without GROUP BY there always is one."""
    keys = tuple(k for k in result.vars if k in result.keys)
    domain = context.expand(unit(), frozenset(keys))
    missing = sql.column("r", keys[0]).is_null()
    filled = ((v.name, _of_nothing(a), sql.column("r", v.name)) for v, a in op.aggregates)
    columns: list[Expr] = [sql.alias(sql.case((missing, zero), otherwise=own), v) for v, zero, own in filled]
    columns += [sql.column("r", c) for c in (STARTS, ENDS) if c in result.vars]
    on = sql.all_of(sql.column("l", k).eq(sql.column("r", k)) for k in keys)
    items = [*(sql.column("l", k) for k in keys), *columns]
    return replace(result, sql=Select(items, sides(domain, result, on, "LEFT JOIN")))


_ZERO = term_columns.constant(Literal(0))
_ANY_ROW = sql.call("least", ROWS, 1)  # distinct rows without a column


def _of_nothing(aggregate: Aggregate) -> Expr:
    zeros = {"COUNT": _ZERO, "SUM": _ZERO, "AVG": _ZERO, "GROUP_CONCAT": sql.text('""')}
    return zeros.get(aggregate.name, sql.NULL)


def _aggregate(aggregate: Aggregate, relation: Relation, scope: Scope, parts: PartialAggregates) -> Expr:
    """Return the encoded result of one aggregate, from the partial aggregates."""
    if aggregate.argument is None or _counts_rows(aggregate, relation):
        return term(integer(parts(_count_rows(aggregate, relation), None if aggregate.distinct else SUM)))
    return term(_AGGREGATES[aggregate.name](value(aggregate.argument, scope), aggregate, parts))


def _counts_rows(aggregate: Aggregate, relation: Relation) -> bool:
    """Whether COUNT(?v) is COUNT(*), since every row binds ?v. Then the column of ?v need not be read."""
    argument = aggregate.argument
    is_plain = aggregate.name == "COUNT" and not aggregate.distinct
    return is_plain and isinstance(argument, Var) and argument.name in relation.certain


def _count_rows(aggregate: Aggregate, relation: Relation) -> Expr:
    vars = relation.solution
    if not aggregate.distinct:
        return ROWS
    return _count_distinct(sql.call("struct", *map(sql.name, vars))) if vars else _ANY_ROW


def _count_distinct(value: Expr) -> Expr:
    return sql.Call("count", (value,), distinct=True)


def _count(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Value:
    if aggregate.distinct:
        return integer(parts(_count_distinct(term(argument))))
    return integer(parts(sql.call("count", term(argument)), SUM))


@dataclass(frozen=True, slots=True)
class Total:
    """The values of a numeric aggregate: number of rows and of numbers, the highest type among them, and their sums."""

    rows: Expr
    numbers: Expr
    count: Expr
    kind: Expr
    exact: Expr
    real: Expr

    def sum(self) -> Number:
        """The sum in the type that the values are promoted to, provided that all of them are numbers."""
        good = self.numbers.eq(self.rows)
        of_some = sql.case((self.rows.eq(0), _NONE), otherwise=self.exact)  # NULL: too large
        exact = sql.when(good & (self.kind <= DECIMAL), of_some)
        return Number(self.kind, let(exact), let(sql.when(good & (self.kind > DECIMAL), self.real)))


_NONE = sql.lifted(0).cast(EXACT)


def _total(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Total:
    n = number(argument)
    exact, real = n.exact or sql.null(EXACT), n.as_real()
    rows = parts(ROWS, SUM)
    numbers = parts(sql.call("count", real), SUM)
    if not aggregate.distinct:
        kind = let(sql.coalesce(parts(sql.call("max", n.kind), MAX), INTEGER))
        sums = (_exact_sum(exact, parts), parts(_REAL_SUM(real), _REAL_SUM))
        return Total(rows, numbers, rows, kind, *sums)
    struct = sql.struct(term=term(argument), kind=sql.lifted(n.kind), exact=exact, real=real)
    members = parts(sql.call("collect_set", sql.when(real.not_null(), struct)))
    kind = let(sql.coalesce(sql.call("array_max", sql.call("transform", members, _field("kind"))), INTEGER))
    a, x = sql.Parameter("a"), sql.Parameter("x")
    added = sql.exact("+", a, sql.coalesce(sql.Field(x, "exact"), 0)).cast(EXACT)
    exact = let(sql.call("aggregate", members, _NONE, sql.Lambda(("a", "x"), added)))
    zero = sql.lifted(0).cast("DOUBLE")
    real = let(sql.call("aggregate", members, zero, sql.Lambda(("a", "x"), a + sql.Field(x, "real"))))
    return Total(rows, numbers, let(sql.call("size", members)), kind, exact, real)


def _field(name: str) -> Expr:
    """Return the function that reads this field of a struct."""
    return sql.Lambda(("x",), sql.Field(sql.Parameter("x"), name))


def _exact_sum(exact: Expr, parts: PartialAggregates) -> Expr:
    """Return the sum, NULL on overflow. A sum of partial sums would ignore a NULL, hence the count of values."""
    values = parts(sql.call("count", exact), SUM)

    def combined(column: Expr) -> Expr:
        large = MAX(sql.case(((values > 0) & column.is_null(), 1), otherwise=0))
        return sql.when(large.eq(0), _EXACT_SUM(column))

    return let(parts(_EXACT_SUM(exact), combined).cast(EXACT))


def _sum(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Number:
    return _total(argument, aggregate, parts).sum()


def _average(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Number:
    """Return the sum divided by the count, a decimal for integers; of no values it is the integer 0."""
    total = _total(argument, aggregate, parts)
    mean = divide(total.sum(), integer(let(sql.call("nullif", total.count, 0))))
    nothing = total.count.eq(0)
    kind = let(sql.case((nothing, INTEGER), otherwise=mean.kind))
    exact = let(sql.case((nothing & total.rows.eq(0), _NONE), otherwise=mean.exact))
    return Number(kind, exact, mean.real)


def _extreme(how: Combined, function: str) -> Callable[[Value, Aggregate, PartialAggregates], Value]:
    def emit(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Value:
        if isinstance(argument, Number) and argument.counted and argument.exact is not None:
            return Number(INTEGER, parts(how(argument.exact), how), None)
        encoded = term(argument)
        key = let(sql.when(encoded.not_null(), sort_key(argument)))
        extreme = parts(how(key), how)
        return Node(parts(sql.call(function, encoded, key), lambda column: sql.call(function, column, extreme)))

    return emit


def _sample(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Value:
    """Return the smallest term as text: it is the same one however the rows are split, so that panes can be
    combined."""
    return Node(parts(MIN(term(argument)), MIN))


def _group_concat(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Value:
    separator = sql.text(" " if aggregate.separator is None else aggregate.separator)
    string = string_of(argument).sql
    complete = parts(sql.call("count", string)).eq(parts(ROWS))
    if aggregate.distinct:
        members = parts(sql.call("collect_set", sql.struct(term=term(argument), string=string)))
        strings = sql.call("transform", members, _field("string"))
    else:
        strings = parts(sql.call("collect_list", string))
    return Text(sql.when(complete, sql.call("array_join", strings, separator)))


_AGGREGATES: dict[str, Callable[[Value, Aggregate, PartialAggregates], Value]] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _average,
    "MIN": _extreme(MIN, "min_by"),
    "MAX": _extreme(MAX, "max_by"),
    "SAMPLE": _sample,
    "GROUP_CONCAT": _group_concat,
}

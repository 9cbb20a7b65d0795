"""GROUP BY and the aggregates: https://www.w3.org/TR/sparql11-query/#aggregates.

Every aggregate is put together from SQL aggregates, which Spark combines before it shuffles; the result is computed
from their columns in a SELECT around the grouping one. An error in SUM, AVG or GROUP_CONCAT makes the aggregate an
error; COUNT, MIN, MAX and SAMPLE pass errors over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pyoxigraph import Literal

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.expressions import Scope, value
from penstock.compile.expressions.functions.arithmetic import divide, integer
from penstock.compile.expressions.functions.terms import string_of
from penstock.compile.expressions.term_order import sort_key
from penstock.compile.expressions.values import DECIMAL, EXACT, INTEGER, Node, Number, Text, Value, number, term
from penstock.compile.relation import ALWAYS, ENDS, FROM, STARTS, TO, Relation, items_or_one, select, unit
from penstock.compile.sql.common_subexpressions import let


@dataclass(slots=True)
class PartialAggregates:
    """The SQL aggregates that a GROUP BY computes, each once, and how partial ones are combined (None: they cannot).

    In `combined` the template's `{}` is the column that holds the partial results.
    """

    columns: dict[str, str] = field(default_factory=dict)
    combined: dict[str, str | None] = field(default_factory=dict)

    def __call__(self, aggregate: str, combined: str | None = None) -> str:
        """The column of an aggregate."""
        if aggregate not in self.columns:
            self.columns[aggregate] = f".part{len(self.columns)}"
            self.combined[aggregate] = combined
        return sql.name(self.columns[aggregate])

    def of(self, how: Callable[[str], str] = lambda aggregate: aggregate) -> list[str]:
        """The items of a SELECT that computes them."""
        return [sql.alias(how(aggregate), column) for aggregate, column in self.columns.items()]

    def combine(self) -> list[str]:
        """The items of a SELECT that computes them from partial ones."""
        templates = ((str(self.combined[a]).replace("{}", sql.name(c)), c) for a, c in self.columns.items())
        return [sql.alias(expression, column) for expression, column in templates]


SUM = "sum({})"  # how counts and sums are combined


def group(op: ops.Group, relation: Relation, scope: Scope, context: Context) -> Relation:
    grouped = tuple(k.name for k in op.keys)
    parts = PartialAggregates()
    results = {v.name: _aggregate(a, relation, scope, parts) for v, a in op.aggregates} | _occurred(relation, parts)
    relation, pieces = _computed(op, grouped, parts, relation, context)
    keys = grouped + tuple(sorted(relation.keys - set(grouped))) + ((FROM, TO) if relation.timed else ())
    items = [_key(k, relation) for k in keys] + [sql.alias(result, v) for v, result in results.items()]
    certain = (relation.certain & set(keys)) | {v.name for v, a in op.aggregates if a.name == "COUNT"}
    result = Relation(select(items, pieces), (*keys, *results), certain)
    return _with_empty_groups(op, result, context) if relation.keys and not grouped else result


def _occurred(relation: Relation, parts: PartialAggregates) -> dict[str, str]:
    """A group occurred from the first start to the last end of its rows."""
    extremes = ((STARTS, "min"), (ENDS, "max"))
    return {c: parts(f"{f}(`{c}`)", f"{f}({{}})") for c, f in extremes if c in relation.vars}


def _computed(
    op: ops.Group, grouped: tuple[str, ...], parts: PartialAggregates, relation: Relation, context: Context
) -> tuple[Relation, str]:
    """The relation as it is grouped, and the SELECT of the parts.

    Rows that hold during the same interval are aggregated once, and their partial results are then copied to the
    instants: with windows that overlap, that is a fraction of the copies of the rows.
    """
    if not relation.timed:
        return relation, _grouped(op, grouped, parts.of(), relation)
    if not all(parts.combined.values()):
        relation = context.pointwise(relation)
        return relation, _grouped(op, grouped, parts.of(), relation)
    rows = parts("count(1)", SUM)  # so that a pane has a column even where nothing is aggregated
    pane = _pane(grouped, parts, relation)
    if all(aggregate.startswith("count(") for aggregate in parts.columns):
        counted = _running(parts, pane, rows)
        counted = counted if grouped else context.pointwise(counted)
        return counted, counted.sql
    relation = context.pointwise(pane)
    return relation, _grouped(op, grouped, parts.combine(), relation)


def _pane(grouped: tuple[str, ...], parts: PartialAggregates, relation: Relation) -> Relation:
    by = tuple(k for k in grouped if k in relation.vars) + tuple(sorted(relation.keys - set(grouped))) + (FROM, TO)
    names = [sql.name(k) for k in by]
    text = select([*names, *parts.of()], relation.sql, f"GROUP BY {', '.join(names)}")
    return Relation(text, by + tuple(parts.columns.values()), relation.certain & set(by))


def _running(parts: PartialAggregates, pane: Relation, rows: str) -> Relation:
    """Counts that hold during intervals: what begins is added, what ends is taken away, in the order of time.

    However often windows overlap, a pane counts twice. (Sums of doubles would not come back to what they were.)
    """
    keys = [sql.name(v) for v in pane.vars if v not in (FROM, TO, *parts.columns.values())]
    counts = [sql.name(c) for c in parts.columns.values()]
    begin = _struct(f"`{FROM}` AS `.t`", *counts)
    end = _struct(f"`{TO}` AS `.t`", *(f"- {c} AS {c}" for c in counts))
    spread = f" DISTRIBUTE BY {', '.join(keys)}" if keys else ""  # once, for the sums and for their order
    changes = f"SELECT {', '.join([*keys, f'inline(array({begin}, {end}))'])} FROM ({pane.sql}{spread})"
    by = ", ".join([*keys, "`.t`"])
    summed = f"SELECT {by}, {', '.join(f'sum({c}) AS {c}' for c in counts)} FROM ({changes}) GROUP BY {by}"
    over = f"PARTITION BY {', '.join(keys)} ORDER BY `.t`" if keys else "ORDER BY `.t`"
    sums = [f"sum({c}) OVER ({over} ROWS UNBOUNDED PRECEDING) AS {c}" for c in counts]
    until = f"coalesce(lead(`.t`) OVER ({over}), {ALWAYS}L) AS `{TO}`"
    text = f"SELECT {', '.join([*keys, f'`.t` AS `{FROM}`', until, *sums])} FROM ({summed})"
    return replace(pane, sql=f"SELECT * FROM ({text}) t WHERE {rows} > 0")


def _struct(*fields: str) -> str:
    return f"struct({', '.join(fields)})"


def _grouped(op: ops.Group, grouped: tuple[str, ...], aggregates: list[str], relation: Relation) -> str:
    keys = grouped + tuple(sorted(relation.keys - set(grouped)))
    items = [_key(k, relation) for k in keys] + aggregates
    by = [sql.name(k) for k in keys if k in relation.vars]
    if by:
        return select(items, relation.sql, f"GROUP BY {', '.join(by)}")
    # All rows are one group; without keys there is one even of nothing.
    return select([*items, "count(1) AS `.rows`"], relation.sql, "HAVING count(1) > 0" if op.keys else "")


def _key(key: str, relation: Relation) -> str:
    return sql.name(key) if key in relation.vars else sql.alias(sql.NULL, key)


def annotate(op: ops.Annotate, relation: Relation, scope: Scope) -> Relation:
    """The aggregate beside every row of its group: a SQL window, so no row is lost and none is joined."""
    parts = PartialAggregates()
    result = _aggregate(op.aggregate, relation, scope, parts)
    by = [sql.name(k) for k in [*(v.name for v in op.keys), *sorted(relation.keys)] if k in relation.vars]
    over = f"OVER (PARTITION BY {', '.join(by)})" if by else "OVER ()"
    own = [sql.name(c) for c in relation.columns]
    counted = select([*own, *parts.of(lambda aggregate: _over(aggregate, over))], relation.sql)
    var = op.var.name
    certain = relation.certain | ({var} if op.aggregate.name == "COUNT" else set())
    return replace(
        relation, sql=select([*own, sql.alias(result, var)], counted), vars=(*relation.vars, var), certain=certain
    )


def _over(aggregate: str, over: str) -> str:
    """The aggregate as a window function; Spark has none that count distinct values."""
    distinct = aggregate.removeprefix("count(DISTINCT ")
    if distinct != aggregate:
        return f"CAST(size(collect_set({distinct} {over}) AS BIGINT)"
    return aggregate.replace("count(1)", f"count(1) {over}") if aggregate.startswith("least") else f"{aggregate} {over}"


def _with_empty_groups(op: ops.Group, result: Relation, context: Context) -> Relation:
    """Without GROUP BY every value of the keys around has its one group, even where nothing matched."""
    keys = tuple(k for k in result.vars if k in result.keys)
    domain = context.expand(unit(), frozenset(keys))
    missing = f"r.{sql.name(keys[0])} IS NULL"
    filled = (f"CASE WHEN {missing} THEN {_of_nothing(a)} ELSE r.{sql.name(v.name)} END" for v, a in op.aggregates)
    columns = [sql.alias(expression, v.name) for (v, _), expression in zip(op.aggregates, filled, strict=True)]
    columns += [f"r.`{c}`" for c in (STARTS, ENDS) if c in result.vars]
    on = sql.all_of(f"l.{sql.name(k)} = r.{sql.name(k)}" for k in keys)
    items = items_or_one([*(f"l.{sql.name(k)}" for k in keys), *columns])
    return replace(result, sql=f"SELECT {items} FROM ({domain.sql}) l LEFT JOIN ({result.sql}) r ON {on}")


_ZERO = term_columns.constant(Literal(0))


def _of_nothing(aggregate: Aggregate) -> str:
    return {"COUNT": _ZERO, "SUM": _ZERO, "AVG": _ZERO, "GROUP_CONCAT": "'\"\"'"}.get(aggregate.name, sql.NULL)


def _aggregate(aggregate: Aggregate, relation: Relation, scope: Scope, parts: PartialAggregates) -> str:
    """The encoded result of one aggregate, from the parts."""
    if aggregate.argument is None:
        return term(integer(parts(_count_rows(aggregate, relation), None if aggregate.distinct else SUM)))
    return term(_AGGREGATES[aggregate.name](value(aggregate.argument, scope), aggregate, parts))


def _count_rows(aggregate: Aggregate, relation: Relation) -> str:
    vars = relation.solution
    if not aggregate.distinct:
        return "count(1)"
    return f"count(DISTINCT struct({', '.join(map(sql.name, vars))}))" if vars else "least(count(1), 1)"


def _count(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Value:
    if aggregate.distinct:
        return integer(parts(f"count(DISTINCT {term(argument)})"))
    return integer(parts(f"count({term(argument)})", SUM))


@dataclass(frozen=True, slots=True)
class Total:
    """The values of a numeric aggregate: how many rows and numbers, the highest kind among them, and their sums."""

    rows: str
    numbers: str
    count: str
    kind: str
    exact: str
    real: str

    def sum(self) -> Number:
        """In the kind that the values are promoted to, provided that all of them are numbers."""
        good = f"{self.numbers} = {self.rows}"
        of_some = sql.case((f"{self.rows} = 0", f"CAST(0 AS {EXACT})"), otherwise=self.exact)  # NULL: too large
        exact = sql.when(f"{good} AND {self.kind} <= {DECIMAL}", of_some)
        return Number(self.kind, let(exact), let(sql.when(f"{good} AND {self.kind} > {DECIMAL}", self.real)))


def _total(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Total:
    n = number(argument)
    exact, real = n.exact or f"CAST(NULL AS {EXACT})", n.as_real()
    rows = parts("count(1)", SUM)
    numbers = parts(f"count({real})", SUM)
    if not aggregate.distinct:
        kind = let(f"coalesce({parts(f'max({n.kind})', 'max({})')}, {INTEGER})")
        sums = (_exact_sum(exact, parts), parts(f"sum({real})", SUM))
        return Total(rows, numbers, rows, kind, *sums)
    struct = f"named_struct('term', {term(argument)}, 'kind', {n.kind}, 'exact', {exact}, 'real', {real})"
    members = parts(f"collect_set({sql.when(f'{real} IS NOT NULL', struct)})")
    kind = let(f"coalesce(array_max(transform({members}, x -> x.kind)), {INTEGER})")
    exact = let(f"aggregate({members}, CAST(0 AS {EXACT}), (a, x) -> CAST(a + coalesce(x.exact, 0) AS {EXACT}))")
    real = let(f"aggregate({members}, CAST(0 AS DOUBLE), (a, x) -> a + x.real)")
    return Total(rows, numbers, let(f"size({members})"), kind, exact, real)


def _exact_sum(exact: str, parts: PartialAggregates) -> str:
    """NULL where it is too large. A sum of partial sums would pass those over that are, hence the count of values."""
    some = parts(f"count({exact})", SUM)
    large = f"max(CASE WHEN {some} > 0 AND {{}} IS NULL THEN 1 ELSE 0 END)"
    return let(f"CAST({parts(f'sum({exact})', f'CASE WHEN {large} = 0 THEN sum({{}}) END')} AS {EXACT})")


def _sum(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Number:
    return _total(argument, aggregate, parts).sum()


def _average(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Number:
    """The sum by the count, a decimal for integers; of nothing it is the integer 0."""
    total = _total(argument, aggregate, parts)
    mean = divide(total.sum(), integer(let(f"nullif({total.count}, 0)")))
    nothing = f"{total.count} = 0"
    kind = let(f"CASE WHEN {nothing} THEN {INTEGER} ELSE {mean.kind} END")
    exact = let(sql.case((f"{nothing} AND {total.rows} = 0", f"CAST(0 AS {EXACT})"), otherwise=str(mean.exact)))
    return Number(kind, exact, mean.real)


def _extreme(function: str) -> Callable[[Value, Aggregate, PartialAggregates], Value]:
    def emit(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Value:
        if isinstance(argument, Number) and argument.counted:
            return Number(INTEGER, parts(f"{function[:3]}({argument.exact})", f"{function[:3]}({{}})"), None)
        encoded = term(argument)
        key = let(sql.when(f"{encoded} IS NOT NULL", sort_key(argument)))
        found = parts(f"{function[:3]}({key})", f"{function[:3]}({{}})")
        return Node(parts(f"{function}({encoded}, {key})", f"{function}({{}}, {found})"))

    return emit


def _sample(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Value:
    """Any would do; the first as text is the same one however the rows are split, so that panes can be combined."""
    return Node(parts(f"min({term(argument)})", "min({})"))


def _group_concat(argument: Value, aggregate: Aggregate, parts: PartialAggregates) -> Value:
    separator = sql.text(" " if aggregate.separator is None else aggregate.separator)
    string = string_of(argument).sql
    complete = f"{parts(f'count({string})')} = {parts('count(1)')}"
    if aggregate.distinct:
        members = parts(f"collect_set(named_struct('term', {term(argument)}, 'string', {string}))")
        return Text(sql.when(complete, f"array_join(transform({members}, x -> x.string), {separator})"))
    return Text(sql.when(complete, f"array_join({parts(f'collect_list({string})')}, {separator})"))


_AGGREGATES: dict[str, Callable[[Value, Aggregate, PartialAggregates], Value]] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _average,
    "MIN": _extreme("min_by"),
    "MAX": _extreme("max_by"),
    "SAMPLE": _sample,
    "GROUP_CONCAT": _group_concat,
}

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
from penstock.spark import encoding, sql
from penstock.spark.context import Context
from penstock.spark.expressions import Scope, value
from penstock.spark.functions.arithmetic import divide, integer
from penstock.spark.functions.terms import string_of
from penstock.spark.lets import let
from penstock.spark.ordering import sort_key
from penstock.spark.relation import Relation, items_or_one, select, unit
from penstock.spark.values import DECIMAL, EXACT, INTEGER, Node, Number, Text, Value, number, term


@dataclass(slots=True)
class Parts:
    """The SQL aggregates that a GROUP BY computes, each once."""

    columns: dict[str, str] = field(default_factory=dict)

    def __call__(self, aggregate: str) -> str:
        """The column of an aggregate."""
        return sql.name(self.columns.setdefault(aggregate, f".part{len(self.columns)}"))


def group(op: ops.Group, relation: Relation, scope: Scope, context: Context) -> Relation:
    grouped = tuple(k.name for k in op.keys)
    keys = grouped + tuple(sorted(relation.keys - set(grouped)))
    parts = Parts()
    results = {v.name: _aggregate(a, relation, scope, parts) for v, a in op.aggregates}
    items = [sql.name(k) for k in keys] + [sql.alias(result, v) for v, result in results.items()]
    text = select(items, _grouped(op, keys, parts, relation))
    certain = (relation.certain & set(keys)) | {v.name for v, a in op.aggregates if a.name == "COUNT"}
    result = Relation(text, (*keys, *results), certain)
    return _with_empty_groups(op, result, context) if relation.keys and not grouped else result


def _grouped(op: ops.Group, keys: tuple[str, ...], parts: Parts, relation: Relation) -> str:
    columns = [sql.name(k) if k in relation.vars else sql.alias(sql.NULL, k) for k in keys]
    items = columns + [sql.alias(aggregate, column) for aggregate, column in parts.columns.items()]
    by = [sql.name(k) for k in keys if k in relation.vars]
    if by:
        return select(items, relation.sql, f"GROUP BY {', '.join(by)}")
    # All rows are one group; without keys there is one even of nothing.
    return select([*items, "count(1) AS `.rows`"], relation.sql, "HAVING count(1) > 0" if op.keys else "")


def _with_empty_groups(op: ops.Group, result: Relation, context: Context) -> Relation:
    """Without GROUP BY every value of the keys around has its one group, even where nothing matched."""
    keys = tuple(k for k in result.vars if k in result.keys)
    domain = context.expand(unit(), frozenset(keys))
    missing = f"r.{sql.name(keys[0])} IS NULL"
    filled = (f"CASE WHEN {missing} THEN {_of_nothing(a)} ELSE r.{sql.name(v.name)} END" for v, a in op.aggregates)
    columns = [sql.alias(expression, v.name) for (v, _), expression in zip(op.aggregates, filled, strict=True)]
    on = sql.all_of(f"l.{sql.name(k)} = r.{sql.name(k)}" for k in keys)
    items = items_or_one([*(f"l.{sql.name(k)}" for k in keys), *columns])
    return replace(result, sql=f"SELECT {items} FROM ({domain.sql}) l LEFT JOIN ({result.sql}) r ON {on}")


_ZERO = encoding.constant(Literal(0))


def _of_nothing(aggregate: Aggregate) -> str:
    return {"COUNT": _ZERO, "SUM": _ZERO, "AVG": _ZERO, "GROUP_CONCAT": "'\"\"'"}.get(aggregate.name, sql.NULL)


def _aggregate(aggregate: Aggregate, relation: Relation, scope: Scope, parts: Parts) -> str:
    """The encoded result of one aggregate, from the parts."""
    if aggregate.argument is None:
        return term(integer(parts(_count_rows(aggregate, relation))))
    return term(_AGGREGATES[aggregate.name](value(aggregate.argument, scope), aggregate, parts))


def _count_rows(aggregate: Aggregate, relation: Relation) -> str:
    vars = [v for v in relation.vars if v not in relation.keys]
    if not aggregate.distinct:
        return "count(1)"
    return f"count(DISTINCT struct({', '.join(map(sql.name, vars))}))" if vars else "least(count(1), 1)"


def _count(argument: Value, aggregate: Aggregate, parts: Parts) -> Value:
    return integer(parts(f"count({'DISTINCT ' if aggregate.distinct else ''}{term(argument)})"))


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


def _total(argument: Value, aggregate: Aggregate, parts: Parts) -> Total:
    n = number(argument)
    exact, real = n.exact or f"CAST(NULL AS {EXACT})", n.as_real()
    rows = parts("count(1)")
    numbers = parts(f"count({real})")
    if not aggregate.distinct:
        kind = let(f"coalesce({parts(f'max({n.kind})')}, {INTEGER})")
        sums = (parts(f"CAST(sum({exact}) AS {EXACT})"), parts(f"sum({real})"))
        return Total(rows, numbers, rows, kind, *sums)
    struct = f"named_struct('term', {term(argument)}, 'kind', {n.kind}, 'exact', {exact}, 'real', {real})"
    members = parts(f"collect_set({sql.when(f'{real} IS NOT NULL', struct)})")
    kind = let(f"coalesce(array_max(transform({members}, x -> x.kind)), {INTEGER})")
    exact = let(f"aggregate({members}, CAST(0 AS {EXACT}), (a, x) -> CAST(a + coalesce(x.exact, 0) AS {EXACT}))")
    real = let(f"aggregate({members}, CAST(0 AS DOUBLE), (a, x) -> a + x.real)")
    return Total(rows, numbers, let(f"size({members})"), kind, exact, real)


def _sum(argument: Value, aggregate: Aggregate, parts: Parts) -> Number:
    return _total(argument, aggregate, parts).sum()


def _average(argument: Value, aggregate: Aggregate, parts: Parts) -> Number:
    """The sum by the count, a decimal for integers; of nothing it is the integer 0."""
    total = _total(argument, aggregate, parts)
    mean = divide(total.sum(), integer(let(f"nullif({total.count}, 0)")))
    nothing = f"{total.count} = 0"
    kind = let(f"CASE WHEN {nothing} THEN {INTEGER} ELSE {mean.kind} END")
    exact = let(sql.case((f"{nothing} AND {total.rows} = 0", f"CAST(0 AS {EXACT})"), otherwise=str(mean.exact)))
    return Number(kind, exact, mean.real)


def _extreme(function: str) -> Callable[[Value, Aggregate, Parts], Value]:
    def emit(argument: Value, aggregate: Aggregate, parts: Parts) -> Value:
        encoded = term(argument)
        key = let(sql.when(f"{encoded} IS NOT NULL", sort_key(argument)))
        return Node(parts(f"{function}({encoded}, {key})"))

    return emit


def _sample(argument: Value, aggregate: Aggregate, parts: Parts) -> Value:
    return Node(parts(f"any_value({term(argument)}, true)"))


def _group_concat(argument: Value, aggregate: Aggregate, parts: Parts) -> Value:
    separator = sql.text(" " if aggregate.separator is None else aggregate.separator)
    string = string_of(argument).sql
    complete = f"{parts(f'count({string})')} = {parts('count(1)')}"
    if aggregate.distinct:
        members = parts(f"collect_set(named_struct('term', {term(argument)}, 'string', {string}))")
        return Text(sql.when(complete, f"array_join(transform({members}, x -> x.string), {separator})"))
    return Text(sql.when(complete, f"array_join({parts(f'collect_list({string})')}, {separator})"))


_AGGREGATES: dict[str, Callable[[Value, Aggregate, Parts], Value]] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _average,
    "MIN": _extreme("min_by"),
    "MAX": _extreme("max_by"),
    "SAMPLE": _sample,
    "GROUP_CONCAT": _group_concat,
}

"""Merging of nested SELECTs: an inner SELECT that only renames columns is no layer, since each costs Spark's
analysis a pass."""

from __future__ import annotations

from penstock.compile.sql.queries import Derived, Select
from penstock.compile.sql.tree import Alias, Column, Expr, Operator, Star, rewritten

__all__ = ["merged"]


def merged(outer: Select) -> Select:
    """Return the SELECT without the layer below it, if that has nothing but columns, a condition and hints."""
    inner = outer.source.query if isinstance(outer.source, Derived) else None
    if not isinstance(inner, Select) or not (_only_names(inner) and _reads_names(outer)):
        return outer
    columns = dict(zip(inner.columns or (), (item.args[0] if item.args else item for item in inner.items), strict=True))

    def read(expr: Expr) -> Expr | None:
        return columns[expr.name] if isinstance(expr, Column) else None

    conditions = [inner.where, None if outer.where is None else rewritten(outer.where, read)]
    tests = tuple(test for test in conditions if test is not None)
    return Select(
        [_named(item, rewritten(item, read)) for item in outer.items],
        inner.source,
        Operator("AND", tests) if len(tests) > 1 else next(iter(tests), None),
        group=[rewritten(key, read) for key in outer.group],
        having=None if outer.having is None else rewritten(outer.having, read),
        distinct=outer.distinct,
        hints=(*outer.hints, *inner.hints),
    )


def _only_names(inner: Select) -> bool:
    changes = inner.is_cut or inner.distinct or inner.group or inner.having is not None
    return inner.source is not None and not changes and all(map(_is_name, inner.items))


def _is_name(item: Expr) -> bool:
    return isinstance(item, Column) or (isinstance(item, Alias) and isinstance(item.args[0], Column))


def _reads_names(outer: Select) -> bool:
    """Whether the items are written out, and the rows are neither sorted, limited nor distributed."""
    return not outer.is_cut and not any(isinstance(item, Star) for item in outer.items)


def _named(before: Expr, item: Expr) -> Expr:
    """Return the item under its own name, whatever the inner column is called."""
    if not isinstance(before, Column) or (isinstance(item, Column) and item.name == before.name):
        return item
    return Alias(item, before.name)

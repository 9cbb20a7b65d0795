"""Common sub-expressions as columns, so that an expression that is used twice is written and computed once.

`let(expr)` marks an expression as shareable. Where expressions are put into a SELECT, `lower` turns those that are used
several times into columns of the SELECT's source, layer upon layer. Without this, `?a * ?b + ?c` would copy the
expression of `?a` dozens of times, and multiply Spark's planning time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from penstock.compile.sql.nested_selects import merged
from penstock.compile.sql.queries import From, Query, Select
from penstock.compile.sql.tree import NAMED, Alias, Column, Expr, Let, Star, rewritten
from penstock.tuning import DEFAULT

__all__ = ["lets_in", "lower"]


def lower(
    source: From | Query, expressions: Sequence[Expr], inline_chars: int = DEFAULT.inline_chars
) -> tuple[From | Query, Sequence[Expr]]:
    """Return the source with a column for each shared sub-expression, and the expressions that read these columns.

    An expression that is used once, or is short, is written in place: every layer costs Spark's analysis a pass.
    """
    if not any(e.facts & NAMED for e in expressions):
        return source, expressions
    columns = _Columns(_uses(expressions), inline_chars)
    result = [columns.lowered(e) for e in expressions]
    for level in sorted(set(columns.levels.values())):
        own: list[Expr] = [Alias(columns.found[n], columns.names[n]) for n, at in columns.levels.items() if at == level]
        source = _with_columns(source, own)
    return source, result


def _with_columns(source: From | Query, own: list[Expr]) -> Query:
    """Return the source with further columns; a source that only names columns gets no new layer."""
    if isinstance(source, Query) and source.columns is not None:
        whole = Select([*map(Column, source.columns), *own], source)
        if (one := merged(whole)) is not whole:
            return one
    return Select([Star(), *own], source)


@dataclass(slots=True)
class _Columns:
    """The columns of shared expressions; short ones and those that are used once have none."""

    uses: dict[Let, int]
    inline_chars: int
    found: dict[Let, Expr] = field(default_factory=dict)
    levels: dict[Let, int] = field(default_factory=dict)  # layer of each column
    names: dict[Let, str] = field(default_factory=dict)
    inside: dict[Let, int] = field(default_factory=dict)  # the highest layer that an expression reads, -1 for none

    def lowered(self, expr: Expr) -> Expr:
        return rewritten(expr, self._lowered)

    def _lowered(self, expr: Expr) -> Expr | None:
        if not expr.facts & NAMED:
            return expr
        return self._shared(expr) if isinstance(expr, Let) else None

    def _shared(self, let: Let) -> Expr:
        if let not in self.found:
            expr = self.found[let] = self.lowered(let.expr)
            self.inside[let] = max((self._level(inner) for inner in lets_in(let.expr)), default=-1)
            if self.uses[let] > 1 and expr.size > self.inline_chars:
                self.levels[let] = 1 + self.inside[let]
                self.names[let] = f".x{len(self.names)}"
        return Column(self.names[let]) if let in self.names else self.found[let]

    def _level(self, let: Let) -> int:
        return self.levels.get(let, self.inside[let])


def _uses(expressions: Iterable[Expr]) -> dict[Let, int]:
    """Return how often each shared expression is used, by the expressions or by other shared ones."""
    uses: dict[Let, int] = {}
    pending = [let for e in expressions for let in lets_in(e)]
    while pending:
        let = pending.pop()
        uses[let] = uses.get(let, 0) + 1
        if uses[let] == 1:
            pending += lets_in(let.expr)
    return uses


def lets_in(expr: Expr) -> Iterator[Let]:
    """Return the shared expressions that an expression uses directly, with repetitions."""
    if isinstance(expr, Let):
        yield expr
    elif expr.facts & NAMED:
        for arg in expr.args:
            yield from lets_in(arg)

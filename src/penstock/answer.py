"""The answer to a query: solutions, a truth value or a graph, and the formats it can be written in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from penstock.io import results

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["Answer", "Row", "Term"]

Term: TypeAlias = NamedNode | BlankNode | Literal
Row: TypeAlias = Mapping[str, Term]


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """The answer to a query.

    SELECT has `variables` and `rows`, ASK has `boolean`, CONSTRUCT and DESCRIBE have `triples`. Iteration and `len` go
    over the rows, or over the triples where there are some; an answer is true if it has any, ASK's if it is.

    A continuous query has one answer for each instant: `time` (in UTC) and `query`, its name, tell them apart. If it
    reports intervals, an answer has the solutions that were true from `valid_from` until `valid_to` (None: they still
    are). The answer of an event query has the start of its first event and the end of its last, `starts` and `ends`.
    """

    variables: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)
    boolean: bool | None = None
    triples: list[Triple] | None = None
    time: datetime | None = None
    query: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    starts: datetime | None = None
    ends: datetime | None = None

    @classmethod
    def solutions(cls, variables: Iterable[str], rows: Iterable[Row]) -> Answer:
        """SELECT: a row maps names of variables to terms, and an unbound variable is absent."""
        return cls(tuple(variables), list(rows))

    @classmethod
    def ask(cls, boolean: bool) -> Answer:
        """ASK."""
        return cls(boolean=boolean)

    @classmethod
    def graph(cls, triples: Iterable[Triple]) -> Answer:
        """CONSTRUCT and DESCRIBE: a set, in the order in which the triples first came."""
        return cls(triples=list(dict.fromkeys(triples)))

    @property
    def kind(self) -> str:
        """`"solutions"`, `"boolean"` or `"graph"`."""
        return "boolean" if self.boolean is not None else "graph" if self.triples is not None else "solutions"

    @property
    def when(self) -> dict[str, datetime | None]:
        """All that says when, by name: `time`, or `valid_from` and `valid_to`, or `starts` and `ends`."""
        if self.starts is not None:
            return {"starts": self.starts, "ends": self.ends}
        if self.valid_from is not None:
            return {"valid_from": self.valid_from, "valid_to": self.valid_to}
        return {} if self.time is None else {"time": self.time}

    def to_json(self) -> str:
        """SPARQL 1.1 Query Results JSON, on one line (SELECT and ASK)."""
        return results.to_json(self)

    def to_ndjson(self) -> str:
        """One line of JSON, without its end: `query`, `time`, then SPARQL JSON results; `triples` where it is a graph.

        In place of `time` there may be `valid_from` and `valid_to`, or `starts` and `ends`: see `when`.
        """
        return results.to_ndjson(self)

    def to_xml(self) -> str:
        """SPARQL Query Results XML (SELECT and ASK). Characters that XML cannot hold become U+FFFD."""
        return results.to_xml(self)

    def to_csv(self) -> str:
        """SPARQL 1.1 Query Results CSV (SELECT): plain values, lines ended by CRLF."""
        return results.to_csv(self)

    def to_tsv(self) -> str:
        """SPARQL 1.1 Query Results TSV (SELECT): terms as in Turtle, so that nothing is lost."""
        return results.to_tsv(self)

    def to_ntriples(self) -> str:
        """Canonical N-Triples (CONSTRUCT and DESCRIBE)."""
        return results.to_ntriples(self)

    def to_pandas(self, *, terms: bool = False) -> pandas.DataFrame:
        """A data frame with a column a variable (SELECT), None where unbound.

        Numbers, booleans, dates and times without surprises become Python values (decimals become floats), all else
        text. With `terms`, cells are pyoxigraph terms.
        """
        return results.to_pandas(self, terms=terms)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table with a column a variable (SELECT), null where unbound.

        A column whose values are all of one kind has that type (int64, decimal, double, bool, timestamp, date);
        every other column is text: IRIs, labels of blank nodes, lexical forms.
        """
        return results.to_arrow(self)

    def __len__(self) -> int:
        return len(self._items())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items())

    def __bool__(self) -> bool:
        return self.boolean if self.boolean is not None else len(self) > 0

    def __str__(self) -> str:
        return results.to_text(self)

    def __repr__(self) -> str:
        return f"<{' '.join(filter(None, ['Answer', results.when_text(self)]))}: {results.summary(self)}>"

    def _repr_html_(self) -> str:
        return results.to_html(self)

    def _items(self) -> Sequence[Row | Triple]:
        return self.rows if self.triples is None else self.triples

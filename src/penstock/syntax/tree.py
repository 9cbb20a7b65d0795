"""Nodes of the syntax tree: the query as written, with prefixes resolved and source positions for error messages.

Syntactic sugar is expanded (`;`, `,`, `[…]`, `(…)` are plain triples); `algebra/build/` gives the tree its meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from penstock.errors import PenstockWarning, QueryError, TextPlace

_E = TypeVar("_E", bound=QueryError)


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the query's text; lines and columns count from 1, and the end is not part of it."""

    line: int
    column: int
    end_line: int
    end_column: int

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of the other."""
        return Span(self.line, self.column, other.end_line, other.end_column)

    def error(self, kind: type[_E], reason: str, text: str, hint: str | None = None) -> _E:
        """Return an error of that kind with a caret at this place."""
        return kind(reason, place=self._in(text), hint=hint)

    def warning(self, reason: str, text: str, hint: str | None = None) -> PenstockWarning:
        """Return a warning that names this line, with a caret at this place."""
        return self.marked(f"line {self.line}: {reason}", text, hint)

    def marked(self, sentence: str, text: str, hint: str | None = None) -> PenstockWarning:
        """Return a warning with a caret at this place, and nothing before its sentence."""
        return PenstockWarning(sentence, place=self._in(text), hint=hint)

    def _in(self, text: str) -> TextPlace:
        length = max(1, self.end_column - self.column) if self.line == self.end_line else len(text)
        return TextPlace(self.line, self.column, text, length)


# Terms


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Iri:
    """Absolute, unless the query has a relative one and there is no base."""

    value: str
    span: Span


@dataclass(frozen=True, slots=True)
class Literal:
    value: str
    datatype: Iri | None
    language: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class BlankNode:
    """A label as written; for an anonymous node a unique one that starts with `[`."""

    label: str
    span: Span


Term: TypeAlias = Variable | Iri | Literal | BlankNode


# Property paths; a single IRI is a path too


@dataclass(frozen=True, slots=True)
class InversePath:
    path: PathExpr


@dataclass(frozen=True, slots=True)
class SequencePath:
    steps: tuple[PathExpr, ...]


@dataclass(frozen=True, slots=True)
class AlternativePath:
    choices: tuple[PathExpr, ...]


@dataclass(frozen=True, slots=True)
class RepeatPath:
    """`p?`, `p*` or `p+`"""

    path: PathExpr
    modifier: str
    span: Span


@dataclass(frozen=True, slots=True)
class NegatedPath:
    """`!(p|^q)`"""

    members: tuple[Iri | InversePath, ...]


PathExpr: TypeAlias = Iri | InversePath | SequencePath | AlternativePath | RepeatPath | NegatedPath


# Expressions


@dataclass(frozen=True, slots=True)
class Call:
    """An operator (by its sign) or a built-in function (in upper case)."""

    name: str
    args: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A cast or an extension function, by IRI."""

    iri: Iri
    args: tuple[Expression, ...]
    distinct: bool

    @property
    def span(self) -> Span:
        return self.iri.span


@dataclass(frozen=True, slots=True)
class Exists:
    group: Group
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`argument` is None for `COUNT(*)`."""

    name: str
    argument: Expression | None
    distinct: bool
    separator: str | None
    span: Span


Expression: TypeAlias = Variable | Iri | Literal | Call | FunctionCall | Exists | Aggregate


# Graph patterns


@dataclass(frozen=True, slots=True)
class Triple:
    subject: Term
    predicate: Variable | PathExpr
    object: Term


@dataclass(frozen=True, slots=True)
class Triples:
    """A block of triples with nothing else between them."""

    triples: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    condition: Expression


@dataclass(frozen=True, slots=True)
class Bind:
    expression: Expression
    variable: Variable


@dataclass(frozen=True, slots=True)
class Row:
    """A row of VALUES; None is UNDEF."""

    values: tuple[Iri | Literal | None, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class InlineData:
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Optional:
    group: Group


@dataclass(frozen=True, slots=True)
class Minus:
    group: Group


@dataclass(frozen=True, slots=True)
class Union:
    """One or more groups."""

    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Linked:
    """UNION, SEQ, EQUALS, OPTIONALSEQ or EQUALSOPTIONAL, and the group after it; `negated`: `SEQ NOT {…}`."""

    operator: str
    group: Group
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Chain:
    """Groups with operators of EP-SPARQL, and perhaps UNION, between them: all of one precedence, from the left."""

    first: Group
    links: tuple[Linked, ...]

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups whose variables are bound: all but those after NOT."""
        return (self.first, *(link.group for link in self.links if not link.negated))


@dataclass(frozen=True, slots=True)
class NamedGraph:
    name: Variable | Iri
    group: Group


@dataclass(frozen=True, slots=True)
class WindowBlock:
    """`WINDOW <w> { … }`, and CQELS' `GRAPH ?w { … }` with the name that stands for ?w."""

    name: Variable | Iri
    group: Group


@dataclass(frozen=True, slots=True)
class StreamBlock:
    """`STREAM <s> […] { … }` of CQELS-QL"""

    iri: Iri
    window: Window
    group: Group


@dataclass(frozen=True, slots=True)
class Service:
    name: Variable | Iri
    group: Group
    silent: bool
    span: Span


@dataclass(frozen=True, slots=True)
class SubSelect:
    select: Select
    where: Group
    modifiers: Modifiers
    values: InlineData | None


Element: TypeAlias = (
    Triples | Filter | Bind | InlineData | Optional | Minus | Union | Chain | NamedGraph | WindowBlock | StreamBlock
    | Service | SubSelect
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Group:
    """`window` is the one at its end, which overrides those of the streams (Streaming SPARQL)."""

    elements: tuple[Element, ...]
    span: Span
    window: Window | None = None


# Solution modifiers and query forms


@dataclass(frozen=True, slots=True)
class GroupKey:
    """`GROUP BY (expression AS ?alias)`"""

    expression: Expression
    alias: Variable | None


@dataclass(frozen=True, slots=True)
class OrderKey:
    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class Annotation:
    """`(?v, FUN(?x), {?g, …})` of an AGGREGATE clause; COUNT without an argument counts rows."""

    variable: Variable
    aggregate: Aggregate
    keys: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Modifiers:
    group_by: tuple[GroupKey, ...] = ()
    having: tuple[Expression, ...] = ()
    order_by: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int = 0
    annotations: tuple[Annotation, ...] = ()
    annotation_filters: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True)
class SelectItem:
    """`?v`, or `(expression AS ?v)`, or an aggregate that has been given a name because it was written `bare`."""

    variable: Variable
    expression: Expression | None
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    """`items` is None for `SELECT *`."""

    items: tuple[SelectItem, ...] | None
    distinct: bool
    reduced: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Ask:
    pass


@dataclass(frozen=True, slots=True)
class Construct:
    template: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class Describe:
    """`terms` is None for `DESCRIBE *`."""

    terms: tuple[Variable | Iri, ...] | None


Form: TypeAlias = Select | Ask | Construct | Describe


@dataclass(frozen=True, slots=True)
class DatasetClause:
    """FROM, or FROM NAMED"""

    iri: Iri
    named: bool


# Streams


@dataclass(frozen=True, slots=True)
class Duration:
    """A number of units: us, ms, s, m, h, d or w. `bare`: no unit is written, and milliseconds are meant."""

    amount: int
    unit: str
    span: Span
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    amount: int
    span: Span


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """`[RANGE … STEP …]`; TUMBLING has its range as step."""

    range: Duration
    step: Duration
    span: Span


@dataclass(frozen=True, slots=True)
class CountWindow:
    """`[TRIPLES …]`; `step` is None where none is given."""

    size: Count
    step: Count | None
    span: Span


@dataclass(frozen=True, slots=True)
class PastWindow:
    """`[FROM NOW-… TO NOW-… STEP …]`, with how long ago it starts and ends; NOW is 0 ago."""

    start: Duration
    end: Duration
    step: Duration
    span: Span


@dataclass(frozen=True, slots=True)
class SlideWindow:
    """`WINDOW RANGE … SLIDE …`, `[RANGE … SLIDE …]`; FIXED has its range as slide, `[RANGE …]` has none, and `[ALL]`
    has neither."""

    range: Duration | None
    slide: Duration | None
    span: Span


@dataclass(frozen=True, slots=True)
class NowWindow:
    """`[NOW]`"""

    span: Span


Window: TypeAlias = TimeWindow | PastWindow | SlideWindow | NowWindow | CountWindow


@dataclass(frozen=True, slots=True)
class StreamClause:
    """FROM STREAM, or FROM NAMED STREAM. Without a window, those of the groups in WHERE count."""

    iri: Iri
    window: Window | None
    named: bool


@dataclass(frozen=True, slots=True)
class WindowClause:
    """`FROM NAMED WINDOW <w> ON <s> […]`, or CQELS' `FROM NAMED <s> […] AS ?w`, where `variable` is that variable."""

    name: Iri
    iri: Iri
    window: Window
    variable: Variable | None = None


@dataclass(frozen=True, slots=True)
class Registration:
    """REGISTER QUERY, or REGISTER STREAM (`derives`), or REGISTER RSTREAM, ISTREAM or DSTREAM (then `emit` says it), or
    REGISTER RULE (`rule`). `name` is as written for a bare word, else the IRI."""

    name: str
    iri: Iri
    derives: bool
    every: Duration | None
    emit: str | None = None
    rule: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query; `text` is as written, for the errors that later steps find. `languages` are those whose windows
    it has, as far as they differ in which stream they make of the answers: "streaming", "cqels"."""

    form: Form
    datasets: tuple[DatasetClause, ...]
    where: Group
    modifiers: Modifiers
    values: InlineData | None
    base: str | None
    text: str
    streams: tuple[StreamClause, ...] = ()
    registration: Registration | None = None
    windows: tuple[WindowClause, ...] = ()
    languages: frozenset[str] = frozenset()

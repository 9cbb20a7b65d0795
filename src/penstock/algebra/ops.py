"""Operators of the algebra: https://www.w3.org/TR/sparql11-query/#sparqlAlgebra.

Parameters come first and operands last, as in the s-expressions of `sse/`. Operands are found through
`children`, and `with_children` builds the same operator on others, so that a driver can own all recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TypeAlias, get_args

from pyoxigraph import NamedNode

from penstock.algebra.expressions import Aggregate, Expr, PatternTerm, Term, Var
from penstock.algebra.windows import Window
from penstock.options import Emit


class Op:
    """Base of all operators."""

    __slots__ = ()

    @property
    def children(self) -> tuple[Op, ...]:
        """The operands, left to right (patterns inside EXISTS belong to the expression, not here)."""
        return tuple(value for name in _operands(type(self)) if isinstance(value := getattr(self, name), Op))

    def with_children(self, children: tuple[Op, ...]) -> Op:
        """The same operator on other operands."""
        return replace(self, **dict(zip(_operands(type(self)), children, strict=True)))  # type: ignore[type-var]


class Physical(Op):
    """Base of physical operators, each of which is also the logical operator that it implements.

    The rules make none of them: the physical plan comes after the rules (`compile/physical/`).
    """

    __slots__ = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the algorithm, as words of an s-expression."""
        return ()

    @property
    def algorithm(self) -> str:
        """The algorithm in a few words, for `explain`."""
        raise NotImplementedError


def nodes(op: Op) -> Iterator[Op]:
    """The operators of a plan, root first, without those inside EXISTS."""
    yield op
    for child in op.children:
        yield from nodes(child)


def logical_type(op: Op) -> type[Op]:
    """The type of the logical operator that `op` is, or that it implements."""
    return next(kind for kind in type(op).__mro__ if issubclass(kind, Op) and not issubclass(kind, Physical))


_OPERANDS: dict[type[Op], tuple[str, ...]] = {}


def _operands(kind: type[Op]) -> tuple[str, ...]:
    """Remembered, since rules ask for the operands of every node again and again."""
    if kind not in _OPERANDS:
        _OPERANDS[kind] = tuple(f.name for f in fields(kind) if f.type == "Op")  # type: ignore[arg-type]
    return _OPERANDS[kind]


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """A triple in which variables may stand; the blank nodes of a query are internal variables."""

    subject: PatternTerm
    predicate: PatternTerm
    object: PatternTerm

    @property
    def terms(self) -> tuple[PatternTerm, PatternTerm, PatternTerm]:
        return self.subject, self.predicate, self.object


@dataclass(frozen=True, slots=True)
class Bgp(Op):
    """Basic graph pattern: the solutions that map every triple into the active graph. `Bgp(())` is the unit."""

    patterns: tuple[TriplePattern, ...]


# Property paths (https://www.w3.org/TR/sparql11-query/#propertypaths). Sequences, alternatives and inverses of plain
# links are translated to joins and unions; what stays a path is what needs one.


@dataclass(frozen=True, slots=True)
class Link:
    """A single predicate."""

    iri: NamedNode


@dataclass(frozen=True, slots=True)
class Inverse:
    """`^p`"""

    path: PathExpr


@dataclass(frozen=True, slots=True)
class Sequence:
    """`p/q`"""

    left: PathExpr
    right: PathExpr


@dataclass(frozen=True, slots=True)
class Alternative:
    """`p|q`"""

    left: PathExpr
    right: PathExpr


@dataclass(frozen=True, slots=True)
class ZeroOrOne:
    """`p?`, as a set"""

    path: PathExpr


@dataclass(frozen=True, slots=True)
class ZeroOrMore:
    """`p*`, as a set"""

    path: PathExpr


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """`p+`, as a set"""

    path: PathExpr


@dataclass(frozen=True, slots=True)
class NegatedSet:
    """`!(p|^q)`: any predicate but `forward` forwards, any but `backward` backwards; None: not that way at all."""

    forward: tuple[NamedNode, ...] | None
    backward: tuple[NamedNode, ...] | None


PathExpr: TypeAlias = Link | Inverse | Sequence | Alternative | ZeroOrOne | ZeroOrMore | OneOrMore | NegatedSet


@dataclass(frozen=True, slots=True)
class Path(Op):
    """The pairs of nodes that a property path connects."""

    subject: PatternTerm
    path: PathExpr
    object: PatternTerm


@dataclass(frozen=True, slots=True)
class Join(Op):
    """{μ₁ ∪ μ₂ | μ₁ ∈ left, μ₂ ∈ right, compatible}"""

    left: Op
    right: Op


@dataclass(frozen=True, slots=True)
class LeftJoin(Op):
    """OPTIONAL: Filter(condition, Join(left, right)) ∪ {μ ∈ left with no such partner}; None is `true`."""

    condition: Expr | None
    left: Op
    right: Op


# EP-SPARQL 4.2. A solution has the interval [starts, ends] from the earliest start to the latest end of the elements
# that made it, and none if no element did.


@dataclass(frozen=True, slots=True)
class Seq(Op):
    """{μ₁ ∪ μ₂ | compatible, left.ends < right.starts}: SEQ. A row without an interval is in no sequence."""

    left: Op
    right: Op


@dataclass(frozen=True, slots=True)
class Equals(Op):
    """{μ₁ ∪ μ₂ | compatible, of the same interval}: EQUALS. A row without an interval equals nothing."""

    left: Op
    right: Op


@dataclass(frozen=True, slots=True)
class OptionalSeq(Op):
    """OPTIONALSEQ, whose right side has to be there: Filter(condition, Seq(left, right)) ∪ {μ ∈ right with no such
    partner before it}; None is `true`."""

    left: Op
    right: Op
    condition: Expr | None = None


@dataclass(frozen=True, slots=True)
class EqualsOptional(Op):
    """EQUALSOPTIONAL, whose left side has to be there: Filter(condition, Equals(left, right)) ∪ {μ ∈ left with no such
    partner}; None is `true`."""

    left: Op
    right: Op
    condition: Expr | None = None


@dataclass(frozen=True, slots=True)
class Union(Op):
    """left ∪ right, as bags"""

    left: Op
    right: Op


@dataclass(frozen=True, slots=True)
class Minus(Op):
    """{μ ∈ left | no μ′ ∈ right is compatible and shares a variable}"""

    left: Op
    right: Op


@dataclass(frozen=True, slots=True)
class Filter(Op):
    """The solutions whose effective boolean value is true; an error is not true."""

    condition: Expr
    pattern: Op


@dataclass(frozen=True, slots=True)
class Extend(Op):
    """BIND: the solution with `var` bound to the expression's value, or left unbound where that is an error."""

    var: Var
    expression: Expr
    pattern: Op


@dataclass(frozen=True, slots=True)
class Table(Op):
    """VALUES: inline solutions; None is UNDEF. `Table((), ((),))` is the unit, `Table(vars, ())` is empty."""

    vars: tuple[Var, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Graph(Op):
    """GRAPH: the pattern on the named graph, or on each one in turn with its name bound."""

    name: Var | NamedNode
    pattern: Op


@dataclass(frozen=True, slots=True)
class InWindow(Op):
    """WINDOW <w> { … }, GRAPH ?w { … } of CQELS, STREAM <s> […] { … }: the pattern on the content of the window of that
    name alone, without the background; with a variable on each named window in turn, its name bound. GRAPH inside it
    means the graphs that the window's own elements came in."""

    name: Var | NamedNode
    pattern: Op


@dataclass(frozen=True, slots=True)
class WindowOverride(Op):
    """Streaming SPARQL's window in a group: the pattern with the windows of that tag in place of the streams' own (tag
    0). Of several around a pattern the innermost counts."""

    tag: int
    pattern: Op


@dataclass(frozen=True, slots=True)
class Group(Op):
    """GROUP BY: one solution a group, holding the keys and the aggregates. No keys: one group, even of nothing."""

    keys: tuple[Var, ...]
    aggregates: tuple[tuple[Var, Aggregate], ...]
    pattern: Op


@dataclass(frozen=True, slots=True)
class Annotate(Op):
    """C-SPARQL's AGGREGATE (v, f, G): every solution with `var` bound to the aggregate over those that agree with it in
    `keys` (unbound agrees with unbound). No row is removed; an error leaves `var` unbound."""

    var: Var
    aggregate: Aggregate
    keys: tuple[Var, ...]
    pattern: Op


@dataclass(frozen=True, slots=True)
class Project(Op):
    """The solutions restricted to `vars`, in that order."""

    vars: tuple[Var, ...]
    pattern: Op


@dataclass(frozen=True, slots=True)
class Distinct(Op):
    """Each solution once."""

    pattern: Op


@dataclass(frozen=True, slots=True)
class Reduced(Op):
    """Each solution at least once and at most as often as before."""

    pattern: Op


@dataclass(frozen=True, slots=True)
class StaticView(Op):
    """A materialised view of a pattern that reads only the background: computed once, and stored until the background
    changes. `keys` are the variables by which other patterns are joined with it."""

    keys: tuple[Var, ...]
    pattern: Op


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One condition of ORDER BY."""

    expression: Expr
    descending: bool = False


@dataclass(frozen=True, slots=True)
class OrderBy(Op):
    """The solutions in SPARQL's order: unbound, blank nodes, IRIs, literals."""

    conditions: tuple[OrderKey, ...]
    pattern: Op


@dataclass(frozen=True, slots=True)
class Slice(Op):
    """LIMIT and OFFSET."""

    offset: int
    limit: int | None
    pattern: Op


# Query forms (https://www.w3.org/TR/sparql11-query/#QueryForms)


@dataclass(frozen=True, slots=True)
class Dataset:
    """FROM and FROM NAMED: graphs of the store that make up the default graph, and those that GRAPH can see.

    With `adds` (CQELS) the named graphs are there beside those of the store, of which none is hidden.
    """

    default: tuple[NamedNode, ...]
    named: tuple[NamedNode, ...]
    adds: bool = False


@dataclass(frozen=True, slots=True)
class StreamWindow:
    """A window on a stream.

    Without a name (FROM STREAM) it is part of the default graph unless `named`, and GRAPH can see it in any case,
    together with the background's default graph. With a `tag` it stands in for the stream's own window inside
    `WindowOverride` of that tag, and is in no graph elsewhere.
    With a name it is in no graph, and `InWindow` alone reads it. `merge`: equal triples of its content are one.
    """

    iri: NamedNode
    window: Window
    named: bool = False
    name: NamedNode | None = None
    merge: bool = False
    tag: int = 0


@dataclass(frozen=True, slots=True)
class Registration:
    """REGISTER QUERY, STREAM or RULE: the query's name, and how often it is computed (microseconds, None: at every step
    of its windows). With `output` its triples are appended to that stream. A CONSTRUCT of events is a rule even where
    nothing is registered; then it has no name."""

    name: str | None
    every: int | None = None
    output: NamedNode | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """The solutions themselves."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Whether there is a solution."""


@dataclass(frozen=True, slots=True)
class Construct:
    """The template filled in once a solution; internal variables `.b…` that the pattern does not bind are new
    blank nodes of each solution."""

    template: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class Describe:
    """The triples about the given terms, and about the terms that the given variables are bound to."""

    terms: tuple[PatternTerm, ...]


Form: TypeAlias = Select | Ask | Construct | Describe


RULES = NamedNode("urn:penstock:rules")
"""The stream that the triples of rules go to."""

REPORTS: tuple[Emit, ...] = get_args(Emit)
"""The reports of any query: all solutions at each instant, the inserted ones, the deleted ones, validity intervals."""


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query. `variables` are the projected ones, in order (empty unless SELECT). `emit` is which stream is made
    of the answers, one of REPORTS or "events"; None: not given (then it is as rstream). With "events" each
    solution is reported once, at the end of its own interval, no window ends, and without streams it reads all."""

    form: Form
    pattern: Op
    variables: tuple[Var, ...] = ()
    dataset: Dataset | None = None
    base: str | None = None
    streams: tuple[StreamWindow, ...] = ()
    registration: Registration | None = None
    emit: str | None = None


def variables_of(*terms: PatternTerm) -> tuple[Var, ...]:
    """The variables among the terms, each once, in order."""
    return tuple(dict.fromkeys(term for term in terms if isinstance(term, Var)))


UNIT = Table((), ((),))

"""Plans of events written as EP-SPARQL: each operand a group of its own, so that what is read back means the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Call, Const, Exists, Expr, Occurrence, PatternTerm, Var
from penstock.algebra.occurrence import inner_plans
from penstock.algebra.ops import Op, TriplePattern
from penstock.algebra.scope import visible
from penstock.recursive_rules.analysis.rule import Rule, terms_of

_TIMES = {"duration": "getDURATION()", "start": "getSTARTTIME()", "end": "getENDTIME()"}
_FUNCTIONS = {"BOUND", "COALESCE", "SAMETERM"}


def select(op: Op, variables: Sequence[Var], streams: Sequence[NamedNode] = ()) -> str:
    clauses = "".join(f"FROM STREAM {iri}\n" for iri in streams)
    return f"SELECT {' '.join(map(_term, variables))}\n{clauses}WHERE {group(op)}"


def rule(made: Rule) -> str:
    triples = " . ".join(map(_triple, made.template))
    return f"REGISTER RULE {made.name} AS CONSTRUCT {{ {triples} }} WHERE {group(made.pattern)}"


def group(op: Op) -> str:
    return f"{{ {_TEXTS[type(op)](op)} }}"


def _term(term: PatternTerm) -> str:
    return f"?{term.name}" if isinstance(term, Var) else str(term)


def _triple(triple: TriplePattern) -> str:
    return " ".join(map(_term, terms_of(triple)))


# Operators


def _between(word: str) -> Callable[[ops.Seq], str]:
    return lambda op: f"{group(op.left)} {word} {group(op.right)}"


def _filtered(op: Op, condition: Expr | None) -> str:
    """The group of an optional side; what it filters itself stays inside of another."""
    return f"{{ {group(op)} {'' if condition is None else f'FILTER {bracketed(condition)}'} }}"


def _table(op: ops.Table) -> str:
    rows = (" ".join("UNDEF" if cell is None else str(cell) for cell in row) for row in op.rows)
    return f"VALUES ({' '.join(map(_term, op.vars))}) {{ {' '.join(f'({row})' for row in rows)} }}"


def _group(op: ops.Group) -> str:
    keys = " ".join(map(_term, op.keys))
    made = " ".join(f"({_aggregate(aggregate)} AS {_term(var)})" for var, aggregate in op.aggregates)
    return f"SELECT {keys} {made} {group(op.pattern)}" + (f" GROUP BY {keys}" if keys else "")


def _aggregate(aggregate: Aggregate) -> str:
    inside = "*" if aggregate.argument is None else expression(aggregate.argument)
    return f"{aggregate.name}({'DISTINCT ' if aggregate.distinct else ''}{inside})"


_TEXTS: dict[type[Op], Callable[..., str]] = {
    ops.Bgp: lambda op: " . ".join(map(_triple, op.patterns)),
    ops.Seq: _between("SEQ"),
    ops.Equals: _between("EQUALS"),
    ops.Union: _between("UNION"),
    ops.Join: _between(""),
    ops.Minus: _between("MINUS"),
    ops.LeftJoin: lambda op: f"{group(op.left)} OPTIONAL {_filtered(op.right, op.condition)}",
    ops.EqualsOptional: lambda op: f"{group(op.left)} EQUALSOPTIONAL {_filtered(op.right, op.condition)}",
    ops.OptionalSeq: lambda op: f"{_filtered(op.left, op.condition)} OPTIONALSEQ {group(op.right)}",
    ops.Filter: lambda op: f"{group(op.pattern)} FILTER {bracketed(op.condition)}",
    ops.Extend: lambda op: f"{group(op.pattern)} BIND ({expression(op.expression)} AS {_term(op.var)})",
    ops.Project: lambda op: f"SELECT {' '.join(map(_term, op.vars))} {group(op.pattern)}",
    ops.Distinct: lambda op: _TEXTS[type(op.pattern)](op.pattern).replace("SELECT", "SELECT DISTINCT", 1),
    ops.Graph: lambda op: f"GRAPH {_term(op.name)} {group(op.pattern)}",
    ops.Table: _table,
    ops.Group: _group,
}


def sayable(op: Op) -> bool:
    """Whether there is a text for it; AGGREGATE, for one, has none inside of a query, and AS wants a new variable."""
    made: tuple[Var, ...] = ()
    match op:
        case ops.Extend(var):
            made = (var,)
        case ops.Group(_, aggregates):
            made = tuple(var for var, _ in aggregates)
    new = not any(var in visible(inner) for var in made for inner in op.children)
    return new and type(op) in _TEXTS and all(map(sayable, inner_plans(op)))


# Expressions


def expression(expr: Expr) -> str:
    match expr:
        case Var():
            return _term(expr)
        case Const(term):
            return str(term)
        case Occurrence(kind):
            return _TIMES[kind]
        case Exists(pattern):
            return f"EXISTS {group(pattern)}"
        case Call("!", (Exists(pattern),)):
            return f"NOT EXISTS {group(pattern)}"
        case Call("!", (arg,)):
            return f"! {bracketed(arg)}"
        case Call(name, args) if name in _FUNCTIONS:
            return f"{name}({', '.join(map(expression, args))})"
        case Call(name, args):
            return f" {name} ".join(map(bracketed, args))
    raise NotImplementedError(expr)


def bracketed(expr: Expr) -> str:
    return f"({expression(expr)})"

"""S-expressions → plans: a table from an operator's name to the function that reads its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Call, Const, Exists, Expr, Occurrence, Var
from penstock.algebra.ops import Op, OrderKey, PathExpr, TriplePattern
from penstock.algebra.sse.sexpr import Sexpr, SexprError, layout, parse, term

__all__ = [
    "OCCURRENCES", "OPERATORS", "RDF_TYPE", "a", "items", "read", "read_expression", "read_operator", "read_triple",
]  # fmt: skip

AGGREGATES = frozenset(("count", "sum", "avg", "min", "max", "sample", "group_concat"))
OCCURRENCES = {"getduration": "duration", "getstarttime": "start", "getendtime": "end"}
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
Kind = TypeVar("Kind")


def read(text: str) -> Op:
    """The plan that the text stands for."""
    return read_operator(parse(text))


def read_expression(text: str) -> Expr:
    """The expression that the text stands for."""
    return _expression(parse(text))


def read_operator(written: Sexpr) -> Op:
    name, *args = items(written)
    if not isinstance(name, str) or name not in _OPERATORS:
        raise SexprError(f"unknown operator {name!r}; there are {', '.join(sorted(_OPERATORS))}")
    try:
        return _OPERATORS[name](*args)
    except TypeError as error:
        raise SexprError(f"these are not the parts of {name!r}: {layout(written)}") from error


def items(written: Sexpr) -> list[Sexpr]:
    """The items of a list, which may not be empty."""
    if isinstance(written, str) or not written:
        raise SexprError(f"a list of parts is wanted, not {layout(written)}")
    return written


def _pairs(written: Sexpr) -> list[tuple[Sexpr, Sexpr]]:
    if isinstance(written, str) or any(isinstance(pair, str) or len(pair) != 2 for pair in written):
        raise SexprError(f"a list of pairs is wanted, not {layout(written)}")
    return [(pair[0], pair[1]) for pair in written]


def a(kind: type[Kind], written: Sexpr) -> Kind:
    """The term, which has to be of that kind."""
    value = term(written)
    if not isinstance(value, kind):
        raise SexprError(f"{layout(written)} should be a {kind.__name__}")
    return value


def _variables(written: Sexpr) -> tuple[Var, ...]:
    return tuple(a(Var, var) for var in written)


def read_triple(written: Sexpr) -> TriplePattern:
    parts = [part for part in items(written) if part != "triple"]
    if len(parts) != 3:
        raise SexprError(f"a triple has three parts, unlike {layout(written)}")
    return TriplePattern(term(parts[0]), RDF_TYPE if parts[1] == "a" else term(parts[1]), term(parts[2]))


def _path_pattern(subject: Sexpr, path: Sexpr, object: Sexpr) -> Op:
    return ops.Path(term(subject), _path(path), term(object))


def _left_join(left: Sexpr, right: Sexpr, condition: Sexpr | None = None) -> Op:
    return ops.LeftJoin(_condition(condition), read_operator(left), read_operator(right))


def _condition(written: Sexpr | None) -> Expr | None:
    return None if written is None else _expression(written)


def _optional(kind: Callable[[Op, Op, Expr | None], Op]) -> Callable[..., Op]:
    def made(left: Sexpr, right: Sexpr, condition: Sexpr | None = None) -> Op:
        return kind(read_operator(left), read_operator(right), _condition(condition))

    return made


def _extend(pairs: Sexpr, pattern: Sexpr) -> Op:
    """`((?a 1) (?b 2))` binds ?a first, so that it stands deepest."""
    op = read_operator(pattern)
    for var, expression in _pairs(pairs):
        op = ops.Extend(a(Var, var), _expression(expression), op)
    return op


def _table(*parts: Sexpr) -> Op:
    if parts == ("unit",):
        return ops.UNIT
    vars = _variables(items(parts[0])[1:])
    rows = [{term(var): term(value) for var, value in _pairs(items(row)[1:])} for row in parts[1:]]
    return ops.Table(vars, tuple(tuple(row.get(var) for var in vars) for row in rows))  # type: ignore[misc]


def _within(kind: Callable[[Var | NamedNode, Op], Op]) -> Callable[[Sexpr, Sexpr], Op]:
    """GRAPH and WINDOW: a name, or a variable for it, and the pattern inside."""
    return lambda name, pattern: kind(_name(name), read_operator(pattern))


def _name(written: Sexpr) -> Var | NamedNode:
    is_variable = isinstance(written, str) and written.startswith("?")
    return a(Var, written) if is_variable else a(NamedNode, written)


def _group(keys: Sexpr, aggregates: Sexpr, pattern: Sexpr) -> Op:
    pairs = tuple((a(Var, var), _aggregate(items(made))) for var, made in _pairs(aggregates))
    return ops.Group(_variables(keys), pairs, read_operator(pattern))


def _annotate(pair: Sexpr, keys: Sexpr, pattern: Sexpr) -> Op:
    ((var, made),) = _pairs([pair])
    return ops.Annotate(a(Var, var), _aggregate(items(made)), _variables(keys), read_operator(pattern))


def _order(keys: Sexpr, pattern: Sexpr) -> Op:
    return ops.OrderBy(tuple(_order_key(key) for key in keys), read_operator(pattern))


def _order_key(written: Sexpr) -> OrderKey:
    if isinstance(written, list) and written[0] in ("asc", "desc"):
        return OrderKey(_expression(written[1]), written[0] == "desc")
    return OrderKey(_expression(written))


def _slice(offset: Sexpr, limit: Sexpr, pattern: Sexpr) -> Op:
    numbers = [None if number == "_" else int(str(number)) for number in (offset, limit)]
    return ops.Slice(numbers[0] or 0, numbers[1], read_operator(pattern))


def _binary(kind: Callable[[Op, Op], Op]) -> Callable[[Sexpr, Sexpr], Op]:
    return lambda left, right: kind(read_operator(left), read_operator(right))


def _unary(kind: Callable[[Op], Op]) -> Callable[[Sexpr], Op]:
    return lambda pattern: kind(read_operator(pattern))


_OPERATORS: dict[str, Callable[..., Op]] = {
    "bgp": lambda *triples: ops.Bgp(tuple(map(read_triple, triples))),
    "path": _path_pattern,
    "join": _binary(ops.Join),
    "leftjoin": _left_join,
    "seq": _binary(ops.Seq),
    "equals": _binary(ops.Equals),
    "optionalseq": _optional(ops.OptionalSeq),
    "equalsoptional": _optional(ops.EqualsOptional),
    "union": _binary(ops.Union),
    "minus": _binary(ops.Minus),
    "filter": lambda condition, pattern: ops.Filter(_expression(condition), read_operator(pattern)),
    "extend": _extend,
    "table": _table,
    "graph": _within(ops.Graph),
    "inwindow": _within(ops.InWindow),
    "windowoverride": lambda tag, pattern: ops.WindowOverride(int(str(tag)), read_operator(pattern)),
    "group": _group,
    "annotate": _annotate,
    "project": lambda vars, pattern: ops.Project(_variables(vars), read_operator(pattern)),
    "distinct": _unary(ops.Distinct),
    "reduced": _unary(ops.Reduced),
    "staticview": lambda keys, pattern: ops.StaticView(_variables(keys), read_operator(pattern)),
    "order": _order,
    "slice": _slice,
}
OPERATORS = frozenset(_OPERATORS)


def _expression(written: Sexpr) -> Expr:
    if isinstance(written, str):
        read_term = term(written)
        return read_term if isinstance(read_term, Var) else Const(read_term)
    name, *args = items(written)
    if name in AGGREGATES:
        return _aggregate(written)
    if name in OCCURRENCES and not args:
        return Occurrence(OCCURRENCES[str(name)])
    if name in ("exists", "notexists"):
        exists = Exists(read_operator(args[0]))
        return exists if name == "exists" else Call("!", (exists,))
    return Call(_function(str(name)), tuple(map(_expression, args)))


def _function(name: str) -> str:
    return name[1:-1] if name[0] == "<" and len(name) > 2 else "NOT IN" if name == "notin" else name.upper()


def _aggregate(written: list[Sexpr]) -> Aggregate:
    name, *rest = written
    distinct = "distinct" in rest
    separator = None
    argument = None
    for part in rest:
        if isinstance(part, list) and part[0] == "separator":
            separator = str(getattr(term(part[1]), "value", ""))
        elif part != "distinct":
            argument = _expression(part)
    return Aggregate(str(name).upper(), argument, distinct, separator)


def _path(written: Sexpr) -> PathExpr:
    if isinstance(written, str):
        return ops.Link(a(NamedNode, written))
    name, *args = items(written)
    if name == "notoneof":
        sides = {str(side[0]): tuple(a(NamedNode, iri) for iri in side[1:]) for side in map(items, args)}
        return ops.NegatedSet(sides.get("forward"), sides.get("backward"))
    if name not in _PATHS:
        raise SexprError(f"unknown path {name!r}; there are {', '.join(sorted(_PATHS))}")
    return _PATHS[str(name)](*map(_path, args))


_PATHS: dict[str, Callable[..., PathExpr]] = {
    "inverse": ops.Inverse,
    "seq": ops.Sequence,
    "alt": ops.Alternative,
    "path?": ops.ZeroOrOne,
    "path*": ops.ZeroOrMore,
    "path+": ops.OneOrMore,
}

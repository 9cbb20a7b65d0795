"""Plans → s-expressions: `read(write(op)) == op`.

    (project (?s ?n)
      (filter (> ?n 5)
        (leftjoin (bgp (?s a :Gate)) (path ?s (path+ :next) ?n) (bound ?n))))

`:name` stands for `<http://example.org/name>`, `_` for what is not given. Each operator is one case in `_parameters`
here and one line in the table of `reader.py`. `query.py` writes whole queries.
"""

from __future__ import annotations

from pyoxigraph import Literal

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Call, Const, Exists, Expr, Occurrence, Term, Var
from penstock.algebra.ops import Op, OrderKey, PathExpr, TriplePattern
from penstock.algebra.sse.reader import OCCURRENCES, OPERATORS, RDF_TYPE
from penstock.algebra.sse.sexpr import Sexpr, layout, token

__all__ = ["write", "written_operator", "written_triple"]


def write(node: Op | Expr | PathExpr) -> str:
    """The plan, expression or path as text, always the same for the same node."""
    if isinstance(node, Op):
        return layout(written_operator(node), OPERATORS)
    return layout(_expression(node) if isinstance(node, Expr) else _path(node), OPERATORS)


def written_operator(op: Op) -> Sexpr:
    """The plan before it is laid out as text."""
    return [
        type(op).__name__.lower().removesuffix("by"),
        *(op.parameters if isinstance(op, ops.Physical) else ()),
        *_parameters(op),
        *map(written_operator, op.children),
        *_last(op),
    ]


def _parameters(op: Op) -> list[Sexpr]:
    """The parameters, between the operator's name and its operands."""
    match op:
        case ops.Bgp(patterns):
            return [written_triple(pattern) for pattern in patterns]
        case ops.Path(subject, path, object):
            return [token(subject), _path(path), token(object)]
        case ops.Filter(condition, _):
            return [_expression(condition)]
        case ops.Extend(var, expression, _):
            return [[[token(var), _expression(expression)]]]
        case ops.Table(vars, rows):
            return ["unit"] if op == ops.UNIT else [["vars", *_variables(vars)], *(_row(vars, row) for row in rows)]
        case ops.Graph(name, _) | ops.InWindow(name, _):
            return [token(name)]
        case ops.WindowOverride(tag, _):
            return [str(tag)]
        case ops.Group(keys, aggregates, _):
            return [_variables(keys), [[token(var), _expression(aggregate)] for var, aggregate in aggregates]]
        case ops.Annotate(var, aggregate, keys, _):
            return [[token(var), _expression(aggregate)], _variables(keys)]
        case ops.Project(vars, _) | ops.StaticView(vars, _):
            return [_variables(vars)]
        case ops.OrderBy(conditions, _):
            return [[_order_key(key) for key in conditions]]
        case ops.Slice(offset, limit, _):
            return [str(offset), "_" if limit is None else str(limit)]
    return []


def _last(op: Op) -> list[Sexpr]:
    """The condition of an optional operator, if it has one."""
    if isinstance(op, ops.LeftJoin | ops.OptionalSeq | ops.EqualsOptional) and op.condition is not None:
        return [_expression(op.condition)]
    return []


def written_triple(pattern: TriplePattern) -> list[Sexpr]:
    predicate = "a" if pattern.predicate == RDF_TYPE else token(pattern.predicate)
    return [token(pattern.subject), predicate, token(pattern.object)]


def _variables(vars: tuple[Var, ...]) -> list[Sexpr]:
    return [token(var) for var in vars]


def _row(vars: tuple[Var, ...], row: tuple[Term | None, ...]) -> Sexpr:
    pairs: list[Sexpr] = [[token(v), token(value)] for v, value in zip(vars, row, strict=True) if value is not None]
    return ["row", *pairs]


def _order_key(key: OrderKey) -> Sexpr:
    written = _expression(key.expression)
    return ["desc", written] if key.descending else ["asc", written] if isinstance(written, list) else written


def _expression(expr: Expr) -> Sexpr:
    match expr:
        case Var():
            return token(expr)
        case Const(value):
            return token(value)
        case Exists(pattern):
            return ["exists", written_operator(pattern)]
        case Occurrence(kind):
            return [next(name for name, known in OCCURRENCES.items() if known == kind)]
        case Call(name, args):
            return [f"<{name}>" if ":" in name else name.lower().replace(" ", ""), *map(_expression, args)]
        case Aggregate(name, argument, distinct, separator):
            head: list[Sexpr] = [name.lower(), *(["distinct"] if distinct else [])]
            head += [] if separator is None else [["separator", token(Literal(separator))]]
            return head if argument is None else [*head, _expression(argument)]
    raise TypeError(f"no s-expression for {expr!r}")


def _path(path: PathExpr) -> Sexpr:
    match path:
        case ops.Link(iri):
            return token(iri)
        case ops.Sequence(left, right) | ops.Alternative(left, right):
            return [_PATH_NAMES[type(path)], _path(left), _path(right)]
        case ops.NegatedSet(forward, backward):
            sides = (("forward", forward), ("backward", backward))
            written: list[Sexpr] = [[name, *map(token, iris)] for name, iris in sides if iris is not None]
            return ["notoneof", *written]
    return [_PATH_NAMES[type(path)], _path(path.path)]


_PATH_NAMES: dict[type, str] = {
    ops.Inverse: "inverse",
    ops.Sequence: "seq",
    ops.Alternative: "alt",
    ops.ZeroOrOne: "path?",
    ops.ZeroOrMore: "path*",
    ops.OneOrMore: "path+",
}

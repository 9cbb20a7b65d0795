"""Query families (queries that differ only in constants): the common template, and the constants of each query.

The common part is a query too, in which parameters, `Var(".kp0")` and so on, stand where the constants were. Each place
has its own: the same constant at two places is two parameters, so that no pattern shares a variable with another which
it did not share before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeAlias

from penstock.algebra import ops
from penstock.algebra.expressions import PARAMETER, Call, Const, PatternTerm, Term, Var
from penstock.algebra.occurrence import asks_interval

__all__ = ["Constants", "Template", "parameter", "parameters_of", "template"]

Constants: TypeAlias = tuple[Term, ...]
Change: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Template:
    """Queries are of one family just if `query` is equal; `constants` are those of the one that this was made of."""

    query: ops.Query
    parameters: tuple[Var, ...]
    constants: Constants

    def specialised(self, members: Sequence[Constants]) -> tuple[ops.Query, list[Constants]]:
        """The query for these members, and the constants of each that are left: where all agree, it has that constant.

        The remaining constants are renumbered: the first constant of a member belongs to `parameter(0)`.
        """
        columns = list(zip(*members, strict=True)) if members else [()] * len(self.parameters)
        same = [len(set(column)) == 1 for column in columns]
        varying = [i for i, alike in enumerate(same) if not alike]
        values: dict[PatternTerm, PatternTerm] = {p: columns[i][0] for i, p in enumerate(self.parameters) if same[i]}
        values |= {self.parameters[i]: parameter(n) for n, i in enumerate(varying)}
        return filled(self.query, values), [tuple(member[i] for i in varying) for member in members]


def parameter(number: int) -> Var:
    return Var(f"{PARAMETER}{number}")


def template(query: ops.Query) -> Template | None:
    """The query without its constants and its name; None if it cannot share a plan with others.

    A query that feeds a stream has a place of its own in the order of evaluation, DESCRIBE follows its constants
    wherever they lead, and a query that reads no stream is answered once.
    """
    registration = query.registration
    derives = registration is not None and registration.output is not None
    if derives or not query.streams or isinstance(query.form, ops.Describe):
        return None
    constants: list[Term] = []

    def place(constant: Term) -> Var:
        constants.append(constant)
        return parameter(len(constants) - 1)

    period = None if registration is None or registration.every is None else replace(registration, name=None)
    nameless = replace(query, registration=period)
    shape = _in_places(nameless, lambda term: term if isinstance(term, Var) else place(term), lambda c: place(c.term))
    return Template(shape, tuple(map(parameter, range(len(constants)))), tuple(constants))


def filled(query: ops.Query, values: Mapping[PatternTerm, PatternTerm]) -> ops.Query:
    """The query with other terms in place of its parameters."""

    def expression(var: Var) -> Var | Const:
        value = values.get(var, var)
        return value if isinstance(value, Var) else Const(value)

    filled: ops.Query = _in_places(query, lambda term: values.get(term, term), expression)
    return filled


def parameters_of(node: Any) -> tuple[Var, ...]:
    """The parameters that stand anywhere in a query or a part of one, in order."""
    parameters: dict[Var, None] = {}

    def note(term: Any) -> Any:
        if isinstance(term, Var) and term.parameter:
            parameters[term] = None
        return term

    _in_places(node, note, note)
    return tuple(parameters)


def _in_places(node: Any, in_pattern: Change, in_expression: Change) -> Any:
    """The node with the terms of its triples changed, but for predicates, and its constants and parameters elsewhere.

    Only dataclasses are looked into, each rebuilt in the order of its fields, which is also the order of the places.
    """

    def visit(node: Any) -> Any:
        kind = type(node)
        if kind is tuple:
            return tuple(map(visit, node))
        if kind is ops.TriplePattern:
            return ops.TriplePattern(in_pattern(node.subject), node.predicate, in_pattern(node.object))
        if kind is Const or (kind is Var and node.parameter):
            return in_expression(node)
        names = _fields(kind)
        if not names or (kind is Call and _stays(node)):
            return node
        return kind(*[visit(getattr(node, name)) for name in names])

    return visit(node)


def _stays(call: Call) -> bool:
    """Whether the constants of a call have to stay in the template, since the plan depends on them (the stream of a
    timestamp, a retention bound)."""
    if call.name in ("&&", "||", "!"):
        return False
    return call.name == "TIMESTAMP" or any(map(asks_interval, call.args))


_FIELDS: dict[type, tuple[str, ...]] = dict.fromkeys((ops.Path, ops.Table, ops.Dataset, ops.StreamWindow, Var), ())


def _fields(kind: type) -> tuple[str, ...]:
    """The fields to look into; none for nodes that stay as they are: the ends of paths say where the search starts, and
    VALUES is a table already."""
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(f.name for f in fields(kind)) if is_dataclass(kind) else ()
    return _FIELDS[kind]

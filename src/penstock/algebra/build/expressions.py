"""Tree → algebra, expressions: https://www.w3.org/TR/sparql11-query/#expressions."""

from __future__ import annotations

import re

from penstock.algebra.build.base import BuilderBase, Grouping
from penstock.algebra.expressions import Aggregate, Call, Const, Exists, Expr, Var
from penstock.errors import QueryError
from penstock.syntax import tree
from penstock.syntax.functions import CASTS, OCCURRENCES, XSD
from penstock.syntax.suggest import nearest

__all__ = ["ExpressionBuilder"]

_SYNONYMS = {"URI": "IRI", "ISURI": "ISIRI"}


class ExpressionBuilder(BuilderBase):
    def expression(self, expression: tree.Expression, grouping: Grouping | None = None) -> Expr:
        match expression:
            case tree.Variable(name):
                return self.variable(Var(name), grouping)
            case tree.Iri() | tree.Literal():
                return Const(self.constant(expression))
            case tree.Call(name, ()) if name in OCCURRENCES:
                return self.occurrence(OCCURRENCES[name])
            case tree.Call(name, args):
                return Call(_SYNONYMS.get(name, name), tuple(self.expression(arg, grouping) for arg in args))
            case tree.FunctionCall():
                return self.function_call(expression, grouping)
            case tree.Exists(group, negated):
                exists = Exists(self.exists_pattern(group))
                return Call("!", (exists,)) if negated else exists
            case tree.Aggregate():
                return self.aggregate(expression, grouping)

    def variable(self, var: Var, grouping: Grouping | None) -> Expr:
        """Outside aggregates, a variable that is not grouped stands for one of its values in the group."""
        if grouping is None or var in grouping.visible:
            return var
        return self.shared(Aggregate("SAMPLE", var), grouping)

    def aggregate(self, aggregate: tree.Aggregate, grouping: Grouping | None) -> Expr:
        argument = None if aggregate.argument is None else self.expression(aggregate.argument)
        made = Aggregate(aggregate.name, argument, aggregate.distinct, aggregate.separator)
        return made if grouping is None else self.shared(made, grouping)

    def shared(self, aggregate: Aggregate, grouping: Grouping) -> Var:
        if aggregate not in grouping.aggregates:
            grouping.aggregates[aggregate] = self.fresh("a")
        return grouping.aggregates[aggregate]

    def function_call(self, call: tree.FunctionCall, grouping: Grouping | None) -> Expr:
        name = call.iri.value
        if name not in CASTS:
            raise call.span.error(QueryError, f"there is no function <{name}>", self.text, _cast_hint(name))
        if len(call.args) != 1 or call.distinct:
            reason = f"the cast to xsd:{name.removeprefix(XSD)} takes 1 argument"
            raise call.span.error(QueryError, reason, self.text)
        return Call(name, (self.expression(call.args[0], grouping),))


def _cast_hint(iri: str) -> str | None:
    """A cast of nearly that name, or of just that name in another namespace."""
    names = [cast.removeprefix(XSD) for cast in CASTS]
    local = re.split("[/#:]", iri)[-1]
    near = nearest(local, names) if iri.startswith(XSD) else local if local in names else None
    return f"did you mean <{XSD}{near}>?" if near else "the only functions with an IRI are the casts to XSD types"

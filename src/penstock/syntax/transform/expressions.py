"""Parse tree → expressions and paths."""

from __future__ import annotations

from lark import Token

from penstock.syntax import tree
from penstock.syntax.transform.base import TransformerBase
from penstock.syntax.transform.terms import unquote

__all__ = ["ExpressionTransformer"]

_E = tree.Expression


class ExpressionTransformer(TransformerBase):
    # Operators

    def or_expression(self, *operands: _E) -> _E:
        return balanced("||", operands)

    def and_expression(self, *operands: _E) -> _E:
        return balanced("&&", operands)

    def comparison(self, left: _E, sign: Token, right: _E) -> _E:
        return operator(str(sign), left, right)

    def in_list(self, needle: _E, candidates: tuple[_E, ...]) -> _E:
        return operator("IN", needle, *candidates)

    def not_in_list(self, needle: _E, candidates: tuple[_E, ...]) -> _E:
        return operator("NOT IN", needle, *candidates)

    def additive_expression(self, first: _E, *rest: Token | _E) -> _E:
        """Folds to the left. `?a -1` has no sign of its own: the literal brings it, and the two are added."""
        result, sign = first, "+"
        for part in rest:
            if isinstance(part, Token):
                sign = str(part)
            else:
                result, sign = operator(sign, result, part), "+"
        return result

    def multiplicative_expression(self, first: _E, *rest: Token | _E) -> _E:
        return self.additive_expression(first, *rest)

    def not_expression(self, operand: _E) -> _E:
        return operator("!", operand)

    def plus_expression(self, operand: _E) -> _E:
        return operator("PLUS", operand)

    def minus_expression(self, operand: _E) -> _E:
        return operator("NEGATE", operand)

    # Functions

    def expression_list(self, *expressions: _E) -> tuple[_E, ...]:
        return expressions

    def arg_list(self, distinct: Token | None = None, *expressions: _E) -> tuple[bool, tuple[_E, ...]]:
        return distinct is not None, expressions

    def builtin(self, name: Token, args: tuple[_E, ...]) -> tree.Call:
        return tree.Call(name.upper(), args, self.span(name))

    def function_call(self, iri: tree.Iri, args: tuple[bool, tuple[_E, ...]]) -> tree.FunctionCall:
        return tree.FunctionCall(iri, args[1], args[0])

    def exists(self, token: Token, group: tree.Group) -> tree.Exists:
        return tree.Exists(group, False, self.span(token))

    def not_exists(self, no: Token, token: Token, group: tree.Group) -> tree.Exists:
        return tree.Exists(group, True, self.span(no).to(self.span(token)))

    def aggregate(
        self, name: Token, distinct: Token | None, argument: Token | _E, separator: Token | None = None
    ) -> tree.Aggregate:
        return tree.Aggregate(
            name.upper(),
            None if isinstance(argument, Token) else argument,
            distinct is not None,
            None if separator is None else unquote(separator),
            self.span(name),
        )

    # Paths

    def path_alternative(self, *choices: tree.PathExpr) -> tree.AlternativePath:
        return tree.AlternativePath(choices)

    def path_sequence(self, *steps: tree.PathExpr) -> tree.SequencePath:
        return tree.SequencePath(steps)

    def path_inverse(self, path: tree.PathExpr) -> tree.InversePath:
        return tree.InversePath(path)

    def path_repeat(self, path: tree.PathExpr, modifier: Token) -> tree.RepeatPath:
        return tree.RepeatPath(path, str(modifier), self.span(modifier))

    def path_negated_property_set(self, *members: tree.Iri | tree.InversePath) -> tree.NegatedPath:
        return tree.NegatedPath(members)


def balanced(name: str, operands: tuple[_E, ...]) -> _E:
    """A chain of an associative operator, as flat as can be: generated queries have hundreds of operands."""
    if len(operands) == 1:
        return operands[0]
    middle = (len(operands) + 1) // 2
    return operator(name, balanced(name, operands[:middle]), balanced(name, operands[middle:]))


def operator(name: str, *args: _E) -> tree.Call:
    return tree.Call(name, args, args[0].span.to(args[-1].span))

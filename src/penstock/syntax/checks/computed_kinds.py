"""The kinds of computed values: of functions, of aggregates, and of the variables that hold nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.syntax import tree
from penstock.syntax.checks.constants import Kind, kind_of_datatype

__all__ = ["ComputedKinds"]

_FUNCTIONS: dict[Kind, str] = {
    Kind.number: "ABS CEIL DAY FLOOR HOURS MINUTES MONTH RAND ROUND SECONDS STRLEN YEAR",
    Kind.string: """CONCAT ENCODE_FOR_URI LANG LCASE MD5 REPLACE SHA1 SHA256 SHA384 SHA512 STR STRAFTER STRBEFORE
        STRLANG STRUUID SUBSTR TZ UCASE""",
    Kind.boolean: """BOUND CONTAINS ISBLANK ISIRI ISLITERAL ISNUMERIC ISURI LANGMATCHES REGEX SAMETERM STRENDS
        STRSTARTS""",
    Kind.moment: "GETENDTIME GETSTARTTIME NOW TIMESTAMP",
    Kind.duration: "GETDURATION TIMEZONE",
    Kind.iri: "DATATYPE IRI URI UUID",
}
_RETURNS = {name: kind for kind, names in _FUNCTIONS.items() for name in names.split()}
_AGGREGATES = {"COUNT": Kind.number, "SUM": Kind.number, "AVG": Kind.number, "GROUP_CONCAT": Kind.string}
_OF_ARGUMENT = ("MIN", "MAX", "SAMPLE")


class ComputedKinds:
    """The kinds of functions, aggregates and variables in one query."""

    def __init__(self, nodes: Iterable[object]) -> None:
        self._variables: dict[str, Kind] = {}
        self._variables = self._assigned(nodes)

    def of(self, expression: tree.Expression) -> Kind | None:
        """The kind of what an expression computes; None if it is a constant, or may be of several kinds."""
        match expression:
            case tree.Variable(name):
                return self._variables.get(name)
            case tree.Call(name):
                return _RETURNS.get(name)
            case tree.FunctionCall(tree.Iri(name)):
                return kind_of_datatype(name)
            case tree.Aggregate(name, argument) if name in _OF_ARGUMENT and argument is not None:
                return self.of(argument)
            case tree.Aggregate(name):
                return _AGGREGATES.get(name)
        return None

    def _assigned(self, nodes: Iterable[object]) -> dict[str, Kind]:
        """The kinds of variables to which expressions of one kind are assigned, and which no pattern binds."""
        kinds_of: dict[str, set[Kind | None]] = {}
        for node in nodes:
            for variable, expression in _assignments(node):
                kinds_of.setdefault(variable.name, set()).add(self.of(expression))
            for name in _matched(node):
                kinds_of.setdefault(name, set()).add(None)
        single = {name: next(iter(kinds)) for name, kinds in kinds_of.items() if len(kinds) == 1}
        return {name: kind for name, kind in single.items() if kind is not None}


def _assignments(node: object) -> Iterator[tuple[tree.Variable, tree.Expression]]:
    match node:
        case tree.Bind(expression, variable) | tree.SelectItem(variable, expression) if expression is not None:
            yield variable, expression
        case tree.GroupKey(expression, variable) if variable is not None:
            yield variable, expression
        case tree.Annotation(variable, aggregate):
            yield variable, aggregate


def _matched(node: object) -> Iterator[str]:
    """The names of variables that patterns bind."""
    match node:
        case tree.Triple(subject, predicate, obj):
            terms: tuple[object, ...] = subject, predicate, obj
        case tree.InlineData(variables):
            terms = variables
        case tree.NamedGraph(name) | tree.WindowBlock(name):
            terms = (name,)
        case _:
            return
    yield from (term.name for term in terms if isinstance(term, tree.Variable))

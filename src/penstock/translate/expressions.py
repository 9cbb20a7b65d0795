"""Terms, paths and expressions of the tree as SPARQL."""

from __future__ import annotations

import re
from collections.abc import Callable

from penstock.syntax import tree
from penstock.syntax.functions import XSD

__all__ = ["TermWriter"]

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"})
_SIGNS = frozenset(("||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"))
_UNARY = {"!": "!", "PLUS": "+", "NEGATE": "-"}
_PREFIX = re.compile(r"PREFIX\s+([\w.-]*:)\s*<([^<>\s]*)>", re.IGNORECASE)
_BASE = re.compile(r"\bBASE\s*<", re.IGNORECASE)
_LOCAL = re.compile(r"[A-Za-z_]\w*")
_SHORT = {
    XSD + "integer": re.compile(r"[+-]?[0-9]+"),
    XSD + "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    XSD + "boolean": re.compile(r"true|false"),
}


class TermWriter:
    """Writes IRIs with the prefixes that the query's text declares, and remembers which it used."""

    def __init__(self, text: str, base: str | None) -> None:
        self._prefixes: dict[str, str] = dict(_PREFIX.findall(text))
        self._base = base if _BASE.search(text) else None
        self.used: dict[str, str] = {}

    def iri(self, iri: str) -> str:
        for prefix, namespace in self._prefixes.items():
            if namespace and iri.startswith(namespace) and _LOCAL.fullmatch(iri[len(namespace) :]):
                self.used[prefix] = namespace
                return prefix + iri[len(namespace) :]
        return f"<{iri}>"

    def prologue(self) -> str:
        """The base too, as the function IRI() asks for it."""
        lines = [] if self._base is None else [f"BASE <{self._base}>\n"]
        lines += (f"PREFIX {prefix} <{namespace}>\n" for prefix, namespace in sorted(self.used.items()))
        return "".join(lines)

    def term(self, term: tree.Term) -> str:
        match term:
            case tree.Variable(name):
                return f"?{name}"
            case tree.Iri(value):
                return self.iri(value)
            case tree.BlankNode(label):
                return f"_:{label.replace('[', 'anonymous')}"
            case tree.Literal():
                return self._literal(term)

    def _literal(self, literal: tree.Literal) -> str:
        quoted = f'"{literal.value.translate(_ESCAPES)}"'
        if literal.language is not None:
            return f"{quoted}@{literal.language}"
        if literal.datatype is None:
            return quoted
        short = _SHORT.get(literal.datatype.value)
        is_short = short is not None and short.fullmatch(literal.value)
        return literal.value if is_short else f"{quoted}^^{self.iri(literal.datatype.value)}"

    def bracketed(self, expression: tree.Expression, group: Callable[[tree.Group], str]) -> str:
        """The expression with brackets around all of it."""
        written = self.expression(expression, group)
        is_sign = isinstance(expression, tree.Call) and expression.name in {*_SIGNS, *_UNARY, "IN", "NOT IN"}
        return written if is_sign else f"({written})"

    def path(self, path: tree.Variable | tree.PathExpr) -> str:
        match path:
            case tree.Variable() | tree.Iri():
                return self.term(path)
            case tree.InversePath(inner):
                return f"^({self.path(inner)})"
            case tree.SequencePath(steps):
                return f"({'/'.join(map(self.path, steps))})"
            case tree.AlternativePath(choices):
                return f"({'|'.join(map(self.path, choices))})"
            case tree.RepeatPath(inner, modifier):
                return f"({self.path(inner)}){modifier}"
            case tree.NegatedPath(members):
                return f"!({'|'.join(map(self._member, members))})"

    def _member(self, member: tree.Iri | tree.InversePath) -> str:
        return self.path(member) if isinstance(member, tree.Iri) else f"^{self.path(member.path)}"

    def expression(self, expression: tree.Expression, group: Callable[[tree.Group], str]) -> str:
        """The expression with brackets around every operator; `group` writes the patterns of EXISTS."""

        def inner(part: tree.Expression) -> str:
            return self.expression(part, group)

        match expression:
            case tree.Variable() | tree.Iri() | tree.Literal():
                return self.term(expression)
            case tree.Call(name, args) if name in _SIGNS:
                return f"({f' {name} '.join(map(inner, args))})"
            case tree.Call(name, (operand,)) if name in _UNARY:
                return f"({_UNARY[name]} {inner(operand)})"
            case tree.Call("IN" | "NOT IN" as name, (needle, *candidates)):
                return f"({inner(needle)} {name} ({', '.join(map(inner, candidates))}))"
            case tree.Call(name, args):
                return f"{name}({', '.join(map(inner, args))})"
            case tree.FunctionCall(iri, args, distinct):
                return f"{self.term(iri)}({'DISTINCT ' if distinct else ''}{', '.join(map(inner, args))})"
            case tree.Exists(pattern, negated):
                return f"{'NOT ' if negated else ''}EXISTS {group(pattern)}"
            case tree.Aggregate(name, argument, distinct, separator):
                what = "*" if argument is None else inner(argument)
                end = "" if separator is None else f'; SEPARATOR = "{separator.translate(_ESCAPES)}"'
                return f"{name}({'DISTINCT ' if distinct else ''}{what}{end})"

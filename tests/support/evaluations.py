"""Many expressions at once: a job of Spark costs more than all of them together.

Each is evaluated twice, with its constants as they stand, whose types the compiler knows, and with variables in their
place, which are only inspected when the query runs. Both have to give the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode

from penstock import Engine

XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"PREFIX xsd: <{XSD}> PREFIX : <http://e/>\n"

Cases = dict[str, str | None]  # expression → the expected term, or None where it is an error

_PLAIN = {"integer": "-?[0-9]+", "decimal": r"-?[0-9]+\.[0-9]+", "boolean": "true|false"}
_STRING = r'"(?:[^"\\]|\\.)*"(?:@[a-zA-Z-]+|\^\^\w*:\w+)?'
_NUMBER = r"(?<![\w?:.])[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_CONSTANT = re.compile(rf"{_STRING}|<[^<>\s]+>|{_NUMBER}|\b(?:true|false)\b")


def written(term: object) -> str | None:
    """A term as the tables have it: 5, 0.5, true, "a", "a"@en, "x"^^xsd:t, <iri>."""
    if term is None or isinstance(term, NamedNode):
        return None if term is None else str(term)
    assert isinstance(term, Literal)
    name = term.datatype.value.removeprefix(XSD)
    if re.fullmatch(_PLAIN.get(name, "(?!)"), term.value):
        return term.value
    return str(term) if name in ("string", term.datatype.value) else f'"{term.value}"^^xsd:{name}'


def wrong(engine: Engine, cases: Cases) -> list[str]:
    """The cases with another answer than the expected one: how they were asked, and what came."""
    found = []
    for manner, query in (("constants", with_constants(cases)), ("variables", with_variables(cases))):
        rows = {int(str(written(row["i"]))): written(row.get("r")) for row in engine.query(query).rows}
        answers = [rows[i] for i in range(len(cases))]
        pairs = zip(cases.items(), answers, strict=True)
        found += [f"{e} with {manner}: {got}, not {expected}" for (e, expected), got in pairs if got != expected]
    return found


def with_constants(cases: Cases) -> str:
    return _union(f"BIND({expression} AS ?r)" for expression in cases)


def with_variables(cases: Cases) -> str:
    """Every branch has its own row of values, so that branches do not grow with the table."""
    return _union(map(_with_values, cases))


def _with_values(expression: str) -> str:
    values = list(dict.fromkeys(_CONSTANT.findall(expression)))
    asked = _CONSTANT.sub(lambda m: f"?v{values.index(m[0])}", expression)
    names = " ".join(f"?v{n}" for n in range(len(values)))
    return f"VALUES ({names}) {{ ({' '.join(values)}) }} BIND({asked} AS ?r)"


def _union(patterns: Iterable[str]) -> str:
    branches = (f"{{ {pattern} BIND({i} AS ?i) }}" for i, pattern in enumerate(patterns))
    return f"{PREFIXES}SELECT ?i ?r {{ {' UNION '.join(branches)} }}"

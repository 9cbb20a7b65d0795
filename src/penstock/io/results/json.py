"""https://www.w3.org/TR/sparql11-results-json/"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyoxigraph import BlankNode, NamedNode

from penstock.io.results.require import require
from penstock.io.results.vocabulary import XSD_STRING

if TYPE_CHECKING:
    from penstock.answer import Answer, Term

__all__ = ["json_object", "to_json"]


def to_json(answer: Answer) -> str:
    """The document, on one line."""
    return json.dumps(json_object(answer), ensure_ascii=False, separators=(",", ":"))


def json_object(answer: Answer) -> dict[str, Any]:
    """The document as Python objects, to which members can be added."""
    require(answer, "JSON results", "solutions", "boolean")
    if answer.boolean is not None:
        return {"head": {}, "boolean": answer.boolean}
    names = answer.variables
    bindings = [{name: _term(row[name]) for name in names if name in row} for row in answer.rows]
    return {"head": {"vars": list(names)}, "results": {"bindings": bindings}}


def _term(term: Term) -> dict[str, str]:
    if isinstance(term, NamedNode):
        return {"type": "uri", "value": term.value}
    if isinstance(term, BlankNode):
        return {"type": "bnode", "value": term.value}
    literal = {"type": "literal", "value": term.value}
    if term.language:
        literal["xml:lang"] = term.language
    elif term.datatype != XSD_STRING:
        literal["datatype"] = term.datatype.value
    return literal

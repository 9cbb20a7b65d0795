"""One wording for a format that does not fit the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyoxigraph import Triple

if TYPE_CHECKING:
    from penstock.answer import Answer

_IS = {
    "solutions": "This is the answer to a SELECT query",
    "boolean": "This is the answer to an ASK query",
    "graph": "This is the answer to a CONSTRUCT or DESCRIBE query",
}
_USE = {
    "solutions": "use to_json, to_xml, to_csv or to_tsv",
    "boolean": "use .boolean, to_json or to_xml",
    "graph": "use .triples or to_ntriples",
}


def require(answer: Answer, what: str, *kinds: str) -> None:
    """Raise a `ValueError` that says what to use instead, unless the answer is of one of the kinds."""
    if answer.kind not in kinds:
        raise ValueError(f"{_IS[answer.kind]}, which has no {what} form: {_USE[answer.kind]}.")


def require_graph(answer: Answer, what: str) -> Sequence[Triple]:
    """The triples of an answer that has some."""
    require(answer, what, "graph")
    return answer.triples or ()

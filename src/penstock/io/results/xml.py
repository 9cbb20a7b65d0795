"""https://www.w3.org/TR/rdf-sparql-XMLres/"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode, NamedNode

from penstock.io.results.require import require
from penstock.io.results.vocabulary import XSD_STRING

if TYPE_CHECKING:
    from penstock.answer import Answer, Row, Term

__all__ = ["to_xml"]

_START = '<?xml version="1.0"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n'
# XML 1.0 cannot hold these, not even as character references (https://www.w3.org/TR/xml/#charsets).
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_xml(answer: Answer) -> str:
    """The document. A character that XML has no way to write becomes U+FFFD."""
    require(answer, "XML results", "solutions", "boolean")
    return "".join((_START, *_body(answer), "</sparql>\n"))


def _body(answer: Answer) -> Iterator[str]:
    if answer.boolean is not None:
        yield f"  <head/>\n  <boolean>{str(answer.boolean).lower()}</boolean>\n"
        return
    variables = "".join(f"<variable name={_attribute(name)}/>" for name in answer.variables)
    yield f"  <head>{variables}</head>\n  <results>\n"
    for row in answer.rows:
        yield f"    <result>{_bindings(answer.variables, row)}</result>\n"
    yield "  </results>\n"


def _bindings(names: tuple[str, ...], row: Row) -> str:
    return "".join(f"<binding name={_attribute(name)}>{_term(row[name])}</binding>" for name in names if name in row)


def _term(term: Term) -> str:
    if isinstance(term, NamedNode):
        return f"<uri>{_text(term.value)}</uri>"
    if isinstance(term, BlankNode):
        return f"<bnode>{_text(term.value)}</bnode>"
    if term.language:
        return f"<literal xml:lang={_attribute(term.language)}>{_text(term.value)}</literal>"
    if term.datatype != XSD_STRING:
        return f"<literal datatype={_attribute(term.datatype.value)}>{_text(term.value)}</literal>"
    return f"<literal>{_text(term.value)}</literal>"


def _text(value: str) -> str:
    """A carriage return is written as a reference, because XML readers turn a plain one into a newline."""
    return escape(_NOT_XML.sub("�", value), quote=False).replace("\r", "&#xD;")


def _attribute(value: str) -> str:
    """A value in quotes. Names, language tags and IRIs hold no white space, which XML readers would change."""
    return f'"{escape(_NOT_XML.sub("�", value))}"'

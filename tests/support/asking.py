"""Answers as short lines of text, so that an expectation can be worked out by hand and read in a table."""

from __future__ import annotations

from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode

NS = "http://example.org/"
PREFIX = f"PREFIX : <{NS}>\n"
XSD = "http://www.w3.org/2001/XMLSchema#"


def short(term: Any) -> str:
    match term:
        case NamedNode():
            return term.value.replace(NS, ":")
        case BlankNode():
            return "_"
        case Literal() if term.language:
            return f'"{term.value}"@{term.language}'
        case Literal() if term.datatype.value in (XSD + "integer", XSD + "boolean", XSD + "decimal"):
            return str(term.value)
    return f'"{term.value}"'


def lines(answer: Any) -> list[str]:
    """A line per solution, in order: its variables in the order of the query, without those that are unbound."""
    return [" ".join(f"{v}={short(row[v])}" for v in answer.variables if v in row) for row in answer.rows]


def ask(engine: Any, query: str) -> list[str]:
    """The solutions, sorted, of a SELECT or of a pattern in braces."""
    text = query if "SELECT" in query.split("{")[0] else f"SELECT * {query}"
    return sorted(lines(engine.query(PREFIX + text)))

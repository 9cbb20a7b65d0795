"""Batches of answers without an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.answer import Answer, Row, Term
from penstock.io.sinks.sink import Batch

__all__ = ["TERMS", "answer_at", "batch_of"]

_XSD = "http://www.w3.org/2001/XMLSchema#"
TERMS: tuple[Term, ...] = (
    NamedNode("http://e/ü?a=1&b='2'"), BlankNode("b0"), Literal(""), Literal("it's \"so\"\n\t\\ 😀"),
    Literal("chat", language="fr"), Literal("7", datatype=NamedNode(f"{_XSD}integer")),
    Literal("1.50", datatype=NamedNode(f"{_XSD}decimal")), Literal("1.0E3", datatype=NamedNode(f"{_XSD}double")),
    Literal("INF", datatype=NamedNode(f"{_XSD}double")), Literal("seven", datatype=NamedNode(f"{_XSD}integer")),
    Literal("true", datatype=NamedNode(f"{_XSD}boolean")),
    Literal("2026-01-01T08:00:00Z", datatype=NamedNode(f"{_XSD}dateTime")), Literal("nul \0 here"),
)  # fmt: skip
"""Terms of all kinds."""


def answer_at(second: int, values: Sequence[Term], variable: str = "v") -> Answer:
    """The answer at an instant: a row a value."""
    rows: list[Row] = [{variable: value} for value in values]
    return replace(Answer.solutions([variable], rows), time=datetime.fromtimestamp(second, UTC), query="cars")


def batch_of(number: int, *answers: Answer, query: str = "cars") -> Batch:
    """A batch of the query."""
    return cast(Batch, SimpleNamespace(query=query, number=number, answers=list(answers)))

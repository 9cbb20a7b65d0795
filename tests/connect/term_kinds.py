"""Elements and answers with terms of all kinds, which come back from a broker as they were."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.answer import Answer
from penstock.io.sinks.sink import Batch
from penstock.stream.ingest.ingest import Ingest
from penstock.testing import ManualClock
from tests.connect.received import Row, rows
from tests.support.arrivals import STREAM

__all__ = ["ANSWERS", "LINES", "batch", "pushed"]

XSD = "http://www.w3.org/2001/XMLSchema#"
_TERMS = [
    "<http://e/ü?q=1&r=2>",
    "_:b0",
    '"plain"',
    '""',
    '"two\\nlines, \\"quoted\\", a tab\\t and a \\\\"',
    '"😀 漢字 שלום"',
    '"hello"@en',
    '"servus"@de-AT',
    f'"007"^^<{XSD}integer>',
    f'"1.50"^^<{XSD}decimal>',
    f'"1e3"^^<{XSD}double>',
    f'"INF"^^<{XSD}double>',
    f'"true"^^<{XSD}boolean>',
    f'"2026-11-18T12:00:00Z"^^<{XSD}dateTime>',
    f'"abc"^^<{XSD}integer>',
    '"x"^^<http://e/datatype>',
]
LINES = [
    f'<http://e/s> <http://e/p{place}> {term} "1970-01-01T00:00:{place:02}Z"^^<{XSD}dateTime> .\n'.encode()
    for place, term in enumerate(_TERMS)
]
"""A line of timestamped N-Quads for each kind of term."""

ANSWERS = [
    Answer.solutions(["a", "b"], [{"a": NamedNode("http://e/ü"), "b": BlankNode("b0")}]),
    Answer.solutions(["a"], [{"a": Literal('two\nlines, "quoted"')}, {"a": Literal("servus", language="de-at")}, {}]),
    Answer.solutions(["a"], [{"a": Literal("007", datatype=NamedNode(f"{XSD}integer"))}]),
    Answer.ask(True),
]


def pushed(root: Path, lines: Sequence[bytes] = LINES) -> list[Row]:
    """The elements of lines that are pushed: what a source has to bring."""
    ingest = Ingest(None, root, ManualClock(), {})  # type: ignore[arg-type]
    for line in lines:
        ingest.push(STREAM, line)
    found = rows(ingest.log)
    ingest.close()
    return found


def batch(number: int, answers: Sequence[Answer] = ANSWERS, query: str = "cars") -> Batch:
    """A batch of answers."""
    return cast(Batch, SimpleNamespace(query=query, number=number, answers=iter(answers)))

"""Text of a logic test → `LogicTest`. A line that starts in the first column begins a new block."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from penstock.errors import PenstockError
from penstock.logic.blocks import Block, Wrong, split, sure
from penstock.logic.expect import expect
from penstock.logic.model import BackgroundBlock, LogicTest, QueryBlock, StreamBlock
from penstock.logic.terms import header, read_elements, read_iri
from penstock.logic.times import read_times
from penstock.syntax.suggest import WELL_KNOWN, did_you_mean

__all__ = ["read", "read_file"]

DEFAULT_PREFIXES = {**{name: WELL_KNOWN[name] for name in ("rdf", "rdfs", "xsd")}, "": "http://example.org/"}
_PREFIX = re.compile(r"([\w-]*):\s*<([^>\s]*)>")
_GRAPH_WORD = re.compile(r"graph\s+", re.IGNORECASE)


def read_file(path: Path) -> LogicTest:
    """The test in that file, named after it."""
    try:
        return read(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise PenstockError(f"{path}: the test cannot be read: {reason}") from None


def read(text: str, name: str = "test") -> LogicTest:
    """The test in the text. An error is one sentence with the line."""
    try:
        blocks = list(split(text))
        prefixes = DEFAULT_PREFIXES | dict(_prefix(block) for block in blocks if block.word == "prefix")
        test = LogicTest(name)
        for block in blocks:
            test = _reader(block)(test, block, prefixes)
        return _checked(test)
    except Wrong as error:
        raise PenstockError(f"{name}, line {error.line}: {error}") from None


_Reader = Callable[[LogicTest, Block, Mapping[str, str]], LogicTest]


def _reader(block: Block) -> _Reader:
    if block.word not in _READERS:
        hint = did_you_mean(block.word, _READERS)
        raise Wrong(block.line, f"{block.word} is none of {', '.join(_READERS)}" + (f": {hint}" if hint else ""))
    return _READERS[block.word]


def _prefix(block: Block) -> tuple[str, str]:
    match = _PREFIX.fullmatch(block.rest)
    if not match:
        raise Wrong(block.line, "write a prefix as: prefix name: <iri>")
    return match[1], match[2]


def _stream(test: LogicTest, block: Block, prefixes: Mapping[str, str]) -> LogicTest:
    if not block.rest:
        raise Wrong(block.line, "which stream? Write: stream <iri>")
    iri = sure(block.line, read_iri, block.rest, prefixes)
    elements = []
    for line, text in block.lines():
        times, statements = sure(line, read_times, text)
        elements += [(times, element) for element in sure(line, read_elements, statements, prefixes)]
    return replace(test, streams=(*test.streams, StreamBlock(iri, tuple(elements))))


def _background(test: LogicTest, block: Block, prefixes: Mapping[str, str]) -> LogicTest:
    name = _GRAPH_WORD.sub("", block.rest, count=1)
    graph = sure(block.line, read_iri, name, prefixes) if name else None
    turtle = header(prefixes) + "\n" + "\n".join(text for _, text in block.body)
    return replace(test, background=(*test.background, BackgroundBlock(graph, turtle)))


def _query(test: LogicTest, block: Block, prefixes: Mapping[str, str]) -> LogicTest:
    declared = " ".join(f"PREFIX {name}: <{iri}>" for name, iri in prefixes.items())
    texts = dict(block.body)
    last = max(texts, default=block.line)
    body = [texts.get(line, "") for line in range(block.line + 1, last + 1)]
    text = "\n" * (block.line - 1) + "\n".join([declared, *body])
    return replace(test, queries=(*test.queries, QueryBlock(block.rest or None, text, block.line)))


def _options(test: LogicTest, block: Block, _: Mapping[str, str]) -> LogicTest:
    pairs = [word.partition("=") for word in block.rest.split()]
    if not pairs or not all(equals and value for _, equals, value in pairs):
        raise Wrong(block.line, "write options as: options name=value …")
    return replace(test, options={**test.options, **{name: value for name, _, value in pairs}})


_READERS: dict[str, _Reader] = {
    "prefix": lambda test, block, _: test,
    "options": _options,
    "stream": _stream,
    "background": _background,
    "query": _query,
    "expect": expect,
    "final": lambda test, block, _: replace(test, final=True),
}


def _checked(test: LogicTest) -> LogicTest:
    if not test.queries:
        raise Wrong(1, "there is no query in this file")
    if not test.expectations:
        raise Wrong(test.queries[0].line, "there is no expectation for this query")
    return test

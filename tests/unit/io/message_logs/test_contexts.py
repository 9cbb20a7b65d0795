"""Contexts of JSON-LD lines: one that stands alone holds for the lines behind it."""

from __future__ import annotations

import json
from typing import Any

from penstock.io.graphs import parse_documents
from penstock.io.message_logs.contexts import with_contexts

PROV = "http://www.w3.org/ns/prov#generatedAtTime"


def lines(*documents: Any) -> list[Any]:
    numbered = ((number, json.dumps(one).encode()) for number, one in enumerate(documents, 1))
    return [(number, json.loads(line)) for number, line in with_contexts(numbered)]


def test_a_context_holds_for_the_lines_behind_it() -> None:
    first, second = {"@vocab": "x:"}, {"@vocab": "y:"}
    assert lines({"a": 0}, {"@context": first}, {"a": 1}, {}, {"@context": second}, {"a": 2}) == [
        (1, {"a": 0}),
        (3, {"@context": first, "@graph": {"a": 1}}),
        (4, {"@context": first, "@graph": {}}),
        (6, {"@context": second, "@graph": {"a": 2}}),
    ]


def test_an_own_context_is_of_its_line_alone() -> None:
    own = {"@context": {"q": "x:q"}, "a": 1}
    context = {"@vocab": "x:"}
    assert lines(own, {"@context": context}, own, {"a": 2}) == [
        (1, own),
        (3, {"@context": context, "@graph": own}),
        (4, {"@context": context, "@graph": {"a": 2}}),
    ]


def test_a_line_that_is_no_json_is_left_to_the_parser() -> None:
    assert list(with_contexts([(1, b'{"@context": ')])) == [(1, b'{"@context": ')]


def test_a_log_is_read_as_elements() -> None:
    context = {"@context": {"@vocab": "http://e/", "time": {"@id": PROV}}}
    graph = {"@id": "http://e/g", "time": "1970-01-01T00:00:05Z", "@graph": {"@id": "http://e/a", "speed": 5}}
    text = "\n".join(map(json.dumps, (context, {}, graph)))
    rows = [row for parsed in parse_documents([text.encode()], "ndjsonld", "t.") for row in parsed.elements.to_pylist()]
    assert [(row["s"], row["p"], row["ts"], row["g"]) for row in rows] == [
        ("<http://e/a>", "<http://e/speed>", 5_000_000, "<http://e/g>")
    ]

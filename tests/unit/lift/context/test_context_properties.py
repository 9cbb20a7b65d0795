"""Generated contexts and messages: columns by DuckDB and values that Python reads give what pyoxigraph makes of each
message with its context."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Quad, RdfFormat, parse

from penstock.lift import Lifting
from penstock.tuning import DEFAULT
from tests.support.lifting import comparable, quads_of

XSD = "http://www.w3.org/2001/XMLSchema#"
NAMES = ["a", "b", "c", "id", "kind", "ex:d", "http://e.org/full", "é name", "other", ""]
TEXTS = st.one_of(
    st.sampled_from(["", "x", "x y", "http://e.org/x", "https://e.org/a?b=c#d", "urn:x:1", "ex:y", "_:n", "rel/ative",
                     "a", "http://e.org/%zz", "é", '"\\', "line\nbreak", "null", "5", "{}", "[1, ]", "NaN"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6),
    st.integers(-(10**22), 10**22),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 21.50, 1e20, 1e21, 1e-7, 100.0, 5e-324, 1.5e300]),
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES[:5]), inner, max_size=3)
    ),
    max_leaves=6,
)
MESSAGES = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5)
TYPES = st.sampled_from(
    ["@id", "@vocab", "@json", f"{XSD}double", f"{XSD}integer", f"{XSD}decimal", "http://e.org/type"]
)
TERMS = st.one_of(
    st.none(),
    st.sampled_from(["@type", "http://e.org/mapped", "ex:short"]),
    st.builds(lambda kind: {"@id": "http://e.org/typed", "@type": kind}, TYPES),
    st.sampled_from(
        [
            {"@id": "http://e.org/l", "@container": "@list"},
            {"@id": "http://e.org/s", "@container": "@set"},
            {"@id": "http://e.org/lang", "@container": "@language"},
            {"@id": "http://e.org/i", "@container": "@index"},
            {"@id": "http://e.org/g", "@container": "@graph"},
            {"@reverse": "http://e.org/r"},
            {"@id": "http://e.org/t", "@language": "de"},
            {"@id": "http://e.org/scoped", "@context": {"b": "http://e.org/inner"}},
        ]
    ),
)


@st.composite
def contexts(draw: st.DrawFn) -> dict[str, Any]:
    context: dict[str, Any] = {"ex": "http://ex.org/"}
    for name, value in (("@vocab", "http://v.org/"), ("@language", "en"), ("@base", "http://base.org/x/y")):
        if draw(st.booleans()):
            context[name] = value
    if draw(st.booleans()):
        context["id"] = "@id"
    return context | draw(st.dictionaries(st.sampled_from(["a", "b", "c", "kind"]), TERMS, max_size=3))


def expected(context: Any, message: Any) -> list[Quad] | None:
    """The quads of a message; None if it is wrong."""
    try:
        return list(parse(json.dumps({"@context": context, **message}).encode(), RdfFormat.JSON_LD))
    except (SyntaxError, ValueError):
        return None


def check(context: Any, message: Any, found: list[Quad], *, failed: bool) -> None:
    """A message that is wrong fails, unless what is wrong is in a part that the context drops.

    pyoxigraph looks at these parts, and even keeps the cells of lists in them, to which nothing leads.
    """
    wanted = [expected(context, each) for each in (message, without_dropped(context, message))]
    shown = [None if quads is None else comparable(quads) for quads in wanted]
    assert (None if failed else comparable(found)) in shown


def without_dropped(context: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [without_dropped(context, item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: without_dropped(context, item) for name, item in value.items() if not dropped(context, name)}


def dropped(context: Any, name: str) -> bool:
    try:
        documents = [{"@context": context, "@id": "urn:s", name: value} for value in ("urn:x", {"urn:q": 1}, None)]
        return not any(list(parse(json.dumps(each).encode(), RdfFormat.JSON_LD)) for each in documents)
    except (SyntaxError, ValueError):
        return False


@pytest.mark.parametrize("few", [0, 1_000], ids=["DuckDB", "Python"])
@given(contexts(), st.lists(MESSAGES, min_size=1, max_size=4))
def test_triples_are_those_of_json_ld(few: int, context: dict[str, Any], messages: list[dict[str, Any]]) -> None:
    lifting = Lifting.from_text(json.dumps({"@context": context}), tuning=replace(DEFAULT, slow_messages=few))
    lifted = lifting.apply([json.dumps(message).encode() for message in messages])
    failed = {failure.message for failure in lifted.failures}
    numbers, quads = lifted.table.column("message").to_pylist(), quads_of(lifted.table)
    for number, message in enumerate(messages):
        found = [quad for quad, place in zip(quads, numbers, strict=True) if place == number]
        check(context, message, found, failed=number in failed)


@pytest.mark.parametrize("few", [0, 1_000], ids=["DuckDB", "Python"])
@given(contexts(), MESSAGES)
def test_templates_are_as_ids(few: int, context: dict[str, Any], message: dict[str, Any]) -> None:
    message = {name: value for name, value in message.items() if name not in ("id", "c")} | {"c": {"key": 7}}
    context = {name: value for name, value in context.items() if name not in ("id", "c")} | {"c": "http://e.org/c"}
    shape = {"@id": "http://e.org/{c.key}", "@type": "ex:T", "c": {"@id": "ex:{key}"}}
    tuning = replace(DEFAULT, slow_messages=few)
    lifting = Lifting.from_text(json.dumps({"@context": context, **shape}), tuning=tuning)
    lifted = lifting.apply([json.dumps(message).encode()])
    named = {"@id": "http://e.org/7", "@type": "ex:T", **message, "c": {"@id": "ex:7", "key": 7}}
    check(context, named, quads_of(lifted.table), failed=bool(lifted.failures))

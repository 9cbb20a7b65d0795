"""Mappings by a JSON-LD context: what they say of mistakes, and how templates and times are read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from penstock import MappingError
from penstock.lift import Failure, Lifting
from penstock.tuning import DEFAULT
from tests.support.lifting import lines_of

VOCAB = {"@vocab": "http://e/"}

REFUSALS = {
    '{"@context": {"@vocb": "http://e/"}}': """\
c.json, line 1, column 15: a context has no @vocb
  {"@context": {"@vocb": "http://e/"}}
                ^^^^^^^
hint: did you mean @vocab?""",
    '{"@context": {"t": {"@tpye": "@id"}}}': """\
c.json, line 1, column 21: a term of a context has no @tpye
  {"@context": {"t": {"@tpye": "@id"}}}
                      ^^^^^^^
hint: did you mean @type?""",
    '{"@context": "http://e/context.jsonld"}': """\
c.json, line 1, column 14: the @context is elsewhere, and Penstock does not fetch it
  {"@context": "http://e/context.jsonld"}
               ^^^^^^^^^^^^^^^^^^^^^^^^^
hint: copy it into the file""",
    '{"@contxt": {}}': """\
c.json, line 1, column 2: the mapping has no @context
  {"@contxt": {}}
   ^^^^^^^^^
hint: name it @context""",
    '{"@context": {}, "@id": "sensor/{id}"}': """\
c.json, line 1, column 25: the template 'sensor/{id}' makes no absolute IRI
  {"@context": {}, "@id": "sensor/{id}"}
                          ^^^^^^^^^^^^^
hint: begin it with a scheme, as in http://example.org/{id}, or with a prefix of the context""",
    '{"@context": {}, "@id": "http://e/{$..id}"}': """\
c.json, line 1, column 25: the template 'http://e/{$..id}': a search at any depth (..) is not in the subset \
of JSONPath; there are $, .name, ['name'], [n] and [*]
  {"@context": {}, "@id": "http://e/{$..id}"}
                          ^^^^^^^^^^^^^^^^^^""",
    '{"@context": {}, "unit": "Cel"}': """\
c.json, line 1, column 18: 'unit' is no object of the mapping
  {"@context": {}, "unit": "Cel"}
                   ^^^^^^
hint: values come from the messages; a nested object may have an @id and an @type""",
    '{"@context": {"a": {"@id": 5}}}': """\
c.json, line 1, column 2: the @context is not one of JSON-LD: @id value must be a string
  {"@context": {"a": {"@id": 5}}}
   ^^^^^^^^^^""",
    '{"@context": }': """\
c.json, line 1, column 14: not JSON: Expecting value
  {"@context": }
               ^""",
}


@pytest.mark.parametrize("text", REFUSALS)
def test_refusal(text: str) -> None:
    with pytest.raises(MappingError) as caught:
        Lifting.from_text(text, name="c.json")
    assert str(caught.value) == REFUSALS[text]


@pytest.fixture(params=[0, 1_000], ids=["DuckDB", "Python"])
def few(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def lifting(few: int, mapping: dict[str, Any], **options: Any) -> Lifting:
    return Lifting.from_text(json.dumps(mapping), tuning=replace(DEFAULT, slow_messages=few), **options)


def test_template_without_its_value_fails_with_a_suggestion(few: int) -> None:
    found = lifting(few, {"@context": VOCAB, "@id": "http://e/{name}", "r": {"@id": "http://r/{id}"}}).apply(
        [b'{"nmae": "a"}', b'{"name": ["a", "b"]}', b'{"name": {}}', b'{"name": "ok", "r": {"x": 1}}', b"5", b"{}"]
    )
    assert found.failures == [
        Failure(0, "the template of @id needs $.name, and the message has none; did you mean $.nmae?"),
        Failure(1, "the template of @id needs one value at $.name, and there are 2"),
        Failure(2, "the template of @id needs a value at $.name, and there is an object"),
        Failure(3, "the template of @id needs $.id, and the message has none"),
        Failure(4, "a message is an object of JSON, or an array of objects"),
        Failure(5, "the template of @id needs $.name, and the message has none"),
    ]
    assert found.table.num_rows == 0


def test_prefix_and_base_of_the_context_are_resolved_in_templates(few: int) -> None:
    context = {"ex": "http://ex/", "@base": "http://base/a/b", "p": "http://e/p"}
    for template, iri in {"ex:s/{p}": "http://ex/s/1", "x/{p}": "http://base/a/x/1", "urn:x:{p}": "urn:x:1"}.items():
        found = lifting(few, {"@context": context, "@id": template}).apply([b'{"p": 1}'])
        assert lines_of(found.table) == [f'<{iri}> <http://e/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .']


def test_array_of_objects_has_a_time_for_each(few: int) -> None:
    found = lifting(few, {"@context": {"p": "http://e/p"}}, time="t", time_unit="s").apply(
        [b'[{"p": "a", "t": 1}, {"p": "b", "t": 2.5}]', b'[{"p": "c"}]']
    )
    assert found.table.select(["o", "ts", "message"]).to_pylist() == [
        {"o": '"a"', "ts": 1_000_000, "message": 0},
        {"o": '"b"', "ts": 2_500_000, "message": 0},
    ]
    assert found.failures == [Failure(1, "the message has no time at $.t")]


def test_time_properties_among_the_triples(few: int) -> None:
    mapping = {"@context": VOCAB, "@id": "http://e/{id}"}
    found = lifting(few, mapping, time_properties=["http://e/at"]).apply(
        [b'{"id": 1, "at": "2026-01-01T00:00:00Z"}', b'{"id": 2}']
    )
    assert set(found.table.column("ts").to_pylist()) == {1_767_225_600_000_000}
    assert found.failures == [Failure(1, "the message has no time: no triple has <http://e/at>")]


def test_many_names_and_deep_objects_are_lifted_too(few: int) -> None:
    wide = {f"n{number}": number for number in range(300)}
    deep: dict[str, Any] = {"v": 1}
    for _ in range(12):
        deep = {"d": deep}
    found = lifting(few, {"@context": VOCAB}).apply([json.dumps(wide).encode(), json.dumps(deep).encode()])
    assert found.table.num_rows == 300 + 13
    assert not found.failures


def test_blank_nodes_of_different_messages_differ(few: int) -> None:
    found = lifting(few, {"@context": VOCAB}).apply([b'{"a": {"b": 1}}'] * 3, first=10, labels="x.")
    labels = set(found.table.column("s").to_pylist())
    assert len(labels) == 6
    assert all(str(label).startswith("_:x.1") for label in labels)


@pytest.mark.parametrize(
    ("term", "value", "lines"),
    [
        ("@type", '["T", "U"]', ["a <http://e/T>", "a <http://e/U>"]),
        ("@type", "[[]]", None),
        ("@type", "null", None),
        ({"@id": "http://e/p", "@container": "@language"}, '{"en": "x"}', ['<http://e/p> "x"@en']),
        ({"@id": "http://e/p", "@container": "@language"}, '{"en": false}', None),
        ({"@id": "http://e/p", "@type": "@id"}, '["http://e/x", "not an IRI"]', ["<http://e/p> <http://e/x>"]),
        ({"@id": "http://e/p", "@type": "@vocab"}, '"x"', ["<http://e/p> <http://e/x>"]),
        (None, '{"anything": 1}', []),
    ],
)
def test_terms_with_meaning_in_their_values(few: int, term: Any, value: str, lines: list[str] | None) -> None:
    mapping = {"@context": VOCAB | {"t": term}, "@id": "http://e/s"}
    found = lifting(few, mapping).apply([f'{{"t": {value}}}'.encode()])
    assert bool(found.failures) == (lines is None)
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    wanted = [f"<http://e/s> {line} .".replace(" a ", f" {kind} ") for line in lines or []]
    assert lines_of(found.table) == wanted

"""Topic, key and headers in mappings: the same references in RML and in contexts, and unknown ones are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock import MappingError
from penstock.lift import Failure, Lifted, Lifting
from penstock.lift.message_references import Said
from penstock.tuning import DEFAULT

RML = """@prefix rml: <http://w3id.org/rml/> .
@prefix : <http://e/> .
:M rml:logicalSource [ rml:referenceFormulation rml:{} ; {} ];
  rml:subjectMap [ rml:template "http://e/{{@topic.2}}/{{{}}}" ];
  rml:predicateObjectMap [ rml:predicate :key; rml:objectMap [ rml:reference "@key" ] ],
    [ rml:predicate :unit; rml:objectMap [ rml:reference "@header.Unit" ] ],
    [ rml:predicate :topic; rml:objectMap [ rml:template "t:{{@topic}}" ] ].
"""
CONTEXT = '{"@context": {"v": "http://e/v", "in": {"@id": "http://e/in"}}, "@id": "http://e/{@topic.2}/{id}", %s}'
HOUSE = Said("house/living room", b"k7", (("unit", b"C"), ("unit", b"K"), ("other", b"x")))
GARDEN = Said("garden.north.pond")
NOTHING = Said()


def triples(lifted: Lifted) -> list[tuple[str, str, str]]:
    return [(row["s"], row["p"].rpartition("/")[2][:-1], row["o"]) for row in lifted.table.to_pylist()]


def expected(name: str) -> list[tuple[str, str, str]]:
    house, garden = f"<http://e/living%20room/{name}>", f"<http://e/north/{name}>"
    return [
        (house, "key", '"k7"'), (house, "unit", '"C"'), (house, "unit", '"K"'),
        (house, "topic", "<t:house%2Fliving%20room>"), (garden, "topic", "<t:garden.north.pond>"),
    ]  # fmt: skip


@pytest.mark.parametrize("few", [0, 1_000])
def test_rml_of_json(few: int) -> None:
    lifting = Lifting.from_text(RML.format("JSONPath", "", "id"), tuning=replace(DEFAULT, slow_messages=few))
    lifted = lifting.apply([b'{"id": 1}'] * 3, first=5, origins=[HOUSE, GARDEN, NOTHING])
    assert triples(lifted) == expected("1")
    assert lifted.table.column("message").to_pylist() == [5, 5, 5, 5, 6]
    assert (lifted.failures, lifted.absent) == ([], [])


def test_rml_of_csv_and_xml() -> None:
    lifted = Lifting.from_text(RML.format("CSV", "", "id"), header="id").apply([b"1", b"1"], origins=[HOUSE, GARDEN])
    assert triples(lifted) == expected("1")
    by_element = Lifting.from_text(RML.format("XPath", 'rml:iterator "/a/b"', "./@key"))
    lifted = by_element.apply([b'<a><b key="x"/></a>'] * 2, origins=[HOUSE, GARDEN])
    assert triples(lifted) == expected("x"), "an attribute of a reserved name is ./@key"


def test_all_records_of_a_message_have_its_values() -> None:
    mapping = RML.format("JSONPath", 'rml:iterator "$[*]"', "id")
    messages = [b'[{"id": 1}, {"id": 2}]', b"[]", b'[{"id": 3}]']
    lifted = Lifting.from_text(mapping).apply(messages, origins=[GARDEN, NOTHING, HOUSE])
    subjects = [s for s, p, _ in triples(lifted) if p == "topic"]
    assert subjects == ["<http://e/north/1>", "<http://e/north/2>", "<http://e/living%20room/3>"]


@pytest.mark.parametrize("more", ['"in": {"@id": "http://e/{@key}"}', '"@type": "http://e/T"'])
@pytest.mark.parametrize("message", [b'{"id": 1, "v": "a", "in": {"v": "b"}}', b'{"id": 1, "v": "a", "@type": "x:y"}'])
@pytest.mark.parametrize("few", [0, 1_000])
def test_contexts(more: str, message: bytes, few: int) -> None:
    """The second message has a keyword, so that it is read as a document."""
    lifting = Lifting.from_text(CONTEXT % more, tuning=replace(DEFAULT, slow_messages=few))
    lifted = lifting.apply([message, message], first=1, origins=[HOUSE, NOTHING])
    assert lifted.failures == [Failure(2, "the template of @id needs @topic.2, and the message has none")]
    found = triples(lifted)
    assert ("<http://e/living%20room/1>", "v", '"a"') in found
    assert (("<http://e/k7>", "v", '"b"') in found) == ("@key" in more and b"in" in message)


def test_a_header_that_comes_twice_is_no_single_value() -> None:
    lifting = Lifting.from_text('{"@context": {"v": "http://e/v"}, "@id": "http://e/{@header.unit}"}')
    lifted = lifting.apply([b'{"v": 1}'], origins=[HOUSE])
    assert lifted.failures == [Failure(0, "the template of @id needs one value at @header.unit, and there are 2")]


def test_a_key_that_is_not_text_fails_alone() -> None:
    lifting = Lifting.from_text(RML.format("JSONPath", "", "id"))
    lifted = lifting.apply([b'{"id": 1}'] * 2, origins=[replace(HOUSE, key=b"\x80"), GARDEN])
    assert lifted.failures == [Failure(0, "@key of the message is not UTF-8: byte 0x80 at byte 1")]
    assert [s for s, _, _ in triples(lifted)] == ["<http://e/north/1>"]


def test_messages_without_an_origin() -> None:
    lifted = Lifting.from_text(RML.format("JSONPath", "", "id")).apply([b'{"id": 1}'])
    assert (triples(lifted), lifted.failures) == ([], [])
    assert "@topic.2 occurs in no message" in lifted.absent


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("@topik", "; did you mean @topic?"),
        ("@header", "; did you mean @header.NAME?"),
        ("@topic.0", "; did you mean @topic?"),
        ("@partition", ""),
    ],
)
def test_unknown_names_are_refused(name: str, said: str) -> None:
    reason = f"a message has no {name}; there are @topic, @topic.N, @key and @header.NAME{said}"
    template = f"http://e/{{{name}}}"
    with pytest.raises(MappingError) as caught:
        Lifting.from_text(f'{{"@context": {{}}, "@id": "{template}"}}', name="m.json")
    assert str(caught.value).splitlines()[0] == f"m.json, line 1, column 25: the template {template!r}: {reason}"
    for formulation in ("JSONPath", "CSV"):
        with pytest.raises(MappingError) as caught:
            Lifting.from_text(RML.format(formulation, "", name), name="m.ttl")
        assert str(caught.value).splitlines()[0] == f"m.ttl, line 4, column 33: {name!r}: {reason}"

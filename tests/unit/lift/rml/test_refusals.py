"""What a mapping in RML says of its mistakes, in `refusals.txt`: a mapping, `----`, and the whole text of the error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock import MappingError
from penstock.lift import Lifting

HEAD = "@prefix rml: <http://w3id.org/rml/> .\n@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://e/> .\n"
TEXTS = re.split(r"^case\n", Path(__file__).with_name("refusals.txt").read_text("utf-8"), flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("text", TEXTS)
def test_refusal(text: str) -> None:
    mapping, said = text.split("\n----\n")
    with pytest.raises(MappingError) as caught:
        Lifting.from_text(HEAD + mapping, name="m.ttl")
    assert str(caught.value) == said.rstrip("\n")


def test_formats_do_not_mix() -> None:
    one = ":{} rml:logicalSource [ rml:referenceFormulation rml:{} ]; rml:subject :s; rml:predicateObjectMap "
    two = [one.format(*names) + "[ rml:predicate :p; rml:object 1 ] .\n" for names in (("A", "CSV"), ("B", "XPath"))]
    with pytest.raises(MappingError) as caught:
        Lifting.from_text(HEAD + "".join(two), name="m.ttl")
    said = "m.ttl: the triples maps are for CSV and XPath; the messages of a stream have one format"
    assert str(caught.value) == said

"""Documents of XML, and the subset of XPath."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.lift.records.xml_records import read_messages
from penstock.lift.records.xpath import parse

BOMB = '<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><l>&b;</l>'
DOCUMENT = b"<l n='1'><p k='x'>a</p><q><p k='y'>b<!-- no --><i>c</i></p><p>d</p></q></l>"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_in_every_encoding(encoding: str) -> None:
    _, reasons = read_messages([BOMB.encode(encoding)])
    assert reasons == {0: "the document declares the entity a, and entities are refused: write it out"}


def test_an_entity_reads_no_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", "utf-8")
    records, reasons = read_messages([f'<!DOCTYPE l [<!ENTITY a SYSTEM "{secret.as_uri()}">]><l>&a;</l>'.encode()])
    assert not records.elements
    assert reasons == {0: "the document declares the entity a, and entities are refused: write it out"}


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        (".", ["abcd"]),
        ("/l/@n", ["1"]),
        ("l/p", ["a"]),
        ("l/*", ["a", "bcd"]),
        ("//p", ["a", "bc", "d"]),
        ("l/q/p[2]", ["d"]),
        ("//p[@k]", ["a", "bc"]),
        ("//p[@k='y']/text()", ["b"]),
        ("l/q[p='d']/p[1]/i", ["c"]),
        ("l/q[i]", []),
        ("l/./p", ["a"]),
        ("l//i", ["c"]),
    ],
)
def test_xpath(path: str, texts: list[str]) -> None:
    records, _ = read_messages([DOCUMENT])
    (found,) = records.find([parse(path, {})])
    assert found.column.texts.to_pylist() == texts


@pytest.mark.parametrize("path", ["", "a/b()", "a[b>1]", "a/..", "@a/b", "text()/a", "//@a", "a|b", "a[last()]", "@*"])
def test_other_paths_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="XPath"):
        parse(path, {})
